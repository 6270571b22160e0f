package spool

import (
	"errors"
	"fmt"
	"syscall"
)

var (
	// ErrLocked says that another process has the folder open.
	ErrLocked = errors.New("spool folder is in use by another process")
	// ErrFull says that the cap is reached or the disk is full: nothing was kept, and
	// the same batch may be appended again later.
	ErrFull = errors.New("spool is full")
	// ErrCorrupt says that a file could not be read back and is out of the queue: go
	// on with the next.
	ErrCorrupt = errors.New("spool file is corrupt")

	errClosed = errors.New("spool is closed")
)

// Volatile says what makes dir, which may not exist yet, vanish at a restart of the
// machine: the kind of its file system, or the temporary folder it is in; "" when
// nothing does.
func Volatile(dir string) (kind string, err error) { return newOSFS().Volatile(dir) }

// VolatileError says that the folder would not survive a restart.
type VolatileError struct {
	Dir  string
	Kind string // tmpfs, ramfs or "temporary folder PATH"
}

func (e *VolatileError) Error() string {
	return fmt.Sprintf("spool folder %s is lost at a restart (%s): results acknowledged from it would be lost too; set the spool folder to a path on a disk, such as /var/lib/probefleet/NAME, or set the volatile switch to accept the loss", e.Dir, e.Kind)
}

// IOError says that the disk failed: what was being written is not confirmed and
// nothing can be appended any more. The process must end; retrying the same fsync
// would answer OK for data that is gone.
type IOError struct {
	Op   string
	Path string
	Err  error
}

func (e *IOError) Error() string { return "spool: " + e.Op + " " + e.Path + ": " + e.Err.Error() }

// Unwrap gives the error of the operating system.
func (e *IOError) Unwrap() error { return e.Err }

func noSpace(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// ill says that an error is the disk's, whatever the folder.
func ill(err error) bool { return noSpace(err) || errors.Is(err, syscall.EIO) }

// scarce says that the machine lacks what opening a file takes: nothing is wrong with
// the disk, and nothing was done.
func scarce(err error) bool {
	for _, errno := range []syscall.Errno{syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.EAGAIN, syscall.EINTR} {
		if errors.Is(err, errno) {
			return true
		}
	}
	return false
}
