package answercache

import "time"

// Source is somebody who tells the cache of writes: a feed that is followed, or a look
// into a store.
type Source struct {
	cache    *Cache
	patience time.Duration
	last     time.Time // zero: never
}

// Source adds one. While any has been silent for longer than its patience nothing is
// given that was made before; so it is until its first Beat.
func (c *Cache) Source(patience time.Duration) *Source {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := &Source{cache: c, patience: patience}
	c.sources = append(c.sources, s)
	return s
}

// Beat says that the cache has been told of everything this source knows of up to now.
func (s *Source) Beat() {
	c := s.cache
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	if !s.flowing(now) { // what was announced meanwhile is not known, and may not be readable yet
		c.holds.add(Everything(), now)
		c.drop(Everything())
	}
	s.last = now
}

func (s *Source) flowing(now time.Time) bool {
	return !s.last.IsZero() && now.Sub(s.last).Abs() <= s.patience
}

// flowing says whether all sources are heard. The caller holds the lock.
func (c *Cache) flowing(now time.Time) bool {
	for _, s := range c.sources {
		if !s.flowing(now) {
			return false
		}
	}
	return len(c.sources) > 0
}
