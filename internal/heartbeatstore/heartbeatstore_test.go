package heartbeatstore_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/database"
	"github.com/probefleet/probefleet/internal/database/databasetest"
	"github.com/probefleet/probefleet/internal/heartbeat"
	"github.com/probefleet/probefleet/internal/heartbeatstore"
	"github.com/probefleet/probefleet/internal/ledger"
	"github.com/probefleet/probefleet/internal/schedulestore"
	"github.com/probefleet/probefleet/internal/targetstore"
	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/internal/uptime"
)

func TestMain(m *testing.M) { testbackend.Main(m) }

var _ ledger.Pushes = (*heartbeatstore.Store)(nil)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func target(name string) uptime.Target {
	return uptime.Target{Name: name, URL: "heartbeat://" + name, Kind: uptime.KindHeartbeat, Interval: 10 * time.Minute, Timeout: 10 * time.Second, Active: true,
		Spec: uptime.Spec{Heartbeat: &uptime.HeartbeatSpec{PeriodS: 600, GraceS: 60}}}
}

// rig is a store with one heartbeat, whose token's hash is "hash", begun at noon.
type rig struct {
	*testing.T
	*heartbeatstore.Store
	targets *targetstore.Store
	db      *database.DB
	id      int64
}

func newRig(t *testing.T, db *database.DB) *rig {
	t.Helper()
	r := &rig{T: t, Store: heartbeatstore.New(db), targets: targetstore.New(db), db: db}
	created, err := r.targets.Create(t.Context(), target("job"))
	if err != nil {
		t.Fatal(err)
	}
	r.id = created.ID
	r.must(r.Ensure(t.Context(), r.id, heartbeatstore.Token{Hash: "hash", Sealed: "sealed"}))
	r.settle(0)
	return r
}

func (r *rig) must(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

func (r *rig) settle(after time.Duration) int {
	r.Helper()
	n, err := r.Settle(r.Context(), r.id, noon.Add(after))
	r.must(err)
	return n
}

func (r *rig) ping(after time.Duration, signal heartbeat.Signal) {
	r.Helper()
	_, err := r.Ping(r.Context(), "hash", heartbeat.Ping{At: noon.Add(after), Signal: signal})
	r.must(err)
}

// rows are those that wait, as "10m0s down(timeout)".
func (r *rig) rows() string {
	r.Helper()
	rows, err := r.Rows(r.Context(), 10_000)
	r.must(err)
	var all []string
	for _, row := range rows {
		word := fmt.Sprintf("%v %s", row.ScheduledAt.Sub(noon), row.Status)
		if why := string(row.Failure) + string(row.Reason); why != "" {
			word += "(" + why + ")"
		}
		all = append(all, word)
	}
	return strings.Join(all, "; ")
}

func (r *rig) want(rows string) {
	r.Helper()
	if got := r.rows(); got != rows {
		r.Errorf("\n%s, want\n%s", got, rows)
	}
}

// TestLifeOfAHeartbeat goes through it all, on both engines.
func TestLifeOfAHeartbeat(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		r := newRig(t, db)
		leading, err := r.Watch(t.Context(), "a", noon)
		r.must(err)
		if other, err := r.Watch(t.Context(), "b", noon.Add(9*time.Second)); err != nil || !leading || other {
			t.Errorf("a %v, b %v %v", leading, other, err)
		}
		r.ping(5*time.Minute, heartbeat.Start)
		r.ping(6*time.Minute, heartbeat.Success)
		r.want("6m0s up")
		for _, holder := range []string{"b", "a", "b"} { // nobody's lease is asked for here
			r.settle(17 * time.Minute)
			r.must(r.Release(t.Context(), holder))
		}
		const soFar = "6m0s up; 16m0s missed(region_down)" // no sign of life for longer than half a minute
		r.want(soFar)
		if b, err := r.Watch(t.Context(), "b", noon.Add(17*time.Minute)); err != nil || !b {
			t.Errorf("b does not take over: %v", err)
		}
		for at := 17 * time.Minute; at <= 28*time.Minute; at += 9 * time.Second {
			if b, err := r.Watch(t.Context(), "b", noon.Add(at)); err != nil || !b {
				t.Fatalf("b lost it: %v", err)
			}
		}
		if n := r.settle(28 * time.Minute); n != 1 {
			t.Errorf("%d deadlines passed", n)
		}
		r.ping(28*time.Minute+time.Second, heartbeat.Fail)
		r.want(soFar + "; 26m0s down(timeout); 28m1s down(reported)")
		waiting, expected, overdue, err := r.Pushed(t.Context(), noon, noon.Add(time.Hour), noon.Add(30*time.Minute))
		if err != nil || waiting != 4 || expected != 1 || overdue != 0 {
			t.Errorf("waiting %d, expected %d, overdue %d: %v", waiting, expected, overdue, err)
		}
		if _, _, overdue, err := r.Pushed(t.Context(), noon, noon.Add(time.Hour), noon.Add(45*time.Minute)); err != nil || overdue != 1 {
			t.Errorf("overdue %d %v", overdue, err)
		}
		if due, err := r.Due(t.Context(), noon.Add(40*time.Minute), 10); err != nil || len(due) != 1 || due[0] != r.id {
			t.Errorf("due %v %v", due, err)
		}
		rows, err := r.Rows(t.Context(), 2)
		r.must(err)
		r.must(r.Done(t.Context(), rows))
		r.must(r.Done(t.Context(), rows)) // killed after it, and again
		r.want("26m0s down(timeout); 28m1s down(reported)")

		r.must(r.targets.Delete(t.Context(), r.id, 0))
		r.want("")
		if _, err := r.Ping(t.Context(), "hash", heartbeat.Ping{At: noon}); !errors.Is(err, heartbeatstore.ErrNotFound) {
			t.Errorf("a ping of a deleted target: %v", err)
		}
	})
}

