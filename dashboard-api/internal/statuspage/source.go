package statuspage

import (
	"context"
	"sync"
	"time"
)

// source is something that is read again when it is old, by one reader at a time, and kept
// while it cannot be read.
type source[T any] struct {
	load    func(ctx context.Context) (T, error)
	maxAge  time.Duration
	now     func() time.Time
	mu      sync.Mutex
	value   T
	readAt  time.Time // of the value; zero: there is none
	triedAt time.Time
	failed  bool // the last try
	old     bool // a change has made the value old
	loading chan struct{}
}

const (
	loadWithin = 10 * time.Second
	retryAfter = time.Second
	firstWait  = 5 * time.Second        // for something to show at all
	nextWait   = 400 * time.Millisecond // for something newer than what there is
)

// get gives the value, when it was read, and whether it could be read lately.
func (s *source[T]) get(ctx context.Context) (value T, at time.Time, fine bool) {
	s.mu.Lock()
	now := s.now()
	if !s.readAt.IsZero() && !s.old && now.Sub(s.readAt) < s.maxAge {
		defer s.mu.Unlock()
		return s.value, s.readAt, !s.failed
	}
	if s.loading == nil && (!s.failed || now.Sub(s.triedAt) >= retryAfter) {
		s.begin(now)
	}
	loading, wait := s.loading, nextWait
	switch {
	case s.readAt.IsZero():
		wait = firstWait
	case s.failed:
		wait = 0
	}
	s.mu.Unlock()
	if loading != nil && wait > 0 {
		patience := time.NewTimer(wait)
		defer patience.Stop()
		select {
		case <-loading:
		case <-patience.C:
		case <-ctx.Done():
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.value, s.readAt, !s.failed && s.now().Sub(s.readAt) < s.maxAge+loadWithin
}

func (s *source[T]) begin(now time.Time) {
	done := make(chan struct{})
	s.loading, s.triedAt, s.old = done, now, false
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
		close(done)
	}()
}

// outdate makes the value old, also one that is being read.
func (s *source[T]) outdate() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.old = true
}
