package scaler

import "time"

// demandWindow is how much of the past stands for what may come.
const demandWindow = time.Minute

// demand remembers how much was promised to the checks taken on: the sum of their
// timeouts. What it grows by in a second is how many places are taken when every target
// hangs, since so many are taken on while one is waited for.
type demand struct{ past []promise }

type promise struct {
	at  time.Time
	sum time.Duration
}

// needed is how many places are taken now, or would be with every target hanging,
// whichever is more.
func (d *demand) needed(now time.Time, inHand int, promised time.Duration) float64 {
	d.past = append(d.past, promise{now, promised})
	for len(d.past) > 2 && now.Sub(d.past[1].at) >= demandWindow {
		d.past = d.past[1:]
	}
	needed := float64(inHand)
	first := d.past[0]
	if span := now.Sub(first.at); span > 0 {
		needed = max(needed, float64(promised-first.sum)/float64(span))
	}
	return needed
}
