package httpapi

import (
	"sync"
	"time"
)

const (
	pingBurst  = 30
	pingEvery  = time.Second
	maxPingers = 50_000
)

// pingLimiter bounds the pings of one token on this node: a burst, and one a second. While
// more tokens than it can remember are in use it lets all of them pass.
type pingLimiter struct {
	mu   sync.Mutex
	full map[string]time.Time // when a token has all of its burst again
}

func newPingLimiter() *pingLimiter { return &pingLimiter{full: map[string]time.Time{}} }

// Allow counts a ping, or says how long to wait before one is taken.
func (l *pingLimiter) Allow(token string) (wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	at := l.full[token]
	if at.Before(now) {
		at = now
	}
	at = at.Add(pingEvery)
	if wait = at.Sub(now) - pingBurst*pingEvery; wait > 0 {
		return wait
	}
	if _, known := l.full[token]; !known && len(l.full) >= maxPingers {
		for other, full := range l.full {
			if full.Before(now) {
				delete(l.full, other)
			}
		}
		if len(l.full) >= maxPingers {
			return 0
		}
	}
	l.full[token] = at
	return 0
}
