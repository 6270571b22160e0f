package spool_test

import (
	"errors"
	"io"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/probefleet/probefleet/internal/spool"
	"github.com/probefleet/probefleet/internal/spool/spooltest"
)

// TestDiskFails: each call of an append fails in each way. The spool confirms nothing
// more, repeats nothing, and a restart finds what was confirmed, whole, and no half file.
func TestDiskFails(t *testing.T) {
	t.Parallel()
	eio := func(op spooltest.Op) func(*spooltest.FS) {
		return func(f *spooltest.FS) { f.Fail(op, 1, syscall.EIO) }
	}
	for name, c := range map[string]struct {
		fail func(*spooltest.FS)
		want error
	}{
		"create":                      {eio(spooltest.OpCreate), syscall.EIO},
		"write":                       {eio(spooltest.OpWrite), syscall.EIO},
		"short write":                 {func(f *spooltest.FS) { f.ShortWrite(1) }, io.ErrShortWrite},
		"fsync of the file":           {eio(spooltest.OpSync), syscall.EIO},
		"close":                       {eio(spooltest.OpClose), syscall.EIO},
		"rename":                      {eio(spooltest.OpRename), syscall.EIO},
		"fsync of the folder":         {eio(spooltest.OpSyncDir), syscall.EIO},
		"full at the fsync of folder": {func(f *spooltest.FS) { f.Fail(spooltest.OpSyncDir, 1, syscall.ENOSPC) }, syscall.ENOSPC},
		"read-only":                   {func(f *spooltest.FS) { f.Fail(spooltest.OpCreate, 1, syscall.EROFS) }, syscall.EROFS},
		"full, and no way to take it back": {func(f *spooltest.FS) {
			f.Fail(spooltest.OpWrite, 1, syscall.ENOSPC)
			f.Fail(spooltest.OpRemove, 1, syscall.EIO)
		}, syscall.EIO},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := spooltest.New()
			s := open(t, spool.Options{FS: f})
			mustAppend(t, s, makeBatch(1, 2))
			c.fail(f)
			err := s.Append(makeBatch(2, 2))
			if _, ok := errors.AsType[*spool.IOError](err); !ok || !errors.Is(err, c.want) || errors.Is(err, spool.ErrFull) {
				t.Fatalf("got %v", err)
			}
			calls := f.Calls()
			again := s.Append(makeBatch(2, 2))
			if _, ok := errors.AsType[*spool.IOError](again); !ok {
				t.Fatalf("afterwards %v", again)
			}
			if f.Calls() != calls {
				t.Fatal("the disk was tried again")
			}
			f.Heal()
			f.Kill()
			s = open(t, spool.Options{FS: f})
			for _, name := range f.Names(dir) {
				if strings.HasSuffix(name, ".tmp") {
					t.Fatalf("half a file: %s", name)
				}
			}
			got, corrupt := replay(t, s)
			if corrupt != 0 || len(got) == 0 || len(got) > 2 {
				t.Fatalf("%v, %d corrupt", tokens(got), corrupt)
			}
			same(t, "confirmed", got[0], makeBatch(1, 2))
			if len(got) == 2 { // renamed but not confirmed: whole
				same(t, "not confirmed", got[1], makeBatch(2, 2))
			}
			mustAppend(t, s, makeBatch(3, 1))
		})
	}
}

// TestNoDescriptorIsLeft: that says nothing about the disk. Nothing is kept, and the same
// batch works again later.
func TestNoDescriptorIsLeft(t *testing.T) {
	t.Parallel()
	for _, cause := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM} {
		f := spooltest.New()
		s := open(t, spool.Options{FS: f})
		f.Fail(spooltest.OpCreate, 1, cause)
		err := s.Append(makeBatch(1, 2))
		if _, disk := errors.AsType[*spool.IOError](err); disk || !errors.Is(err, cause) || errors.Is(err, spool.ErrFull) {
			t.Errorf("%v: got %v", cause, err)
		}
		mustAppend(t, s, makeBatch(2, 1), makeBatch(1, 2))
		got, _ := replay(t, s)
		sameTokens(t, got, makeBatch(2, 1), makeBatch(1, 2))
	}
}

