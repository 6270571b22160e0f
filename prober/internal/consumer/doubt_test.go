package consumer

import (
	"context"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/prober/internal/canary"
	"github.com/probefleet/probefleet/prober/internal/probe"
	"github.com/probefleet/probefleet/prober/internal/resolve"
)

// canaries are listeners that a rig's prober must always be able to reach.
type canaries struct {
	t     *testing.T
	addrs []string
	open  []net.Listener
	watch *canary.Watch
}

// hang is a name that no name server answers for.
const hang = "hang.test:443"

type silentNames struct{}

func (silentNames) LookupAnew(ctx context.Context, _ string, _ resolve.Family) (resolve.Answer, error) {
	<-ctx.Done()
	return resolve.Answer{}, ctx.Err()
}

func newCanaries(t *testing.T, ports int, others ...string) *canaries {
	t.Helper()
	c := &canaries{t: t}
	for range ports {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		c.addrs, c.open = append(c.addrs, listener.Addr().String()), append(c.open, listener)
	}
	t.Cleanup(func() { c.down(len(c.open)) })
	list, err := canary.Parse(strings.Join(append(c.addrs, others...), ","))
	if err != nil {
		t.Fatal(err)
	}
	c.watch = canary.New(canary.Options{
		Canaries: list, Names: silentNames{}, Announce: func(context.Context, canary.Round) error { return nil }, Health: func(string) {},
		Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry(),
	})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = c.watch.Run(ctx)
	}()
	t.Cleanup(func() { stop(); <-ended })
	return c
}

// down closes so many.
func (c *canaries) down(n int) {
	for _, listener := range c.open[:n] {
		_ = listener.Close()
	}
}

func (c *canaries) up(n int) {
	c.t.Helper()
	for i := range n {
		listener, err := net.Listen("tcp", c.addrs[i])
		if err != nil {
			c.t.Fatal(err)
		}
		c.open[i] = listener
	}
}

// failingRig has targets that are degraded, down or up: 100s, 200s, others.
func failingRig(c *canaries) *rig {
	r := newRig()
	r.options.Believe = c.watch.Believe
	r.visitor.ends = func(check uptime.Check) probe.Outcome {
		switch check.TargetID / 100 {
		case 1:
			return probe.Outcome{Status: uptime.StatusDegraded, Failure: uptime.FailureLatency, Message: "took 3 s", Attempts: 1, Evidence: &uptime.Evidence{}}
		case 2:
			return probe.Outcome{
				Status: uptime.StatusDown, Failure: uptime.FailureConnectTimeout, HTTPStatus: 503, TotalUS: 7, Phases: uptime.Phases{DNS: 7},
				Message: "no connection within the timeout", Attempts: 2, Evidence: &uptime.Evidence{}, Seen: uptime.Seen{Hops: 1},
			}
		}
		return probe.Outcome{Status: uptime.StatusUp, Attempts: 1}
	}
	return r
}

// delay is how long after its slot a row was handed to the recorder.
func delay(row uptime.Result) time.Duration { return row.IngestedAt.Sub(row.ScheduledAt) }

func TestFailureOfABlindProberIsUnknown(t *testing.T) {
	in(t, func(t *testing.T) {
		c := newCanaries(t, 3)
		r := failingRig(c)
		for i := range int64(3) {
			for _, kind := range []int64{1, 100, 200} {
				r.stream.fresh = append(r.stream.fresh, entryIn(kind+i, 3500*time.Millisecond+time.Duration(i)*20*time.Second))
			}
		}
		r.start(t)
		wait(20 * time.Second)
		c.down(3)
		wait(20 * time.Second)
		c.up(3)
		wait(10 * time.Second)
		for i := range int64(3) {
			if row := r.rowOf(t, 1+i); row.Status != uptime.StatusUp || delay(row) > 0 {
				t.Errorf("good, slot %d: %+v", i, row)
			}
			if row := r.rowOf(t, 100+i); row.Status != uptime.StatusDegraded || row.Evidence == nil || delay(row) > 0 {
				t.Errorf("degraded, slot %d: %+v", i, row)
			}
			row := r.rowOf(t, 200+i)
			if i != 1 {
				if row.Status != uptime.StatusDown || row.Evidence == nil || row.HTTPStatus != 503 || delay(row) > time.Second {
					t.Errorf("down, slot %d: %+v", i, row)
				}
				continue
			}
			if row.Status != uptime.StatusUnknown || row.Reason != uptime.ReasonProbeBlind || row.Failure != "" || row.Evidence != nil || row.HTTPStatus != 0 ||
				row.TotalUS != 0 || row.Phases != (uptime.Phases{}) || row.Seen != (uptime.Seen{}) || row.Attempt != 2 || row.CheckedAt.IsZero() {
				t.Errorf("a blind prober's failure: %+v", row)
			}
			if !strings.Contains(row.Message, "connect_timeout: no connection within the timeout; not believed: ") || !strings.Contains(row.Message, "connection refused") {
				t.Errorf("%q", row.Message)
			}
		}
		r.finish(t)
	})
}

