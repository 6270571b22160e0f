package live

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/internal/verdict"
)

// A window begins and ends on time without a result, and what lies beneath it is as before.
func TestMaintenanceIsShownFromEdgeToEdge(t *testing.T) {
	t.Parallel()
	for name, policy := range map[string]string{"by default": "", "counting": `{"down_after":2}`} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := run(t)
				long := target(1)
				long.Interval, long.Policy = 24*time.Hour, uptime.PolicyText(policy)
				slot := time.Now()
				h.Load([]uptime.Target{long, target(2)}, []uptime.Result{result(1, "eu", slot, uptime.StatusUp)}, []string{"eu"})
				pass(500 * time.Millisecond)
				window := verdict.Span{From: time.Now().Add(10 * time.Second), To: time.Now().Add(30 * time.Second)}
				next := verdict.Span{From: window.To, To: window.To.Add(10 * time.Second)}
				h.SetMaintenance(func(id int64, _ time.Duration) []verdict.Span {
					if id == 1 {
						return []verdict.Span{window, next}
					}
					return nil
				})
				sub, _, _, _ := h.Subscribe("target:1", nil)
				frameNow()
				sub.Poll()
				item := func() Target { return h.Snapshot().Items[0] }
				before := item()
				if before.State != verdict.StateUp {
					t.Fatalf("before it: %s, %s", before.State, before.Why)
				}
				shown := func(state verdict.State) (op Target) {
					t.Helper()
					message := sub.Poll()
					if message == nil {
						t.Fatal("readers are told nothing")
					}
					ops := decode(t, message).Ops
					if op = ops[len(ops)-1].Item; op.State != state {
						t.Fatalf("readers are told %s, %s", op.State, op.Why)
					}
					return op
				}
				pass(time.Until(window.From) - time.Millisecond)
				if got := item(); got.State != verdict.StateUp {
					t.Errorf("a moment before: %s", got.State)
				}
				pass(time.Millisecond)
				if got := item(); got.State != verdict.StateMaintenance || !got.Since.Equal(window.From) || !strings.HasPrefix(got.Why, "In maintenance; Up in 1 of 1 region") {
					t.Errorf("within: %s since %v, %s", got.State, got.Since, got.Why)
				}
				if got := h.States([]int64{1})[1]; got.State != verdict.StateMaintenance {
					t.Errorf("a public page shows %s", got.State)
				}
				pass(frameEvery + time.Second)
				shown(verdict.StateMaintenance)
				h.Apply([]uptime.Result{result(1, "eu", slot.Add(5*time.Second), uptime.StatusDown), result(1, "eu", slot.Add(6*time.Second), uptime.StatusDown)})
				pass(frameEvery)
				if got := shown(verdict.StateMaintenance); !strings.Contains(got.Why, "Down in 1 of 1") {
					t.Errorf("within, down: %s", got.Why)
				}
				pass(time.Until(window.To))
				if got := item(); got.State != verdict.StateMaintenance || !got.Since.Equal(window.From) {
					t.Errorf("in the next one: %s since %v", got.State, got.Since)
				}
				pass(time.Until(next.To))
				if got := item(); got.State != verdict.StateDown || got.Since.Before(slot.Add(5*time.Second)) || got.Since.After(slot.Add(6*time.Second)) {
					t.Errorf("after it: %s since %v", got.State, got.Since)
				}
				pass(frameEvery + time.Second)
				shown(verdict.StateDown)
				h.SetMaintenance(func(int64, time.Duration) []verdict.Span { return []verdict.Span{{From: slot}} })
				if got := item(); got.State != verdict.StateMaintenance {
					t.Errorf("a window that was made now: %s", got.State)
				}
				paused := long
				paused.Active, paused.SpecVersion = false, 2
				h.Upsert(paused)
				if got := item(); got.State != verdict.StatePaused {
					t.Errorf("paused: %s", got.State)
				}
				h.Upsert(target(3))
				if got := h.Snapshot().Items[2]; got.State != verdict.StateMaintenance {
					t.Errorf("a new target: %s", got.State)
				}
				h.SetMaintenance(nil)
				if got := h.Snapshot().Items[2]; got.State != verdict.StateNoData {
					t.Errorf("it was ended early: %s", got.State)
				}
			})
		})
	}
}

// What was up before a maintenance in which nothing was seen is up since then.
func TestMaintenanceDoesNotMoveTheBeginning(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := run(t)
		slot := time.Now()
		h.Load([]uptime.Target{target(1)}, []uptime.Result{result(1, "eu", slot, uptime.StatusDown)}, []string{"eu"})
		pass(time.Second)
		h.Apply([]uptime.Result{result(1, "eu", slot.Add(time.Second), uptime.StatusUp)})
		since := h.Snapshot().Items[0].Since
		h.SetMaintenance(func(int64, time.Duration) []verdict.Span {
			return []verdict.Span{{From: slot, To: slot.Add(10 * time.Second)}}
		})
		pass(5 * time.Second)
		h.Apply([]uptime.Result{result(1, "eu", slot.Add(6*time.Second), uptime.StatusUp)})
		pass(5 * time.Second)
		if got := h.Snapshot().Items[0]; got.State != verdict.StateUp || !got.Since.Equal(*since) {
			t.Errorf("%s since %v, want %v", got.State, got.Since, since)
		}
	})
}

// A snapshot that is taken in the moment before the round that would have told it does not keep
// it from those who read deltas.
func TestASnapshotSwallowsNoChange(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := run(t)
		pass(500 * time.Millisecond)
		h.Load([]uptime.Target{target(1)}, []uptime.Result{result(1, "eu", time.Now(), uptime.StatusUp)}, []string{"eu"})
		pass(time.Second)
		sub, _, _, _ := h.Subscribe("targets", nil)
		pass(time.Until(*h.Snapshot().Items[0].FreshUntil) + time.Millisecond)
		if got := h.Snapshot().Items[0]; got.State != verdict.StateNoData {
			t.Fatalf("%s", got.State)
		}
		pass(frameEvery + time.Second)
		if message := sub.Poll(); message == nil || decode(t, message).Ops[0].Item.State != verdict.StateNoData {
			t.Errorf("%s", message)
		}
	})
}
