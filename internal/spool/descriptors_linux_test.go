package spool

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// TestFolderIsSyncedWithoutDescriptors: a busy prober may have used up its descriptors,
// and when the file has its name there is no way back. In a process of its own, since
// the limit is the process's.
func TestFolderIsSyncedWithoutDescriptors(t *testing.T) {
	t.Parallel()
	const child = "PROBEFLEET_TEST_FEW_FILES"
	dir := os.Getenv(child)
	if dir == "" {
		command := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^"+t.Name()+"$")
		command.Env = append(os.Environ(), child+"="+t.TempDir())
		if out, err := command.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	o := newOSFS()
	lock, err := o.Lock(filepath.Join(dir, lockName))
	if err != nil {
		t.Fatal(err)
	}
	next, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	limit := syscall.Rlimit{Cur: uint64(next.Fd()), Max: uint64(next.Fd())}
	_ = next.Close()
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Open(dir); err == nil {
		t.Fatal("a descriptor is left")
	}
	if err := o.SyncDir(dir); err != nil {
		t.Error(err)
	}
	if err := lock.Close(); err != nil {
		t.Error(err)
	}
	if _, err := o.Lock(filepath.Join(dir, lockName)); err != nil { // all of it was given back
		t.Error(err)
	}
}
