package consumer

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/prober/internal/probe"
)

func at(url string) func(*checkstream.Entry) {
	return func(e *checkstream.Entry) { e.Check.URL = url }
}

// rowOf is the row of a target, once there is exactly one.
func (r *rig) rowOf(t *testing.T, id int64) uptime.Result {
	t.Helper()
	var found []uptime.Result
	r.look(func() {
		for slot, rows := range r.sink.rows {
			if slot.TargetID == id {
				found = append(found, rows...)
			}
		}
	})
	if len(found) != 1 {
		t.Fatalf("target %d has %d rows", id, len(found))
	}
	return found[0]
}

// A host whose checks hang has many times as many of them due as this prober has places,
// and those of other hosts start on time.
func TestSlowHostDelaysNobodyElse(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig()
		r.options.Capacity = 40
		r.visitor.took = func(check uptime.Check) time.Duration {
			if strings.Contains(check.URL, "slow") {
				return 10 * time.Second
			}
			return 50 * time.Millisecond
		}
		for i := range int64(30) { // seconds
			for id := int64(1); id <= 5; id++ {
				slot := time.Duration(i)*time.Second + time.Duration(id)*100*time.Millisecond
				r.stream.fresh = append(r.stream.fresh, entryIn(1000*i+id, slot, at("http://slow.test/")),
					entryIn(1000*i+100+id, slot, at(fmt.Sprintf("http://h%d.test/", id))))
			}
		}
		r.start(t)
		wait(35 * time.Second)
		for i := range int64(30) {
			for id := int64(1); id <= 5; id++ {
				if row := r.rowOf(t, 1000*i+100+id); row.Status != uptime.StatusUp || row.CheckedAt.Sub(row.ScheduledAt) > 100*time.Millisecond {
					t.Fatalf("%+v began %v late", row, row.CheckedAt.Sub(row.ScheduledAt))
				}
			}
		}
		wait(70 * time.Second) // the slow host's have expired or were visited
		measured, refused := 0, 0
		for i := range int64(30) {
			for id := int64(1); id <= 5; id++ {
				switch row := r.rowOf(t, 1000*i+id); {
				case row.Status == uptime.StatusUp && !row.Late:
					measured++
				case row.Status == uptime.StatusUnknown && row.Reason == uptime.ReasonHostBudget && row.CheckedAt.IsZero() && row.Attempt == 0 && row.Message != "":
					refused++
				default:
					t.Fatalf("%+v", row)
				}
			}
		}
		if measured < 60 || refused < 60 || r.hosts.Waiting() != 0 {
			t.Errorf("%d measured, %d refused, %d still wait", measured, refused, r.hosts.Waiting())
		}
		wait(5 * time.Second)
		r.look(func() {
			if beat := r.stream.beats[len(r.stream.beats)-1]; beat.LatenessP99MS > 2000 { // that of the slow host is not ours
				t.Errorf("%+v", beat)
			}
		})
		r.finish(t)
	})
}

// A drain gives back what waits for its host.
func TestDrainReleasesWhatWaitsForItsHost(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig()
		r.visitor.took = func(uptime.Check) time.Duration { return 12 * time.Second }
		for id := int64(1); id <= 50; id++ {
			r.stream.fresh = append(r.stream.fresh, entryIn(id, 0, at("http://slow.test/")))
		}
		r.start(t)
		wait(time.Second)
		r.finish(t)
		if len(r.stream.acked) != 10 || len(r.stream.pending) != 40 || r.hosts.Waiting() != 0 {
			t.Errorf("%d acked, %d pending, %d wait", len(r.stream.acked), len(r.stream.pending), r.hosts.Waiting())
		}
	})
}

// Whoever answered so, the target's own host or one that it redirects to: what leads there
// is left alone.
func TestHostThatAsksForItIsLeftAlone(t *testing.T) {
	t.Parallel()
	for _, answered := range []string{"https://busy.test/1", "https://login.test/"} {
		t.Run(answered, func(t *testing.T) { isLeftAlone(t, answered) })
	}
}

func isLeftAlone(t *testing.T, answered string) {
	in(t, func(t *testing.T) {
		r := newRig()
		r.visitor.ends = func(check uptime.Check) probe.Outcome {
			if check.TargetID == 1 {
				return probe.Outcome{Status: uptime.StatusDown, Failure: uptime.FailureStatusCode, HTTPStatus: 429, AnsweredBy: answered, RetryAfter: 20 * time.Second}
			}
			return probe.Outcome{Status: uptime.StatusUp}
		}
		for id, slot := range []time.Duration{1: 0, 2: 5 * time.Second, 3: 19 * time.Second, 4: 21 * time.Second} {
			if id > 0 {
				r.stream.fresh = append(r.stream.fresh, entryIn(int64(id), slot, at("https://busy.test/"+fmt.Sprint(id))))
			}
		}
		r.stream.fresh = append(r.stream.fresh, entryIn(5, 5*time.Second, at("https://other.test/")))
		r.start(t)
		wait(25 * time.Second)
		for id, want := range map[int64]uptime.Status{1: uptime.StatusDown, 2: uptime.StatusUnknown, 3: uptime.StatusUnknown, 4: uptime.StatusUp, 5: uptime.StatusUp} {
			row := r.rowOf(t, id)
			if row.Status != want || want == uptime.StatusUnknown && (row.Reason != uptime.ReasonHostBudget || !strings.Contains(row.Message, "429")) {
				t.Errorf("%d: %+v", id, row)
			}
		}
		r.finish(t)
	})
}

// The places are asked for before each read: fewer are taken on at once, and more as well.
func TestPlacesMayChange(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig()
		var places atomic.Int64
		places.Store(30)
		r.options.Places = func() int { return int(places.Load()) }
		r.visitor.took = func(uptime.Check) time.Duration { return 4 * time.Second }
		for id := int64(1); id <= 400; id++ {
			r.stream.fresh = append(r.stream.fresh, entryIn(id, 0))
		}
		r.start(t)
		held := func(want int) {
			t.Helper()
			if inHand, _ := r.c.Demand(); inHand != want {
				t.Errorf("%d in hand, want %d", inHand, want)
			}
		}
		wait(2 * time.Second)
		held(30)
		places.Store(7)
		wait(2*time.Second + time.Millisecond) // the thirty are over, or nearly
		wait(2 * time.Second)
		held(7)
		places.Store(60)
		wait(time.Second + time.Millisecond)
		held(60)
		wait(35 * time.Second)
		held(0)
		if _, promised := r.c.Demand(); promised != 400*10*time.Second {
			t.Errorf("%v promised", promised)
		}
		r.finish(t)
	})
}

// A prober that wakes late for its own slots cannot say exactly how long others took.
func TestCheckThatWasOversleptSaysSo(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig()
		r.stream.fresh = append(r.stream.fresh, entryIn(1, time.Second), entryIn(2, time.Second))
		r.start(t)
		wait(500 * time.Millisecond)
		r.c.departures.mu.Lock()
		for _, d := range r.c.departures.list {
			d.flight.overslept = d.flight.entry.TargetID == 1 // time in a bubble is never late
		}
		r.c.departures.mu.Unlock()
		synctest.Wait()
		wait(2 * time.Second)
		if !r.rowOf(t, 1).Seen.Saturated || r.rowOf(t, 2).Seen.Saturated {
			t.Error("the mark is missing, or on the wrong row")
		}
		r.finish(t)
	})
}
