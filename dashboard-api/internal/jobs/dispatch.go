package jobs

import (
	"context"
	"errors"
	"time"

	"github.com/probefleet/probefleet/internal/checkstream"
)

const (
	laneCall    = 3 * time.Second
	laneFull    = time.Second // probers need about as long to make room
	pauseFirst  = 500 * time.Millisecond
	pauseMost   = 5 * time.Second
	expireEvery = 500 * time.Millisecond
	longWait    = time.Minute
)

// dispatch asks for the visits of what is due, until ctx ends. It begins when outcomes
// are followed, so that none is missed.
func (s *Service) dispatch(ctx context.Context) {
	select {
	case <-s.ready:
	case <-ctx.Done():
		return
	}
	wait := pauseFirst
	for ctx.Err() == nil {
		e, visits, idle := s.next()
		if e == nil {
			timer := time.NewTimer(idle)
			select {
			case <-s.wake:
			case <-timer.C:
			case <-ctx.Done():
			}
			timer.Stop()
			continue
		}
		call, cancel := context.WithTimeout(ctx, laneCall)
		err := s.o.Lane.Add(call, visits)
		cancel()
		switch {
		case err == nil:
			s.asked(e)
			wait = pauseFirst
		case errors.Is(err, checkstream.ErrVisit):
			s.refused(e, err)
		case errors.Is(err, checkstream.ErrLaneFull):
			pause(ctx, laneFull)
		default:
			if wait == pauseFirst && ctx.Err() == nil {
				s.o.Log.Warn("checks on demand wait: probers cannot be asked", "error", err)
			}
			pause(ctx, wait)
			wait = min(2*wait, pauseMost)
		}
	}
}

// next prepares the job that has been due for the longest. Without one it says how long
// to wait for the next.
func (s *Service) next() (first *entry, visits []checkstream.Visit, idle time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := present()
	var since time.Time
	for _, e := range s.all {
		if at, wants := e.due(); wants && (first == nil || at.Before(since)) {
			first, since = e, at
		}
	}
	if first == nil {
		return nil, nil, longWait
	}
	if since.After(now) {
		return nil, nil, since.Sub(now)
	}
	if len(first.job.Regions) == 0 {
		first.job.Regions = sorted(s.o.Regions())
	}
	visits = first.prepare()
	if len(visits) == 0 {
		first.begin(now)
		first.fail(now, "there is no region to check from: start a prober")
		s.changed(first)
		return nil, nil, 0
	}
	return first, visits, 0
}

// asked begins the prepared attempt, unless an answer was faster and did.
func (s *Service) asked(e *entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, wants := e.due(); wants && s.all[e.job.ID] == e && len(e.waiting) > 0 {
		e.begin(present())
		s.changed(e)
	}
}

func (s *Service) refused(e *entry, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e.refuse(present(), err.Error())
	s.changed(e)
}

// follow takes in what probers saw, until ctx ends.
func (s *Service) follow(ctx context.Context) {
	at, wait, following := "", pauseFirst, false
	for ctx.Err() == nil {
		outcomes, next, err := s.o.Lane.Outcomes(ctx, at, checkstream.MaxBlock)
		for _, o := range outcomes {
			s.saw(o)
		}
		at = next
		s.reach.Store(err == nil)
		if err != nil {
			pause(ctx, wait)
			wait = min(2*wait, pauseMost)
			continue
		}
		wait = pauseFirst
		if !following {
			following = true
			close(s.ready)
		}
	}
}

// saw takes one outcome in. What belongs to no job of ours, or was told before, is passed over.
func (s *Service) saw(o checkstream.VisitOutcome) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, mine := s.all[o.Job]
	if !mine || !e.awaits(o.Look) {
		return
	}
	if o.Evidence != nil && s.evidence+o.Size > maxEvidence {
		o.Evidence = nil
	}
	if o.Evidence != nil {
		s.evidence, e.evidence = s.evidence+o.Size, e.evidence+o.Size
	}
	e.take(o.Look, present())
	s.changed(e)
	signal(s.wake)
}

// expire ends attempts whose answers are overdue, until ctx ends.
func (s *Service) expire(ctx context.Context) {
	every(ctx, expireEvery, func(context.Context) {
		s.mu.Lock()
		defer s.mu.Unlock()
		now := present()
		for _, e := range s.all {
			if e.expire(now) {
				s.changed(e)
				signal(s.wake)
			}
		}
	})
}
