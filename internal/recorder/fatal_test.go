package recorder

import (
	"errors"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/spool"
	"github.com/probefleet/probefleet/internal/spool/spooltest"
)

// After an error of the disk nothing is called durable any more: not what was being
// written, not what waits, not what the store takes afterwards.
func TestDiskErrorEndsEverything(t *testing.T) {
	t.Parallel()
	for op, storeWorks := range map[spooltest.Op]bool{
		spooltest.OpSync: false, spooltest.OpSyncDir: false, spooltest.OpWrite: false, // of the writer
		spooltest.OpRemove: true, // of the replayer
	} {
		t.Run(string(op), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				fs := spooltest.New()
				disk := spooled(t, fs, 1)
				fs.Fail(op, 0, syscall.EIO)
				store := newTable()
				store.slow = 300 * time.Millisecond
				if !storeWorks {
					store.fail = away
				}
				var mu sync.Mutex
				var fatal []error
				broken := func() bool { mu.Lock(); defer mu.Unlock(); return len(fatal) > 0 }
				r := New(store, Options{MaxRows: 10, Spool: disk, Fatal: func(err error) {
					mu.Lock()
					defer mu.Unlock()
					fatal = append(fatal, err)
				}})
				stop := start(t, r)
				answers := 0
				for i := range int64(30) {
					err := r.Record(t.Context(), rowsOf(1000+10*i, 10), Watch{Done: func(err error) {
						if answers++; broken() && err == nil {
							t.Error("called durable after the disk failed")
						}
						if err != nil && (!errors.Is(err, ErrStopped) || resultstore.IsPermanent(err)) {
							t.Errorf("answered %v", err)
						}
					}})
					if err != nil {
						t.Fatal(err)
					}
				}
				await(t, time.Minute, "fatal", broken)
				await(t, time.Minute, "answers", func() bool { return r.State().Buffered == 0 })
				if err := r.Record(t.Context(), rowsOf(1, 1), Watch{}); !errors.Is(err, ErrStopped) {
					t.Errorf("a recorder without a disk answered %v", err)
				}
				if err := stop(); !errors.Is(err, ErrStopped) {
					t.Errorf("Run: %v", err)
				}
				var disk2 *spool.IOError
				if len(fatal) != 1 || !errors.As(fatal[0], &disk2) || answers != 30 {
					t.Errorf("%d answers, fatal %v", answers, fatal)
				}
			})
		})
	}
}

func TestPhasesAreTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := newTable()
		store.fail = away
		r := New(store, Options{MaxRows: 10, Spool: openSpool(t, spooltest.New(), 0)})
		stop := start(t, r)
		type told struct {
			phase   Phase
			attempt int
		}
		var heard []told
		done := make(chan error, 1)
		watch := Watch{
			Done:  func(err error) { done <- err },
			Phase: func(p Phase, attempt int) { heard = append(heard, told{p, attempt}) },
		}
		if err := r.Record(t.Context(), rowsOf(1, 10), watch); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
		want := []told{{Inserting, 1}, {BackingOff, 1}, {Inserting, 2}, {BackingOff, 2}, {Inserting, 3}, {Spooling, 3}}
		if len(heard) != len(want) {
			t.Fatalf("told %v", heard)
		}
		for i, w := range want {
			if heard[i] != w {
				t.Errorf("told %v, want %v", heard, want)
			}
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}
