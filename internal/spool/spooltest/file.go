package spooltest

import (
	"errors"
	"slices"
	"syscall"
	"time"
)

// file is a handle.
type file struct {
	fs     *FS
	node   *node
	path   string
	life   int
	failed bool // a Sync failed: what was not durable then never will be
}

func (h *file) Write(p []byte) (int, error) {
	f := h.fs
	f.mu.Lock()
	defer f.mu.Unlock()
	if h.life != f.life {
		return 0, ErrPowerCut
	}
	if err := f.call(OpWrite, h.path); errors.Is(err, errShort) {
		p = p[:len(p)/2]
	} else if err != nil {
		return 0, err
	}
	wrote := len(p)
	if f.capacity > 0 {
		room := whole(len(h.node.data)) - int64(len(h.node.data)) + max(0, f.capacity-f.used)/blockSize*blockSize
		wrote = min(wrote, int(room))
	}
	f.used -= whole(len(h.node.data))
	h.node.data = append(h.node.data, p[:wrote]...)
	f.used += whole(len(h.node.data))
	h.node.modified = time.Now()
	if wrote < len(p) {
		return wrote, fail(OpWrite, h.path, syscall.ENOSPC)
	}
	return wrote, nil
}

func (h *file) Sync() error {
	f := h.fs
	f.mu.Lock()
	defer f.mu.Unlock()
	if h.life != f.life {
		return ErrPowerCut
	}
	err := f.call(OpSync, h.path)
	switch {
	case err == nil && !h.failed && !f.ignored[OpSync]:
		h.node.durable = slices.Clone(h.node.data)
	case err != nil && !errors.Is(err, ErrPowerCut):
		h.failed = true
	}
	return err
}

func (h *file) Close() error {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	if h.life != h.fs.life {
		return ErrPowerCut
	}
	return h.fs.call(OpClose, h.path)
}

// lock is a held lock.
type lock struct {
	fs   *FS
	path string
	life int
}

func (l *lock) Close() error {
	l.fs.mu.Lock()
	defer l.fs.mu.Unlock()
	if l.life == l.fs.life {
		delete(l.fs.locked, l.path)
	}
	return nil
}
