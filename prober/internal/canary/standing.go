package canary

import "sync"

// standing are the targets that were believed to be down when they were visited here last. What
// another prober of the region saw meanwhile is not in it: it settles who is in a hurry, nothing else.
type standing struct {
	mu  sync.Mutex
	ids map[int64]struct{}
}

const maxStanding = 1_000_000 // deleted targets stay in it

func (s *standing) add(target int64) {
	if target == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ids == nil || len(s.ids) >= maxStanding {
		s.ids = map[int64]struct{}{}
	}
	s.ids[target] = struct{}{}
}

func (s *standing) remove(target int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.ids, target)
}

func (s *standing) has(target int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, has := s.ids[target]
	return has
}
