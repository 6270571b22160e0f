package spool_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/spool"
	"github.com/probefleet/probefleet/internal/spool/spooltest"
)

// TestOneAppenderOneReplayer: both at once, nothing is lost, doubled or out of order.
func TestOneAppenderOneReplayer(t *testing.T) {
	t.Parallel()
	s := open(t, spool.Options{FS: spooltest.New(), MaxBytes: 20 * 4096})
	const n = 500
	var got []resultstore.Batch
	var wg sync.WaitGroup
	done := make(chan struct{})
	wg.Go(func() {
		defer close(done)
		for i := range n {
			for {
				err := s.Append(makeBatch(i, 1))
				if err == nil {
					break
				}
				if !errors.Is(err, spool.ErrFull) {
					t.Error(err)
					return
				}
			}
			if state := s.State(); state.Bytes > 20*4096 {
				t.Errorf("%d bytes", state.Bytes)
			}
		}
	})
	wg.Go(func() {
		for len(got) < n {
			if it, ok := s.Oldest(); ok {
				b, err := s.Read(it)
				if err = errors.Join(err, s.Remove(it)); err != nil {
					t.Error(err)
					return
				}
				got = append(got, b)
				continue
			}
			select {
			case <-s.Wake():
			case <-done:
				if s.State().Batches == 0 && len(got) < n {
					t.Errorf("%d of %d replayed", len(got), n)
					return
				}
			}
		}
	})
	wg.Wait()
	for i, b := range got {
		if want := fmt.Sprintf("token-%04d", i); b.Token != want {
			t.Fatalf("%s where %s should be", b.Token, want)
		}
	}
}
