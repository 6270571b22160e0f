package verdictstore_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/probefleet/probefleet/internal/database"
	"github.com/probefleet/probefleet/internal/database/databasetest"
	"github.com/probefleet/probefleet/internal/incidentstore"
	"github.com/probefleet/probefleet/internal/targetstore"
	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/internal/verdict"
	"github.com/probefleet/probefleet/internal/verdictstore"
)

func TestMain(m *testing.M) { testbackend.Main(m) }

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// planner tells channel 1 of every change.
type planner struct{}

func (planner) Plan(c incidentstore.Change, b incidentstore.Book) (all []incidentstore.Notification) {
	for id := range b.Channels {
		all = append(all, incidentstore.Notification{Key: fmt.Sprint(c.Incident.ID, c.Key), IncidentID: c.Incident.ID, ChannelID: id, Event: c.Event.Kind, DueAt: c.Event.At})
	}
	return all
}

type rig struct {
	*testing.T
	*verdictstore.Store
	db        *database.DB
	incidents *incidentstore.Store
	target    int64
	turn      int64
}

func newRig(t *testing.T, db *database.DB) *rig {
	t.Helper()
	r := &rig{T: t, db: db, incidents: incidentstore.New(db, planner{})}
	r.Store = verdictstore.New(db, r.incidents)
	created, err := targetstore.New(db).Create(t.Context(), uptime.Target{Name: "shop", URL: "https://example.com/", Kind: uptime.KindHTTP, Interval: time.Minute, Timeout: time.Second, Active: true})
	r.must(err)
	r.target = created.ID
	_, err = r.incidents.CreateChannel(t.Context(), incidentstore.Channel{Name: "ops", Kind: "webhook", Config: "sealed", Enabled: true}, noon)
	r.must(err)
	return r
}

func (r *rig) must(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

func (r *rig) decision(kind verdict.Kind, after time.Duration, notify verdict.Notify) verdictstore.Decision {
	return verdictstore.Decision{
		Decision: verdict.Decision{Kind: kind, TargetID: r.target, Slot: noon, At: noon.Add(after), Severity: verdict.SeverityDown, Notify: notify, Regions: []string{"eu", "us"}, Why: string(kind)},
		Subject:  incidentstore.Subject{Name: "shop"}, Failure: "status_code", HTTPStatus: 503,
	}
}

func (r *rig) commit(decisions ...verdictstore.Decision) {
	r.Helper()
	turn, err := r.Commit(r.Context(), verdictstore.Commit{Entry: "5-0", Turn: r.turn, At: noon, Decisions: decisions})
	r.must(err)
	r.turn = turn
}

// told is how many notifications there are.
func (r *rig) told() (n int) {
	r.Helper()
	r.must(r.db.Read().WithContext(r.Context()).Raw("SELECT count(*) FROM outbox").Row().Scan(&n))
	return n
}

func TestStatesAndCursorComeBack(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		r := newRig(t, db)
		saved, err := r.Load(t.Context())
		if r.must(err); saved.Entry != "" || saved.Turn != 0 || len(saved.States) != 0 {
			t.Fatalf("%+v", saved)
		}
		rules := verdict.Rules{Interval: time.Minute, Timeout: time.Second, Active: true, Regions: []string{"eu", "us"}}
		state := verdict.NewState(r.target)
		for i, region := range rules.Regions {
			at := noon.Add(time.Duration(i) * time.Millisecond)
			state, _ = verdict.Step(state, rules, verdict.Conditions{}, verdict.Event{At: at, Result: &verdict.Observation{Region: region, Status: uptime.StatusDown, Failure: uptime.FailureStatusCode, HTTPStatus: 503, ScheduledAt: noon, Revision: 1}})
		}
		gone := verdict.NewState(r.target + 99)
		for _, entry := range []string{"5-0", "6-1"} {
			turn, err := r.Commit(t.Context(), verdictstore.Commit{Entry: entry, Turn: r.turn, At: noon, States: []verdict.FoldState{state, gone}})
			r.must(err)
			r.turn = turn
		}
		saved, err = r.Load(t.Context())
		r.must(err)
		if diff := cmp.Diff(verdictstore.Saved{Entry: "6-1", Turn: 2, States: map[int64]verdict.FoldState{r.target: state}}, saved); diff != "" {
			t.Error(diff)
		}
		r.must(db.Write().WithContext(t.Context()).Exec(`UPDATE verdict_states SET state = '{"v":99}'`).Error)
		if saved, err = r.Load(t.Context()); err != nil || len(saved.States) != 0 || len(saved.Unread) != 1 {
			t.Errorf("%+v, %v", saved, err)
		}
	})
}

// What is not known of an outage is no reason not to tell of it, or not to judge any more.
func TestAnOutageThatCannotBeReadIsThere(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		r := newRig(t, db)
		for _, facts := range []string{"{", `{"Slot":5}`, "{}", "null"} {
			r.must(db.Write().WithContext(t.Context()).Exec("DELETE FROM verdict_outages").Error)
			r.must(db.Write().WithContext(t.Context()).Exec("INSERT INTO verdict_outages (target_id, first_slot_ms, told, facts) VALUES (?, ?, ?, ?)", r.target, noon.UnixMilli(), true, facts).Error)
			saved, err := r.Load(t.Context())
			r.must(err)
			if all := saved.Outages; len(all) != 1 || all[0].TargetID != r.target || !all[0].Slot.Equal(noon) || !all[0].Told || !slices.Equal(saved.Alone, []int64{r.target}) {
				t.Errorf("%s: %+v, alone %v", facts, all, saved.Alone)
			}
		}
	})
}

