package ledger

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/probefleet/probefleet/internal/schedulestore"
	"github.com/probefleet/probefleet/internal/uptime"
)

// fewer is how many of a property's cases are tried: a tenth of them in short runs.
func fewer(all uint64) uint64 {
	if testing.Short() {
		return all / 10
	}
	return all
}

func TestPlanAgreesWithTheDefinition(t *testing.T) {
	t.Parallel()
	for seed := range fewer(150) {
		rng := rand.New(rand.NewPCG(seed, 7))
		w := randomWorld(rng, 10*time.Minute)
		from := epoch.Add(time.Duration(rng.IntN(300_000)) * time.Millisecond)
		to := from.Add(time.Duration(1+rng.IntN(400_000)) * time.Millisecond)
		plan, err := Load(t.Context(), w, from, to)
		if err != nil {
			t.Fatal(err)
		}
		want := w.planned(from, to)
		counted := int64(0)
		for _, n := range plan.Planned() {
			counted += n
		}
		if counted != int64(len(want)) {
			t.Fatalf("seed %d: counted %d slots, there are %d", seed, counted, len(want))
		}
		for i := range plan.targets {
			for r, region := range plan.Regions {
				plan.each(&plan.targets[i], r, plan.window, func(ph phase, s span) {
					ph.slots(plan.targets[i].id, s, func(ms int64) {
						slot := uptime.Slot{TargetID: plan.targets[i].id, Region: region, ScheduledAt: time.UnixMilli(ms).UTC()}
						if !want[slot] {
							t.Fatalf("seed %d: %v is not planned, or listed twice", seed, slot)
						}
						delete(want, slot)
					})
				})
			}
		}
		if len(want) > 0 {
			t.Fatalf("seed %d: %d planned slots were not listed", seed, len(want))
		}
	}
}

