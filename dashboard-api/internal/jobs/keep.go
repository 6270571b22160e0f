package jobs

import (
	"context"
	"time"

	"github.com/probefleet/probefleet/internal/jobstore"
)

const (
	leaseTime   = 30 * time.Second
	renewEvery  = 10 * time.Second
	adoptEvery  = 5 * time.Second
	adoptMost   = 50
	watchEvery  = time.Second
	watchBack   = 5 * time.Second // clocks differ, and transactions commit out of order
	watchMost   = 1000
	cleanEvery  = time.Hour
	writeMost   = 50
	writePause  = 200 * time.Millisecond // changes that come together are written together
	writeLonger = 10 * time.Second       // at most, while the store does not answer
	storeCall   = 5 * time.Second
)

// write saves what changed, until ctx ends.
func (s *Service) write(ctx context.Context) {
	wait := writePause
	for {
		select {
		case <-s.dirty:
		case <-ctx.Done():
			return
		}
		more, err := s.writeOnce(ctx)
		switch {
		case err == nil:
			wait = writePause
			s.o.Health(nil)
		case ctx.Err() != nil:
			return
		default:
			if wait == writePause {
				s.o.Log.Warn("checks on demand not written, trying again", "error", err)
			}
			s.o.Health(err)
			wait = min(2*wait, writeLonger)
		}
		if more || err != nil {
			signal(s.dirty)
		}
		if !pause(ctx, wait) {
			return
		}
	}
}

// writeOnce saves some of what changed, and says whether there is more.
func (s *Service) writeOnce(ctx context.Context) (more bool, err error) {
	s.mu.Lock()
	var list []jobstore.Job
	versions := map[string]int{}
	for id, e := range s.all {
		if e.written == e.version {
			continue
		}
		if len(list) == writeMost {
			more = true
			break
		}
		list = append(list, e.job)
		versions[id] = e.version
	}
	s.mu.Unlock()
	if len(list) == 0 {
		return false, nil
	}
	call, cancel := context.WithTimeout(ctx, storeCall)
	defer cancel()
	lost, err := s.o.Store.Save(call, s.o.Owner, time.Now().Add(leaseTime), list)
	if err != nil {
		return more, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range lost { // another node took it over: it goes on there
		if e, found := s.all[id]; found {
			s.drop(e)
			delete(versions, id)
		}
	}
	for id, version := range versions {
		e, found := s.all[id]
		if !found {
			continue
		}
		e.written = version
		if e.job.State.Final() && e.written == e.version {
			s.drop(e)
		}
	}
	return more, nil
}

// lease keeps the open jobs this node's, until ctx ends.
func (s *Service) lease(ctx context.Context) {
	every(ctx, renewEvery, func(ctx context.Context) {
		call, cancel := context.WithTimeout(ctx, storeCall)
		defer cancel()
		if err := s.o.Store.Renew(call, s.o.Owner, time.Now().Add(leaseTime)); err != nil && ctx.Err() == nil {
			s.o.Log.Warn("checks on demand: lease not renewed", "error", err)
		}
	})
}

// adopt takes over what nodes left that are gone, until ctx ends. A node that cannot ask
// probers leaves it to others.
func (s *Service) adopt(ctx context.Context) {
	select {
	case <-s.ready:
		s.adoptOnce(ctx)
	case <-ctx.Done():
	}
	every(ctx, adoptEvery, s.adoptOnce)
}

func (s *Service) adoptOnce(ctx context.Context) {
	room := min(adoptMost, Capacity-int(s.held()))
	if room <= 0 || !s.reach.Load() {
		return
	}
	call, cancel := context.WithTimeout(ctx, storeCall)
	defer cancel()
	now := time.Now()
	left, err := s.o.Store.Take(call, s.o.Owner, now, now.Add(leaseTime), room)
	if err != nil {
		if ctx.Err() == nil {
			s.o.Log.Debug("checks on demand: nothing taken over", "error", err)
		}
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, j := range left {
		if _, known := s.all[j.ID]; known { // our own, whose lease ran out while the store was away
			continue
		}
		e := &entry{job: j}
		s.all[j.ID] = e
		if j.State == jobstore.InProgress {
			e.fail(present(), "the node that ran the check stopped")
			s.changed(e)
		}
		s.metrics.adopted.Inc()
	}
	if len(left) > 0 {
		signal(s.wake)
	}
}

// watchOthers tells what other nodes write, until ctx ends.
func (s *Service) watchOthers(ctx context.Context) {
	since, told := time.Now(), map[string]time.Time{}
	every(ctx, watchEvery, func(ctx context.Context) {
		call, cancel := context.WithTimeout(ctx, storeCall)
		defer cancel()
		list, err := s.o.Store.Changed(call, s.o.Owner, since, watchMost)
		if err != nil {
			return // the next look sees it all; whether the store answers is said elsewhere
		}
		for _, j := range list {
			if j.UpdatedAt.After(told[j.ID]) {
				told[j.ID] = j.UpdatedAt
				s.o.Tell(j)
			}
		}
		switch n := len(list); {
		case n == watchMost: // go on right there: going back could stand still
			since = list[n-1].UpdatedAt
		case n > 0 && list[n-1].UpdatedAt.Add(-watchBack).After(since):
			since = list[n-1].UpdatedAt.Add(-watchBack)
		}
		for id, at := range told {
			if at.Before(since) {
				delete(told, id)
			}
		}
	})
}

// clean removes old jobs, until ctx ends.
func (s *Service) clean(ctx context.Context) {
	every(ctx, cleanEvery, func(ctx context.Context) {
		call, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		if err := s.o.Store.DeleteBefore(call, time.Now().Add(-jobstore.Keep)); err != nil && ctx.Err() == nil {
			s.o.Log.Warn("old checks on demand not removed", "error", err)
		}
	})
}

// leave writes what is left and gives the open jobs up, as far as that goes in a moment.
func (s *Service) leave(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, storeCall)
	defer cancel()
	for more := true; more; {
		var err error
		if more, err = s.writeOnce(ctx); err != nil {
			s.o.Log.Warn("checks on demand not written", "count", s.held(), "error", err)
			return
		}
	}
	if err := s.o.Store.Renew(ctx, s.o.Owner, time.Time{}); err != nil {
		s.o.Log.Warn("checks on demand not given up: others take them when their lease ends", "error", err)
	}
}
