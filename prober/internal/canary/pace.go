package canary

import "time"

// pace lets so many rounds begin at once after a quiet time, and then one each so often.
type pace struct {
	each  time.Duration
	saved int
	gap   time.Duration // between two in any case

	began time.Time // the newest round
	spent time.Time // when there is quiet time for all that have begun
}

func usual() pace { return pace{each: quick, saved: 1} }

// brisk is for what was not down before, which somebody waits to hear. A failure takes two rounds, one
// at its first look and one at its second, so these are ten in two seconds and then one a second; what
// fails at the same time shares its rounds.
func brisk() pace { return pace{each: quick / 2, saved: 20, gap: quick / 10} }

// next is when a round may begin.
func (p *pace) next() time.Time {
	next := p.spent.Add(-time.Duration(p.saved-1) * p.each)
	if gap := p.began.Add(p.gap); next.Before(gap) {
		return gap
	}
	return next
}

// took counts a round that begins now, be it of this pace or of a quicker one: who keeps to a
// slower one waits for that, and for no more.
func (p *pace) took(now time.Time) {
	spent := p.spent
	if spent.Before(now) {
		spent = now
	}
	p.began, p.spent = now, earlier(spent, now.Add(time.Duration(p.saved-1)*p.each)).Add(p.each)
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
