package spool

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/uptime"
)

// mountTmpfs gives a folder in memory of 256 KiB; false when this user may not mount.
func mountTmpfs(t *testing.T) (string, bool) {
	t.Helper()
	dir := t.TempDir()
	err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=256k")
	if err != nil && os.Geteuid() != 0 {
		t.Logf("not proven here: mounting a tmpfs needs root: %v", err)
		return "", false
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir, true
}

// TestRealFullDisk fills a real disk with foreign data while batches are appended.
//
// Promise: a full disk stops intake and loses nothing
func TestRealFullDisk(t *testing.T) {
	t.Parallel()
	dir, ok := mountTmpfs(t)
	if !ok {
		return
	}
	s, err := Open(Options{Dir: filepath.Join(dir, "spool"), Volatile: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	batch := func(n int) resultstore.Batch {
		return resultstore.Batch{Token: fmt.Sprint(n), Rows: []uptime.Result{{TargetID: 1, ScheduledAt: time.Unix(int64(n), 0)}}}
	}
	if err := s.Append(batch(0)); err != nil {
		t.Fatal(err)
	}
	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 200<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	kept := 1
	for ; ; kept++ {
		if err = s.Append(batch(kept)); err != nil {
			break
		}
		if kept > 100 {
			t.Fatal("256 KiB are not full")
		}
	}
	if !errors.Is(err, ErrFull) || !errors.Is(err, syscall.ENOSPC) || !s.State().Full {
		t.Fatalf("got %v", err)
	}
	if halves, _ := filepath.Glob(filepath.Join(dir, "spool", "*"+tempSuffix)); len(halves) > 0 {
		t.Fatalf("left: %v", halves)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	if err := s.Append(batch(kept)); err != nil {
		t.Fatalf("with space again: %v", err)
	}
	for n := range kept + 1 {
		it, _ := s.Oldest()
		b, err := s.Read(it)
		if err = errors.Join(err, s.Remove(it)); err != nil || b.Token != fmt.Sprint(n) {
			t.Fatalf("batch %d is %s: %v", n, b.Token, err)
		}
	}
}

func TestRealTmpfsIsRefused(t *testing.T) {
	t.Parallel()
	dir, ok := mountTmpfs(t)
	if !ok {
		return
	}
	o := newOSFS()
	o.temps = nil // judged by what it is, not by where
	if _, err := Open(Options{Dir: filepath.Join(dir, "not/yet"), FS: o}); err == nil {
		t.Fatal("accepted")
	} else if refused, ok := errors.AsType[*VolatileError](err); !ok || refused.Kind != "tmpfs" {
		t.Fatal(err)
	}
}
