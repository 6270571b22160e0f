package recorder

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/spool"
	"github.com/probefleet/probefleet/internal/spool/spooltest"
)

// pulse remembers the longest silence.
type pulse struct {
	mu      sync.Mutex
	last    time.Time
	longest time.Duration
}

func (p *pulse) beat() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.last.IsZero() {
		p.longest = max(p.longest, time.Since(p.last))
	}
	p.last = time.Now()
}

func (p *pulse) silent() (now, longest time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now = time.Since(p.last)
	return now, max(p.longest, now)
}

// A watchdog need not worry about a store that is slow, gone or flapping, nor about
// having nothing to do.
func TestBeatsWhateverTheStoreDoes(t *testing.T) {
	t.Parallel()
	const insert = 30 * time.Second // of the store's bounds: rows, then their note
	down := func(resultstore.Batch) (error, bool) { return errAway, true }
	for name, c := range map[string]struct {
		slow time.Duration
		fail func(b resultstore.Batch) (error, bool)
		feed bool
	}{
		"idle":     {},
		"slow":     {slow: insert, feed: true},
		"hangs":    {slow: insert, fail: down, feed: true},
		"away":     {fail: away, feed: true},
		"flapping": {fail: func(b resultstore.Batch) (error, bool) { return map[bool]error{true: errAway}[b.Attempt%2 == 1], false }, feed: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				store := newTable()
				store.slow, store.fail = c.slow, c.fail
				var write, replay pulse
				r := New(store, Options{Spool: openSpool(t, spooltest.New(), 0), BeatWrite: write.beat, BeatReplay: replay.beat})
				stop := start(t, r)
				end := make(chan struct{})
				var fed sync.WaitGroup
				if c.feed {
					fed.Go(func() { feed(t, r, 10, time.Second, end, func(time.Duration, error) {}) })
				}
				<-time.After(10 * time.Minute)
				if _, longest := write.silent(); longest > insert+longestPause {
					t.Errorf("the writer was silent for %v", longest)
				}
				if _, longest := replay.silent(); longest > flapWindow+insert {
					t.Errorf("the replayer was silent for %v", longest)
				}
				close(end)
				fed.Wait()
				_ = stop()
			})
		})
	}
}

// A disk that hangs is seen, on whichever side.
func TestNoBeatWhileTheDiskHangs(t *testing.T) {
	t.Parallel()
	for _, op := range []spooltest.Op{spooltest.OpSync, spooltest.OpRemove} {
		t.Run(string(op), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				store := newTable()
				disk := &stuckDisk{Spool: openSpool(t, spooltest.New(), 0), release: make(chan struct{})}
				disk.append, disk.remove = op == spooltest.OpSync, op == spooltest.OpRemove
				store.fail = away
				var write, replay pulse
				r := New(store, Options{Spool: disk, BeatWrite: write.beat, BeatReplay: replay.beat})
				stop := start(t, r)
				if err := r.Record(t.Context(), rowsOf(1, 5), Watch{Done: func(error) {}}); err != nil {
					t.Fatal(err)
				}
				<-time.After(time.Minute)
				store.set(nil)
				<-time.After(5 * time.Minute)
				hung, other := &write, &replay
				if op == spooltest.OpRemove {
					hung, other = other, hung
				}
				if now, _ := hung.silent(); now < 4*time.Minute {
					t.Errorf("silent for %v only", now)
				}
				if now, _ := other.silent(); now > 20*time.Second {
					t.Errorf("the other one is silent for %v", now)
				}
				close(disk.release)
				_ = stop()
			})
		})
	}
}

// stuckDisk is a spool on a disk that does not answer.
type stuckDisk struct {
	Spool
	append, remove bool
	release        chan struct{}
}

func (h *stuckDisk) Append(b resultstore.Batch) error {
	if h.append {
		<-h.release
	}
	return h.Spool.Append(b)
}

func (h *stuckDisk) Remove(it spool.Item) error {
	if h.remove {
		<-h.release
	}
	return h.Spool.Remove(it)
}