// Promise: planned checks equal the sum of all outcomes
func TestReportAddsUpAndHidesNoHole(t *testing.T) {
	t.Parallel()
	for seed := range fewer(100) {
		rng := rand.New(rand.NewPCG(seed, 9))
		w := randomWorld(rng, 20*time.Minute)
		from, to := epoch, epoch.Add(20*time.Minute)
		type place struct {
			id     int64
			region string
		}
		holes := map[place]int64{}
		for slot := range w.planned(from, to) {
			if rng.IntN(3) > 0 {
				w.up(slot)
			} else {
				holes[place{slot.TargetID, slot.Region}]++
			}
		}
		var want int64
		for _, n := range holes {
			want += n
		}
		ledger := New(w, w, nil)
		ledger.now = func() time.Time { return to.Add(time.Hour) }
		lines, err := ledger.Report(t.Context(), from, to, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		var unexplained, planned int64
		for _, l := range lines {
			unexplained, planned = unexplained+l.Unexplained, planned+l.Planned
			if l.Planned+l.Unplanned != l.Up+l.Degraded+l.Down+l.Unknown+l.Missed+l.InFlight+l.Unexplained || l.InFlight != 0 {
				t.Fatalf("seed %d: does not add up: %+v", seed, l)
			}
		}
		if unexplained != want || planned != int64(len(w.planned(from, to))) {
			t.Fatalf("seed %d: unexplained %d of %d, want %d", seed, unexplained, planned, want)
		}
	}
}

func one(interval time.Duration, ids ...int64) *world {
	w := newWorld()
	w.regions = []schedulestore.RegionVersion{{Seq: 1, Region: "eu", Active: true, EffectiveFrom: epoch}}
	for _, id := range ids {
		w.versions = append(w.versions, schedulestore.Version{Seq: 1 + id, EffectiveFrom: epoch,
			Schedule: uptime.Schedule{TargetID: id, Interval: interval, Active: true}})
	}
	return w
}

func TestSurplusElsewhereDoesNotMask(t *testing.T) {
	t.Parallel()
	w := one(10*time.Second, 1, 2)
	from, to := epoch, epoch.Add(10*time.Minute)
	dropped := 0
	for slot := range w.planned(from, to) {
		if slot.TargetID == 1 && dropped < 5 {
			dropped++
			continue
		}
		w.up(slot)
	}
	for i := range 5 { // rows of target 2 that nobody planned
		w.up(uptime.Slot{TargetID: 2, Region: "eu", ScheduledAt: uptime.NextSlot(2, 10*time.Second, from).Add(time.Duration(1+i) * time.Second)})
	}
	ledger := New(w, w, nil)
	ledger.now = func() time.Time { return to.Add(time.Hour) }
	lines, err := ledger.Report(t.Context(), from, to, time.Time{})
	if err != nil || len(lines) != 1 || lines[0].Unexplained != 5 || lines[0].Unplanned != 5 || lines[0].Planned != 120 {
		t.Fatalf("%+v %v", lines, err)
	}
}

// Every slot that is no measurement has its reason on the account, and they add up, whatever
// the target and however many reasons it has.
func TestReasonsAddUp(t *testing.T) {
	t.Parallel()
	w := one(10*time.Second, 1, 2)
	from, to := epoch, epoch.Add(10*time.Minute)
	state := func(slot uptime.Slot, status uptime.Status, reason uptime.Reason) {
		w.rows[slot] = uptime.Result{TargetID: slot.TargetID, Region: slot.Region, ScheduledAt: slot.ScheduledAt, Status: status, Reason: reason}
	}
	n := map[int64]int{}
	for slot := range w.planned(from, to) {
		switch n[slot.TargetID]++; {
		case n[slot.TargetID] <= 3:
			state(slot, uptime.StatusMissed, uptime.ReasonRegionDown)
		case n[slot.TargetID] <= 5:
			state(slot, uptime.StatusUnknown, uptime.ReasonProbeBlind)
		case n[slot.TargetID] == 6 && slot.TargetID == 2:
			state(slot, uptime.StatusMissed, uptime.ReasonExpired)
		default:
			w.up(slot)
		}
	}
	state(uptime.Slot{TargetID: 99, Region: "eu", ScheduledAt: from.Add(time.Second)}, uptime.StatusMissed, uptime.ReasonLost) // it has left the ledger
	ledger := New(w, w, nil)
	ledger.now = func() time.Time { return to.Add(time.Hour) }
	lines, err := ledger.Report(t.Context(), from, to, time.Time{})
	want := []Line{{Region: "eu", Planned: 120, Up: 109, Unknown: 4, Missed: 7, Reasons: []Stated{
		{uptime.StatusMissed, uptime.ReasonRegionDown, 6}, {uptime.StatusUnknown, uptime.ReasonProbeBlind, 4}, {uptime.StatusMissed, uptime.ReasonExpired, 1},
	}}}
	if diff := cmp.Diff(want, lines); diff != "" || err != nil {
		t.Errorf("%s %v", diff, err)
	}
}

func TestInFlightUntilASweepHasPassed(t *testing.T) {
	t.Parallel()
	w := one(10*time.Second, 1)
	from, to := epoch, epoch.Add(10*time.Minute)
	ledger := New(w, w, nil)
	for _, c := range []struct {
		after              time.Duration
		inFlight, explains int64
	}{{0, 24, 36}, {120 * time.Second, 12, 48}, {240 * time.Second, 0, 60}} {
		ledger.now = func() time.Time { return to.Add(c.after) }
		lines, err := ledger.Report(t.Context(), from, to, time.Time{})
		if err != nil || lines[0].InFlight != c.inFlight || lines[0].Unexplained != c.explains {
			t.Errorf("%v later: %+v %v", c.after, lines, err)
		}
	}
}

// Promise: the sweep states a reason for every slot without a row, once
func TestSweepExplainsEverySlotOnce(t *testing.T) {
	t.Parallel()
	for seed := range fewer(40) {
		rng := rand.New(rand.NewPCG(seed, 3))
		w := randomWorld(rng, 30*time.Minute)
		end := epoch.Add(30 * time.Minute)
		w.gaps = []schedulestore.Gap{
			{Reason: uptime.ReasonRedisDown, From: epoch.Add(5 * time.Minute), To: epoch.Add(9 * time.Minute)},
			{Reason: uptime.ReasonBackpressure, From: epoch.Add(6 * time.Minute), To: epoch.Add(6*time.Minute + time.Second)},
		}
		for slot := range w.planned(epoch, end) {
			if rng.IntN(2) == 0 {
				w.up(slot)
			}
		}
		sweeper := NewSweeper(w, w, w, w, nil, DefaultSettle)
		for now := epoch; now.Before(end.Add(10 * time.Minute)); now = now.Add(time.Minute) {
			w.refuse = rng.IntN(4) == 0
			if _, err := sweeper.Sweep(t.Context(), now, end); err != nil && !w.refuse {
				t.Fatal(err)
			}
			if rng.IntN(5) == 0 { // the process is replaced
				sweeper = NewSweeper(w, w, w, w, nil, DefaultSettle)
			}
		}
		w.refuse = false
		if _, err := sweeper.Sweep(t.Context(), end.Add(10*time.Minute), end); err != nil {
			t.Fatal(err)
		}
		want := w.planned(epoch, end)
		for slot, r := range w.rows {
			if !want[slot] {
				t.Fatalf("seed %d: %v was never planned", seed, slot)
			}
			reason := uptime.ReasonNone
			if r.Status == uptime.StatusMissed {
				reason = reasonAt(w.gaps, slot.ScheduledAt)
			}
			if r.Reason != reason {
				t.Fatalf("seed %d: %v has reason %q, want %q", seed, slot, r.Reason, reason)
			}
		}
		if len(w.rows) != len(want) {
			t.Fatalf("seed %d: %d rows for %d slots", seed, len(w.rows), len(want))
		}
	}
}

func TestSweepWaitsForExpiryAndPublisher(t *testing.T) {
	t.Parallel()
	w := one(10*time.Second, 1)
	sweeper := NewSweeper(w, w, w, w, nil, DefaultSettle)
	sweep := func(now, published time.Duration) int {
		t.Helper()
		if _, err := sweeper.Sweep(t.Context(), epoch.Add(now), epoch.Add(published)); err != nil {
			t.Fatal(err)
		}
		return len(w.rows)
	}
	if n := sweep(170*time.Second, time.Hour); n != 0 {
		t.Errorf("swept %d slots before they were owed", n)
	}
	if n := sweep(240*time.Second, time.Hour); n != 6 {
		t.Errorf("swept %d slots of the first minute", n)
	}
	if n := sweep(time.Hour, 2*time.Minute); n != 12 || w.swept.After(epoch.Add(2*time.Minute)) {
		t.Errorf("swept %d slots to %v: the publisher is only at two minutes", n, w.swept)
	}
	w.refuse = true
	if _, err := sweeper.Sweep(t.Context(), epoch.Add(time.Hour), epoch.Add(30*time.Minute)); err == nil || w.swept.After(epoch.Add(2*time.Minute)) {
		t.Errorf("the cursor moved to %v without rows: %v", w.swept, err)
	}
}

// The sweep and the account wait equally long: what is called unexplained, a sweep
// had its chance to explain.
func TestSettleIsTheSameForSweepAndReport(t *testing.T) {
	t.Parallel()
	for _, settle := range []time.Duration{5 * time.Second, time.Minute, time.Hour} {
		w := one(10*time.Second, 1)
		from, to := epoch, epoch.Add(time.Hour)
		sweeper, account := NewSweeper(w, w, w, w, nil, settle), New(w, w, nil).Settling(settle)
		for now := to; now.Before(to.Add(settle + 10*time.Minute)); now = now.Add(SweepEvery(settle)) {
			if _, err := sweeper.Sweep(t.Context(), now, to); err != nil {
				t.Fatal(err)
			}
			account.now = func() time.Time { return now.Add(SweepEvery(settle) - time.Second) }
			lines, err := account.Report(t.Context(), from, to, time.Time{})
			if err != nil || lines[0].Unexplained != 0 {
				t.Fatalf("settle %v, %v later: %+v %v", settle, now.Sub(to), lines, err)
			}
			if due := now.Add(-uptime.Expiry(uptime.MaxInterval) - settle); due.After(from) && due.Before(to) && w.swept.Before(due) {
				t.Fatalf("settle %v: swept to %v at %v", settle, w.swept.Sub(epoch), now.Sub(epoch))
			}
		}
		if len(w.rows) != 360 {
			t.Errorf("settle %v: %d rows", settle, len(w.rows))
		}
	}
}

type unreadable struct{ *world }

func (unreadable) SlotsSeen(context.Context, time.Time, time.Time, func(uptime.Slot) error) error {
	return errors.New("memory limit exceeded")
}

// A publisher that was started while nothing can be swept must be able to say so.
func TestFailingSweepTellsWhereItStands(t *testing.T) {
	t.Parallel()
	w := one(10*time.Second, 1)
	w.swept = epoch.Add(10 * time.Minute)
	done, err := NewSweeper(w, w, unreadable{w}, w, nil, DefaultSettle).Sweep(t.Context(), epoch.Add(time.Hour), epoch.Add(time.Hour))
	if err == nil || !done.To.Equal(w.swept) {
		t.Errorf("swept to %v, want %v: %v", done.To, w.swept, err)
	}
}

// Whoever knows more may speak later, such as a publisher whose spool is replayed,
// or have spoken before, to a sweep that was frozen between its look and its rows.
func TestAnyOtherRowOutranksTheSweeps(t *testing.T) {
	t.Parallel()
	w := one(10*time.Second, 1)
	if _, err := NewSweeper(w, w, w, w, nil, DefaultSettle).Sweep(t.Context(), epoch.Add(time.Hour), epoch.Add(time.Hour)); err != nil || len(w.rows) == 0 {
		t.Fatal(len(w.rows), err)
	}
	for slot, swept := range w.rows {
		told := uptime.Check{TargetID: slot.TargetID, ScheduledAt: slot.ScheduledAt}.Missed(slot.Region, uptime.ReasonBackpressure, "publisher")
		told.IngestedAt = slot.ScheduledAt.Add(-2 * time.Second) // the earliest: it is published a second ahead
		if swept.IngestedAt.IsZero() || swept.Revision() >= told.Revision() {
			t.Fatalf("%v: the sweep's row of %v hides what was known", slot, swept.IngestedAt)
		}
	}
}

func TestSweepHonoursItsContext(t *testing.T) {
	t.Parallel()
	w := one(10*time.Second, 1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := NewSweeper(w, w, w, w, nil, DefaultSettle).Sweep(ctx, epoch.Add(time.Hour), epoch.Add(time.Hour)); err == nil {
		t.Error("a sweep that was cancelled does not claim success")
	}
}

// While Redis is away for long, slots wait to be published or stated: nobody has
// forgotten them.
func TestWhatIsNotPublishedIsNotUnexplained(t *testing.T) {
	t.Parallel()
	w := one(10*time.Second, 1)
	ledger := New(w, w, nil)
	ledger.now = func() time.Time { return epoch.Add(time.Hour) }
	for published, want := range map[time.Time][2]int64{
		{}:                           {0, 60}, // not known
		epoch.Add(5 * time.Minute):   {30, 30},
		epoch.Add(-time.Minute):      {60, 0},
		epoch.Add(50 * time.Minute):  {0, 60},
		epoch.Add(100 * time.Minute): {0, 60},
	} {
		lines, err := ledger.Report(t.Context(), epoch, epoch.Add(10*time.Minute), published)
		if err != nil || len(lines) != 1 || lines[0].InFlight != want[0] || lines[0].Unexplained != want[1] {
			t.Errorf("published to %v: %+v %v, want %v", published, lines, err, want)
		}
	}
}
