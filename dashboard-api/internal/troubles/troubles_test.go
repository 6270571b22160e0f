package troubles

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/probefleet/probefleet/dashboard-api/internal/notify"
	"github.com/probefleet/probefleet/internal/database"
	"github.com/probefleet/probefleet/internal/database/databasetest"
	"github.com/probefleet/probefleet/internal/incidentstore"
	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/internal/troublestore"
)

func TestMain(m *testing.M) { testbackend.Main(m) }

// fleet is nodes that look at the same things, of which one leads.
type fleet struct {
	*testing.T
	db     *database.DB
	store  *troublestore.Store
	nodes  []*Teller
	leader int
	now    time.Time
	wrong  []string
	blind  bool // nothing is known
	woken  int
}

func newFleet(t *testing.T, db *database.DB) *fleet {
	t.Helper()
	incidents := incidentstore.New(db, notify.Planner{})
	f := &fleet{T: t, db: db, store: troublestore.New(db, incidents), now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	channel, err := incidents.CreateChannel(t.Context(), incidentstore.Channel{Name: "ops", Kind: "webhook", Config: "sealed", Enabled: true}, f.now)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := incidents.CreateRule(t.Context(), incidentstore.Rule{Name: "all", Enabled: true, Terms: incidentstore.Terms{Channels: []int64{channel.ID}, SendResolved: true}}, f.now); err != nil {
		t.Fatal(err)
	}
	f.nodes = []*Teller{f.node(0), f.node(1)}
	return f
}

func (f *fleet) node(n int) *Teller {
	return New(Options{Leading: func() bool { return f.leader == n }, Look: f.look, Store: f.store, Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return f.now }, Told: func() { f.woken++ }})
}

func (f *fleet) look(context.Context) (found []troublestore.Trouble, known bool) {
	for _, name := range f.wrong {
		found = append(found, troublestore.Trouble{Name: name, Title: name, Says: name + " stands still", Severity: incidentstore.Down})
	}
	return found, !f.blind
}

// pass lets time go by, and says what was told in it.
func (f *fleet) pass(d time.Duration) string {
	f.Helper()
	before := len(f.told())
	for end := f.now.Add(d); f.now.Before(end); f.now = f.now.Add(Every) {
		for _, node := range f.nodes {
			node.once(f.Context())
		}
	}
	return strings.Join(f.told()[before:], ", ")
}

func (f *fleet) told() (all []string) {
	f.Helper()
	err := f.db.Read().Raw("SELECT o.event || ' ' || o.incident_id FROM outbox o ORDER BY o.id").Scan(&all).Error
	if err != nil {
		f.Fatal(err)
	}
	return all
}

func TestTroublesAreToldOnce(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		f := newFleet(t, db)
		for i, c := range []struct {
			change func()
			passes time.Duration
			want   string
		}{
			{func() {}, 5 * time.Minute, ""},
			{func() { f.wrong = []string{"region:us"} }, 50 * time.Second, ""}, // a prober is started again
			{func() { f.wrong = nil }, 10 * time.Second, ""},
			{func() { f.wrong = []string{"region:us"} }, 55 * time.Second, ""}, // and again
			{func() {}, time.Hour, "opened 1"},
			{func() { f.wrong = []string{"publisher", "region:us"} }, 2 * time.Minute, "opened 2"},
			{func() { f.leader = 1 }, 10 * time.Minute, ""},           // another node takes over
			{func() { f.nodes[1] = f.node(1) }, 10 * time.Minute, ""}, // and is started again
			{func() { f.wrong = []string{"region:us"} }, 55 * time.Second, ""},
			{func() { f.wrong = []string{"publisher", "region:us"} }, time.Minute, ""}, // it was back for a moment
			{func() { f.blind, f.wrong = true, nil }, 10 * time.Minute, ""},            // nothing is known
			{func() { f.blind = false }, 30 * time.Second, ""},
			{func() { f.leader = 0 }, time.Minute, ""}, // who takes over looks for himself
			{func() {}, 10 * time.Second, "resolved 2, resolved 1"},
			{func() { f.wrong = []string{"publisher"} }, 2 * time.Minute, "opened 3"}, // once more is another incident
			{func() { f.wrong, f.leader = nil, 7 }, 10 * time.Minute, ""},             // nobody leads
			{func() { f.leader = 0 }, 2 * time.Minute, "resolved 3"},
		} {
			c.change()
			if got := f.pass(c.passes); got != c.want {
				t.Errorf("step %d: told %q, want %q", i, got, c.want)
			}
		}
		if f.woken != 6 {
			t.Errorf("%d times there was something to tell", f.woken)
		}
		var texts []string
		if err := db.Read().Raw("SELECT text FROM incident_events WHERE incident_id = 1 ORDER BY id").Scan(&texts).Error; err != nil || !slices.ContainsFunc(texts, func(s string) bool { return strings.HasPrefix(s, "It is well again, since 2026-03-01 ") }) {
			t.Errorf("%q, %v", texts, err)
		}
	})
}

// Nodes that cannot evaluate hand the lease to each other: that is told all the same. One that
// stood still counts anew.
func TestWhoLosesTheLeaseForAMomentGoesOn(t *testing.T) {
	t.Parallel()
	f := newFleet(t, databasetest.Open(t, testbackend.SQLite(t)))
	f.wrong = []string{"evaluator"}
	told := ""
	for n := range 20 {
		f.leader = n % 2
		told += f.pass(Every)
	}
	if told != "opened 1" {
		t.Errorf("told %q", told)
	}
	f.wrong = []string{"evaluator", "publisher"}
	if got := f.pass(30 * time.Second); got != "" {
		t.Errorf("told %q", got)
	}
	f.now = f.now.Add(time.Hour)
	if got := f.pass(50 * time.Second); got != "" {
		t.Errorf("after it stood still: %q", got)
	}
	if got := f.pass(20 * time.Second); got != "opened 2" {
		t.Errorf("told %q", got)
	}
}
