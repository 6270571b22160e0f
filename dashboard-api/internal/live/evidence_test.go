package live

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/internal/verdict"
)

// Nothing of a deleted target leaves the hub after Remove: not for a reader that is
// behind, not for one that resumes, not by late results, not by a late read of its row.
func TestRemovedIsNeverHeardOfAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := run(t)
		h.Load([]uptime.Target{target(5), target(6)}, nil, []string{"eu"})
		frameNow()
		behind, before, _, _ := h.Subscribe("targets", nil)
		only, _, _, _ := h.Subscribe("target:5", nil)
		start := time.Now()
		h.Apply([]uptime.Result{result(5, "eu", start, uptime.StatusUp), result(6, "eu", start, uptime.StatusUp)})
		frameNow()                                                                           // in the feed, and read by nobody yet
		h.Apply([]uptime.Result{result(5, "eu", start.Add(time.Second), uptime.StatusDown)}) // waits for its frame
		h.Remove(5)
		resumed, _, recovered, _ := h.Subscribe("targets", &before)
		if !recovered {
			t.Fatal("not resumed")
		}
		check := func(when string, s *Subscription, removals int, upserts ...float64) {
			t.Helper()
			message := s.Poll()
			if message == nil {
				if removals+len(upserts) > 0 {
					t.Fatalf("%s: nothing", when)
				}
				return
			}
			for _, op := range decode(t, message).Ops {
				if op.Op == "remove" && op.ID == 5.0 && removals > 0 {
					removals--
				} else if len(upserts) > 0 && op.ID == upserts[0] {
					upserts = upserts[1:]
				} else {
					t.Fatalf("%s: %s %v", when, op.Op, op.ID)
				}
			}
			if removals+len(upserts) > 0 {
				t.Fatalf("%s: only %s", when, message)
			}
		}
		check("a reader that is behind", behind, 1, 6)
		check("a reader that resumes", resumed, 1, 6)
		check("a reader of it alone", only, 1)
		for range 20 {
			pass(time.Second)
			h.Apply([]uptime.Result{result(5, "eu", time.Now(), uptime.StatusUp)})
			h.Upsert(target(5))
			frameNow()
			for _, s := range []*Subscription{behind, resumed, only} {
				for _, op := range ops(t, s) {
					if op == 5.0 {
						t.Fatal("the target came back")
					}
				}
			}
		}
	})
}

func ops(t *testing.T, s *Subscription) (ids []any) {
	t.Helper()
	if message := s.Poll(); message != nil {
		for _, op := range decode(t, message).Ops {
			ids = append(ids, op.ID)
		}
	}
	return ids
}

// A process that was frozen is asked before its own clocks had a turn.
//
// Promise: no snapshot is green on old evidence
func TestNoSnapshotIsGreenOnOldEvidence(t *testing.T) {
	t.Parallel()
	now := time.Now()
	h := New(Options{Now: func() time.Time { return now }}) // not running
	h.Load([]uptime.Target{target(1), target(2)}, []uptime.Result{result(1, "eu", now, uptime.StatusUp), result(2, "eu", now, uptime.StatusDown)}, []string{"eu"})
	if got := h.Snapshot().Items; got[0].State != verdict.StateUp || got[1].State != verdict.StateDown {
		t.Fatalf("%s and %s with fresh evidence", got[0].State, got[1].State)
	}
	sub, _, _, _ := h.Subscribe("targets", nil)
	now = now.Add(5 * time.Minute)
	h.flush(0)
	for _, op := range decode(t, sub.Poll()).Ops {
		if op.Item.State != verdict.StateNoData {
			t.Errorf("a frame shows target %v as %s", op.ID, op.Item.State)
		}
	}
	for _, item := range h.Snapshot().Items {
		if item.State != verdict.StateNoData || item.RegionStates[0].Fresh {
			t.Errorf("five minutes later target %d is %s", item.ID, item.State)
		}
	}
}

