package consumer

import (
	"bytes"
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/lab"
	"github.com/probefleet/probefleet/internal/uptime"
)

// pulse is a stage that remembers its longest silence.
type pulse struct{ last, longest atomic.Int64 }

func (b *pulse) Beat() {
	now := time.Now().UnixNano()
	if before := b.last.Swap(now); before != 0 {
		b.longest.Store(max(b.longest.Load(), now-before))
	}
}

// phase is what the newest heartbeat says.
func (r *rig) phase() (phase string) {
	r.look(func() { phase = r.stream.beats[len(r.stream.beats)-1].State })
	return phase
}

func (r *rig) want(drain bool) { r.look(func() { r.stream.drain = drain }) }

// While it drains a prober finishes what it holds and takes on nothing else; then it idles,
// for however long, and every stage is seen alive by the watchdog.
func TestDrainedConsumerTakesNothingOn(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig()
		r.visitor.took = func(uptime.Check) time.Duration { return 8 * time.Second }
		r.sink.delay = 2 * time.Second
		var phases []string
		var busy atomic.Bool
		stages := [5]pulse{}
		r.options.Phase = func(phase string) { phases = append(phases, phase) }
		r.options.Busy = busy.Load
		r.options.BeatRead, r.options.BeatDepart, r.options.BeatRecord, r.options.BeatAck, r.options.BeatHeartbeat = &stages[0], &stages[1], &stages[2], &stages[3], &stages[4]
		for id := int64(1); id <= 5; id++ {
			r.stream.fresh = append(r.stream.fresh, entryIn(id, time.Second))
		}
		r.start(t)
		wait(2 * time.Second)
		r.want(true)
		wait(4 * time.Second)
		r.look(func() {
			for id := int64(6); id <= 9; id++ {
				r.stream.fresh = append(r.stream.fresh, entryIn(id, time.Second, func(e *checkstream.Entry) { e.Check.Interval = 24 * time.Hour }))
			}
			r.stream.letters = append(r.stream.letters, letterOf(10, time.Hour))
		})
		if phase := r.phase(); phase != checkstream.Draining {
			t.Errorf("with checks in hand it is %q", phase)
		}
		busy.Store(true) // somebody waits for a visit
		wait(10 * time.Second)
		r.look(func() {
			if len(r.stream.acked) != 5 || len(r.stream.pending) != 0 {
				t.Errorf("acked %v, pending %v", r.stream.acked, r.stream.pending)
			}
		})
		if phase := r.phase(); phase != checkstream.Draining {
			t.Errorf("with a visit under way it is %q", phase)
		}
		busy.Store(false)
		wait(5 * time.Second)
		if phase := r.phase(); phase != checkstream.Drained {
			t.Errorf("with nothing in hand it is %q", phase)
		}
		wait(time.Minute)
		r.look(func() {
			if len(r.stream.fresh) != 4 || len(r.stream.letters) != 1 || len(r.stream.delivered) != 5 {
				t.Errorf("it has taken on: %d and %d of 4 and 1 are left, delivered %v", len(r.stream.fresh), len(r.stream.letters), r.stream.delivered)
			}
		})
		for i := range stages {
			if silence := time.Duration(stages[i].longest.Load()); silence > 15*time.Second {
				t.Errorf("stage %d did not beat for %v", i, silence)
			}
		}
		r.want(false)
		wait(30 * time.Second)
		r.look(func() {
			if len(r.stream.acked) != 9 || len(r.stream.replayed) != 1 {
				t.Errorf("resumed: acked %v, replayed %v", r.stream.acked, r.stream.replayed)
			}
		})
		if phase := r.phase(); phase != "" {
			t.Errorf("resumed it is %q", phase)
		}
		r.finish(t)
		if want := []string{checkstream.Draining, checkstream.Drained, ""}; !slices.Equal(phases, want) {
			t.Errorf("it told of %q", phases)
		}
	})
}

// What is pending in its name when it begins drained is its own to finish: others leave it
// alone for long, and at its slot's expiry it would be missed.
func TestDrainedConsumerFinishesWhatAnEarlierLifeLeft(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig()
		r.stream.drain = true
		for id := int64(1); id <= 40; id++ { // more than are taken over at once
			r.stream.own = append(r.stream.own, entryIn(id, time.Second, again(1)))
		}
		r.stream.fresh = []checkstream.Entry{entryIn(50, time.Second)}
		r.start(t)
		wait(30 * time.Second)
		r.look(func() {
			if len(r.stream.acked) != 40 || len(r.stream.fresh) != 1 {
				t.Errorf("acked %d of 40; %d of 1 not read", len(r.stream.acked), len(r.stream.fresh))
			}
		})
		if phase := r.phase(); phase != checkstream.Drained {
			t.Errorf("it is %q", phase)
		}
		r.finish(t)
	})
}

// world is a real stream with a lab of targets, and what the fleet is seen to do.
type world struct {
	t             *testing.T
	lab           *lab.Lab
	redis         *checkstream.Redis
	url, path     string
	fleet         *checkstream.Fleet
	publisher     *checkstream.Publisher
	next, targets int64 // the second and the id to publish next
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, targets: 1}
	w.lab, w.redis, w.url, w.path = realParts(t)
	w.fleet, w.publisher = checkstream.NewFleet(w.redis), checkstream.NewPublisher(w.redis)
	if err := w.publisher.EnsureGroups(t.Context(), []string{"eu"}); err != nil {
		t.Fatal(err)
	}
	clock, err := w.publisher.Clock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w.next = clock.Tick + 1
	return w
}

