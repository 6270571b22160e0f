package live

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

// entryAt is the id of an entry that is announced now, and n within its millisecond.
func entryAt(at time.Time, n int) string { return fmt.Sprintf("%d-%d", at.UnixMilli(), n) }

// twoNodes are hubs that know the same targets and read the same stream.
func twoNodes(t *testing.T) (a, b *Hub) {
	a, b = run(t), run(t)
	for _, h := range []*Hub{a, b} {
		h.Reading(Mark(entryAt(time.Now().Add(-10*time.Minute), 0)))
		h.Load([]uptime.Target{target(1), target(2), target(3)}, nil, []string{"eu"})
	}
	pass(2 * resumeSlack) // what changed at the start is long ago
	return a, b
}

func announce(n int, hubs ...*Hub) {
	now := time.Now()
	for _, h := range hubs {
		h.Announced(entryAt(now, n), []uptime.Result{result(1, "eu", now.Add(time.Duration(n)*time.Microsecond), uptime.StatusUp)})
	}
}

// seen are the times of the ticks of a message.
func seen(t *testing.T, message []byte) (at []time.Time) {
	t.Helper()
	if message == nil {
		return nil
	}
	for _, op := range decode(t, message).Ops {
		for _, tick := range op.Item.Ticks {
			at = append(at, tick.At)
		}
	}
	return at
}

// A reader that is cut off from one node and goes to another, and back, gets each result once and
// in order, wherever the two are with their frames.
func TestReadersGoOnAtAnotherNode(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, b := twoNodes(t)
		announce(0, a, b)
		pass(frameEvery)
		at := a.Snapshot()
		position := Position{at.Epoch, at.Seq, at.Mark}
		var got, want []time.Time
		for round := range 40 {
			h, other := a, b
			if round%2 == 1 {
				h, other = b, a
			}
			sub, from, recovered, err := h.Subscribe("targets", &position)
			if err != nil || !recovered || from.Epoch != h.Epoch() {
				t.Fatalf("round %d: recovered %v at %+v, %v", round, recovered, from, err)
			}
			if round%4 == 3 { // it is cut off again before it has what it missed
				position = from
				if sub, _, recovered, _ = h.Subscribe("targets", &position); !recovered {
					t.Fatalf("round %d: not after the answer", round)
				}
			}
			for n := range 5 {
				want = append(want, time.Now().Add(time.Duration(n)*time.Microsecond))
				announce(n, h, other)
				if n == round%5 {
					pass(frameEvery / 3)
				}
				got = append(got, seen(t, sub.Poll())...)
				position = sub.At()
			}
			pass(time.Duration(1+round*13) * time.Millisecond)
		}
		sub, _, _, _ := b.Subscribe("targets", &position)
		pass(frameEvery)
		got = append(got, seen(t, sub.Poll())...)
		position = sub.At()
		sub, _, _, _ = a.Subscribe("targets", &position)
		got = append(got, seen(t, sub.Poll())...)
		got = append(got, seen(t, sub.Poll())...)
		if !slices.EqualFunc(got, want, time.Time.Equal) {
			t.Errorf("read %d results, want %d, each once and in order", len(got), len(want))
		}
	})
}

// A target that was in a frame a moment ago waits for its next one while others are told: a reader who
// goes to another node then gets what waited there, once, also where it was recorded before it was heard of.
func TestWhatWaitsForItsFrameIsToldByAnotherNode(t *testing.T) {
	t.Parallel()
	for _, recorded := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			a, b := twoNodes(t)
			say := func(id int64, status uptime.Status) time.Time {
				now := time.Now()
				r := result(id, "eu", now, status)
				if recorded {
					a.Apply([]uptime.Result{r})
				}
				for _, h := range []*Hub{a, b} {
					h.Announced(entryAt(now, 0), []uptime.Result{r})
				}
				pass(5 * time.Millisecond)
				return now
			}
			say(1, uptime.StatusUp)
			say(2, uptime.StatusUp)
			pass(time.Second)
			sub, _, _, _ := a.Subscribe("targets", nil)
			say(1, uptime.StatusDown)
			pass(frameSoon)
			if n := len(seen(t, sub.Poll())); n != 1 {
				t.Fatalf("the first change: %d ticks", n)
			}
			waits := say(1, uptime.StatusUp)
			other := say(2, uptime.StatusDown)
			pass(frameApart)
			if got := seen(t, sub.Poll()); len(got) != 1 || !got[0].Equal(other) {
				t.Fatalf("while one waits: %v", got)
			}
			position := sub.At()
			there, _, recovered, _ := b.Subscribe("targets", &position)
			got := seen(t, there.Poll())
			if !recovered || !slices.ContainsFunc(got, waits.Equal) {
				t.Errorf("recovered %v, and what waited is not in %v", recovered, got)
			}
			pass(frameEvery)
			if again := seen(t, there.Poll()); len(again) > 0 {
				t.Errorf("told again: %v", again)
			}
			if got := seen(t, sub.Poll()); len(got) != 1 || !got[0].Equal(waits) {
				t.Errorf("who stayed was told %v", got)
			}
			position = there.At()
			back, _, recovered, _ := a.Subscribe("targets", &position)
			if again := seen(t, back.Poll()); !recovered || len(again) > 0 {
				t.Errorf("back: recovered %v, told %v", recovered, again)
			}
		})
	}
}

