package spool_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/spool"
	"github.com/probefleet/probefleet/internal/spool/spooltest"
)

func TestWhatWasAppendedComesBack(t *testing.T) {
	t.Parallel()
	s := open(t, spool.Options{Dir: filepath.Join(t.TempDir(), "a", "b"), Volatile: true})
	want := []resultstore.Batch{makeBatch(1, 3), makeBatch(2, 500), makeBatch(3, 1)}
	mustAppend(t, s, want...)
	mustAppend(t, s, resultstore.Batch{Token: "empty"})
	if it, ok := s.Oldest(); !ok || it.Rows != 3 || it.Bytes != 4096 || !it.First.Equal(want[0].Rows[0].ScheduledAt) || !it.Last.Equal(want[0].Rows[2].ScheduledAt) {
		t.Fatalf("oldest is %+v", it)
	}
	got, corrupt := replay(t, s)
	if len(got) != 3 || corrupt != 0 {
		t.Fatalf("%d batches, %d corrupt", len(got), corrupt)
	}
	for i := range want {
		same(t, want[i].Token, got[i], want[i])
	}
	if state := s.State(); state.Batches != 0 || state.Rows != 0 || state.Bytes != 0 || !state.First.IsZero() || state.OldestAge != 0 {
		t.Fatalf("empty spool: %+v", state)
	}
}

