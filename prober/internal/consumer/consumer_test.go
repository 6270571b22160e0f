package consumer

import (
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/prober/internal/probe"
)

// in runs a test in a bubble of fake time.
func in(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, test)
}

func wait(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func TestProbesStartAtTheirSlot(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig()
		for id := int64(1); id <= 300; id++ {
			r.stream.fresh = append(r.stream.fresh, entryIn(id, time.Duration(id)*3*time.Millisecond))
		}
		want := map[int64]time.Time{}
		for _, e := range r.stream.fresh {
			want[e.TargetID] = e.Check.ScheduledAt
		}
		r.start(t)
		wait(3 * time.Second)
		r.look(func() {
			for id, at := range want {
				if got := r.visitor.at[id]; !got.Equal(at) {
					t.Errorf("target %d started %v from its slot", id, got.Sub(at))
				}
			}
			if len(r.stream.acked) != 300 || len(r.sink.rows) != 300 || r.feed.rows != 300 {
				t.Errorf("acked %d, recorded %d, announced %d", len(r.stream.acked), len(r.sink.rows), r.feed.rows)
			}
			for slot, rows := range r.sink.rows {
				if row := rows[0]; len(rows) != 1 || row.Attempt != 1 || row.Late || !row.CheckedAt.Equal(slot.ScheduledAt) || row.Region != "eu" || row.Prober != "p1" || row.IngestedAt.IsZero() {
					t.Fatalf("%d rows, %+v", len(rows), row)
				}
			}
		})
		wait(4 * time.Second)
		r.look(func() {
			if beat := r.stream.beats[len(r.stream.beats)-1]; beat.LatenessP99MS != 0 || beat.InFlight != 0 || beat.ClickHouse != "ok" {
				t.Errorf("%+v", beat)
			}
		})
		r.finish(t)
	})
}

// What a visit saw comes with its row.
func TestRowsBringWhatTheirVisitsSaw(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig()
		print, evidence := &uptime.Print{URL: "https://a.example/"}, &uptime.Evidence{Body: "x"}
		r.visitor.ends = func(check uptime.Check) probe.Outcome {
			if check.TargetID == 1 {
				return probe.Outcome{Status: uptime.StatusUp, HTTPStatus: 200, Attempts: 1, Print: print}
			}
			return probe.Outcome{Status: uptime.StatusDegraded, HTTPStatus: 200, Attempts: 1, Evidence: evidence}
		}
		r.stream.fresh = append(r.stream.fresh, entryIn(1, 0), entryIn(2, 0))
		r.start(t)
		wait(time.Second)
		r.look(func() {
			for slot, rows := range r.sink.rows {
				if row := rows[0]; (row.Print == print) != (slot.TargetID == 1) || (row.Evidence == evidence) != (slot.TargetID == 2) {
					t.Errorf("%+v", row)
				}
			}
			if len(r.sink.rows) != 2 {
				t.Errorf("%d rows", len(r.sink.rows))
			}
		})
		r.finish(t)
	})
}

// Promise: an entry is acknowledged only after its row is durable
func TestAckOnlyAfterTheRowIsDurable(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig()
		r.sink.delay = time.Minute
		r.stream.fresh = append(r.stream.fresh, entryIn(1, 0))
		r.start(t)
		wait(50 * time.Second)
		r.look(func() {
			if len(r.stream.acked) != 0 || r.feed.rows != 1 {
				t.Fatalf("acked %d, announced %d while the store was slow", len(r.stream.acked), r.feed.rows)
			}
			if r.stream.renewed[r.c.flightIDs()[0]] < 2 {
				t.Error("the entry was not renewed meanwhile")
			}
		})
		wait(15 * time.Second)
		r.look(func() {
			if len(r.stream.acked) != 1 {
				t.Fatal("not acked after the row was durable")
			}
		})
		r.finish(t)
	})
}

func (c *Consumer) flightIDs() []string {
	c.flights.mu.Lock()
	defer c.flights.mu.Unlock()
	var ids []string
	for id := range c.flights.byID {
		ids = append(ids, id)
	}
	return ids
}

