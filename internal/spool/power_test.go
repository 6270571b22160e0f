package spool_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/spool"
	"github.com/probefleet/probefleet/internal/spool/spooltest"
)

// cutPower runs a small life of a spool, cuts the power after n calls of the file
// system, and says what a restart finds wrong; done: the life was shorter than that.
// In it: a first start, appends, a removal, an append after it.
func cutPower(n int, crash func(*spooltest.FS), ignore ...spooltest.Op) (problem error, done bool) {
	f := spooltest.New()
	for _, op := range ignore {
		f.Ignore(op)
	}
	f.CutAfter(n)
	confirmed := map[string]resultstore.Batch{}
	offered := map[string]resultstore.Batch{}
	removed := map[string]bool{}
	life := func() error {
		s, err := spool.Open(spool.Options{Dir: dir, FS: f})
		if err != nil {
			return err
		}
		for i := 1; i <= 3; i++ {
			if i == 3 {
				it, _ := s.Oldest()
				removed["token-0001"] = true
				if err := s.Remove(it); err != nil {
					return err
				}
			}
			b := makeBatch(i, i)
			offered[b.Token] = b
			if err := s.Append(b); err != nil {
				return err
			}
			confirmed[b.Token] = b
		}
		return s.Close()
	}
	done = life() == nil
	crash(f)

	for round := range 2 { // the second start finds what the first did durably
		s, err := spool.Open(spool.Options{Dir: dir, FS: f})
		if err != nil {
			return fmt.Errorf("start %d: %w", round, err), done
		}
		found := map[string]bool{}
		last := ""
		for {
			it, ok := s.Oldest()
			if !ok {
				break
			}
			b, err := s.Read(it)
			if err != nil {
				return fmt.Errorf("start %d: a half batch was left: %w", round, err), done
			}
			if !equal(b, offered[b.Token]) {
				return fmt.Errorf("start %d: %s has other rows", round, b.Token), done
			}
			if b.Token <= last {
				return fmt.Errorf("start %d: %s after %s", round, b.Token, last), done
			}
			last, found[b.Token] = b.Token, true
			if err := s.Remove(it); err != nil {
				return err, done
			}
		}
		for token := range confirmed {
			if !found[token] && !removed[token] {
				return fmt.Errorf("start %d: %s was confirmed and is gone", round, token), done
			}
		}
		for _, name := range f.Names(dir) {
			if strings.HasSuffix(name, ".tmp") {
				return fmt.Errorf("start %d: %s is still there", round, name), done
			}
		}
		if s.State().Corrupt != 0 {
			return fmt.Errorf("start %d: %d corrupt", round, s.State().Corrupt), done
		}
		f.Crash() // the removals were not made durable: all is there again
	}
	return nil, done
}

// everyCut tries every moment, with the strictest disk and with ten kinder ones.
func everyCut(ignore ...spooltest.Op) error {
	for n := 0; ; n++ {
		problem, done := cutPower(n, (*spooltest.FS).Crash, ignore...)
		for seed := uint64(0); problem == nil && seed < 10; seed++ {
			problem, _ = cutPower(n, func(f *spooltest.FS) { f.CrashKeeping(rand.New(rand.NewPCG(uint64(n), seed))) }, ignore...)
		}
		if problem != nil {
			return fmt.Errorf("power cut after %d calls: %w", n, problem)
		}
		if done {
			if n < 20 {
				return errors.New("the life is too short to prove anything")
			}
			return nil
		}
	}
}

// Promise: a power cut at any system call loses no row that was acknowledged
func TestPowerCutAtEveryCall(t *testing.T) {
	t.Parallel()
	if err := everyCut(); err != nil {
		t.Fatal(err)
	}
}

// TestPowerCutTestCanFail: without either fsync the test above finds the loss.
func TestPowerCutTestCanFail(t *testing.T) {
	t.Parallel()
	for _, op := range []spooltest.Op{spooltest.OpSync, spooltest.OpSyncDir} {
		err := everyCut(op)
		if err == nil {
			t.Errorf("%s does nothing, and nobody noticed", op)
		}
		t.Logf("without %s: %v", op, err)
	}
}

// TestKilledAtEveryCall: the process dies, the machine goes on. What was confirmed is
// there, and the dead process's lock is free.
func TestKilledAtEveryCall(t *testing.T) {
	t.Parallel()
	for n := 0; ; n++ {
		problem, done := cutPower(n, (*spooltest.FS).Kill)
		if problem != nil {
			t.Fatalf("killed after %d calls: %v", n, problem)
		}
		if done {
			return
		}
	}
}