// TestOnceWhoeverLooks: many nodes that judge and take pings in at once leave one row for
// each expectation.
func TestOnceWhoeverLooks(t *testing.T) {
	t.Parallel()
	r := newRig(t, databasetest.Open(t, testbackend.SQLite(t)))
	var together sync.WaitGroup
	for range 8 {
		together.Go(func() {
			_, err := r.Settle(context.WithoutCancel(t.Context()), r.id, noon.Add(12*time.Minute))
			if err != nil {
				t.Error(err)
			}
		})
		together.Go(func() { r.ping(12*time.Minute, heartbeat.Success) })
	}
	together.Wait()
	r.want("10m0s down(timeout); 12m0s up")
}

// TestAPingThatWasCutOff: what was not committed left nothing, and the ping that is made
// again is as good as the first.
func TestAPingThatWasCutOff(t *testing.T) {
	t.Parallel()
	r := newRig(t, databasetest.Open(t, testbackend.SQLite(t)))
	cut, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Ping(cut, "hash", heartbeat.Ping{At: noon.Add(time.Minute)}); err == nil {
		t.Error("answered")
	}
	r.want("")
	r.ping(time.Minute, heartbeat.Success) // committed, and the answer was lost:
	r.ping(time.Minute, heartbeat.Success) // the same once more
	r.want("1m0s up")
}