// run starts a prober; the answer stops it.
func (w *world) run(name string) (stop func()) {
	ctx, cancel := context.WithCancel(w.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- runProber(ctx, w.url, w.path, name, 0) }()
	return func() {
		w.t.Helper()
		cancel()
		if err := <-ended; err != nil {
			w.t.Error(err)
		}
	}
}

// publish puts n checks into the next second, and waits until that is near enough to be allowed.
func (w *world) publish(n int64, path string) {
	w.t.Helper()
	second := w.next
	chunk := checkstream.Chunk{Second: second, Seq: 1, Last: true}
	for range n {
		chunk.Checks = append(chunk.Checks, uptime.Check{
			TargetID: w.targets, ScheduledAt: time.Unix(second, 0).UTC(), Interval: 10 * time.Minute, SpecVersion: 1, Regions: []string{"eu"},
			Kind: uptime.KindHTTP, URL: w.lab.URL() + path, Timeout: 30 * time.Second,
		})
		w.targets++
	}
	w.past(second - 3)
	if _, err := w.publisher.Publish(w.t.Context(), chunk); err != nil {
		w.t.Fatal(err)
	}
	w.next++
}

// pass waits for longer than any read takes.
func (w *world) pass() {
	w.t.Helper()
	now, err := w.redis.Now(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	w.past(now.Unix() + int64(readBlock/time.Second) + 2)
}

func (w *world) past(second int64) {
	w.t.Helper()
	await(w.t, "the clock", func() bool {
		now, err := w.redis.Now(w.t.Context())
		return err == nil && now.Unix() > second
	})
}

// prober gives what a prober says, if it is there.
func (w *world) prober(name string) (found checkstream.Heartbeat, is bool) {
	all, err := w.fleet.Probers(w.t.Context())
	at := slices.IndexFunc(all, func(h checkstream.Heartbeat) bool { return h.Name == name })
	if err != nil || at < 0 {
		return checkstream.Heartbeat{}, false
	}
	return all[at], true
}

// awaitSays waits for a heartbeat of a life that began after an instant, which says this.
func (w *world) awaitSays(name, state string, after time.Time) checkstream.Heartbeat {
	w.t.Helper()
	var said checkstream.Heartbeat
	await(w.t, name+" to say "+state, func() bool {
		h, is := w.prober(name)
		said = h
		return is && h.Live() && h.State == state && h.StartedAt.After(after)
	})
	return said
}

func (w *world) drain(name string) {
	w.t.Helper()
	if changed, err := w.fleet.DrainProber(w.t.Context(), "eu", name, "user:1"); err != nil || !changed {
		w.t.Fatal(changed, err)
	}
}

func (w *world) pending() int64 {
	w.t.Helper()
	groups, err := w.fleet.Groups(w.t.Context())
	if err != nil || len(groups) != 1 {
		w.t.Fatal(groups, err)
	}
	return groups[0].Pending
}

// allUp checks that so many slots have a row each, and it is up.
func (w *world) allUp(n int) {
	w.t.Helper()
	rows := rowsIn(w.t, w.path)
	if len(rows) != n {
		w.t.Errorf("%d slots have rows, not %d", len(rows), n)
	}
	for slot, statuses := range rows {
		if len(statuses) != 1 || statuses[0] != "up" {
			w.t.Errorf("%s: %v", slot, statuses)
		}
	}
}

// TestDrainedProberSettlesAndRests drains a prober with checks in flight, the only one of
// its region, starts it again, and resumes it: nothing is read in between, and nothing lost.
func TestDrainedProberSettlesAndRests(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	stop := w.run("p1")
	first := w.awaitSays("p1", "", time.Time{})
	w.publish(20, "/slow/2s")
	await(t, "checks in flight", func() bool { return w.pending() == 20 })
	w.drain("p1")
	w.awaitSays("p1", checkstream.Drained, time.Time{})
	if n := w.pending(); n != 0 {
		t.Errorf("drained with %d pending", n)
	}
	w.allUp(20)

	w.publish(10, "/ok")
	w.pass()
	stop()
	stop = w.run("p1")
	w.awaitSays("p1", checkstream.Drained, first.StartedAt)
	w.publish(10, "/ok")
	w.pass()
	if n := w.pending(); n != 0 {
		t.Errorf("it has read %d while drained", n)
	}
	w.allUp(20)

	if changed, err := w.fleet.ResumeProber(t.Context(), "eu", "p1"); err != nil || !changed {
		t.Fatal(changed, err)
	}
	w.awaitSays("p1", "", first.StartedAt)
	await(t, "the rows of what was left", func() bool { return len(rowsIn(t, w.path)) == 40 && w.pending() == 0 })
	w.allUp(40)
	stop()
	if _, is := w.prober("p1"); is {
		t.Error("left without a goodbye")
	}
}

// The other prober of the region takes all checks, also those for which both had read.
func TestOtherProberTakesWhatADrainedOneLeaves(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	stop1, stop2 := w.run("p1"), w.run("p2")
	defer stop2()
	defer stop1()
	w.awaitSays("p1", "", time.Time{})
	w.awaitSays("p2", "", time.Time{})
	w.publish(20, "/slow/1s")
	w.drain("p1")
	w.publish(20, "/slow/1s")
	w.awaitSays("p1", checkstream.Drained, time.Time{})
	before := bytes.Count(read(t, w.path), []byte(" p1 "))
	for range 3 {
		w.publish(20, "/ok")
	}
	await(t, "all rows", func() bool { return len(rowsIn(t, w.path)) == 100 && w.pending() == 0 })
	w.allUp(100)
	if after := bytes.Count(read(t, w.path), []byte(" p1 ")); after != before {
		t.Errorf("the drained one has made %d visits since", after-before)
	}
}
