package embedded

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// tie makes the child die with its parent, and keeps it out of the terminal's
// process group so that Ctrl-C reaches the parent first.
func tie(cmd *exec.Cmd, onParentDeath syscall.Signal) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
	cmd.SysProcAttr.Pdeathsig = onParentDeath
}

// killAll ends the child and what it started, which shares its process group.
func killAll(child *os.Process) {
	_ = child.Kill()
	_ = unix.Kill(-child.Pid, unix.SIGKILL)
}

// lockFile takes an exclusive lock that lives until the last process holding
// the file has ended. It returns ErrLocked when another process has it.
func lockFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, ErrLocked
		}
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return f, nil
}
