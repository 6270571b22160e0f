package cycle

import "time"

// catchUpRate is how fast a backlog may be published, in steady rates.
const catchUpRate = 1.2

// smallRate is a rate in checks a second that burdens nobody: a small installation
// catches up as fast as that, not at 1.2 times next to nothing.
const smallRate = 10

// hiccup is the number of seconds to publish that is not a backlog yet: the one
// due now and one that came late.
const hiccup = 2

// pacer holds back a publisher that catches up: it pays for each second's checks
// from a credit that grows by 1.2 steady rates, or smallRate, a wall second. Empty
// and expired seconds cost nothing, so the lag closes by at least 0.2 s a second.
type pacer struct {
	catching bool
	credit   float64
	at       time.Time
}

// refill adds what the time since the last call is worth, at most one second's.
func (p *pacer) refill(now time.Time, rate float64) {
	if !p.catching {
		return
	}
	elapsed := min(now.Sub(p.at), time.Second)
	p.at = now
	p.credit = min(p.credit+paceOf(rate)*elapsed.Seconds(), 2*paceOf(rate)+1)
}

func paceOf(rate float64) float64 { return max(catchUpRate*rate, smallRate) }

// allow says whether a second with this many checks may be published now, with
// lag seconds to go.
func (p *pacer) allow(now time.Time, lag int64, checks int, rate float64) bool {
	switch {
	case lag <= 1, !p.catching && lag <= hiccup:
		p.catching = false
		return true
	case !p.catching:
		p.catching, p.at, p.credit = true, now, paceOf(rate)
	}
	cost := float64(checks)
	most := 2*paceOf(rate) + 1
	if p.credit < min(cost, most) { // a crowded second must pass some time
		return false
	}
	p.credit -= cost
	return true
}
