//go:build !linux

package embedded

import (
	"os"
	"os/exec"
	"syscall"
)

// tie does nothing here: only Linux can end a child with its parent.
func tie(*exec.Cmd, syscall.Signal) {}

func killAll(child *os.Process) { _ = child.Kill() }

// lockFile cannot refuse a second server here; the servers' own checks remain.
func lockFile(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
}
