package spool

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// osFS is the machine's file system.
type osFS struct {
	temps []string                          // folders that are emptied at a restart or by age
	kind  func(path string) (string, error) // tmpfs, ramfs, or "" for a disk

	mu   sync.Mutex
	held *os.File // the locked folder: syncing it needs no other descriptor
}

func newOSFS() *osFS {
	return &osFS{temps: []string{"/tmp", "/var/tmp", os.TempDir()}, kind: memoryKind}
}

// Volatile judges where dir really is: symlinks are followed, also those of the
// temporary folders. A folder that is still to be made is judged by the one it will be in.
func (o *osFS) Volatile(dir string) (string, error) {
	full, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	rest := ""
	parent, err := filepath.EvalSymlinks(full)
	for errors.Is(err, fs.ErrNotExist) && full != filepath.Dir(full) {
		rest = filepath.Join(filepath.Base(full), rest)
		full = filepath.Dir(full)
		parent, err = filepath.EvalSymlinks(full)
	}
	if err != nil {
		return "", err
	}
	target := filepath.Join(parent, rest)
	for _, temp := range o.temps {
		for _, name := range []string{temp, resolved(temp)} {
			if target == name || strings.HasPrefix(target, strings.TrimSuffix(name, "/")+"/") {
				return "temporary folder " + temp, nil
			}
		}
	}
	return o.kind(parent)
}

func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}

func (*osFS) Mkdir(dir string) error { return os.Mkdir(dir, 0o700) }

func (o *osFS) Lock(path string) (io.Closer, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		return o.hold(f)
	}
	_ = f.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, ErrLocked
	}
	return nil, &fs.PathError{Op: "flock", Path: path, Err: err}
}

// hold keeps the folder of a lock open for as long as the lock.
func (o *osFS) hold(lock *os.File) (io.Closer, error) {
	folder, err := os.Open(filepath.Dir(lock.Name()))
	if err != nil {
		_ = lock.Close()
		return nil, err
	}
	o.mu.Lock()
	o.held = folder
	o.mu.Unlock()
	return &held{o, lock}, nil
}

type held struct {
	fs   *osFS
	lock *os.File
}

func (h *held) Close() error {
	h.fs.mu.Lock()
	folder := h.fs.held
	h.fs.held = nil
	h.fs.mu.Unlock()
	return errors.Join(folder.Close(), h.lock.Close())
}

func (*osFS) List(dir string, each func(string, int64, time.Time)) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	for {
		entries, err := f.ReadDir(1024)
		for _, entry := range entries {
			if !entry.Type().IsRegular() {
				continue
			}
			info, err := entry.Info()
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return err
			}
			each(entry.Name(), info.Size(), info.ModTime())
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (*osFS) Create(path string) (File, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (*osFS) ReadFile(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	content := make([]byte, min(info.Size(), limit))
	n, err := io.ReadFull(f, content)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil // shorter than it was a moment ago: the checksum tells
	}
	return content[:n], err
}

func (*osFS) Rename(from, to string) error { return os.Rename(from, to) }

func (*osFS) Remove(path string) error { return os.Remove(path) }

func (o *osFS) SyncDir(dir string) error {
	o.mu.Lock()
	folder := o.held
	o.mu.Unlock()
	if folder != nil && folder.Name() == filepath.Clean(dir) {
		return folder.Sync()
	}
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