func TestNoMoreThanCapacity(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig()
		r.options.Capacity = 7
		r.visitor.took = func(uptime.Check) time.Duration { return 900 * time.Millisecond }
		for id := int64(1); id <= 100; id++ {
			r.stream.fresh = append(r.stream.fresh, entryIn(id, 0))
		}
		r.start(t)
		wait(30 * time.Second)
		r.look(func() {
			if len(r.stream.acked) != 100 || r.visitor.most != 7 {
				t.Errorf("acked %d, at most %d at once", len(r.stream.acked), r.visitor.most)
			}
			for _, asked := range r.stream.asked {
				if asked < 1 || asked > 7 {
					t.Errorf("asked for %d", asked)
				}
			}
		})
		r.finish(t)
	})
}

func TestDrain(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig()
		r.visitor.took = func(check uptime.Check) time.Duration {
			if check.TargetID == 1 {
				return 40 * time.Second // does not make it
			}
			return 5 * time.Second
		}
		for id := int64(1); id <= 10; id++ {
			r.stream.fresh = append(r.stream.fresh, entryIn(id, 0))
		}
		for id := int64(11); id <= 60; id++ {
			r.stream.own = append(r.stream.own, entryIn(id, 0, again(2)))
		}
		r.start(t)
		wait(time.Second)
		r.look(func() { r.stream.fresh = append(r.stream.fresh, entryIn(99, 0)) }) // comes after the signal
		signalled := time.Now()
		r.finish(t)
		if took := time.Since(signalled); took > 25*time.Second {
			t.Errorf("drained in %v", took)
		}
		suspects := len(r.visitor.at) - 10
		if suspects != suspectsAtOnce || len(r.stream.acked) != 9+suspects || len(r.stream.pending) != 51-suspects {
			t.Errorf("%d suspects begun, %d acked, %d pending", suspects, len(r.stream.acked), len(r.stream.pending))
		}
		if _, read := r.stream.delivered[entryIn(99, 0).ID]; read {
			t.Error("read after the signal")
		}
	})
}

// A heartbeat after the goodbye would bring the prober back to life for the others.
func TestNoHeartbeatAfterTheGoodbye(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig()
		r.stream.goodbye = 2100 * time.Millisecond
		r.start(t)
		wait(5 * time.Second)
		r.finish(t)
	})
}

func TestStuckFeedDelaysNothing(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig()
		r.feed.stuck = true
		for id := int64(1); id <= 50; id++ {
			r.stream.fresh = append(r.stream.fresh, entryIn(id, time.Duration(id)*time.Second))
		}
		r.start(t)
		wait(52 * time.Second)
		r.look(func() {
			if len(r.stream.acked) != 50 {
				t.Errorf("acked %d", len(r.stream.acked))
			}
		})
		r.finish(t)
	})
}

// With more to read than there is room for, flights that land one by one are not a read each.
func TestReadsWhileBehindAreWorthIt(t *testing.T) {
	in(t, func(t *testing.T) {
		const places, all = 4000, 20_000
		r := newRig()
		r.options.Capacity = places
		r.visitor.took = func(check uptime.Check) time.Duration {
			return time.Duration(50+check.TargetID*37%100) * time.Millisecond
		}
		for id := range int64(all) {
			r.stream.fresh = append(r.stream.fresh, entryIn(1+id, 0, func(e *checkstream.Entry) { e.Check.URL = fmt.Sprintf("http://%d.test/", id) }))
		}
		r.start(t)
		wait(5 * time.Second)
		r.look(func() {
			if n := len(r.visitor.at); n != all {
				t.Errorf("%d of %d visited in five seconds", n, all)
			}
			// About 30, and twice as many where goroutines take turns on one thread; a read each would be 16,000.
			if reads := len(r.stream.asked); reads > all/200 {
				t.Errorf("%d reads of %d checks, with room for %d", reads, all, places)
			}
		})
		r.finish(t)
	})
}

// Whoever cannot acknowledge takes on no more at last.
func TestUnsettledHoldsIntake(t *testing.T) {
	t.Parallel()
	fs := newFlights(func() int { return 1000 }, slog.New(slog.DiscardHandler))
	fs.count[waiting], fs.count[stored], fs.count[acking] = 10, maxUnsettled-100, 70
	if got := fs.free(); got != 30 {
		t.Errorf("room for %d", got)
	}
	fs.count[stored] = 0
	if got := fs.free(); got != 990 {
		t.Errorf("room for %d when they are settled", got)
	}
}

