package spooltest_test

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/probefleet/probefleet/internal/spool"
	"github.com/probefleet/probefleet/internal/spool/spooltest"
)

// disk is a file system with a durable folder /d.
func disk(t *testing.T) *spooltest.FS {
	t.Helper()
	f := spooltest.New()
	if err := errors.Join(f.Mkdir("/d"), f.SyncDir("/")); err != nil {
		t.Fatal(err)
	}
	return f
}

func create(t *testing.T, f spool.FS, path, content string) spool.File {
	t.Helper()
	h, err := f.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Write([]byte(content)); err != nil {
		t.Fatal(err)
	}
	return h
}

func content(f *spooltest.FS, path string) string {
	c, err := f.Content(path)
	if err != nil {
		return "-"
	}
	return string(c)
}

func TestCrash(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		do   func(t *testing.T, f *spooltest.FS)
		want string // of /d/a and /d/b
	}{
		"nothing synced": {func(t *testing.T, f *spooltest.FS) { create(t, f, "/d/a", "1") }, "- -"},
		"file synced":    {func(t *testing.T, f *spooltest.FS) { create(t, f, "/d/a", "1").Sync() }, "- -"},
		"folder synced":  {func(t *testing.T, f *spooltest.FS) { create(t, f, "/d/a", "1"); f.SyncDir("/d") }, " -"},
		"both synced":    {func(t *testing.T, f *spooltest.FS) { create(t, f, "/d/a", "1").Sync(); f.SyncDir("/d") }, "1 -"},
		"written after the sync": {func(t *testing.T, f *spooltest.FS) {
			h := create(t, f, "/d/a", "1")
			h.Sync()
			f.SyncDir("/d")
			h.Write([]byte("2"))
		}, "1 -"},
		"renamed": {func(t *testing.T, f *spooltest.FS) {
			create(t, f, "/d/a", "1").Sync()
			f.SyncDir("/d")
			f.Rename("/d/a", "/d/b")
		}, "1 -"},
		"renamed and synced": {func(t *testing.T, f *spooltest.FS) {
			create(t, f, "/d/a", "1").Sync()
			f.Rename("/d/a", "/d/b")
			f.SyncDir("/d")
		}, "- 1"},
		"removed": {func(t *testing.T, f *spooltest.FS) {
			create(t, f, "/d/a", "1").Sync()
			f.SyncDir("/d")
			f.Remove("/d/a")
		}, "1 -"},
		"removed and synced": {func(t *testing.T, f *spooltest.FS) {
			create(t, f, "/d/a", "1").Sync()
			f.Remove("/d/a")
			f.SyncDir("/d")
		}, "- -"},
		"fsync failed, repeated": {func(t *testing.T, f *spooltest.FS) {
			h := create(t, f, "/d/a", "1")
			f.Fail(spooltest.OpSync, 1, syscall.EIO)
			h.Sync()
			h.Sync()
			f.SyncDir("/d")
		}, " -"},
		"folder failed, repeated": {func(t *testing.T, f *spooltest.FS) {
			create(t, f, "/d/a", "1").Sync()
			f.Fail(spooltest.OpSyncDir, 1, syscall.EIO)
			f.SyncDir("/d")
			f.SyncDir("/d")
		}, "- -"},
		"fsync ignored": {func(t *testing.T, f *spooltest.FS) {
			f.Ignore(spooltest.OpSync)
			create(t, f, "/d/a", "1").Sync()
			f.SyncDir("/d")
		}, " -"},
		"folder ignored": {func(t *testing.T, f *spooltest.FS) {
			f.Ignore(spooltest.OpSyncDir)
			create(t, f, "/d/a", "1").Sync()
			f.SyncDir("/d")
		}, "- -"},
		"put":                      {func(_ *testing.T, f *spooltest.FS) { f.Put("/d/b", []byte("2")) }, "- 2"},
		"another folder is synced": {func(t *testing.T, f *spooltest.FS) { create(t, f, "/d/a", "1").Sync(); f.SyncDir("/") }, "- -"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := disk(t)
			c.do(t, f)
			f.Crash()
			if got := content(f, "/d/a") + " " + content(f, "/d/b"); got != c.want {
				t.Fatalf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestCrashKeeping: all that may be left is left some time, and nothing else ever.
func TestCrashKeeping(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	for seed := range uint64(400) {
		f := disk(t)
		create(t, f, "/d/a", "123").Sync()
		f.Rename("/d/a", "/d/b")
		f.SyncDir("/d")
		create(t, f, "/d/a", "xy")
		f.Remove("/d/b")
		f.CrashKeeping(rand.New(rand.NewPCG(seed, 1)))
		seen[content(f, "/d/a")+" "+content(f, "/d/b")]++
	}
	for _, b := range []string{"-", "123"} {
		for _, a := range []string{"-", "", "x", "xy", "x\x00", "\x00\x00"} {
			if seen[a+" "+b] == 0 {
				t.Errorf("never %q", a+" "+b)
			}
			delete(seen, a+" "+b)
		}
	}
	if len(seen) > 0 {
		t.Errorf("also %v", seen)
	}
}

func TestFolderIsLostWithItsFiles(t *testing.T) {
	t.Parallel()
	f := disk(t)
	f.Mkdir("/d/new")
	create(t, f, "/d/new/a", "1").Sync()
	f.SyncDir("/d/new")
	f.Crash()
	_, err := f.Create("/d/new/a")
	for _, err := range []error{err, f.SyncDir("/d/new")} {
		if !errors.Is(err, fs.ErrNotExist) || content(f, "/d/new/a") != "-" {
			t.Fatal(err)
		}
	}
}

// TestTheDeadChangeNothing: neither handles nor the view of a process outlive it.
func TestTheDeadChangeNothing(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*spooltest.FS){"killed": (*spooltest.FS).Kill, "power cut": (*spooltest.FS).Crash} {
		f := disk(t)
		dead := f.Process()
		h := create(t, dead, "/d/a", "1")
		if err := errors.Join(h.Sync(), dead.SyncDir("/d")); err != nil {
			t.Fatal(err)
		}
		lock, err := dead.Lock("/d/lock")
		if err != nil {
			t.Fatal(err)
		}
		end(f)
		_, writeErr := h.Write([]byte("2"))
		_, createErr := dead.Create("/d/b")
		for _, err := range []error{writeErr, createErr, h.Sync(), h.Close(), dead.Remove("/d/a"), dead.Rename("/d/a", "/d/b"), dead.SyncDir("/d"), dead.Mkdir("/e")} {
			if !errors.Is(err, spooltest.ErrPowerCut) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if _, err := f.Process().Lock("/d/lock"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		_ = lock.Close() // not its lock any more
		if _, err := f.Lock("/d/lock"); !errors.Is(err, spool.ErrLocked) {
			t.Errorf("%s: %v", name, err)
		}
		if names := f.Names("/d"); !slices.Equal(names, []string{"a"}) || content(f, "/d/a") != "1" {
			t.Errorf("%s: %v", name, names)
		}
	}
}

func TestCapacity(t *testing.T) {
	t.Parallel()
	f := disk(t)
	f.SetCapacity(3 * 4096)
	create(t, f, "/d/a", "1")
	h, _ := f.Create("/d/b")
	n, err := h.Write(make([]byte, 10000))
	if n != 8192 || !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(n, err)
	}
	if err := f.Remove("/d/b"); err != nil {
		t.Fatal(err)
	}
	h, _ = f.Create("/d/c")
	if n, err := h.Write(make([]byte, 8192)); n != 8192 || err != nil {
		t.Fatal(n, err)
	}
	f.Crash() // all of it is gone
	create(t, f, "/d/a", strings.Repeat("x", 3*4096))
}

func TestFaults(t *testing.T) {
	t.Parallel()
	f := disk(t)
	f.Fail(spooltest.OpCreate, 2, syscall.EIO)
	f.ShortWrite(2)
	create(t, f, "/d/a", "1")
	if _, err := f.Create("/d/b"); !errors.Is(err, syscall.EIO) {
		t.Fatal(err)
	}
	h, err := f.Create("/d/b")
	if err != nil {
		t.Fatal(err)
	}
	if n, err := h.Write([]byte("1234")); n != 2 || err != nil || content(f, "/d/b") != "12" {
		t.Fatal(n, err)
	}
	f.Fail(spooltest.OpRemove, 0, syscall.EIO)
	for range 3 {
		if err := f.Remove("/d/a"); !errors.Is(err, syscall.EIO) {
			t.Fatal(err)
		}
	}
	f.Heal()
	if err := f.Remove("/d/a"); err != nil {
		t.Fatal(err)
	}
	f.CutAfter(2)
	if err := errors.Join(h.Sync(), f.SyncDir("/d")); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := f.SyncDir("/d"); !errors.Is(err, spooltest.ErrPowerCut) {
			t.Fatal(err)
		}
	}
	f.Crash()
	if content(f, "/d/b") != "12" || f.SyncDir("/d") != nil {
		t.Fatal("not durable, or still without power")
	}
}
