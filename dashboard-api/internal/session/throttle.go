package session

import (
	"hash/maphash"
	"sync"
	"time"
)

// Limits of guessing. An account seen from one address has a few free tries,
// then waits double each time; an address has more of them over all accounts.
const (
	freeTriesAccount = 5
	freeTriesAddress = 30
	firstDelay       = time.Second
	longestDelay     = 5 * time.Minute
	forgetAfter      = time.Hour
	shardCount       = 64
	generation       = 2048 // entries of a shard before the older ones are forgotten
)

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
	until  time.Time // no try is accepted before
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

// Begin asks for one try. A positive wait means: not now. Otherwise the try
// counts as failed until Succeed takes it back, so that parallel guesses cannot
// pass before the first of them is judged.
func (t *Throttle) Begin(account, address string) (wait time.Duration) {
	if wait = t.try("a|"+account+"|"+address, freeTriesAccount); wait > 0 {
		return wait // not counted against the address: its other accounts go on
	}
	return t.try("i|"+address, freeTriesAddress)
}

// Succeed forgets the failures of the account at this address. Those of the
// address over other accounts stay: one own account does not pay for guessing others.
func (t *Throttle) Succeed(account, address string) {
	key := "a|" + account + "|" + address
	shard := t.shard(key)
	shard.mu.Lock()
	shard.put(key, tries{})
	shard.mu.Unlock()

	key = "i|" + address
	shard = t.shard(key)
	shard.mu.Lock()
	entry := shard.get(key)
	entry.failed = max(0, entry.failed-1)
	shard.put(key, entry)
	shard.mu.Unlock()
}

func (t *Throttle) shard(key string) *throttleShard {
	return &t.shards[maphash.String(t.seed, key)%shardCount]
}

func (t *Throttle) try(key string, free int) time.Duration {
	shard, now := t.shard(key), t.now()
	shard.mu.Lock()
	defer shard.mu.Unlock()
	entry := shard.get(key)
	if now.Sub(entry.last) > forgetAfter {
		entry = tries{}
	}
	if wait := entry.until.Sub(now); wait > 0 {
		return wait
	}
	entry.failed++
	entry.last = now
	if over := entry.failed - free; over >= 0 {
		entry.until = now.Add(min(longestDelay, firstDelay<<min(over, 20)))
	}
	shard.put(key, entry)
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