// What queues up for the live feed is told together.
func TestFeedIsToldTogether(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig()
		r.feed.slow = time.Second
		for id := int64(1); id <= 50; id++ {
			r.stream.fresh = append(r.stream.fresh, entryIn(id, time.Duration(id)*100*time.Millisecond))
		}
		r.start(t)
		wait(10 * time.Second)
		r.look(func() {
			if r.feed.rows != 50 || r.feed.calls < 5 || r.feed.calls > 7 {
				t.Errorf("%d rows in %d calls of a second each, in five seconds", r.feed.rows, r.feed.calls)
			}
		})
		r.finish(t)
	})
}

func TestFullRecorderHoldsIntake(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig()
		r.options.Capacity = 5
		r.sink.full = true
		for id := int64(1); id <= 500; id++ {
			r.stream.fresh = append(r.stream.fresh, entryIn(id, 0))
		}
		r.start(t)
		wait(20 * time.Second)
		r.look(func() {
			if n := len(r.stream.delivered); n > 2*settleBatch+10 {
				t.Errorf("%d entries taken on while nothing could be recorded", n)
			}
		})
		r.finish(t)
		if len(r.stream.acked) != 0 {
			t.Error("acked without a record")
		}
	})
}

func TestGivenBackEntriesComeAgain(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig()
		refusals := 3
		r.sink.answer = func([]uptime.Result) error {
			if refusals--; refusals >= 0 {
				return errors.New("stopped")
			}
			return nil
		}
		r.stream.fresh = append(r.stream.fresh, entryIn(1, 0))
		r.stream.readsFail, r.stream.acksFail = 5, 5
		r.start(t)
		wait(time.Minute)
		r.look(func() {
			if len(r.stream.acked) != 1 || len(r.sink.rows) != 1 {
				t.Errorf("acked %d, rows %d", len(r.stream.acked), len(r.sink.rows))
			}
		})
		r.finish(t)
	})
}

func TestRowThatCannotBeStoredIsBuriedAlone(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig()
		r.sink.refusing(func(id int64) bool { return id == 7 })
		for id := int64(1); id <= 20; id++ {
			r.stream.fresh = append(r.stream.fresh, entryIn(id, 0))
		}
		r.start(t)
		wait(5 * time.Second)
		r.look(func() {
			if len(r.stream.acked) != 19 || len(r.stream.dead) != 1 {
				t.Errorf("acked %d, dead %v", len(r.stream.acked), r.stream.dead)
			}
			for id, row := range r.stream.lost {
				if row.TargetID != 7 || row.Status != uptime.StatusUp || !strings.Contains(r.stream.dead[id], "cannot be stored") {
					t.Errorf("the letter %q has %+v", r.stream.dead[id], row)
				}
			}
			for slot, rows := range r.sink.rows {
				if want := slot.TargetID == 7; len(rows) != 1 || (rows[0].Reason == uptime.ReasonDeadLetter) != want {
					t.Errorf("%d: %+v", slot.TargetID, rows)
				}
			}
			if len(r.sink.rows) != 20 {
				t.Errorf("%d slots have a row", len(r.sink.rows))
			}
		})
		r.finish(t)
	})
}

