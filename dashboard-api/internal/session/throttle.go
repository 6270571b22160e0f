package session

import (
	"hash/maphash"
	"sync"
	"time"
)

// Limits of guessing.
const (
	freeTries    = 5 // at an account from one place; then waits double each time
	firstDelay   = time.Second
	longestDelay = 5 * time.Minute
	forgetAfter  = time.Hour

	crowd        = 100 // wrong answers of an address, or at an account, at once
	addressEvery = time.Second
	accountEvery = 10 * time.Second

	fewCodes   = 20 // wrong codes of an account in browsers that are known to it, at once
	codesEvery = time.Minute

	shardCount = 64
	generation = 2048 // entries of a shard before the older ones are forgotten
)

// Bound is one of the things that a try is counted by.
type Bound struct {
	key   string
	every time.Duration // how soon another one is had back, of a crowd; 0: waits grow
	crowd int           // how many at once, where waits do not grow
}

// At counts what is tried at an account from one place: an address, or a browser. It has a few
// free tries, then waits double each time.
func At(account, place string) Bound { return Bound{"a|" + account + "|" + place, 0, 0} }

// From counts what an address tries over all accounts: generously, and waits never grow, since
// many people may be behind it.
func From(address string) Bound { return Bound{"i|" + address, addressEvery, crowd} }

// Everywhere counts what is tried at an account from all places together, likewise: many
// addresses guess no faster than so, and a wait is over in seconds.
func Everywhere(account string) Bound { return Bound{"e|" + account, accountEvery, crowd} }

// InKnown counts what is tried at an account in all browsers that are known to it together,
// likewise: however many of them somebody has, codes are guessed no faster than so.
func InKnown(account string) Bound { return Bound{"k|" + account, codesEvery, fewCodes} }

// Throttle slows guessing down. Its state is spread over shards with a lock
// each, held for a map access: nobody waits for another's password check.
type Throttle struct {
	now    func() time.Time
	seed   maphash.Seed
	shards [shardCount]throttleShard
}

// throttleShard remembers in two generations: when the newer is full it becomes
// the older and the oldest is forgotten at once. So a flood of made-up accounts
// costs neither memory nor time.
type throttleShard struct {
	mu           sync.Mutex
	newer, older map[string]tries
}

type tries struct {
	failed int
	until  time.Time // where waits grow: no try is accepted before. Else: when all of the crowd is had back
	last   time.Time
}

// NewThrottle starts with nobody delayed.
func NewThrottle(now func() time.Time) *Throttle {
	t := &Throttle{now: now, seed: maphash.MakeSeed()}
	for i := range t.shards {
		t.shards[i].newer = map[string]tries{}
	}
	return t
}

// Begin asks for one try, counted by each of the bounds. A positive wait means: not now, and
// nothing was counted. Otherwise the try counts as failed until Succeed or Return takes it back, so that
// parallel guesses cannot pass before the first of them is judged. The narrowest bound comes
// last: a flood that a wider one refuses makes nobody forgotten.
func (t *Throttle) Begin(bounds ...Bound) (wait time.Duration) {
	for i, bound := range bounds {
		if wait = t.try(bound); wait > 0 {
			t.Return(bounds[:i]...)
			return wait
		}
	}
	return 0
}

// Succeed takes a try back, and forgets the failures of the account at this place. Others of
// the address and of the account stay: one own account does not pay for guessing others.
func (t *Throttle) Succeed(bounds ...Bound) {
	for _, bound := range bounds {
		if bound.every == 0 {
			t.change(bound, func(tries, Bound) tries { return tries{} })
		} else {
			t.change(bound, tries.back)
		}
	}
}

// Return takes a try back that was never judged, and nothing else: what failed before stays.
func (t *Throttle) Return(bounds ...Bound) {
	for _, bound := range bounds {
		t.change(bound, tries.back)
	}
}

func (t *Throttle) shard(key string) *throttleShard {
	return &t.shards[maphash.String(t.seed, key)%shardCount]
}

func (t *Throttle) change(bound Bound, how func(tries, Bound) tries) {
	shard := t.shard(bound.key)
	shard.mu.Lock()
	defer shard.mu.Unlock()
	shard.put(bound.key, how(shard.get(bound.key), bound))
}

// back is what is counted without one try that was.
func (e tries) back(bound Bound) tries {
	e.failed = max(0, e.failed-1)
	if bound.every == 0 {
		e.until = time.Time{} // it was over when the try was accepted
	} else {
		e.until = e.until.Add(-bound.every)
	}
	return e
}

func (t *Throttle) try(bound Bound) time.Duration {
	shard, now := t.shard(bound.key), t.now()
	shard.mu.Lock()
	defer shard.mu.Unlock()
	entry := shard.get(bound.key)
	if bound.every > 0 {
		until := entry.until
		if until.Before(now) {
			until = now
		}
		until = until.Add(bound.every)
		if wait := until.Sub(now) - time.Duration(bound.crowd)*bound.every; wait > 0 {
			return wait
		}
		shard.put(bound.key, tries{until: until})
		return 0
	}
	if now.Sub(entry.last) > forgetAfter {
		entry = tries{}
	}
	if wait := entry.until.Sub(now); wait > 0 {
		return wait
	}
	entry.failed++
	entry.last = now
	if over := entry.failed - freeTries; over >= 0 {
		entry.until = now.Add(min(longestDelay, firstDelay<<min(over, 20)))
	}
	shard.put(bound.key, entry)
	return 0
}

func (s *throttleShard) get(key string) tries {
	if entry, found := s.newer[key]; found {
		return entry
	}
	return s.older[key]
}

func (s *throttleShard) put(key string, entry tries) {
	if _, found := s.newer[key]; !found && len(s.newer) >= generation {
		s.older, s.newer = s.newer, make(map[string]tries, generation)
	}
	s.newer[key] = entry
}
