package spool_test

import (
	"testing"

	"github.com/probefleet/probefleet/internal/spool"
	"github.com/probefleet/probefleet/internal/spool/spooltest"
)

// A first start that is killed leaves folders that are in no directory on the disk yet.
// The next one takes them as they are, confirms batches, and then the power is cut.
func TestFoldersOfAKilledStartSurviveAPowerCut(t *testing.T) {
	t.Parallel()
	for n, done := 0, false; !done; n++ {
		f := spooltest.New()
		f.CutAfter(n)
		s, err := spool.Open(spool.Options{Dir: dir, FS: f.Process()})
		if done = err == nil; done {
			_ = s.Close()
		}
		f.Heal()
		f.Kill()
		s, err = spool.Open(spool.Options{Dir: dir, FS: f.Process()})
		if err != nil {
			t.Fatal(err)
		}
		mustAppend(t, s, makeBatch(1, 2))
		f.Crash()
		if got, _ := replay(t, open(t, spool.Options{FS: f})); len(got) != 1 {
			t.Errorf("killed after %d calls: %d batches are left of 1", n, len(got))
		}
	}
}