// TestEveryDeliveryEndsOnce throws every kind of entry and every kind of trouble
// at a consumer; finish counts.
//
// Promise: every delivery ends exactly once
func TestEveryDeliveryEndsOnce(t *testing.T) {
	in(t, func(t *testing.T) {
		random := rand.New(rand.NewPCG(1, 2))
		r := newRig()
		r.options.Capacity = 50
		r.sink.delay = 300 * time.Millisecond
		r.sink.refusing(func(id int64) bool { return id%97 == 0 })
		refusing := r.sink.answer
		r.sink.answer = func(rows []uptime.Result) error {
			if rows[0].TargetID%13 == 0 && rows[0].Attempt == 1 {
				return errDown
			}
			return refusing(rows)
		}
		r.visitor.took = func(check uptime.Check) time.Duration {
			return time.Duration(check.TargetID%40) * 20 * time.Millisecond
		}
		expected := 0
		for id := int64(1); id <= 2000; id++ {
			e := entryIn(id, time.Duration(random.IntN(20_000))*time.Millisecond)
			switch id % 17 {
			case 1:
				e.Tombstoned = true
			case 2:
				e.Check.Regions = []string{"us"}
			case 3:
				e.Err, e.Check = errors.New("undecodable"), uptime.Check{}
			case 4:
				e.Gone, e.Check = true, uptime.Check{}
			case 5:
				e = entryIn(id, -2*time.Minute)
				expected++
			case 6:
				e.Deliveries = 6
				expected++
			default:
				expected++
			}
			r.stream.fresh = append(r.stream.fresh, e)
			r.stream.readsFail, r.stream.acksFail = 3, 10
		}
		r.start(t)
		wait(100 * time.Second)
		r.finish(t)
		if len(r.stream.pending) > 0 {
			t.Errorf("%d still pending", len(r.stream.pending))
		}
		if got := len(r.sink.rows) + 2000/97; got < expected-2 || got > expected+2000/97 {
			t.Errorf("%d slots have rows, expected about %d", len(r.sink.rows), expected)
		}
	})
}

func TestGoneEntryNamesItsSlotWhenItCan(t *testing.T) {
	in(t, func(t *testing.T) {
		slots := &slotMemory{}
		at := uptime.NextSlot(5, time.Minute, time.Now())
		slots.remember(uptime.Check{TargetID: 5, Interval: time.Minute})
		if got, known := slots.at(checkstream.Entry{TargetID: 5, Second: at.Unix()}); !known || !got.Equal(at) {
			t.Errorf("%v %v, want %v", got, known, at)
		}
		if _, known := slots.at(checkstream.Entry{TargetID: 5, Second: at.Unix() + 7}); known {
			t.Error("a slot in a second that has none")
		}
		if _, known := slots.at(checkstream.Entry{TargetID: 6, Second: at.Unix()}); known {
			t.Error("a slot of a target never seen")
		}
	})
}

func TestAdmission(t *testing.T) {
	t.Parallel()
	o := &Options{Region: "eu", Name: "p1"}
	cases := []struct {
		name   string
		entry  checkstream.Entry
		action action
		reason uptime.Reason
		dead   bool
	}{
		{"in time", entryIn(1, 0, again(1)), actRun, "", false},
		{"second delivery", entryIn(1, 0, again(2)), actSuspect, "", false},
		{"third delivery", entryIn(1, 0, again(3)), actAlone, "", false},
		{"fourth delivery", entryIn(1, 0, again(4)), actAlone, "", false},
		{"fifth delivery", entryIn(1, 0, again(5)), actAlone, "", false},
		{"sixth delivery", entryIn(1, 0, again(6)), actFail, uptime.ReasonDeadLetter, true},
		{"nearly expired", entryIn(1, -59*time.Second, again(1)), actRun, "", false},
		{"expired", entryIn(1, -time.Minute, again(1)), actRecord, uptime.ReasonExpired, false},
		{"expired suspect", entryIn(1, -time.Minute, again(9)), actRecord, uptime.ReasonExpired, false},
		{"deleted", entryIn(1, 0, func(e *checkstream.Entry) { e.Tombstoned = true }), actSettle, "", false},
		{"other region", entryIn(1, 0, func(e *checkstream.Entry) { e.Check.Regions = []string{"us", "europe"} }), actSettle, "", false},
		{"malformed", entryIn(1, 0, func(e *checkstream.Entry) { e.Err = errors.New("bad") }), actFail, "", true},
		{"trimmed", entryIn(1, 0, func(e *checkstream.Entry) { e.Gone = true }), actSettle, "", false},
	}
	now := time.Now().Add(skew)
	for _, c := range cases {
		r := admit(c.entry, o, now, &slotMemory{})
		if r.action != c.action || r.row.Reason != c.reason || (r.dead != "") != c.dead {
			t.Errorf("%s: %+v", c.name, r)
		}
	}
}