// TestEdits: a new schedule begins anew, another name does not, a pause ends it.
func TestEdits(t *testing.T) {
	t.Parallel()
	r := newRig(t, databasetest.Open(t, testbackend.SQLite(t)))
	edit := func(change func(*uptime.Target)) {
		t.Helper()
		_, err := r.targets.Update(t.Context(), r.id, 0, func(t *uptime.Target) error { change(t); return nil })
		r.must(err)
		if ids, err := r.Changed(t.Context(), 10); err != nil || len(ids) != 1 {
			t.Errorf("changed: %v %v", ids, err)
		}
	}
	expected := func(want time.Duration) {
		t.Helper()
		h, err := r.Get(t.Context(), r.id)
		r.must(err)
		if !h.Expected.Equal(noon.Add(want)) {
			t.Errorf("expected at %v, want %v", h.Expected, noon.Add(want))
		}
		if ids, err := r.Changed(t.Context(), 10); err != nil || len(ids) != 0 {
			t.Errorf("still changed: %v %v", ids, err)
		}
	}
	edit(func(t *uptime.Target) { t.Name = "other" })
	r.settle(time.Minute)
	expected(10 * time.Minute)
	edit(func(t *uptime.Target) { t.Spec.Heartbeat = &uptime.HeartbeatSpec{PeriodS: 1200, GraceS: 60} })
	r.settle(2 * time.Minute)
	expected(22 * time.Minute)
	edit(func(t *uptime.Target) { t.Active = false })
	r.settle(3 * time.Minute)
	if h, err := r.Get(t.Context(), r.id); err != nil || !h.Expected.IsZero() || !h.Paused {
		t.Errorf("%+v %v", h, err)
	}
	edit(func(t *uptime.Target) { t.Active = true })
	r.settle(24 * time.Hour) // nothing was expected meanwhile
	expected(24*time.Hour + 20*time.Minute)
	r.want("")
}

// TestLongAway: a backlog of passed deadlines is made up for in pieces, and a ping waits
// for that rather than be taken for another one.
func TestLongAway(t *testing.T) {
	t.Parallel()
	r := newRig(t, databasetest.Open(t, testbackend.SQLite(t)))
	const away = 1005 * 10 * time.Minute // a little less than seven days
	if _, err := r.Ping(t.Context(), "hash", heartbeat.Ping{At: noon.Add(away)}); !errors.Is(err, heartbeatstore.ErrBehind) {
		t.Errorf("%v", err)
	}
	r.ping(away, heartbeat.Success)
	rows, err := r.Rows(t.Context(), 2000)
	r.must(err)
	if len(rows) != 1005 || rows[1003].Status != uptime.StatusDown || rows[1004].Status != uptime.StatusUp {
		t.Errorf("%d rows", len(rows))
	}
	seen := map[uptime.Slot]bool{}
	for _, row := range rows {
		if seen[row.Slot()] {
			t.Errorf("twice: %v", row.ScheduledAt)
		}
		seen[row.Slot()] = true
	}
}

// TestNothingIsPublished: the schedule of a heartbeat is inactive, so no publisher plans it.
func TestNothingIsPublished(t *testing.T) {
	t.Parallel()
	r := newRig(t, databasetest.Open(t, testbackend.SQLite(t)))
	n := 0
	r.must(schedulestore.New(r.db).EachVersion(t.Context(), 0, func(v schedulestore.Version) error {
		if n++; v.Schedule.Active {
			t.Errorf("version %+v", v)
		}
		return nil
	}))
	if n != 1 {
		t.Errorf("%d versions", n)
	}
	for _, name := range []string{"push", "ext-office"} {
		if _, err := schedulestore.New(r.db).AddRegion(t.Context(), name); !errors.Is(err, schedulestore.ErrReserved) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestAwayForLongerThanResultsAreKept: what could not be stored is not made up for.
func TestAwayForLongerThanResultsAreKept(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		r := newRig(t, db)
		r.Keeping(func() time.Duration { return 2 * 24 * time.Hour })
		const away = 10 * 24 * time.Hour
		r.settle(away)
		rows, err := r.Rows(t.Context(), 10_000)
		r.must(err)
		oldest := noon.Add(away - 24*time.Hour)
		if len(rows) == 0 || rows[0].ScheduledAt.Before(oldest) || rows[0].ScheduledAt.After(oldest.Add(time.Hour)) {
			t.Errorf("%d rows, the first of %v, want those from %v on", len(rows), rows[0].ScheduledAt, oldest)
		}
	})
}