// TestFullDisk: nothing is kept, the same batch works again once there is space, and
// an fsync that ran out of space is not repeated on the same file.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	full := func(op spooltest.Op, err error) func(*spooltest.FS) {
		return func(f *spooltest.FS) { f.Fail(op, 1, err) }
	}
	for name, fail := range map[string]func(*spooltest.FS){
		"create":       full(spooltest.OpCreate, syscall.ENOSPC),
		"write":        full(spooltest.OpWrite, syscall.ENOSPC),
		"fsync":        full(spooltest.OpSync, syscall.ENOSPC),
		"close":        full(spooltest.OpClose, syscall.EDQUOT),
		"rename":       full(spooltest.OpRename, syscall.ENOSPC),
		"quota":        full(spooltest.OpWrite, syscall.EDQUOT),
		"half written": func(f *spooltest.FS) { f.SetCapacity(3 * 4096) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := spooltest.New()
			s := open(t, spool.Options{FS: f})
			mustAppend(t, s, makeBatch(1, 1))
			before := strings.Join(f.Names(dir), " ")
			fail(f)
			var synced []string
			f.Observe(func(op spooltest.Op, path string) {
				if op == spooltest.OpSync {
					synced = append(synced, path)
				}
			})
			big := makeBatch(2, 1000)
			err := s.Append(big)
			if _, disk := errors.AsType[*spool.IOError](err); disk { // it would end the process, again and again
				t.Errorf("a full disk counts as a broken one: %v", err)
			}
			if !errors.Is(err, spool.ErrFull) {
				t.Fatalf("got %v", err)
			}
			if now := strings.Join(f.Names(dir), " "); now != before {
				t.Fatalf("kept %s", now)
			}
			if state := s.State(); !state.Full || state.Batches != 1 || state.Bytes != 4096 {
				t.Fatalf("%+v", state)
			}
			f.SetCapacity(0)
			mustAppend(t, s, big)
			if s.State().Full {
				t.Fatal("still full")
			}
			if len(synced) == 2 && synced[0] == synced[1] {
				t.Fatalf("the fsync of %s was repeated", synced[0])
			}
			f.Crash()
			got, _ := replay(t, open(t, spool.Options{FS: f}))
			sameTokens(t, got, makeBatch(1, 1), big)
		})
	}
}

// TestCap: whole blocks count, what was confirmed is never dropped, a removal makes room.
func TestCap(t *testing.T) {
	t.Parallel()
	f := spooltest.New()
	s := open(t, spool.Options{FS: f, MaxBytes: 3*4096 + 4095})
	for i := range 3 {
		mustAppend(t, s, makeBatch(i, 1))
	}
	calls := f.Calls()
	if err := s.Append(makeBatch(3, 1)); !errors.Is(err, spool.ErrFull) {
		t.Fatalf("got %v", err)
	}
	if state := s.State(); !state.Full || state.Bytes != 3*4096 || f.Calls() != calls {
		t.Fatalf("%+v", state)
	}
	s.Close()
	s = open(t, spool.Options{FS: f, MaxBytes: 3*4096 + 4095})
	if err := s.Append(makeBatch(3, 1)); !errors.Is(err, spool.ErrFull) {
		t.Fatalf("after a restart: %v", err)
	}
	it, _ := s.Oldest()
	if err := s.Remove(it); err != nil {
		t.Fatal(err)
	}
	if s.State().Full {
		t.Fatal("still full")
	}
	mustAppend(t, s, makeBatch(3, 1))
	s.Close()
	smaller := open(t, spool.Options{FS: f, MaxBytes: 4096}) // the cap was lowered
	if err := smaller.Append(makeBatch(4, 1)); !errors.Is(err, spool.ErrFull) {
		t.Fatal(err)
	}
	got, _ := replay(t, smaller)
	sameTokens(t, got, makeBatch(1, 1), makeBatch(2, 1), makeBatch(3, 1))
}

