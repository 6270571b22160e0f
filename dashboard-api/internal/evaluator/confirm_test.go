package evaluator

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/database"
	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/internal/verdictstore"
)

// asked waits for the visit that a region is asked for.
func (r *rig) asked(region string) (end *checkstream.AdhocConsumer, visit checkstream.VisitEntry) {
	r.Helper()
	end = checkstream.NewConfirmConsumer(r.redis, region, "p1")
	r.await(region+" is asked", func() bool {
		entries, err := end.Read(r.Context(), 10, 0)
		if err != nil {
			r.Fatal(err)
		}
		if len(entries) > 1 {
			r.Fatalf("%s is asked for %+v", region, entries)
		}
		if len(entries) == 1 {
			visit = entries[0]
		}
		return len(entries) == 1
	})
	return end, visit
}

func (r *rig) settle(end *checkstream.AdhocConsumer, visit checkstream.VisitEntry, status uptime.Status) {
	r.Helper()
	look := uptime.Look{Prober: "p1", CheckedAt: time.Now().UTC(), Status: status}
	switch status {
	case uptime.StatusDown:
		look.Failure, look.HTTPStatus = uptime.FailureStatusCode, 503
	case uptime.StatusUnknown:
		look.Reason = uptime.ReasonProbeBlind
	}
	if err := end.Settle(r.Context(), visit, checkstream.VisitOutcome{Look: look}); err != nil {
		r.Fatal(err)
	}
}

// A site fails just after another region found it well: that region is asked at once, and
// need not wait for its next slot.
func TestAnotherRegionIsAskedAtOnce(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, db *database.DB) {
		r := newRig(t, db, 1)
		defer r.run()()
		id := r.targets[0].Target.ID
		r.say(id, uptime.StatusUp)
		slot := r.next(id, "eu", uptime.StatusDown)
		r.announce(slot)
		r.announce(r.next(id, "us", uptime.StatusUp))
		end, visit := r.asked("us")
		if visit.URL != r.targets[0].Target.URL || visit.Timeout != time.Second || visit.Attempt != 1 {
			t.Errorf("asked for %+v", visit)
		}
		if n := len(r.all()); n != 0 {
			t.Fatalf("%d incidents before anybody confirmed", n)
		}
		r.settle(end, visit, uptime.StatusDown)
		r.await("an incident is open", func() bool { return len(r.all()) == 1 })
		r.folded()
		kept, err := r.store.Confirmations(t.Context(), id, time.Time{}, time.Now().Add(time.Hour), 10)
		if err != nil || len(kept) != 1 || !kept[0].Slot.Equal(slot.ScheduledAt) || kept[0].Region != "us" || kept[0].Status != uptime.StatusDown || kept[0].HTTPStatus != 503 {
			t.Errorf("kept: %+v, %v", kept, err)
		}

		// It goes on failing in one region, and is well again in both: nobody is asked again.
		r.announce(r.next(id, "eu", uptime.StatusDown), r.next(id, "us", uptime.StatusDown))
		r.say(id, uptime.StatusUp)
		r.await("it is over", func() bool { return !r.all()[0].Open() })
		for _, region := range regions {
			if entries, err := checkstream.NewConfirmConsumer(r.redis, region, "p1").Read(t.Context(), 10, 0); err != nil || len(entries) > 0 {
				t.Errorf("%s is asked for %+v, %v", region, entries, err)
			}
		}
		if n := len(r.all()); n != 1 {
			t.Errorf("%d incidents", n)
		}
	})
}

func TestWhoDoesNotSeeItOpensNothing(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, db *database.DB) {
		r := newRig(t, db, 2)
		defer r.run()()
		for n, status := range []uptime.Status{uptime.StatusUp, uptime.StatusUnknown} {
			id := r.targets[n].Target.ID
			r.say(id, uptime.StatusUp)
			r.announce(r.next(id, "eu", uptime.StatusDown))
			lane, visit := r.asked("us")
			r.settle(lane, visit, status)
			r.announce(r.next(id, "us", uptime.StatusUp))
			r.folded()
			if n := len(r.all()); n != 0 {
				t.Errorf("%v: %d incidents", status, n)
			}
			kept, err := r.store.Confirmations(t.Context(), id, time.Time{}, time.Now().Add(time.Hour), 10)
			if err != nil || len(kept) != 1 || kept[0].Status != status {
				t.Errorf("kept: %+v, %v", kept, err)
			}
		}
	})
}