// TestAClockThatWasAhead: what was noted by it binds nobody once it is right again.
func TestAClockThatWasAhead(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		r := newRig(t, db)
		_, err := r.targets.Update(t.Context(), r.id, 0, func(t *uptime.Target) error {
			t.Spec.Heartbeat = &uptime.HeartbeatSpec{Cron: "0 * * * *", GraceS: 60}
			return nil
		})
		r.must(err)
		leads := func(holder string, after time.Duration) {
			t.Helper()
			if leading, err := r.Watch(t.Context(), holder, noon.Add(after)); err != nil || !leading {
				t.Errorf("%s does not lead at %v: %v", holder, after, err)
			}
		}
		const ahead = 48 * time.Hour
		leads("before", ahead)
		r.settle(ahead)             // an edit: what is expected begins anew, two days from now
		leads("after", time.Second) // the one before was killed, and the clock set
		r.ping(30*time.Minute, heartbeat.Success)
		h, err := r.Get(t.Context(), r.id)
		r.must(err)
		if !h.Expected.Equal(noon.Add(time.Hour)) {
			t.Errorf("expected at %v", h.Expected)
		}
		leads("after", 30*time.Minute+10*time.Second)
		r.settle(90 * time.Minute) // no sign of life for an hour
		r.want("30m0s up; 1h0m0s missed(region_down)")
	})
}

// TestAnotherKindMeanwhile: nothing is expected of the time in which it was no heartbeat.
func TestAnotherKindMeanwhile(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		r := newRig(t, db)
		edit := func(kind uptime.Kind, url string, spec uptime.Spec) {
			t.Helper()
			_, err := r.targets.Update(t.Context(), r.id, 0, func(t *uptime.Target) error {
				t.Kind, t.URL, t.Spec = kind, url, spec
				return nil
			})
			r.must(err)
			_, err = r.Changed(t.Context(), 10)
			r.must(err)
		}
		was := target("job")
		edit(uptime.KindHTTP, "https://job.example/", uptime.Spec{})
		if due, err := r.Due(t.Context(), noon.Add(time.Hour), 10); err != nil || len(due) != 0 {
			t.Errorf("due %v: %v", due, err)
		}
		edit(was.Kind, was.URL, was.Spec)
		r.settle(24 * time.Hour)
		r.want("")
		r.ping(24*time.Hour+time.Minute, heartbeat.Success) // its address is the same
		r.want("24h1m0s up")
	})
}

// A newer release has written when it pings: nothing is expected, no ping is taken for good and none for missing,
// and with a release that reads it all begins anew.
func TestOneThatCannotBeReadIsNotMissing(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		r := newRig(t, db)
		write := func(spec string) {
			t.Helper()
			r.must(db.Write().Exec("UPDATE targets SET spec = ? WHERE id = ?", spec, r.id).Error)
		}
		r.ping(9*time.Minute, heartbeat.Success)
		r.want("9m0s up")
		for _, text := range []string{`{"heartbeat":{"period_s":600,"grace_s":60,"later":1}}`, `{}`, `{"heartbeat":{"grace_s":60}}`} {
			write(text)
			if _, err := r.Settle(t.Context(), r.id, noon.Add(time.Hour)); !errors.Is(err, heartbeatstore.ErrUnread) {
				t.Errorf("%s: settled: %v", text, err)
			}
			if _, err := r.Ping(t.Context(), "hash", heartbeat.Ping{At: noon.Add(time.Hour)}); !errors.Is(err, heartbeatstore.ErrUnread) {
				t.Errorf("%s: pinged: %v", text, err)
			}
			if due, err := r.Due(t.Context(), noon.Add(48*time.Hour), 10); err != nil || len(due) != 0 {
				t.Errorf("%s: due %v %v", text, due, err)
			}
			if changed, err := r.Changed(t.Context(), 10); err != nil || len(changed) != 1 {
				t.Errorf("%s: nobody looks whether it can be read again: %v %v", text, changed, err)
			}
		}
		if h, err := r.Get(t.Context(), r.id); err != nil || h.Pings != 4 {
			t.Errorf("%+v %v", h, err)
		}
		write(`{"heartbeat":{"period_s":600,"grace_s":60}}`)
		r.settle(2 * time.Hour)
		r.want("9m0s up")
		r.settle(2*time.Hour + 12*time.Minute)
		r.want("9m0s up; 2h10m0s down(timeout)")
	})
}
