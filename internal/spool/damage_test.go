package spool_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/spool"
	"github.com/probefleet/probefleet/internal/spool/spooltest"
)

// three gives a folder with three batches, its files and their contents.
func three(t *testing.T) (f *spooltest.FS, batches []resultstore.Batch, paths []string, contents [][]byte) {
	t.Helper()
	f = spooltest.New()
	s := open(t, spool.Options{FS: f})
	batches = []resultstore.Batch{makeBatch(1, 2), makeBatch(2, 1), makeBatch(3, 1)}
	mustAppend(t, s, batches...)
	s.Close()
	paths = batchFiles(f)
	for _, path := range paths {
		content, err := f.Content(path)
		if err != nil {
			t.Fatal(err)
		}
		contents = append(contents, content)
	}
	return f, batches, paths, contents
}

// damageEach puts every given content in the place of file n, alone, and wants the
// other two back, whole and in order, and the damaged one set aside and counted.
func damageEach(t *testing.T, n int, damaged [][]byte) {
	t.Helper()
	f, batches, paths, contents := three(t)
	for _, content := range damaged {
		for i := range paths {
			f.Put(paths[i], contents[i])
		}
		f.Put(paths[n], content)
		s, err := spool.Open(spool.Options{Dir: dir, FS: f})
		if err != nil {
			t.Fatal(err)
		}
		before := s.State()
		got, corrupt := replay(t, s)
		after := s.State()
		s.Close()
		rest := append(append([]resultstore.Batch{}, batches[:n]...), batches[n+1:]...)
		if !slices.EqualFunc(got, rest, equal) || corrupt != 1 {
			t.Fatalf("file %d as %q: %d corrupt, and %v", n, content, corrupt, tokens(got))
		}
		if after.Corrupt != before.Corrupt+1 && before.Corrupt == 0 {
			t.Fatalf("counted %d", after.Corrupt)
		}
		name := strings.TrimPrefix(paths[n], dir+"/")
		aside, err := f.Content(dir + "/corrupt/" + name)
		if err != nil || string(aside) != string(content) {
			t.Fatalf("set aside: %q, %v", aside, err)
		}
		if left := f.Names(dir); len(left) != 0 {
			t.Fatalf("left: %v", left)
		}
	}
}

// Promise: every intact record of a torn spool file is recovered
func TestTruncatedAtEveryByte(t *testing.T) {
	t.Parallel()
	_, _, _, contents := three(t)
	for n, content := range contents {
		var damaged [][]byte
		for size := 0; size < len(content); size += step() {
			damaged = append(damaged, content[:size])
		}
		damageEach(t, n, damaged)
	}
}

// step is from one damaged byte to the next. That every one is found is in TestDamageIsFound, too.
func step() int {
	if testing.Short() {
		return 23
	}
	return 1
}

// Promise: a flipped byte in a spool file is found
func TestEveryByteFlipped(t *testing.T) {
	t.Parallel()
	_, _, _, contents := three(t)
	for n, content := range contents {
		var damaged [][]byte
		for at := 0; at < len(content); at += step() {
			for _, mask := range []byte{0x01, 0xff} {
				bad := append([]byte{}, content...)
				bad[at] ^= mask
				damaged = append(damaged, bad)
			}
		}
		damageEach(t, n, damaged)
	}
}

func TestBytesBehindTheEnd(t *testing.T) {
	t.Parallel()
	_, _, _, contents := three(t)
	for n, content := range contents {
		damageEach(t, n, [][]byte{append(content[:len(content):len(content)], 0), append(content[:len(content):len(content)], content...), make([]byte, len(content)), make([]byte, 1<<20)})
	}
}

// TestAllDamaged: nothing intact is left, and the queue goes on working.
func TestAllDamaged(t *testing.T) {
	t.Parallel()
	f, _, paths, _ := three(t)
	for _, path := range paths {
		f.Put(path, []byte("x"))
	}
	s := open(t, spool.Options{FS: f})
	if got, corrupt := replay(t, s); len(got) != 0 || corrupt != 3 {
		t.Fatalf("%d read, %d corrupt", len(got), corrupt)
	}
	mustAppend(t, s, makeBatch(9, 1))
	got, _ := replay(t, s)
	sameTokens(t, got, makeBatch(9, 1))
}

// TestRepairedFileIsTakenUp: moved back from DIR/corrupt, in its old place in the order.
func TestRepairedFileIsTakenUp(t *testing.T) {
	t.Parallel()
	f, batches, paths, contents := three(t)
	f.Put(paths[1], nil)
	s := open(t, spool.Options{FS: f})
	it, _ := s.Oldest()
	_ = s.Remove(it)
	it, _ = s.Oldest()
	if _, err := s.Read(it); err == nil {
		t.Fatal("read")
	}
	s.Close()
	if err := f.Rename(dir+"/corrupt/"+strings.TrimPrefix(paths[1], dir+"/"), paths[1]); err != nil {
		t.Fatal(err)
	}
	f.Put(paths[1], contents[1])
	got, _ := replay(t, open(t, spool.Options{FS: f}))
	sameTokens(t, got, batches[1], batches[2])
}