// What was folded and not committed is folded again: a confirmation is kept once.
func TestConfirmationIsKeptOnce(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, db *database.DB) {
		r := newRig(t, db, 1)
		saved, err := r.store.Load(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		c := verdictstore.Confirmation{TargetID: r.targets[0].Target.ID, Slot: r.began, Region: "us", Prober: "p1", CheckedAt: r.began.Add(time.Second), Status: uptime.StatusDown}
		gone := c
		gone.TargetID += 99
		for range 2 {
			saved.Turn, err = r.store.Commit(t.Context(), verdictstore.Commit{Entry: "5-0", Turn: saved.Turn, At: r.began, Confirmations: []verdictstore.Confirmation{c, gone}})
			if err != nil {
				t.Fatal(err)
			}
		}
		count := func() int {
			kept, err := r.store.Confirmations(t.Context(), c.TargetID, time.Time{}, time.Now().Add(time.Hour), 10)
			if err != nil {
				t.Fatal(err)
			}
			return len(kept)
		}
		if n := count(); n != 1 {
			t.Errorf("%d are kept", n)
		}
		if err := r.store.ForgetConfirmations(t.Context(), c.CheckedAt); err != nil || count() != 1 {
			t.Errorf("too early: %v, %d are kept", err, count())
		}
		if err := r.store.ForgetConfirmations(t.Context(), c.CheckedAt.Add(time.Millisecond)); err != nil || count() != 0 {
			t.Errorf("%v, %d are kept", err, count())
		}
	})
}

// Nobody is asked about what failed a while ago, or by whom nobody else looks.
func TestOnlyNewsIsAskedAbout(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, db *database.DB) {
		r := newRig(t, db, 2)
		r.targets[1].Rules.Regions = regions[:1]
		f := newFold(verdictstore.Saved{})
		f.judge(r.targets, nil, r.began)
		visits := make(chan []checkstream.Visit, 10)
		for n, late := range []time.Duration{0, confirmWithin + time.Second} {
			for _, w := range r.targets {
				at := r.began.Add(time.Duration(2*n) * time.Hour)
				up, other, down := r.next(w.Target.ID, "eu", uptime.StatusUp), r.next(w.Target.ID, "us", uptime.StatusUp), r.next(w.Target.ID, "eu", uptime.StatusDown)
				up.ScheduledAt, other.ScheduledAt, down.ScheduledAt = at, at.Add(time.Hour), at.Add(time.Hour)
				f.take(entry{id: "1-0", at: up.ScheduledAt, results: []uptime.Result{up}})
				f.take(entry{id: "2-0", at: down.ScheduledAt, results: []uptime.Result{other, down}})
				f.ask(visits, down.ScheduledAt.Add(late))
			}
		}
		if len(visits) != 1 {
			t.Errorf("%d are asked for", len(visits))
		}
	})
}

// The first results of a target may come before the evaluator knows that there is one.
func TestResultsWaitForTheirTarget(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, db *database.DB) {
		r := newRig(t, db, 2)
		id, old := r.targets[0].Target.ID, r.targets[1:]
		f := newFold(verdictstore.Saved{})
		f.judge(old, nil, r.began)
		say := func(after time.Duration) {
			for _, region := range regions {
				f.take(entry{id: "1-0", at: r.began.Add(after), results: []uptime.Result{r.next(id, region, uptime.StatusDown)}})
			}
		}
		say(0)
		f.judge(old, nil, r.began.Add(2*time.Second))
		f.judge(r.targets, nil, r.began.Add(2*time.Second))
		if len(f.decisions) != 1 || !f.decisions[0].At.Equal(r.began) || len(f.orphans) != 0 {
			t.Errorf("%+v; %d results wait", f.decisions, len(f.orphans))
		}

		f = newFold(verdictstore.Saved{}) // of a target that is gone
		say(0)
		say(orphanFor + time.Second)
		if len(f.orphans) != 2 {
			t.Errorf("%d results wait", len(f.orphans))
		}
		for range mostOrphans {
			f.keep(&uptime.Result{TargetID: id}, r.began.Add(orphanFor+time.Second))
		}
		if n := len(f.orphans); n > mostOrphans {
			t.Errorf("%d results wait", n)
		}
	})
}

// lane has room for so many.
type lane struct{ room, asked int }

func (l *lane) Add(_ context.Context, visits []checkstream.Visit) error {
	if len(visits) > l.room {
		return checkstream.ErrLaneFull
	}
	l.room -= len(visits)
	l.asked += len(visits)
	return nil
}

// Of more than there is room for, as many are asked as there is.
func TestAsManyAreAskedAsThereIsRoomFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := &lane{room: 550}
		e := New(Options{Confirm: l, Log: slog.New(slog.DiscardHandler)})
		ctx, stop := context.WithCancel(t.Context())
		visits := make(chan []checkstream.Visit, 1)
		ended := make(chan struct{})
		go func() { defer close(ended); e.asking(ctx, visits) }()
		visits <- make([]checkstream.Visit, 1000)
		synctest.Wait()
		stop()
		<-ended
		if l.asked != 500 {
			t.Errorf("%d were asked for", l.asked)
		}
	})
}

var _ Confirmer = (*checkstream.Adhoc)(nil)