// What was seen of another URL says nothing of this one, not even when it was handed out before
// and comes later.
func TestNothingIsGreenByWhatItWasBefore(t *testing.T) {
	t.Parallel()
	for name, policy := range map[string]string{"by default": "", "counting": `{"down_after":2}`} {
		t.Run(name, func(t *testing.T) {
			now := time.Now().Truncate(time.Millisecond)
			h := New(Options{Now: func() time.Time { return now }})
			watched := target(5)
			watched.Policy = uptime.PolicyText(policy)
			up := func() []uptime.Result { return []uptime.Result{result(5, "eu", now, uptime.StatusUp)} }
			h.Load([]uptime.Target{watched}, up(), []string{"eu"})
			is := func(when string, want verdict.State) {
				t.Helper()
				if got := h.Snapshot().Items[0]; got.State != want || len(got.RegionStates) > 0 && got.RegionStates[0].Fresh != (want == verdict.StateUp) {
					t.Errorf("%s: %s, %s, %+v", when, got.State, got.Why, got.RegionStates)
				}
			}
			is("at first", verdict.StateUp)
			now = now.Add(time.Second)
			watched.Name, watched.SpecVersion = "other", 2
			h.Upsert(watched)
			is("with another name", verdict.StateUp)
			watched.URL, watched.SpecVersion, watched.VisitedSince = "https://other.example/", 3, now
			h.Upsert(watched)
			now = now.Add(time.Second)
			is("with another URL", verdict.StateNoData)
			h.Apply(up())
			is("by what was handed out before", verdict.StateNoData)
			before := up()
			old := now
			now = now.Add(4 * time.Second)
			h.Confirm(5, old, &uptime.Look{Region: "eu", CheckedAt: now, Status: uptime.StatusUp})
			is("by a region that was asked about what was seen before", verdict.StateNoData)
			h.Apply(up())
			is("by what came of it", verdict.StateUp)
			h = New(Options{Now: func() time.Time { return now }})
			h.Load([]uptime.Target{watched}, before, []string{"eu"})
			is("after a restart", verdict.StateNoData)
		})
	}
}

// What a region saw that was asked to look again counts like a result, and is no tick.
func TestConfirmationIsEvidence(t *testing.T) {
	t.Parallel()
	for name, policy := range map[string]string{"by default": "", "counting": `{"up_after":2}`} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := run(t)
				watched := target(5)
				watched.Policy = uptime.PolicyText(policy)
				h.Load([]uptime.Target{watched}, nil, []string{"eu", "us"})
				slot := time.Now()
				h.Apply([]uptime.Result{result(5, "us", slot, uptime.StatusUp), result(5, "eu", slot, uptime.StatusDown)})
				pass(time.Second)
				item := func() Target { return h.Snapshot().Items[0] }
				if got := item(); got.State != verdict.StateDegraded {
					t.Fatalf("with one of two: %s, %s", got.State, got.Why)
				}
				look := uptime.Look{Region: "us", CheckedAt: time.Now(), Status: uptime.StatusUnknown, Reason: uptime.ReasonProbeBlind}
				h.Confirm(5, slot, &look)
				h.Confirm(6, slot, &look)
				if got := item(); got.State != verdict.StateDegraded {
					t.Errorf("a blind prober confirmed: %s", got.State)
				}
				look.Status, look.Reason, look.Failure = uptime.StatusDown, "", uptime.FailureTimeout
				h.Confirm(5, slot, &look)
				if got := item(); got.State != verdict.StateDown || !got.Since.Equal(slot) || len(got.Ticks) != 2 {
					t.Errorf("confirmed: %s since %v, %d ticks", got.State, got.Since, len(got.Ticks))
				}
				pass(10 * time.Second)
				h.Apply([]uptime.Result{result(5, "us", time.Now(), uptime.StatusUp), result(5, "eu", time.Now(), uptime.StatusUp)})
				if got := item(); name == "by default" && got.State != verdict.StateUp {
					t.Errorf("well again: %s", got.State)
				}
			})
		})
	}
}