// TestFullIsForgotten: a refusal long ago says nothing about the disk now. The age of
// the oldest batch outlives a restart.
func TestFullIsForgotten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := spooltest.New()
		s := open(t, spool.Options{FS: f})
		mustAppend(t, s, makeBatch(1, 1))
		time.Sleep(10 * time.Second)
		mustAppend(t, s, makeBatch(2, 1))
		f.SetCapacity(1)
		if err := s.Append(makeBatch(3, 1)); !errors.Is(err, spool.ErrFull) {
			t.Fatal(err)
		}
		time.Sleep(59 * time.Second)
		if !s.State().Full {
			t.Fatal("forgotten too early")
		}
		time.Sleep(time.Second)
		if state := s.State(); state.Full || state.OldestAge != 70*time.Second {
			t.Fatalf("%+v", state)
		}
		s.Close()
		if state := open(t, spool.Options{FS: f}).State(); state.OldestAge != 70*time.Second {
			t.Fatalf("%+v", state)
		}
	})
}

// TestReplayOnAFailingDisk: the file cannot even be moved away.
func TestReplayOnAFailingDisk(t *testing.T) {
	t.Parallel()
	f := spooltest.New()
	s := open(t, spool.Options{FS: f})
	mustAppend(t, s, makeBatch(1, 1))
	f.Fail(spooltest.OpRead, 0, syscall.EIO)
	f.Fail(spooltest.OpRename, 0, syscall.EIO)
	f.Fail(spooltest.OpRemove, 0, syscall.EIO)
	it, _ := s.Oldest()
	_, readErr := s.Read(it)
	for _, err := range []error{readErr, s.Remove(it)} {
		if _, ok := errors.AsType[*spool.IOError](err); !ok || errors.Is(err, spool.ErrCorrupt) {
			t.Fatalf("got %v", err)
		}
	}
	f.Heal()
	got, _ := replay(t, s)
	sameTokens(t, got, makeBatch(1, 1))
}

// TestNoRoomForADamagedFile: a full disk may have none left in the folder it belongs to.
// That is no reason to end the process, which would end up here again: it waits.
func TestNoRoomForADamagedFile(t *testing.T) {
	t.Parallel()
	f := spooltest.New()
	s := open(t, spool.Options{FS: f})
	mustAppend(t, s, makeBatch(1, 1), makeBatch(2, 1))
	f.Put(batchFiles(f)[0], []byte("nonsense"))
	f.Fail(spooltest.OpRename, 1, syscall.ENOSPC)
	it, _ := s.Oldest()
	_, err := s.Read(it)
	if _, disk := errors.AsType[*spool.IOError](err); disk || !errors.Is(err, syscall.ENOSPC) || errors.Is(err, spool.ErrCorrupt) {
		t.Errorf("got %v", err)
	}
	if _, err := s.Read(it); !errors.Is(err, spool.ErrCorrupt) {
		t.Errorf("then %v", err)
	}
	got, _ := replay(t, s)
	sameTokens(t, got, makeBatch(2, 1))
}

// TestOpenFails: an ill or full disk is told from a folder that cannot be used, and
// the lock is free afterwards.
func TestOpenFails(t *testing.T) {
	t.Parallel()
	for _, op := range []spooltest.Op{spooltest.OpMkdir, spooltest.OpLock, spooltest.OpList, spooltest.OpSyncDir} {
		for cause, ill := range map[error]bool{syscall.EIO: true, syscall.ENOSPC: true, syscall.EDQUOT: true, syscall.EACCES: false, syscall.EROFS: op == spooltest.OpLock, syscall.ENOTDIR: false} {
			f := spooltest.New()
			f.Fail(op, 0, cause)
			_, err := spool.Open(spool.Options{Dir: dir, FS: f})
			if _, disk := errors.AsType[*spool.IOError](err); disk != ill || !errors.Is(err, cause) {
				t.Errorf("%s: %v", op, err)
			}
			f.Heal()
			s, err := spool.Open(spool.Options{Dir: dir, FS: f})
			if err != nil {
				t.Errorf("%s, then: %v", op, err)
				continue
			}
			mustAppend(t, s, makeBatch(1, 1))
		}
	}
}