// TestOrderIsTheSequence: neither the clock nor the slots decide. Each start appends
// rows that are older than the last, and the files' times go backwards too.
func TestOrderIsTheSequence(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	var want []resultstore.Batch
	for start := range 4 {
		s := open(t, spool.Options{Dir: folder, Volatile: true})
		for i := range 3 {
			b := makeBatch(100-len(want), 2)
			want = append(want, b)
			mustAppend(t, s, b)
			if i == 0 && start > 0 { // the head moves on, the numbers do not start again
				it, _ := s.Oldest()
				if err := s.Remove(it); err != nil {
					t.Fatal(err)
				}
				want = want[1:]
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		files, _ := filepath.Glob(filepath.Join(folder, "*.batch"))
		for i, file := range files {
			past := epoch.Add(-time.Duration(start*100+i) * time.Hour)
			if err := os.Chtimes(file, past, past); err != nil {
				t.Fatal(err)
			}
		}
	}
	got, _ := replay(t, open(t, spool.Options{Dir: folder, Volatile: true}))
	sameTokens(t, got, want...)
}

// TestSequenceAfterCorruptOnly: a number in DIR/corrupt is not given out again.
func TestSequenceAfterCorruptOnly(t *testing.T) {
	t.Parallel()
	f := spooltest.New()
	s := open(t, spool.Options{FS: f})
	mustAppend(t, s, makeBatch(1, 1))
	f.Put(batchFiles(f)[0], nil)
	if _, corrupt := replay(t, s); corrupt != 1 {
		t.Fatal("not corrupt")
	}
	s.Close()
	s = open(t, spool.Options{FS: f})
	mustAppend(t, s, makeBatch(1, 1))
	if it, _ := s.Oldest(); it.Seq != 2 {
		t.Fatalf("sequence %d", it.Seq)
	}
	if state := s.State(); state.Corrupt != 1 {
		t.Fatalf("%+v", state)
	}
}

func TestState(t *testing.T) {
	t.Parallel()
	f := spooltest.New()
	s := open(t, spool.Options{FS: f, MaxBytes: 1 << 20})
	mustAppend(t, s, makeBatch(5, 10), makeBatch(2, 20), makeBatch(9, 30))
	check := func(batches, rows int, first, last time.Time) {
		t.Helper()
		state := s.State()
		if state.Batches != batches || state.Rows != rows || !state.First.Equal(first) || !state.Last.Equal(last) || state.MaxBytes != 1<<20 || state.Bytes != int64(batches)*4096 || state.Full {
			t.Fatalf("%+v", state)
		}
	}
	check(3, 60, makeBatch(2, 1).Rows[0].ScheduledAt, makeBatch(9, 30).Rows[29].ScheduledAt)
	for range 2 {
		it, _ := s.Oldest()
		if err := errors.Join(s.Remove(it), s.Remove(it)); err != nil {
			t.Fatal(err)
		}
	}
	check(1, 30, makeBatch(9, 1).Rows[0].ScheduledAt, makeBatch(9, 30).Rows[29].ScheduledAt)
	s.Close()
	s = open(t, spool.Options{FS: f, MaxBytes: 1 << 20})
	check(3-2, 30, makeBatch(9, 1).Rows[0].ScheduledAt, makeBatch(9, 30).Rows[29].ScheduledAt)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestClosed: a late goroutine touches nothing that may be another process's by now.
func TestClosed(t *testing.T) {
	t.Parallel()
	f := spooltest.New()
	s := open(t, spool.Options{FS: f})
	mustAppend(t, s, makeBatch(1, 1))
	it, _ := s.Oldest()
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	calls := f.Calls()
	_, err := s.Read(it)
	for _, err := range []error{err, s.Remove(it), s.Append(makeBatch(2, 1))} {
		if err == nil || errors.Is(err, spool.ErrCorrupt) || errors.Is(err, spool.ErrFull) {
			t.Error(err)
		}
	}
	if f.Calls() != calls {
		t.Error("the disk was used")
	}
}

func TestWake(t *testing.T) {
	t.Parallel()
	f := spooltest.New()
	s := open(t, spool.Options{FS: f})
	woken := func() bool {
		select {
		case <-s.Wake():
			return true
		default:
			return false
		}
	}
	if woken() {
		t.Fatal("woken by nothing")
	}
	mustAppend(t, s, makeBatch(1, 1), makeBatch(2, 1))
	if !woken() || woken() {
		t.Fatal("not one token after appends")
	}
	s.Close()
	s = open(t, spool.Options{FS: f})
	if !woken() {
		t.Fatal("not woken by what Open found")
	}
}

// TestFilesCopiedIn: an operator may copy the files of a dead host's spool into a
// living one; numbers may clash, names do not. Names that say nothing are set aside.
func TestFilesCopiedIn(t *testing.T) {
	t.Parallel()
	one, two := spooltest.New(), spooltest.New()
	a, b := open(t, spool.Options{FS: one}), open(t, spool.Options{FS: two})
	mustAppend(t, a, makeBatch(1, 1), makeBatch(3, 1))
	mustAppend(t, b, makeBatch(2, 1), makeBatch(4, 1))
	a.Close()
	for _, path := range batchFiles(two) {
		content, err := two.Content(path)
		if err != nil {
			t.Fatal(err)
		}
		one.Put(path, content)
	}
	one.Put(dir+"/copy of 0000000000000001-1-1-1.batch", []byte("x"))
	one.Put(dir+"/ffffffffffffffff-1-1-1.batch", []byte("x"))
	one.Put(dir+"/notes.txt", []byte("mine"))
	s := open(t, spool.Options{FS: one})
	got, corrupt := replay(t, s)
	sameTokens(t, got, makeBatch(1, 1), makeBatch(2, 1), makeBatch(3, 1), makeBatch(4, 1))
	if corrupt != 0 || s.State().Corrupt != 2 {
		t.Fatalf("%d corrupt, state %+v", corrupt, s.State())
	}
	if names := one.Names(dir); !slices.Equal(names, []string{"notes.txt"}) {
		t.Fatalf("left: %v", names)
	}
}

// TestReadErrors: a passing trouble of a read is not the file's fault.
func TestReadErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		break_  func(f *spooltest.FS, path string)
		corrupt bool
	}{
		{"too many open files", func(f *spooltest.FS, _ string) { f.Fail(spooltest.OpRead, 1, errTooManyFiles) }, false},
		{"unreadable sector", func(f *spooltest.FS, _ string) { f.Fail(spooltest.OpRead, 1, errIO) }, true},
		{"somebody deleted it", func(f *spooltest.FS, path string) { _ = f.Remove(path) }, true},
		{"somebody deleted the folder corrupt", func(f *spooltest.FS, path string) { f.Put(path, nil); f.RemoveDir(dir + "/corrupt") }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := spooltest.New()
			s := open(t, spool.Options{FS: f})
			mustAppend(t, s, makeBatch(1, 1), makeBatch(2, 1))
			c.break_(f, batchFiles(f)[0])
			it, _ := s.Oldest()
			_, err := s.Read(it)
			if err == nil || errors.Is(err, spool.ErrCorrupt) != c.corrupt {
				t.Fatal(err)
			}
			got, _ := replay(t, s)
			if c.corrupt {
				sameTokens(t, got, makeBatch(2, 1))
			} else {
				sameTokens(t, got, makeBatch(1, 1), makeBatch(2, 1))
			}
			if names := batchFiles(f); len(names) != 0 {
				t.Fatalf("left: %v", names)
			}
		})
	}
}

func TestNameOfAFile(t *testing.T) {
	t.Parallel()
	f := spooltest.New()
	s := open(t, spool.Options{FS: f})
	b := makeBatch(1, 2)
	b.Rows[1].ScheduledAt = time.Time{} // no row may break a name
	mustAppend(t, s, makeBatch(1, 2), b)
	want := "0000000000000001-2-1772366460000-1772366460001.batch 0000000000000002-2-0-1772366460000.batch"
	if got := strings.Join(f.Names(dir), " "); got != want {
		t.Fatalf("%s\nwant %s", got, want)
	}
	s.Close()
	s = open(t, spool.Options{FS: f})
	if got, corrupt := replay(t, s); len(got) != 2 || corrupt != 0 {
		t.Fatalf("%d read, %d corrupt", len(got), corrupt)
	}
}
