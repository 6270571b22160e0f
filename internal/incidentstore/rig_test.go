package incidentstore_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/probefleet/probefleet/internal/database"
	"github.com/probefleet/probefleet/internal/database/databasetest"
	"github.com/probefleet/probefleet/internal/incidentstore"
	"github.com/probefleet/probefleet/internal/targetstore"
	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/internal/uptime"
)

func TestMain(m *testing.M) { testbackend.Main(m) }

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// planner tells every channel of the first rule of openings, and whoever was told of the
// rest; escalations come after ten minutes.
type planner struct{ digest string }

func (p planner) Plan(c incidentstore.Change, b incidentstore.Book) (all []incidentstore.Notification) {
	n := incidentstore.Notification{
		IncidentID: c.Incident.ID, Event: c.Event.Kind, Payload: incidentstore.Payload{Event: c.Event.Kind, Says: c.Event.Text, At: c.Event.At},
		Digest: p.digest, TellResolved: true, DueAt: c.Event.At,
	}
	tell := func(channel int64, suffix string) {
		n.ChannelID, n.Key = channel, fmt.Sprintf("%d/%s/%d%s", c.Incident.ID, c.Key, channel, suffix)
		all = append(all, n)
	}
	if c.Event.Kind != incidentstore.Opened {
		for _, t := range b.Told {
			tell(t.ChannelID, "")
		}
		return all
	}
	for _, rule := range b.Rules {
		n.RuleID = rule.ID
		for _, id := range rule.Terms.Channels {
			if b.Channels[id] {
				tell(id, "")
			}
		}
		n.Unless, n.DueAt, n.Event = incidentstore.Acknowledged, c.Event.At.Add(10*time.Minute), incidentstore.Escalated
		for _, id := range rule.Terms.Channels {
			tell(id, "/later")
		}
	}
	return all
}

// rig is a store with a target, two channels and a rule that tells both.
type rig struct {
	*testing.T
	*incidentstore.Store
	db       *database.DB
	targets  []int64
	channels []incidentstore.Channel
	rule     incidentstore.Rule
}

func newRig(t *testing.T, db *database.DB, p planner) *rig {
	t.Helper()
	r := &rig{T: t, Store: incidentstore.New(db, p), db: db}
	targets := targetstore.New(db)
	for n := range 3 {
		created, err := targets.Create(t.Context(), uptime.Target{Name: fmt.Sprint("t", n), URL: "https://example.com/", Kind: uptime.KindHTTP, Interval: time.Minute, Timeout: time.Second, Active: true})
		r.must(err)
		r.targets = append(r.targets, created.ID)
	}
	var ids []int64
	for _, name := range []string{"ops", "boss"} {
		c, err := r.CreateChannel(t.Context(), incidentstore.Channel{Name: name, Kind: "webhook", Config: "sealed", Enabled: true}, noon)
		r.must(err)
		r.channels, ids = append(r.channels, c), append(ids, c.ID)
	}
	var err error
	r.rule, err = r.CreateRule(t.Context(), incidentstore.Rule{Name: "all", Enabled: true, Terms: incidentstore.Terms{Channels: ids}}, noon)
	r.must(err)
	return r
}

func (r *rig) must(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

func (r *rig) tx(fn func(ctx context.Context, tx *gorm.DB) error) {
	r.Helper()
	r.must(r.db.Tx(r.Context(), func(tx *gorm.DB) error { return fn(r.Context(), tx) }))
}

func opening(target int64, after time.Duration) incidentstore.Opening {
	at := noon.Add(after)
	return incidentstore.Opening{
		TargetID: target, FirstSlot: at.Add(-time.Minute), Severity: incidentstore.Down, At: at,
		Subject: incidentstore.Subject{Name: "shop", URL: "https://example.com/", Kind: "http", Tags: []string{"prod"}},
		Cause:   incidentstore.Cause{Explanation: "answers 500 in eu and us", Failure: "status_code", Regions: []string{"eu", "us"}, HTTPStatus: 500},
	}
}

func (r *rig) open(target int, after time.Duration) (i incidentstore.Incident) {
	r.Helper()
	r.tx(func(ctx context.Context, tx *gorm.DB) (err error) {
		i, _, err = r.Open(ctx, tx, opening(r.targets[target], after))
		return err
	})
	return i
}

func (r *rig) resolve(id int64, after time.Duration) (resolved bool) {
	r.Helper()
	r.tx(func(ctx context.Context, tx *gorm.DB) (err error) {
		resolved, err = r.Resolve(ctx, tx, id, noon.Add(after), "answers again")
		return err
	})
	return resolved
}

// claim takes the next batch of a channel for a minute.
func (r *rig) claim(holder string, channel int, after time.Duration) (incidentstore.Batch, bool) {
	r.Helper()
	b, found, err := r.Claim(r.Context(), holder, r.channels[channel].ID, 2, noon.Add(after), noon.Add(after+time.Minute))
	r.must(err)
	return b, found
}

func (r *rig) settle(holder string, b incidentstore.Batch, outcome incidentstore.Outcome, again time.Duration) {
	r.Helper()
	r.must(r.Settle(r.Context(), holder, b, incidentstore.Settlement{At: noon, Took: time.Second, Outcome: outcome, Status: 200, Excerpt: "ok", Again: noon.Add(again)}))
}

// drain delivers what is due for a channel and gives the events, in order.
func (r *rig) drain(channel int, after time.Duration) string {
	r.Helper()
	var all []string
	for {
		b, found := r.claim("drain", channel, after)
		if !found {
			return strings.Join(all, " ")
		}
		for _, n := range b.Notifications {
			all = append(all, fmt.Sprintf("%d:%s", n.IncidentID, n.Event))
		}
		r.settle("drain", b, incidentstore.OutcomeDelivered, 0)
	}
}

// told is a notification as drain gives it.
func (*rig) told(id int64, event incidentstore.Kind) string { return fmt.Sprintf("%d:%s", id, event) }

// timeline is that of an incident, as "opened notified".
func (r *rig) timeline(id int64) string {
	r.Helper()
	_, events, err := r.Get(r.Context(), id)
	r.must(err)
	var kinds []string
	for _, e := range events {
		kinds = append(kinds, string(e.Kind))
	}
	return strings.Join(kinds, " ")
}

func each(t *testing.T, p planner, test func(r *rig)) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) { test(newRig(t, db, p)) })
}

var errBack = errors.New("rolled back")

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func ids(all []incidentstore.Incident) (list []int64) {
	for _, i := range all {
		list = append(list, i.ID)
	}
	return slices.Clip(list)
}
