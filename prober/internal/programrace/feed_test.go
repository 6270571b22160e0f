//go:build bench

package programrace

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/uptime"
)

// feeding publishes checks as the publisher does: a second ahead, in chunks, each at its
// own instant of its second, and trims what is settled.
type feeding struct {
	f         *fleet
	visits    []uptime.Check // what is done at the targets, in turn: they have URL, timeout and spec
	also      []uptime.Check // besides, a check of each of these targets in every second
	named     bool           // each of these has a link of its own, which ends in nameOf
	interval  time.Duration  // of a target's checks: they are at rate × interval targets
	rate      atomic.Int64   // checks a second, from the next second on
	published atomic.Int64
	next      int64 // second
	stop      chan struct{}
	over      sync.WaitGroup
}

// feed has checks of links published at a rate.
func (f *fleet) feed(links []string, rate int, interval time.Duration) *feeding {
	f.t.Helper()
	w := &feeding{interval: interval}
	for _, link := range links {
		w.visits = append(w.visits, visitOf(link))
	}
	return f.begin(w, rate)
}

func visitOf(link string) uptime.Check {
	return uptime.Check{Interval: wholeInterval, SpecVersion: 1, Regions: []string{region}, Kind: uptime.KindHTTP, URL: link, Timeout: 5 * time.Second, Spec: asserted}
}

// asserted is what people demand of a page: its status, a word of it, and that it is not slow.
var asserted = uptime.Spec{Assertions: []uptime.Assertion{
	{Source: uptime.SourceStatus, Op: uptime.OpEquals, Value: "200"},
	{Source: uptime.SourceBody, Op: uptime.OpContains, Value: "ok"},
	{Source: uptime.SourceLatency, Op: uptime.OpLess, Value: "5000", Severity: uptime.SeverityDegrade},
}}.Text()

// begin publishes everything from the second after the clock's tick, and goes on by itself.
func (f *fleet) begin(w *feeding, rate int) *feeding {
	f.t.Helper()
	clock, err := f.publisher.Clock(f.t.Context())
	if err != nil {
		f.t.Fatal(err)
	}
	w.f, w.next, w.stop = f, clock.Tick+1, make(chan struct{})
	w.rate.Store(int64(rate))
	w.catchUp()
	w.over.Go(w.run)
	f.t.Cleanup(w.end)
	return w
}

func (w *feeding) end() {
	if !w.ending() {
		close(w.stop)
	}
	w.over.Wait()
}

func (w *feeding) run() {
	for {
		now := time.Now()
		select {
		case <-w.stop:
			return
		case <-time.After(now.Truncate(time.Second).Add(time.Second).Sub(now)):
		}
		w.catchUp()
	}
}

// catchUp publishes up to a second ahead. Where the store of checks has hardly any core left that
// takes more than a second for each, and goes on.
func (w *feeding) catchUp() {
	for ; w.next <= time.Now().Unix()+1 && !w.ending(); w.next++ {
		checks := w.second(w.next, int(w.rate.Load()))
		for from := 0; from == 0 || from < len(checks); from += checkstream.MaxChunk { // a second without checks is published, too
			chunk, last := checks[from:min(from+checkstream.MaxChunk, len(checks))], from+checkstream.MaxChunk >= len(checks)
			n, err := w.f.publisher.Publish(w.f.t.Context(), checkstream.Chunk{Second: w.next, Seq: 1, Checks: chunk, Last: last})
			if err != nil {
				w.f.t.Error(err)
				return
			}
			w.published.Add(int64(n))
		}
		if _, err := w.f.publisher.Trim(w.f.t.Context()); err != nil {
			w.f.t.Error(err)
			return
		}
	}
}

func (w *feeding) ending() bool {
	select {
	case <-w.stop:
		return true
	default:
		return false
	}
}

// second makes a second's checks: evenly in time, and over the targets.
func (w *feeding) second(second int64, rate int) []uptime.Check {
	turns := int64(w.interval / time.Second)
	checks := make([]uptime.Check, 0, rate+len(w.also))
	at := func(i, of int) time.Time { return time.UnixMilli(second*1000 + int64(i)*1000/int64(of)).UTC() }
	for i := range rate {
		check := w.visits[i%len(w.visits)]
		check.TargetID, check.ScheduledAt, check.Interval = int64(i)*turns+second%turns+1, at(i, rate), w.interval
		checks = append(checks, check)
	}
	for i, check := range w.also {
		check.ScheduledAt = at(i, len(w.also))
		if w.named {
			check.URL += nameOf(check.TargetID, second)
			check.SpecVersion = second // else the prober would visit the link that it knows
		}
		checks = append(checks, check)
	}
	return checks
}

// nameOf tells a check from all others.
func nameOf(target, second int64) string { return fmt.Sprintf("%d-%d", target, second) }

// steady are targets that are checked every second, with ids above those of all others.
func steady(n int, link string) (list []uptime.Check) {
	for i := range n {
		check := visitOf(link)
		check.TargetID = int64(10_000_000 + i)
		list = append(list, check)
	}
	return list
}

func sortBy[E any](list []E, key func(E) float64) {
	slices.SortFunc(list, func(a, b E) int { return cmp.Compare(key(a), key(b)) })
}
