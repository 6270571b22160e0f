// Package ratelimit bounds how often one node does something for each of many: an account, a token, an address.
package ratelimit

import (
	"sync"
	"time"
)

// most is how many a limiter remembers.
const most = 50_000

// Limiter lets each through a burst of times at once, and once more after every pause. While
// more of them than it can remember are in use, it lets the others pass.
type Limiter struct {
	burst int
	pause time.Duration

	mu   sync.Mutex
	full map[string]time.Time // when somebody has all of the burst again
}

// New makes one that has seen nobody.
func New(burst int, pause time.Duration) *Limiter {
	return &Limiter{burst: burst, pause: pause, full: map[string]time.Time{}}
}

// Allow counts one time of somebody's, or says how long to wait until it is allowed.
func (l *Limiter) Allow(who string) (wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	at := l.full[who]
	if at.Before(now) {
		at = now
	}
	at = at.Add(l.pause)
	if wait = at.Sub(now) - time.Duration(l.burst)*l.pause; wait > 0 {
		return wait
	}
	if _, known := l.full[who]; !known && len(l.full) >= most {
		for other, full := range l.full {
			if full.Before(now) {
				delete(l.full, other)
			}
		}
		if len(l.full) >= most {
			return 0
		}
	}
	l.full[who] = at
	return 0
}

// Left says how many times somebody is let through at once now, and how long it is until that is
// all of the burst.
func (l *Limiter) Left(who string) (times int, all time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	all = max(0, time.Until(l.full[who]))
	return l.burst - int((all+l.pause-1)/l.pause), all
}
