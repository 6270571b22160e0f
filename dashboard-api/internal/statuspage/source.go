package statuspage

import (
	"cmp"
	"context"
	"sync"
	"time"
)

// source is something that is read again when it is old, by one reader at a time, and kept
// while it cannot be read.
type source[T any] struct {
	load     func(ctx context.Context) (T, error)
	maxAge   time.Duration
	patience time.Duration // for something newer than what there is; 0: nextWait
	now      func() time.Time
	mu       sync.Mutex
	value    T
	readAt   time.Time // of the value; zero: there is none
	triedAt  time.Time
	failed   bool      // the last try
	old      bool      // a change has made the value old
	wrote    time.Time // what was written can be read from then on; zero: nothing was
	loading  *loading
}

// loading is a try that is under way. Everybody waits for the same one, and for as long.
type loading struct {
	done    chan struct{}
	enough  chan struct{} // closed when nobody is to wait any more
	waiting *time.Timer   // that closes it
}

const (
	loadWithin = 10 * time.Second
	retryAfter = time.Second
	firstWait  = 5 * time.Second        // for something to show at all
	nextWait   = 400 * time.Millisecond // for something newer than what there is, or where the last try failed
)

// get gives the value, when it was read, and whether it could be read lately.
func (s *source[T]) get(ctx context.Context) (value T, at time.Time, fine bool) {
	if l := s.begin(); l != nil {
		select {
		case <-l.done:
		case <-l.enough:
		case <-ctx.Done():
		}
	}
	return s.have()
}

// have is get without asking for anything.
func (s *source[T]) have() (value T, at time.Time, fine bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.value, s.readAt, !s.failed && s.now().Sub(s.readAt).Abs() < s.maxAge+loadWithin
}

// begin has the value read if it is old; nil: there is nothing to wait for.
func (s *source[T]) begin() *loading {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	age := now.Sub(s.readAt).Abs() // a clock may be put back
	if written := s.readAt.Before(s.wrote) && age >= writtenApart; !s.readAt.IsZero() && !s.old && !written && age < s.maxAge {
		return nil
	}
	if s.loading == nil && (!s.failed || now.Sub(s.triedAt).Abs() >= retryAfter) {
		wait := cmp.Or(s.patience, nextWait)
		switch {
		case s.failed && !s.readAt.IsZero():
			wait = 0
		case !s.failed && s.readAt.IsZero():
			wait = firstWait
		}
		s.start(now, wait)
	}
	return s.loading
}

func (s *source[T]) start(now time.Time, wait time.Duration) {
	l := &loading{done: make(chan struct{}), enough: make(chan struct{})}
	l.waiting = time.AfterFunc(wait, func() { close(l.enough) })
	s.loading, s.triedAt, s.old = l, now, false
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), loadWithin)
		defer cancel()
		value, err := s.load(ctx)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.failed = err != nil
		if err == nil {
			s.value, s.readAt = value, now
		}
		s.loading = nil
		l.waiting.Stop()
		close(l.done)
	}()
}

// follow begins with what another source has, as something old.
func (s *source[T]) follow(before *source[T]) {
	s.value, s.readAt, _ = before.have()
	s.old = true
}

// written says that what the value is made of was changed, and can be read from an instant on.
func (s *source[T]) written(readable time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if readable.After(s.wrote) {
		s.wrote = readable
	}
}

// outdate makes the value old, also one that is being read.
func (s *source[T]) outdate() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.old = true
}
