package spool

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/probefleet/probefleet/internal/resultstore"
)

// Append keeps a batch. Nil: it is on the disk, file and directory. ErrFull: nothing
// was kept, try again later. *IOError: the disk failed, end the process; every later
// Append answers the same. Anything else judges the batch, or this moment: nothing was
// kept, and it may be tried again.
func (s *Spool) Append(b resultstore.Batch) error {
	if len(b.Rows) == 0 {
		return nil
	}
	s.appending.Lock()
	defer s.appending.Unlock()
	start := time.Now()
	err := s.append(b)
	s.metrics.appended(err, time.Since(start))
	if err != nil {
		return fmt.Errorf("append batch %s: %w", b.Token, err)
	}
	return nil
}

func (s *Spool) append(b resultstore.Batch) error {
	if s.broken != nil {
		return s.broken
	}
	content, err := s.encoder.encode(b, maxPayload)
	if err != nil {
		return err
	}
	e := newEntry(s.next, b, int64(len(content)), time.Now())
	if !s.fits(e) {
		return ErrFull
	}
	s.next++
	if err := s.write(e, content); err != nil {
		if noSpace(err) {
			return s.gaveUp(e, err)
		}
		if _, final := errors.AsType[*IOError](err); final {
			s.broken = err
		}
		return err
	}
	// An error here is final, a full disk too: the entry may or may not survive.
	if err := s.fs.SyncDir(s.dir); err != nil {
		s.broken = &IOError{Op: "fsync", Path: s.dir, Err: err}
		return s.broken
	}
	s.mu.Lock()
	s.waiting.push(e)
	if s.tally != nil {
		s.tally[e] = sharesOf(b)
	}
	s.refused = time.Time{}
	s.mu.Unlock()
	s.signal()
	return nil
}

// write makes the whole file durable before it gets a name that counts.
func (s *Spool) write(e entry, content []byte) error {
	temp := filepath.Join(s.dir, e.tempName())
	f, err := s.fs.Create(temp)
	if scarce(err) {
		return err
	}
	if err != nil {
		return &IOError{Op: "create", Path: temp, Err: err}
	}
	n, err := f.Write(content)
	if err == nil && n < len(content) {
		err = io.ErrShortWrite
	}
	if err != nil {
		_ = f.Close()
		return &IOError{Op: "write", Path: temp, Err: err}
	}
	if err := f.Sync(); err != nil {
		_ = f.Close()
		return &IOError{Op: "fsync", Path: temp, Err: err}
	}
	if err := f.Close(); err != nil {
		return &IOError{Op: "close", Path: temp, Err: err}
	}
	if err := s.fs.Rename(temp, filepath.Join(s.dir, e.name())); err != nil {
		return &IOError{Op: "rename", Path: temp, Err: err}
	}
	return nil
}

// gaveUp takes back what a full disk let us begin.
func (s *Spool) gaveUp(e entry, cause error) error {
	temp := filepath.Join(s.dir, e.tempName())
	if err := s.fs.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.broken = &IOError{Op: "remove", Path: temp, Err: err}
		return s.broken
	}
	s.refuse()
	if disk, ok := errors.AsType[*IOError](cause); ok { // no longer one: the disk is sound
		cause = disk.Err
	}
	return fmt.Errorf("%w: %w", ErrFull, cause)
}

func (s *Spool) fits(e entry) bool {
	s.mu.Lock()
	fits := s.waiting.bytes+e.bytes() <= s.max
	s.mu.Unlock()
	if !fits {
		s.refuse()
	}
	return fits
}

func (s *Spool) refuse() {
	s.mu.Lock()
	s.refused = time.Now()
	s.mu.Unlock()
}
