package spool

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"
	"time"

	"github.com/probefleet/probefleet/internal/resultstore"
)

// Oldest gives the batch to replay next; false when nothing waits.
func (s *Spool) Oldest() (Item, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.waiting.entries) == 0 {
		return Item{}, false
	}
	return s.waiting.entries[0].item(), true
}

// Read gives a batch back as it was appended. ErrCorrupt: the file was damaged, is
// out of the queue and counted: go on with the next. Any other error says nothing
// about the file: try again; *IOError: end the process.
func (s *Spool) Read(it Item) (resultstore.Batch, error) {
	name, err := s.nameOf(it)
	if err != nil {
		return resultstore.Batch{}, fmt.Errorf("read spool item %d: %w", it.Seq, err)
	}
	content, err := s.fs.ReadFile(filepath.Join(s.dir, name), headerSize+maxPayload+1)
	if err == nil {
		b, problem := decode(content, maxPayload)
		if problem == nil {
			return b, nil
		}
		err = problem
	} else if passing(err) {
		return resultstore.Batch{}, fmt.Errorf("read spool file %s: %w", name, err)
	}
	if failure := s.quarantine(name, err); failure != nil {
		return resultstore.Batch{}, failure
	}
	s.drop(it)
	return resultstore.Batch{}, fmt.Errorf("read spool file %s: %w: %w", name, ErrCorrupt, err)
}

// Remove takes a batch out for good. Removing what is not there is no error.
func (s *Spool) Remove(it Item) error {
	name, err := s.nameOf(it)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	path := filepath.Join(s.dir, name)
	if err := s.fs.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return &IOError{Op: "remove", Path: path, Err: err}
	}
	s.drop(it)
	return nil
}

// Wake carries a token after something was appended, and at first when Open found something.
func (s *Spool) Wake() <-chan struct{} { return s.wake }

// quarantine moves a file that cannot be read back to where people can look at it.
func (s *Spool) quarantine(name string, problem error) error {
	from, folder := filepath.Join(s.dir, name), filepath.Join(s.dir, corruptName)
	to := filepath.Join(folder, name)
	err := s.fs.Rename(from, to)
	if errors.Is(err, fs.ErrNotExist) && s.mkdir(folder) == nil { // somebody cleared it away
		err = s.fs.Rename(from, to)
	}
	if noSpace(err) { // ending the process would only bring us back here
		return fmt.Errorf("move damaged spool file %s: %w", name, err)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return &IOError{Op: "rename", Path: from, Err: err}
	}
	s.mu.Lock()
	s.moved++
	s.mu.Unlock()
	e, _ := parseName(name)
	it := e.item()
	s.log.Error("spool file damaged: its rows are lost unless it can be repaired", "file", to, "rows", it.Rows, "first_slot", it.First, "last_slot", it.Last, "err", problem)
	return nil
}

// nameOf refuses once closed: the files may be another process's by now.
func (s *Spool) nameOf(it Item) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return "", errClosed
	}
	at, ok := s.waiting.find(it)
	if !ok {
		return "", fs.ErrNotExist
	}
	return s.waiting.entries[at].name(), nil
}

func (s *Spool) drop(it Item) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at, ok := s.waiting.find(it); ok {
		delete(s.tally, s.waiting.entries[at])
		s.waiting.drop(at)
	}
	s.refused = time.Time{}
}

// passing says that an error of a read is about this moment, not about the file.
// Everything else is damage: one file that never reads must not hold up the rest.
func passing(err error) bool {
	return scarce(err) || errors.Is(err, syscall.EACCES) || errors.Is(err, syscall.EPERM)
}
