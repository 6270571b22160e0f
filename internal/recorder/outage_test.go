package recorder

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/spool/spooltest"
	"github.com/probefleet/probefleet/internal/uptime"
)

// longest remembers the longest delay since it was last taken.
type longest struct{ worst atomic.Int64 }

func (l *longest) note(d time.Duration) {
	for was := l.worst.Load(); int64(d) > was && !l.worst.CompareAndSwap(was, int64(d)); was = l.worst.Load() {
	}
}

func (l *longest) take() time.Duration { return time.Duration(l.worst.Swap(0)) }

// Ten minutes without the store, 600 batches of 100 rows: everything is answered within
// seconds all the time, the backlog is gone 90 s after the store is back, in order, and
// rows that come meanwhile do not wait for it.
//
// Promise: rows wait on disk while ClickHouse is away, and are replayed in order
func TestOutageOfTenMinutes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := newTable()
		store.slow = 20 * time.Millisecond
		disk := openSpool(t, spooltest.New(), 0)
		r := New(store, Options{MaxRows: 100, Spool: disk})
		stop := start(t, r)
		var delays longest
		var mu sync.Mutex
		records := 0
		quit := make(chan struct{})
		var feeding sync.WaitGroup
		feeding.Go(func() {
			feed(t, r, 100, time.Second, quit, func(delay time.Duration, err error) {
				mu.Lock()
				defer mu.Unlock()
				records++
				if delays.note(delay); err != nil {
					t.Error(err)
				}
			})
		})
		<-time.After(30 * time.Second)
		delays.take()
		store.set(away)
		<-time.After(10 * time.Minute)
		if got := delays.take(); got > 3*time.Second {
			t.Errorf("a row waited %v for the disk", got)
		}
		state := r.State()
		if state.Breaker == "closed" || !state.Retrying || state.Pressure != LevelDegraded || state.Spool.Batches < 590 || state.Buffered > 300 {
			t.Errorf("state during the outage: %+v", state)
		}
		back, first := time.Now(), len(store.sent())
		store.set(nil)
		await(t, 3*time.Second, "first insert that works", func() bool { return len(store.sent()) > first })
		await(t, 90*time.Second-time.Since(back), "drained", func() bool { return disk.State().Batches == 0 })
		t.Logf("drained in %v", time.Since(back))
		if got := delays.take(); got > 2*time.Second {
			t.Errorf("a live row waited %v beside the replay", got)
		}
		close(quit)
		feeding.Wait()
		if err := stop(); err != nil {
			t.Error(err)
		}
		if got := store.has(t); got != 100*records {
			t.Errorf("%d slots stored, %d recorded", got, 100*records)
		}
		if got := testutil.ToFloat64(r.metrics.rows.WithLabelValues(outcomeReplayed)); got < 590*100 {
			t.Errorf("%v rows counted as replayed", got)
		}
		// What the store took after the outage: the backlog in the order of its slots.
		var last time.Time
		seconds := map[int]int{}
		for _, c := range store.sent()[first:] {
			if slot := c.batch.Rows[0].ScheduledAt; slot.Before(back.Add(-2 * time.Second)) {
				if slot.Before(last) {
					t.Errorf("slot %v replayed after %v", slot, last)
				}
				last = slot
				seconds[int(c.at.Sub(back)/time.Second)] += len(c.batch.Rows)
			}
		}
		for second, rows := range seconds {
			if rows > replayRate+2*100 {
				t.Errorf("second %d: %d rows replayed", second, rows)
			}
		}
	})
}

