package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/probefleet/probefleet/dashboard-api/internal/notify"
	"github.com/probefleet/probefleet/internal/incidentstore"
)

// mostOfThem is how many channels, and how many rules, there may be.
const mostOfThem = 500

// Alerts keeps whom to tell.
type Alerts interface {
	CreateChannel(ctx context.Context, c incidentstore.Channel, now time.Time) (incidentstore.Channel, error)
	UpdateChannel(ctx context.Context, id, ifVersion int64, now time.Time, change func(*incidentstore.Channel) error) (incidentstore.Channel, error)
	DeleteChannel(ctx context.Context, id, ifVersion int64) error
	Channel(ctx context.Context, id int64) (incidentstore.Channel, error)
	Channels(ctx context.Context, afterID int64, limit int) ([]incidentstore.Channel, error)
	Deliveries(ctx context.Context, channelID, beforeID int64, limit int) ([]incidentstore.Delivery, error)
	Tidings(ctx context.Context, targetID, beforeID int64, limit int) ([]incidentstore.Tiding, error)
	Log(ctx context.Context, d incidentstore.Delivery) error
	CreateRule(ctx context.Context, r incidentstore.Rule, now time.Time) (incidentstore.Rule, error)
	UpdateRule(ctx context.Context, id, ifVersion int64, now time.Time, change func(*incidentstore.Rule) error) (incidentstore.Rule, error)
	DeleteRule(ctx context.Context, id, ifVersion int64, now time.Time) error
	Rule(ctx context.Context, id int64) (incidentstore.Rule, error)
	Rules(ctx context.Context, afterID int64, limit int) ([]incidentstore.Rule, error)
}

// Tester sends test messages.
type Tester interface {
	Test(ctx context.Context, c incidentstore.Channel, resolved bool, key string, now time.Time) notify.Sent
}

// ChannelPath names the channel in a path. (Huma passes over embedded types that are not exported.)
type ChannelPath struct {
	ID int64 `path:"id" minimum:"1"`
}

type channelOutput struct {
	ETag string `header:"ETag" doc:"the version"`
	Body channelBody
}

func version(n int64) string { return `"` + strconv.FormatInt(n, 10) + `"` }

func channelObject(id int64) string { return "channel:" + strconv.FormatInt(id, 10) }

func (a *api) listChannels(ctx context.Context, in *Page) (*listOutput[channelBody], error) {
	after, err := readIDCursor(in.Cursor)
	if err != nil {
		return nil, err
	}
	found, err := a.Alerts.Channels(ctx, after, in.Limit+1)
	if err != nil {
		return nil, err
	}
	return pageOf(found, in.Limit, a.channelOf, func(c incidentstore.Channel) int64 { return c.ID }), nil
}

func (a *api) createChannel(ctx context.Context, in *struct {
	Idempotent
	Body document[ChannelInput]
}) (*answer[channelBody], error) {
	return once(ctx, a, in.Key, in.Body.raw, func() (*answer[channelBody], error) {
		channel := incidentstore.Channel{Enabled: true}
		if p := read(in.Body, func(fields ChannelInput, null nulls) []Mistake { return a.mergeChannel(&channel, fields, null) }); p != nil {
			return nil, p
		}
		if all, err := a.Alerts.Channels(ctx, 0, mostOfThem); err != nil || len(all) == mostOfThem {
			return nil, tooMany(err, "channels")
		}
		created, err := a.Alerts.CreateChannel(ctx, channel, a.Now())
		if err != nil {
			return nil, err
		}
		a.audit(ctx, "channel.created", channelObject(created.ID), created.Name+" ("+created.Kind+")")
		return &answer[channelBody]{Status: http.StatusCreated, ETag: version(created.Version), Location: fmt.Sprintf("/api/v1/channels/%d", created.ID), Body: stored[channelBody]{value: a.channelOf(created)}}, nil
	})
}

func tooMany(err error, what string) error {
	if err != nil {
		return err
	}
	return problem(http.StatusConflict, "too_many", fmt.Sprintf("there are %d %s already: remove some first", mostOfThem, what))
}

