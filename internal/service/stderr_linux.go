package service

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// detachStderr makes sure that a crash can end the process. The runtime writes a
// panic to file descriptor 2 itself, and would wait there for ever when nobody
// reads. So 2 gets an open file of its own that refuses instead of waiting; what
// is returned is the old one, for the goroutine that may wait. The old one is
// often shared with other programs, which is why it is not changed itself.
//
// A regular file never makes anybody wait. A socket cannot be opened again: there
// systemd's own watchdog is the way out.
func detachStderr(out io.Writer) io.Writer {
	if out != io.Writer(os.Stderr) {
		return out
	}
	var kind unix.Stat_t
	if err := unix.Fstat(2, &kind); err != nil || kind.Mode&unix.S_IFMT != unix.S_IFIFO && kind.Mode&unix.S_IFMT != unix.S_IFCHR {
		return out
	}
	old, err := unix.FcntlInt(2, unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return out
	}
	fresh, err := unix.Open("/proc/self/fd/2", unix.O_WRONLY|unix.O_APPEND|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err == nil {
		err = unix.Dup3(fresh, 2, 0)
		_ = unix.Close(fresh)
	}
	if err != nil {
		_ = unix.Close(old)
		return out
	}
	return os.NewFile(uintptr(old), "stderr")
}
