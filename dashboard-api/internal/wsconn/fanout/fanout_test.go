//go:build bench

package fanout

import (
	"context"
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/testfigures"
	"github.com/probefleet/probefleet/internal/testfleet"
	"github.com/probefleet/probefleet/internal/testusage"
)

const (
	readers  = 10_000
	targets  = 2_000
	rate     = 200 // results a second
	measured = 20 * time.Second
	settle   = 3 * time.Second
	watchers = 50 // readers that look at what they are told
)

// Bounds of both tests, on two cores that the readers share with the node.
const (
	mostMemory = 20.0                   // KB a socket
	mostDelay  = 500 * time.Millisecond // from announced to read, of 99 in 100, whatever they read
	mostAway   = 5 * time.Second        // of the last one that was cut off with the others
)

func TestMain(m *testing.M) { testfleet.Main(m) }

func watched(i int) bool { return i%(readers/watchers) == 0 }

// TestFanOut has all readers on one node: first silent, then told.
func TestFanOut(t *testing.T) {
	for _, c := range []struct {
		name    string
		read    string
		channel func(n *node, i int) string
	}{
		{"OneTarget", "one target", func(n *node, i int) string { return fmt.Sprint("target:", n.targets[i%len(n.targets)]) }},
		{"Everything", "everything", func(*node, int) string { return "targets" }},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := newNode(t, targets)
			<-time.After(settle)
			before := testusage.MemoryOf(t, n.pid, "VmRSS")
			crowd := &crowd{node: n, seed: maphash.MakeSeed()}
			crowd.gather(t, readers, func(i int) string { return c.channel(n, i) }, watched)
			<-time.After(settle)
			resident := testusage.MemoryOf(t, n.pid, "VmRSS")
			each := (resident - before) * 1e3 / readers
			t.Logf("%d readers: %.1f KB each (%.0f MB before, %.0f with them)", readers, each, before, resident)

			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			failed := make(chan error, 1)
			go func() { failed <- n.announce(ctx, rate) }()
			<-time.After(settle)
			crowd.mu.Lock()
			crowd.delays = crowd.delays[:0]
			crowd.mu.Unlock()
			messages, bytes, cpu, at := crowd.messages.Load(), crowd.bytes.Load(), testusage.CPUSoFar(t, n.pid), time.Now()
			<-time.After(measured)
			took := time.Since(at).Seconds()
			sent := crowd.messages.Load() - messages
			spent := testusage.CPUSoFar(t, n.pid) - cpu
			stop()
			if err := <-failed; err != nil {
				t.Fatal(err)
			}
			crowd.mu.Lock()
			delays := slices.Sorted(slices.Values(crowd.delays))
			crowd.mu.Unlock()
			if len(delays) == 0 {
				t.Fatal("nothing was read")
			}
			p99, gaps := delays[len(delays)*99/100], crowd.gaps.Load()
			t.Logf("told %.0f messages a second, %.1f MB/s; CPU %.2f cores, %.1f µs a message; p50 %v, p99 %v, most %v of %d; gaps %d; %.0f MB at most",
				float64(sent)/took, float64(crowd.bytes.Load()-bytes)/took/1e6, spent.Seconds()/took, float64(spent.Microseconds())/float64(max(1, sent)),
				delays[len(delays)/2].Round(time.Millisecond), p99.Round(time.Millisecond), delays[len(delays)-1].Round(time.Millisecond), len(delays), gaps, testusage.MemoryOf(t, n.pid, "VmHWM"))
			testfigures.Note(t, "live: "+c.read, []testfigures.Line{
				{What: fmt.Sprintf("%d readers of %s at %d results a second: memory of a socket", readers, c.read, rate), Is: each, Unit: "KB", Bound: mostMemory},
				{What: "… announced → read, p50", Is: milliseconds(delays[len(delays)/2]), Unit: "ms", Bound: milliseconds(mostDelay)},
				{What: "… p99", Is: milliseconds(p99), Unit: "ms", Bound: milliseconds(mostDelay)},
				{What: "… gaps", Is: float64(gaps)},
			})
		})
	}
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1e3 }

// TestCut has 2,000 readers of everything lose their connections at once, while results come:
// each comes back as a page does, goes on where it was and is told what happens then.
func TestCut(t *testing.T) {
	n := newNode(t, targets)
	crowd := &crowd{node: n, seed: maphash.MakeSeed()}
	const cut = 2_000
	all := crowd.gather(t, cut, func(int) string { return "targets" }, func(int) bool { return false })
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	failed := make(chan error, 1)
	go func() { failed <- n.announce(ctx, rate) }()
	<-time.After(settle)
	at := time.Now()
	for _, r := range all {
		_ = r.conn.Close()
	}
	back := make([]time.Duration, cut)
	var group sync.WaitGroup
	for i, old := range all {
		group.Go(func() {
			<-time.After(rand.N(500 * time.Millisecond)) // a page's first pause
			<-old.ended                                  // what was read before the cut was read
			r, err := crowd.open("targets", false, old)
			if err != nil {
				t.Error(err)
				return
			}
			back[i] = time.Since(at)
			all[i] = r
			go crowd.follow(r)
		})
	}
	group.Wait()
	<-time.After(settle)
	stop()
	if err := <-failed; err != nil {
		t.Fatal(err)
	}
	slices.Sort(back)
	last, gaps, silent := back[cut-1], crowd.gaps.Load(), 0
	for _, r := range all {
		if r.told.Load() == 0 {
			silent++
		}
	}
	t.Logf("%d readers back after: p50 %v, p99 %v, the last %v; gaps %d; %d were told nothing since", cut, back[cut/2].Round(time.Millisecond), back[cut*99/100].Round(time.Millisecond), last.Round(time.Millisecond), gaps, silent)
	testfigures.Note(t, "live: cut", []testfigures.Line{
		{What: fmt.Sprintf("%d readers of everything cut off at once: until the last one is back", cut), Is: last.Seconds(), Unit: "s", Bound: mostAway.Seconds()},
		{What: "… gaps", Is: float64(gaps)},
		{What: "… told nothing after it", Is: float64(silent)},
	})
	for _, r := range all {
		_ = r.conn.Close()
	}
}