func (a *api) getChannel(ctx context.Context, in *ChannelPath) (*channelOutput, error) {
	c, err := a.Alerts.Channel(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return &channelOutput{version(c.Version), a.channelOf(c)}, nil
}

func (a *api) patchChannel(ctx context.Context, in *struct {
	ChannelPath
	IfMatch string `header:"If-Match" doc:"the ETag you read; absent: the last write wins"`
	Body    document[ChannelInput]
}) (*channelOutput, error) {
	wanted, err := ifMatch(in.IfMatch)
	if err != nil {
		return nil, incidentstore.ErrConflict
	}
	updated, err := a.Alerts.UpdateChannel(ctx, in.ID, wanted, a.Now(), func(c *incidentstore.Channel) error {
		if p := read(in.Body, func(fields ChannelInput, null nulls) []Mistake { return a.mergeChannel(c, fields, null) }); p != nil {
			return p
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	a.audit(ctx, "channel.updated", channelObject(updated.ID), updated.Name+" ("+updated.Kind+")")
	return &channelOutput{version(updated.Version), a.channelOf(updated)}, nil
}

func (a *api) deleteChannel(ctx context.Context, in *struct {
	ChannelPath
	IfMatch string `header:"If-Match" doc:"the ETag you read; absent: whatever it is now"`
}) (*noContent, error) {
	wanted, err := ifMatch(in.IfMatch)
	if err != nil {
		return nil, incidentstore.ErrConflict
	}
	gone, err := a.Alerts.Channel(ctx, in.ID)
	if err == nil {
		err = a.Alerts.DeleteChannel(ctx, in.ID, wanted)
	}
	if err != nil {
		return nil, err
	}
	a.audit(ctx, "channel.deleted", channelObject(in.ID), gone.Name+" ("+gone.Kind+")")
	return nil, nil
}

// TestInput says what to try.
type TestInput struct {
	Event *string `json:"event,omitempty" enum:"test,resolved" doc:"Default test. A provider that keeps incidents ends that of the test with resolved."`
}

type exchangeBody struct {
	Request string `json:"request" doc:"method and address, without what is secret"`
	Sent    string `json:"sent"`
	Status  int    `json:"status" doc:"of HTTP or SMTP; 0: there was no answer"`
	Answer  string `json:"answer" doc:"the first 2 KiB, or why there was none"`
	TookMS  int64  `json:"took_ms"`
}

type testBody struct {
	Delivered bool           `json:"delivered"`
	Reason    string         `json:"reason" doc:"why it was not; empty when it was"`
	Status    int            `json:"status"`
	TookMS    int64          `json:"took_ms"`
	Exchanges []exchangeBody `json:"exchanges" nullable:"false" doc:"what was sent and answered, in order; secrets are shown as [secret]"`
}

type testOutput struct{ Body testBody }

// testChannel sends a test message. That it did not arrive is an answer, not a problem.
func (a *api) testChannel(ctx context.Context, in *struct {
	ChannelPath
	Body document[TestInput]
}) (*testOutput, error) {
	resolved := false
	p := read(in.Body, func(f TestInput, _ nulls) []Mistake {
		resolved = deref(f.Event) == string(incidentstore.Resolved)
		if f.Event != nil && !resolved && *f.Event != string(incidentstore.Tested) {
			return []Mistake{{Pointer: "/event", Code: codeInvalidParameter, Message: "want test or resolved"}}
		}
		return nil
	})
	if p != nil {
		return nil, p
	}
	channel, err := a.Alerts.Channel(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	if wait := a.tests.Allow(identityOf(ctx).Actor); wait > 0 {
		return nil, problem(http.StatusTooManyRequests, "too_many_tests", fmt.Sprintf("an account may send %d tests a minute", perMinute)).retryAfter(wait)
	}
	key := "test/" + uuid.NewString()
	sent := a.Tester.Test(ctx, channel, resolved, key, a.Now())
	a.audit(ctx, "channel.tested", channelObject(in.ID), "")
	d := incidentstore.Delivery{ChannelID: in.ID, Event: incidentstore.Tested, Key: key, Attempt: 1, At: sent.At, Took: sent.Took, Outcome: incidentstore.OutcomeDelivered, Status: sent.Status(), Excerpt: sent.Said()}
	out := &testOutput{testBody{Delivered: sent.Failure == nil, Status: sent.Status(), TookMS: sent.Took.Milliseconds(), Exchanges: []exchangeBody{}}}
	if sent.Failure != nil {
		d.Outcome, out.Body.Reason = incidentstore.OutcomeFailed, sent.Failure.Said
	}
	if err := a.Alerts.Log(ctx, d); err != nil {
		a.Log.Warn("test of a channel not logged", "channel_id", in.ID, "error", err)
	}
	for _, e := range sent.Exchanges {
		out.Body.Exchanges = append(out.Body.Exchanges, exchangeBody{e.Request, e.Sent, e.Status, e.Answer, e.Took.Milliseconds()})
	}
	return out, nil
}

type deliveryBody struct {
	ID         int64           `json:"id"`
	IncidentID nullable[int64] `json:"incident_id" doc:"null: a test"`
	Event      string          `json:"event" enum:"opened,severity,acknowledged,resolved,escalated,reminder,test"`
	Key        string          `json:"key" doc:"the same at every attempt"`
	Attempt    int             `json:"attempt"`
	At         instant         `json:"at"`
	TookMS     int64           `json:"took_ms"`
	Outcome    string          `json:"outcome" enum:"delivered,retry,failed"`
	Status     int             `json:"status" doc:"of HTTP or SMTP; 0: there was no answer"`
	Excerpt    string          `json:"excerpt" doc:"of what was answered, or why there was no answer"`
}

func (a *api) listDeliveries(ctx context.Context, in *struct {
	ChannelPath
	Page
}) (*listOutput[deliveryBody], error) {
	before, err := readIDCursor(in.Cursor)
	if err != nil {
		return nil, err
	}
	if _, err := a.Alerts.Channel(ctx, in.ID); err != nil {
		return nil, err
	}
	found, err := a.Alerts.Deliveries(ctx, in.ID, before, in.Limit+1)
	if err != nil {
		return nil, err
	}
	return pageOf(found, in.Limit, func(d incidentstore.Delivery) deliveryBody {
		body := deliveryBody{ID: d.ID, Event: string(d.Event), Key: d.Key, Attempt: d.Attempt, At: instant(d.At), TookMS: d.Took.Milliseconds(), Outcome: string(d.Outcome), Status: d.Status, Excerpt: d.Excerpt}
		if d.IncidentID != 0 {
			body.IncidentID = some(d.IncidentID)
		}
		return body
	}, func(d incidentstore.Delivery) int64 { return d.ID }), nil
}
