package httpapi

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/probefleet/probefleet/dashboard-api/internal/jobs"
	"github.com/probefleet/probefleet/internal/jobstore"
	"github.com/probefleet/probefleet/internal/redact"
	"github.com/probefleet/probefleet/internal/uptime"
)

// Checks runs checks on demand.
type Checks interface {
	Accept(jobs.Request) (jobstore.Job, error) // asks no store
	Get(ctx context.Context, id string) (jobstore.Job, error)
	List(ctx context.Context, f jobstore.Filter) ([]jobstore.Job, error)
}

// createCheck accepts a check on demand. The answer says where to look for its outcome. One
// that does not begin with a saved target asks no store, and does not fail for want of one.
func (a *api) createCheck(ctx context.Context, in *struct {
	Idempotent
	Body checkDocument
}) (*checkAnswer, error) {
	actor := identityOf(ctx).Actor
	out, err := onceIfKept(ctx, a, in.Key, in.Body.raw, func() (*answer[Check], error) {
		target, err := a.unsavedTarget(ctx, in.Body)
		if err != nil {
			return nil, err
		}
		if wait := a.rate.Allow(actor); wait > 0 {
			p := problem(http.StatusTooManyRequests, "too_many_checks", fmt.Sprintf("an account may ask for %d checks a minute", perMinute)).retryAfter(wait)
			return nil, p.header("RateLimit-Policy", checkPolicy).header("RateLimit", a.checksLeft(actor))
		}
		asked := checkOf(target, actor)
		asked.TargetID = 0 // it is no preview of what was saved
		job, err := a.Checks.Accept(asked)
		if err != nil {
			return nil, err
		}
		a.audit(ctx, "check.created", "check:"+job.ID, visitOf(job, target.ID))
		return &answer[Check]{Status: http.StatusAccepted, Location: "/api/v1/checks/" + job.ID, Body: stored[Check]{value: NewCheck(job)}}, nil
	})
	if err != nil {
		return nil, err
	}
	return &checkAnswer{out.Status, out.Location, out.Replayed, out.Unkept, checkPolicy, a.checksLeft(actor), out.Body}, nil
}

// checkAnswer is an answer that says how many more there may be: draft-ietf-httpapi-ratelimit-headers.
type checkAnswer struct {
	Status   int
	Location string `header:"Location"`
	Replayed string `header:"Idempotency-Replayed" doc:"true when this is a kept answer"`
	Unkept   string `header:"Idempotency-Unavailable" doc:"true when kept answers could not be read: this one is not kept either, and a repeat writes again"`
	Policy   string `header:"RateLimit-Policy" doc:"how many checks an account may ask for (q), in how many seconds (w)"`
	Left     string `header:"RateLimit" doc:"how many are left (r), and in how many seconds all are back (t)"`
	Body     stored[Check]
}

const checkPolicy = `"checks";q=30;w=60`

func (a *api) checksLeft(actor string) string {
	left, all := a.rate.Left(actor)
	return fmt.Sprintf(`"checks";r=%d;t=%.0f`, left, math.Ceil(all.Seconds()))
}

// visitOf says in the audit log what is visited, from where, and with whose secrets.
func visitOf(job jobstore.Job, of int64) string {
	text := redact.URL(job.URL) + " from " + strings.Join(job.Regions, ", ")
	if of != 0 {
		text += " as target:" + strconv.FormatInt(of, 10)
	}
	return strings.TrimSpace(text)
}

func checkOf(t uptime.Target, actor string) jobs.Request {
	return jobs.Request{URL: t.URL, Kind: t.Kind, Timeout: t.Timeout, Spec: t.Spec.Text(), Regions: t.Regions, TargetID: t.ID, CreatedBy: actor}
}

// preview has the target that was just saved checked, for whoever saved it, and gives the
// check's id. It never delays or fails the save: without room, or when the account saves
// many, there is none.
func (a *api) preview(ctx context.Context, t uptime.Target) string {
	actor := identityOf(ctx).Actor
	if !t.Kind.Probed() || a.previews.Allow(actor) > 0 {
		return ""
	}
	job, err := a.Checks.Accept(checkOf(t, actor))
	if err != nil {
		return ""
	}
	return job.ID
}

// maxPreviews is how many targets one request previews that saves many: the next slots of the
// others come soon enough.
const maxPreviews = 10

// fewPreviews are the previews of such a request.
type fewPreviews int

// of is that of one more target.
func (n *fewPreviews) of(ctx context.Context, a *api, t uptime.Target) string {
	if *n == maxPreviews {
		return ""
	}
	*n++
	return a.preview(ctx, t)
}

// visitedAlike says whether an edit left alone how a target is visited.
func visitedAlike(a, b uptime.Target) bool {
	return a.Timeout == b.Timeout && uptime.VisitedAlike(a, b)
}

type checkOutput struct{ Body Check }

func (a *api) getCheck(ctx context.Context, in *struct {
	ID string `path:"id" maxLength:"64"`
}) (*checkOutput, error) {
	job, err := a.Checks.Get(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return &checkOutput{NewCheck(job)}, nil
}

func (a *api) listChecks(ctx context.Context, in *struct {
	Page
	URL   string    `query:"url" maxLength:"2048" doc:"only checks of this url"`
	From  time.Time `query:"from" doc:"first instant of creation, RFC 3339; checks are kept for a week"`
	To    time.Time `query:"to" doc:"first instant that is not included"`
	State string    `query:"state" enum:"QUEUED,IN_PROGRESS,COMPLETED,FAILED_RETRYABLE,FAILED_PERMANENT"`
}) (*listOutput[Check], error) {
	before, err := readCheckCursor(in.Cursor)
	if err != nil {
		return nil, err
	}
	if !in.To.IsZero() && !in.From.Before(in.To) {
		return nil, mistakes([]Mistake{{Parameter: "from", Code: codeInvalidRange, Message: "from must be before to"}})
	}
	found, err := a.Checks.List(ctx, jobstore.Filter{URL: a.asVisited(in.URL), From: in.From, To: in.To, State: jobstore.State(in.State), Before: before, Limit: in.Limit + 1})
	if err != nil {
		return nil, err
	}
	return pageBy(found, in.Limit, NewCheck, checkCursor), nil
}

// asVisited spells a URL as a target has it: that is how checks are kept.
func (a *api) asVisited(url string) string {
	if url == "" {
		return ""
	}
	target := newTarget()
	merge(&target, TargetInput{URL: &url}, nulls{}, a.surroundings())
	if target.URL == "" { // none that can be checked: none that was
		return url
	}
	return target.URL
}

func checkCursor(last jobstore.Job) nullable[string] {
	return some(encodeCursor("c", fmt.Sprintf("%d.%s", last.CreatedAt.UnixMilli(), last.ID)))
}

func readCheckCursor(cursor string) (*jobstore.Cursor, error) {
	if cursor == "" {
		return nil, nil
	}
	text, ok := decodeCursor("c", cursor)
	millis, id, cut := strings.Cut(text, ".")
	at, err := strconv.ParseInt(millis, 10, 64)
	if !ok || !cut || err != nil {
		return nil, badCursor()
	}
	return &jobstore.Cursor{CreatedAt: time.UnixMilli(at).UTC(), ID: id}, nil
}