// Who was overtaken changes nothing at all, not even what it decided.
// Of each of many targets the newest are told, in order.
func TestConfirmationsOfMany(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		r := newRig(t, db)
		other, err := targetstore.New(db).Create(t.Context(), uptime.Target{Name: "b", URL: "https://b.example/", Kind: uptime.KindHTTP, Interval: time.Minute, Timeout: time.Second})
		r.must(err)
		var all []verdictstore.Confirmation
		for minute := range 5 {
			at := noon.Add(time.Duration(minute) * time.Minute)
			all = append(all, verdictstore.Confirmation{TargetID: r.target, Slot: at, Region: "us", CheckedAt: at.Add(time.Second), Status: uptime.StatusDown})
		}
		all = append(all, verdictstore.Confirmation{TargetID: other.ID, Slot: noon, Region: "eu", CheckedAt: noon.Add(time.Second), Status: uptime.StatusUp})
		_, err = r.Commit(t.Context(), verdictstore.Commit{Entry: "1-0", At: noon, Confirmations: all})
		r.must(err)
		got, err := r.ConfirmationsOf(t.Context(), []int64{r.target, other.ID, 4711}, noon, all[4].CheckedAt, 2)
		r.must(err)
		if len(got) != 2 || !slices.Equal(got[r.target], all[2:4]) || !slices.Equal(got[other.ID], all[5:]) {
			t.Errorf("%+v", got)
		}
		none, err := r.ConfirmationsOf(t.Context(), nil, noon, all[4].CheckedAt, 2)
		if r.must(err); len(none) != 0 {
			t.Errorf("%+v", none)
		}
	})
}

func TestOvertakenCommitIsNothing(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		r := newRig(t, db)
		r.commit()
		stale := verdictstore.Commit{Entry: "9-0", Turn: r.turn - 1, At: noon, Decisions: []verdictstore.Decision{r.decision(verdict.Opened, 0, verdict.NotifyPage)}, States: []verdict.FoldState{verdict.NewState(r.target)}}
		if _, err := r.Commit(t.Context(), stale); !errors.Is(err, verdictstore.ErrOvertaken) {
			t.Fatal(err)
		}
		saved, err := r.Load(t.Context())
		r.must(err)
		all, err := r.incidents.List(t.Context(), incidentstore.Filter{Limit: 10})
		if r.must(err); saved.Entry != "5-0" || saved.Turn != r.turn || len(saved.States) != 0 || len(all) != 0 || r.told() != 0 {
			t.Errorf("%+v, %d incidents, %d told", saved, len(all), r.told())
		}
	})
}

// What is decided twice, by one evaluator after the other, happens once.
func TestDecisionsBecomeIncidentsOnce(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		r := newRig(t, db)
		degraded := r.decision(verdict.SeverityChanged, 2*time.Minute, verdict.NotifyNobody)
		degraded.Severity = verdict.SeverityDegraded
		for range 2 {
			r.commit(r.decision(verdict.Opened, 0, verdict.NotifyPage), r.decision(verdict.Corrected, time.Minute, verdict.NotifyNobody), degraded,
				r.decision(verdict.FlappingBegan, 3*time.Minute, verdict.NotifyNote), r.decision(verdict.Resolved, 4*time.Minute, verdict.NotifyNote))
		}
		nowhere := r.decision(verdict.Resolved, 5*time.Minute, verdict.NotifyNote)
		nowhere.Slot = noon.Add(time.Hour)
		elsewhere := r.decision(verdict.Opened, 5*time.Minute, verdict.NotifyPage)
		elsewhere.TargetID += 99
		r.commit(r.decision(verdict.Suppressed, 5*time.Minute, verdict.NotifyNobody), nowhere, elsewhere)
		all, err := r.incidents.List(t.Context(), incidentstore.Filter{Limit: 10})
		r.must(err)
		if len(all) != 1 || all[0].Severity != incidentstore.Degraded || !all[0].ResolvedAt.Equal(noon.Add(4*time.Minute)) || all[0].Cause.Failure != "status_code" || all[0].Cause.HTTPStatus != 503 {
			t.Fatalf("%+v", all)
		}
		_, events, err := r.incidents.Get(t.Context(), all[0].ID)
		r.must(err)
		var kinds []incidentstore.Kind
		for _, e := range events {
			kinds = append(kinds, e.Kind)
		}
		if diff := cmp.Diff([]incidentstore.Kind{incidentstore.Opened, incidentstore.Corrected, incidentstore.SeverityChanged, incidentstore.Noted, incidentstore.Resolved}, kinds); diff != "" {
			t.Error(diff)
		}
		if n := r.told(); n != 2 {
			t.Errorf("told %d times, not of the beginning and the end", n)
		}
	})
}
