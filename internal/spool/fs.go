package spool

import (
	"io"
	"time"
)

// FS is what the spool needs of a file system. Errors are judged with errors.Is:
// fs.ErrExist, fs.ErrNotExist, syscall.ENOSPC and syscall.EDQUOT matter.
type FS interface {
	// Volatile says what makes dir (which may not exist yet) vanish at a restart; "" when nothing does.
	Volatile(dir string) (kind string, err error)
	// Mkdir makes one folder, for its owner only.
	Mkdir(dir string) error
	// Lock holds path until closed, or until the process dies. ErrLocked when it is held.
	Lock(path string) (io.Closer, error)
	// List calls each for every regular file in dir, in any order, without reading contents.
	List(dir string, each func(name string, size int64, modified time.Time)) error
	// Create makes a file that must not exist.
	Create(path string) (File, error)
	// ReadFile gives a file's content, at most limit bytes of it.
	ReadFile(path string, limit int64) ([]byte, error)
	// Rename is atomic within a file system.
	Rename(from, to string) error
	Remove(path string) error
	// SyncDir makes the entries of dir durable.
	SyncDir(dir string) error
}

// File is a file being written.
type File interface {
	io.WriteCloser
	// Sync makes the content durable.
	Sync() error
}