// While the store is away rows wait longer for company: what goes to the disk in few
// batches is sooner replayed. They do not wait so any more once it is back.
func TestBatchesAreFewerWhileTheStoreIsAway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := newTable()
		disk := openSpool(t, spooltest.New(), 0)
		r := New(store, Options{AwayAge: 5 * time.Second, Spool: disk})
		stop := start(t, r)
		quit := make(chan struct{})
		var feeding sync.WaitGroup
		var delays longest
		feeding.Go(func() {
			feed(t, r, 100, time.Second, quit, func(delay time.Duration, err error) {
				if delays.note(delay); err != nil {
					t.Error(err)
				}
			})
		})
		<-time.After(10 * time.Second)
		store.set(away)
		for range 300 { // those in a hurry, too
			if err := r.Record(t.Context(), rowsOf(1, 1), Watch{Done: func(error) {}, Hurry: true}); err != nil {
				t.Error(err)
			}
			<-time.After(time.Second)
		}
		if state := disk.State(); state.Batches < 50 || state.Batches > 70 || state.Rows < 29_000 {
			t.Errorf("%d batches of %d rows in all", state.Batches, state.Rows)
		}
		if got := delays.take(); got > 7*time.Second {
			t.Errorf("a row waited %v for the disk", got)
		}
		store.set(nil)
		await(t, time.Minute, "drained", func() bool { return disk.State().Batches == 0 })
		delays.take()
		<-time.After(20 * time.Second)
		if got := delays.take(); got > 1100*time.Millisecond {
			t.Errorf("once the store is back a row waits %v", got)
		}
		close(quit)
		feeding.Wait()
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

// A store that does not answer at all costs live rows little: the trials that hang are
// the replayer's, but for some.
func TestLiveRowsDoNotWaitForTrialsThatHang(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := newTable()
		store.slow = 15 * time.Second
		store.fail = away
		r := New(store, Options{MaxRows: 20, Spool: openSpool(t, spooltest.New(), 0)})
		stop := start(t, r)
		quit := make(chan struct{})
		var feeding sync.WaitGroup
		waited, records := 0, 0
		feeding.Go(func() {
			feed(t, r, 20, time.Second, quit, func(delay time.Duration, _ error) {
				if records++; delay > 3*time.Second {
					waited++
				}
			})
		})
		<-time.After(20 * time.Minute)
		close(quit)
		feeding.Wait()
		if err := stop(); err != nil {
			t.Error(err)
		}
		if records < 1100 || waited > records/5 {
			t.Errorf("%d of %d records waited", waited, records)
		}
		t.Logf("%d of %d records waited", waited, records)
	})
}

// A store that took a batch and did not say so gets the same token, rows and order
// from the disk, even by the next process.
func TestAmbiguousInsertKeepsItsTokenOnDisk(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := newTable()
		store.fail = func(resultstore.Batch) (error, bool) { return errAway, true }
		fs := spooltest.New()
		r := New(store, Options{Prober: "p1", Region: "eu", Spool: openSpool(t, fs, 0)})
		stop := start(t, r)
		if err := r.RecordWait(t.Context(), rowsOf(1, 50)); err != nil {
			t.Fatal(err)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
		fs.Crash()
		store.set(nil)
		disk := openSpool(t, fs, 0)
		r = New(store, Options{Prober: "p2", Region: "eu", Spool: disk})
		stop = start(t, r)
		await(t, 3*time.Second, "replayed", func() bool { return disk.State().Batches == 0 })
		if err := stop(); err != nil {
			t.Error(err)
		}
		sent := store.sent()
		for i, c := range sent {
			same := slices.EqualFunc(c.batch.Rows, sent[0].batch.Rows, func(a, b uptime.Result) bool {
				return a.Slot().TargetID == b.Slot().TargetID && a.ScheduledAt.Equal(b.ScheduledAt) && a.Revision() == b.Revision()
			})
			if c.batch.Token != sent[0].batch.Token || c.batch.Prober != "p1" || !same {
				t.Errorf("insert %d of %d differs: %s by %s", i, len(sent), c.batch.Token, c.batch.Prober)
			}
		}
		if len(sent) < 4 || sent[len(sent)-1].err != nil || store.has(t) != 50 {
			t.Errorf("%d inserts", len(sent))
		}
	})
}

// Two boots of one prober that send equally numbered batches: a token is never used again.
func TestTwoBootsWithEqualCounts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := newTable()
		for boot := range int64(2) {
			r := New(store, Options{Prober: "p1", Region: "eu", MaxRows: 10})
			stop := start(t, r)
			for batch := range int64(5) {
				if err := r.RecordWait(t.Context(), rowsOf(1+100*boot+10*batch, 10)); err != nil {
					t.Fatal(err)
				}
			}
			if err := stop(); err != nil {
				t.Error(err)
			}
		}
		if got := store.has(t); got != 100 {
			t.Errorf("%d rows kept of 100 sent", got)
		}
	})
}