func TestOneCanaryThatIsDownSuppressesNothing(t *testing.T) {
	in(t, func(t *testing.T) {
		c := newCanaries(t, 3)
		r := failingRig(c)
		r.stream.fresh = append(r.stream.fresh, entryIn(200, 3*time.Second))
		c.down(1)
		r.start(t)
		wait(5 * time.Second)
		if row := r.rowOf(t, 200); row.Status != uptime.StatusDown || delay(row) > 0 {
			t.Errorf("%+v, after %v", row, delay(row))
		}
		r.finish(t)
	})
}

// Who answers is known not to be down any more: when it fails next its prober is in a hurry.
func TestWhoAnsweredIsTold(t *testing.T) {
	in(t, func(t *testing.T) {
		r := failingRig(newCanaries(t, 1))
		told := make(chan int64, 10)
		r.options.Answered = func(target int64) { told <- target }
		r.stream.fresh = append(r.stream.fresh, entryIn(200, 3*time.Second), entryIn(100, 4*time.Second), entryIn(1, 5*time.Second))
		r.start(t)
		wait(10 * time.Second)
		if len(told) != 2 || <-told != 100 || <-told != 1 {
			t.Error("others were told than the one that is degraded and the one that is up")
		}
		r.finish(t)
	})
}

// Canaries that hang hold up those that failed, for two seconds, and nobody else: not those
// of the same host, nor those that fail a moment later.
func TestDoubtHoldsNobodyElseUp(t *testing.T) {
	in(t, func(t *testing.T) {
		c := newCanaries(t, 0, hang)
		r := failingRig(c)
		r.options.Capacity = 500
		for id := int64(200); id < 300; id++ { // ten times the places of their host
			r.stream.fresh = append(r.stream.fresh, entryIn(id, 3*time.Second+time.Duration(id)*time.Millisecond, at("http://one.test/")))
		}
		for id := int64(1); id < 100; id++ {
			r.stream.fresh = append(r.stream.fresh, entryIn(id, 3*time.Second+time.Duration(2*id)*time.Millisecond, at("http://one.test/")))
		}
		r.start(t)
		wait(10 * time.Second)
		for id := int64(1); id < 100; id++ {
			if row := r.rowOf(t, id); row.Status != uptime.StatusUp || delay(row) > 0 {
				t.Fatalf("%+v, after %v", row, delay(row))
			}
			row := r.rowOf(t, 200+id)
			if row.Reason != uptime.ReasonProbeBlind || delay(row) > canary.Patience || !row.CheckedAt.Equal(row.ScheduledAt) {
				t.Fatalf("%+v, after %v", row, delay(row))
			}
		}
		r.finish(t)
	})
}

// What waits to be believed when the stop comes gets its row like all others.
func TestDrainWaitsForDoubt(t *testing.T) {
	in(t, func(t *testing.T) {
		c := newCanaries(t, 0, hang)
		r := failingRig(c)
		r.visitor.took = func(check uptime.Check) time.Duration { return time.Duration(check.TargetID%100) * time.Second }
		for _, id := range []int64{200, 201, 210, 213, 220} {
			r.stream.fresh = append(r.stream.fresh, entryIn(id, time.Second))
		}
		r.start(t)
		wait(1500 * time.Millisecond)
		if held := r.c.flights.counts(); held[probing] != 5 {
			t.Errorf("%d flights are under way", held[probing])
		}
		asked := time.Now()
		r.finish(t)
		if took := time.Since(asked); took > drainChecks+canary.Patience+time.Second {
			t.Errorf("the drain took %v", took)
		}
		for _, id := range []int64{200, 201, 210, 213} {
			if row := r.rowOf(t, id); row.Reason != uptime.ReasonProbeBlind {
				t.Errorf("%+v", row)
			}
		}
		if len(r.stream.pending) != 1 { // it takes longer than a drain
			t.Errorf("%d are pending", len(r.stream.pending))
		}
	})
}
