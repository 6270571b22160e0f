package testbackend

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// ownDir makes this binary's folder, and removes those that killed test
// binaries left behind: theirs are the ones nobody holds the lock of.
func ownDir() (dir string, unlock func(), err error) {
	base := filepath.Join(os.TempDir(), fmt.Sprintf("probefleet-test-%d", os.Getuid()))
	// 0711: the postgres user has to reach its folder inside.
	if err := os.Mkdir(base, 0o711); err != nil && !errors.Is(err, os.ErrExist) {
		return "", nil, fmt.Errorf("create test folder: %w", err)
	}
	// The name can be guessed: somebody else may have made it.
	var stat unix.Stat_t
	if err := unix.Lstat(base, &stat); err != nil {
		return "", nil, fmt.Errorf("look at test folder: %w", err)
	}
	if int(stat.Uid) != os.Getuid() || stat.Mode&unix.S_IFMT != unix.S_IFDIR || stat.Mode&0o022 != 0 {
		return "", nil, fmt.Errorf("%s is not a folder of this user alone: remove it, or set TMPDIR", base)
	}
	gate, err := lock(filepath.Join(base, "gate"), unix.LOCK_EX)
	if err != nil {
		return "", nil, err
	}
	defer gate.Close()
	left, _ := filepath.Glob(filepath.Join(base, "run-*"))
	for _, old := range left {
		if f, err := lock(filepath.Join(old, "lock"), unix.LOCK_EX|unix.LOCK_NB); err == nil {
			_ = os.RemoveAll(old)
			_ = f.Close()
		}
	}
	if dir, err = os.MkdirTemp(base, "run-"); err != nil {
		return "", nil, fmt.Errorf("create test folder: %w", err)
	}
	if err := os.Chmod(dir, 0o711); err != nil {
		return "", nil, err
	}
	held, err := lock(filepath.Join(dir, "lock"), unix.LOCK_EX)
	if err != nil {
		return "", nil, err
	}
	return dir, func() { _ = held.Close() }, nil
}

func lock(path string, how int) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock test folder: %w", err)
	}
	if err := unix.Flock(int(f.Fd()), how); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("lock test folder: %w", err)
	}
	return f, nil
}
