package recorder

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/probefleet/probefleet/internal/spool/spooltest"
)

// Inserts of five seconds: batches grow to MostRows, then callers wait, and nothing is
// sent twice.
func TestSlowInsertsGrowBatchesThenHoldBack(t *testing.T) {
	t.Parallel()
	for _, most := range []int{0, 300} {
		slowInserts(t, most, max(most, 100))
	}
}

func slowInserts(t *testing.T, most, want int) {
	synctest.Test(t, func(t *testing.T) {
		store := newTable()
		store.slow = 5 * time.Second
		r := New(store, Options{MaxRows: 100, MostRows: most, MaxBuffered: 1000, Spool: openSpool(t, spooltest.New(), 0)})
		stop := start(t, r)
		quit := make(chan struct{})
		var feeding sync.WaitGroup
		records := 0
		feeding.Go(func() {
			feed(t, r, 10, 100*time.Millisecond, quit, func(time.Duration, error) { records++ })
		})
		<-time.After(2 * time.Minute)
		if s := r.State(); s.Saturation < .9 || s.Breaker != "closed" || s.Spool.Batches != 0 {
			t.Errorf("state %+v", s)
		}
		close(quit)
		feeding.Wait()
		if err := stop(); err != nil {
			t.Error(err)
		}
		tokens := map[string]bool{}
		sent := store.sent()
		for i, c := range sent {
			if i > 0 && i < len(sent)-1 && len(c.batch.Rows) != want {
				t.Errorf("insert %d has %d rows", i, len(c.batch.Rows))
			}
			if tokens[c.batch.Token] {
				t.Errorf("insert %d repeats %s", i, c.batch.Token)
			}
			tokens[c.batch.Token] = true
		}
		if got := store.has(t); got > 10*records {
			t.Errorf("%d rows stored, %d recorded", got, 10*records)
		}
	})
}

// With the spool at its cap callers are held back, and go on once the store is back.
func TestFullSpoolHoldsCallersBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := newTable()
		store.fail = away
		const most = 64 << 10
		disk := openSpool(t, spooltest.New(), most)
		r := New(store, Options{MaxRows: 50, MaxBuffered: 500, Spool: disk})
		stop := start(t, r)
		quit := make(chan struct{})
		var feeding sync.WaitGroup
		records := 0
		feeding.Go(func() {
			feed(t, r, 50, 100*time.Millisecond, quit, func(_ time.Duration, err error) {
				if records++; err != nil {
					t.Error(err)
				}
			})
		})
		for range 60 {
			<-time.After(time.Second)
			if s := disk.State(); s.Bytes > most {
				t.Fatalf("%d bytes in a spool of %d", s.Bytes, most)
			}
		}
		s := r.State()
		if s.Pressure != LevelError || s.Saturation < .9 || !s.Spool.Full {
			t.Errorf("state %+v", s)
		}
		store.set(nil)
		await(t, 10*time.Second, "room again", func() bool { s := r.State(); return s.Saturation < .5 && s.Spool.Batches == 0 })
		if s := r.State(); s.Pressure != LevelOK || s.Retrying {
			t.Errorf("state %+v", s)
		}
		close(quit)
		feeding.Wait()
		if err := stop(); err != nil {
			t.Error(err)
		}
		if got := store.has(t); got != 50*records {
			t.Errorf("%d slots stored, %d recorded", got, 50*records)
		}
	})
}

// Rows held at the end of a process whose store hangs are on disk when it ends.
func TestStopSpoolsWhatTheStoreDoesNotTake(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := newTable()
		store.slow = time.Hour
		disk := openSpool(t, spooltest.New(), 0)
		r := New(store, Options{MaxRows: 10, FlushTimeout: 4 * time.Second, Spool: disk})
		stop := start(t, r)
		answers := 0
		for i := range int64(5) {
			if err := r.Record(t.Context(), rowsOf(1+10*i, 10), Watch{Done: func(err error) {
				if answers++; err != nil {
					t.Error(err)
				}
			}}); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		begin := time.Now()
		if err := stop(); err != nil {
			t.Error(err)
		}
		if took := time.Since(begin); took > 3*time.Second {
			t.Errorf("took %v", took)
		}
		if s := disk.State(); answers != 5 || s.Rows != 50 {
			t.Errorf("%d answers, %+v", answers, s)
		}
	})
}
