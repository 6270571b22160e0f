package jobs

import (
	"sync"
	"time"
)

// Rate is how many checks an account may ask one node for in a minute.
const Rate = 30

const (
	perCheck    = time.Minute / Rate
	maxAccounts = 10_000
)

// Limiter bounds what one account asks for: Rate at once, and one more every two seconds.
type Limiter struct {
	mu   sync.Mutex
	full map[string]time.Time // when the account has all of its Rate again
}

// NewLimiter makes one that has seen nobody.
func NewLimiter() *Limiter { return &Limiter{full: map[string]time.Time{}} }

// Allow counts one check, or says how long to wait until one is allowed.
func (l *Limiter) Allow(account string) (wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	at := l.full[account]
	if at.Before(now) {
		at = now
	}
	at = at.Add(perCheck)
	if wait = at.Sub(now) - time.Minute; wait > 0 {
		return wait
	}
	if len(l.full) >= maxAccounts {
		for other, full := range l.full {
			if full.Before(now) {
				delete(l.full, other)
			}
		}
	}
	l.full[account] = at
	return 0
}