// What changed by something else than a result is told, too, and what did not change is not.
func TestOtherChangesAreToldByAnotherNode(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, b := twoNodes(t)
		announce(0, a, b)
		pass(time.Second)
		at := a.Snapshot()
		edited := target(2)
		edited.Name, edited.SpecVersion = "edited", 2
		b.Upsert(edited)
		b.Remove(3)
		pass(time.Second)
		for channel, want := range map[string]string{"targets": "upsert 2 remove 3 ", "target:2": "upsert 2 ", "target:1": ""} {
			sub, _, recovered, _ := b.Subscribe(channel, &Position{at.Epoch, at.Seq, at.Mark})
			got, message := "", sub.Poll()
			ops := decode(t, message).Ops
			slices.SortFunc(ops, func(x, y struct {
				Op   string `json:"op"`
				ID   any    `json:"id"`
				Item Target `json:"item"`
			}) int {
				return int(x.ID.(float64) - y.ID.(float64))
			})
			for _, op := range ops {
				got += fmt.Sprintf("%s %v ", op.Op, op.ID)
			}
			if !recovered || got != want {
				t.Errorf("%s: recovered %v, %q, want %q: %s", channel, recovered, got, want, message)
			}
		}
	})
}

// Where it cannot be told what was missed a snapshot is needed, and a node that is behind is waited for.
func TestPlacesThatAreNotKnown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, b := twoNodes(t)
		announce(0, a, b)
		place := func() *Position { pass(frameEvery); s := a.Snapshot(); return &Position{s.Epoch, s.Seq, s.Mark} }
		recovers := func(what string, from *Position, want bool) {
			t.Helper()
			if _, _, got, _ := b.Subscribe("targets", from); got != want {
				t.Errorf("%s: recovered %v", what, got)
			}
		}
		before := place()
		recovers("a moment ago", before, true)
		recovers("no mark", &Position{before.Epoch, before.Seq, ""}, false)
		recovers("nonsense", &Position{before.Epoch, before.Seq, "x-y"}, false)
		recovers("before it read", &Position{before.Epoch, before.Seq, "1-0"}, false)

		announce(1, a)
		ahead := place()
		began := time.Now()
		b.Await(ahead, time.Second)
		if took := time.Since(began); took != time.Second {
			t.Errorf("waited %v for what does not come", took)
		}
		recovers("ahead of it", ahead, false)
		later := make(chan struct{})
		go func() { defer close(later); pass(300 * time.Millisecond); announce(2, a, b) }()
		began = time.Now()
		b.Await(ahead, time.Minute)
		if took := time.Since(began); took > time.Second {
			t.Errorf("waited %v for what came", took)
		}
		<-later
		recovers("it caught up", ahead, true)

		pass(resumeWithin)
		last := place()
		recovers("nothing came since", last, true)
		announce(0, a, b)
		recovers("too much came since", ahead, false)
		pass(goneAge)
		recovers("too long ago", last, false)
		announce(0, a, b)

		now := place()
		b.Announced(entryAt(time.Now().Add(-time.Hour), 0), nil)
		recovers("the stream was turned back", now, false)
		pass(time.Second)
		announce(0, a, b)
		recovers("before that", now, false)
		recovers("past it", place(), true)
	})
}

// A target that is removed between a reader's coming and its first message is not told of in that.
func TestRemovedIsNotAmongWhatWasMissed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, b := twoNodes(t)
		announce(0, a, b)
		pass(frameEvery)
		at := a.Snapshot()
		announce(1, a, b)
		pass(frameEvery)
		sub, _, recovered, _ := b.Subscribe("targets", &Position{at.Epoch, at.Seq, at.Mark})
		b.Remove(1)
		gone := false
		for range 2 {
			message := sub.Poll()
			if message == nil {
				continue
			}
			for _, op := range decode(t, message).Ops {
				if op.ID == 1.0 && op.Op != "remove" {
					t.Errorf("told of it: %s", message)
				}
				gone = gone || op.ID == 1.0 && op.Op == "remove"
			}
		}
		if !recovered || !gone {
			t.Errorf("recovered %v, gone %v", recovered, gone)
		}
	})
}
