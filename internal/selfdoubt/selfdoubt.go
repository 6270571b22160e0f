package selfdoubt

import (
	"fmt"
	"slices"
	"time"

	"github.com/probefleet/probefleet/internal/verdict"
)

// Bounds of a mass change.
const (
	within   = time.Minute
	atLeast  = 10 // targets
	onHosts  = 3
	oneInN   = 5                // more than a fifth
	silence  = 30 * time.Second // a prober without a round for so long has no say
	stale    = 24 * time.Hour   // the longest interval
	keepEnds = 24 * time.Hour   // how long a window that is over is told
	giveUp   = 2 * time.Minute  // without a round of anybody a region is silent, not blind
	doubtFor = time.Hour        // a suspect that was not measured for so long is none
	lookBack = time.Second      // how often time alone is looked at
)

// Sign is how blindness was found.
type Sign string

// Signs.
const (
	SignCanaries   Sign = "canaries"
	SignMassChange Sign = "mass_change"
)

// Window is a stretch in which a region was blind. Region, sign and beginning name it.
type Window struct {
	verdict.Blindness
	Sign     Sign
	Why      string  // a sentence for people
	Suspects []int64 // of a mass change that is not over: targets, of which more than half have to be good again
}

// Result is a measurement. What could not be measured is none.
type Result struct {
	TargetID int64
	Host     string
	Region   string
	Slot     time.Time
	At       time.Time // when it came
	Failing  bool
}

// Round is a canary round of a prober: Good when most canaries answered as they should.
type Round struct {
	Region, Prober string
	At             time.Time
	Good           bool
	Said           string // of a bad one: which canaries failed, and how
}

// Watch follows all regions. It is not safe for concurrent use.
type Watch struct {
	targets  map[int64]*target
	regions  map[string]*region
	now      time.Time // how far time has passed
	patience time.Time // since when silence can be told from not having listened
}

type target struct {
	host string
	seen []sight // one a region
}

// sight is what a region saw of a target last.
type sight struct {
	region  string
	slot    time.Time
	failing bool
	turned  time.Time // when the first failing result in a row came
	first   time.Time // its slot
	bad     time.Time // newest failing slot
}

type region struct {
	probers  map[string]prober
	rounds   time.Time           // since when its canaries are bad; zero: they are not
	measured []measured          // in the last minute, in order
	times    map[int64]int       // how often each target is among them
	doubted  map[int64]time.Time // targets that turned in the last minute and are contradicted, and when
	suspects map[int64]bool      // of a mass change: those that are to be good again
	back     int                 // of them, that are
	since    time.Time           // of the mass change; zero: there is none
	why      map[Sign]string     // of the windows that are open
	over     []Window            // that have ended
}

type measured struct {
	at     time.Time
	target int64
}

type prober struct {
	good, last time.Time // of the last good round, and of the last one
	bad        bool
}

// New follows nobody yet.
func New() *Watch { return &Watch{targets: map[int64]*target{}, regions: map[string]*region{}} }

func (w *Watch) region(name string) *region {
	r := w.regions[name]
	if r == nil {
		r = &region{probers: map[string]prober{}, times: map[int64]int{}, doubted: map[int64]time.Time{}, why: map[Sign]string{}}
		w.regions[name] = r
	}
	return r
}

// Take takes a measurement in and says whether a window began or ended with it.
func (w *Watch) Take(m Result) (changed bool) {
	t := w.targets[m.TargetID]
	if t == nil {
		t = &target{}
		w.targets[m.TargetID] = t
	}
	t.host = m.Host
	i := slices.IndexFunc(t.seen, func(s sight) bool { return s.region == m.Region })
	if i < 0 {
		i = len(t.seen)
		t.seen = append(t.seen, sight{region: m.Region})
	}
	s := &t.seen[i]
	if !m.Slot.After(s.slot) {
		return false // late or a repeat
	}
	w.region(m.Region).measure(m.TargetID, m.At)
	if m.Failing && !s.failing {
		s.turned, s.first = m.At, m.Slot
	}
	if s.slot, s.failing = m.Slot, m.Failing; m.Failing {
		s.bad = m.Slot
	}
	for _, one := range t.seen {
		if w.weigh(w.region(one.region), m.TargetID, t, one, m.At) {
			changed = true
		}
	}
	return changed
}

// measure counts the targets of the last minute.
func (r *region) measure(id int64, at time.Time) {
	r.measured = append(r.measured, measured{at, id})
	r.times[id]++
	r.forget(at)
}

// weigh judges what one region says of a target, and with it the region.
func (w *Watch) weigh(r *region, id int64, t *target, s sight, now time.Time) (changed bool) {
	doubted := s.failing && t.contradicted(s)
	switch {
	case doubted && now.Sub(s.turned) <= within:
		r.doubted[id] = s.turned
	default:
		delete(r.doubted, id)
	}
	if r.since.IsZero() {
		return w.judge(r, now)
	}
	if doubted {
		r.suspect(id)
	}
	if !s.failing && r.suspects[id] {
		r.suspects[id] = false
		r.back++
	}
	return r.recovered(s.slot)
}

func (r *region) suspect(id int64) {
	if still, known := r.suspects[id]; known && !still {
		r.back--
	}
	r.suspects[id] = true
}

// acquit is for a target that says nothing of the region any more.
func (r *region) acquit(id int64) {
	if still, known := r.suspects[id]; known && !still {
		r.back--
	}
	delete(r.suspects, id)
}

// recovered ends a mass change of which more than half is good again, or nothing is left.
func (r *region) recovered(at time.Time) bool {
	if r.since.IsZero() || 2*r.back <= len(r.suspects) && len(r.suspects) > 0 {
		return false
	}
	r.end(SignMassChange, r.since, at)
	r.since, r.suspects, r.back = time.Time{}, nil, 0
	clear(r.doubted)
	return true
}

// contradicted says whether another region finds the target good at the same slot or
// later, and none finds it failing, nor did since: the last to recover is not in doubt.
func (t *target) contradicted(s sight) bool {
	good := false
	for _, other := range t.seen {
		switch {
		case other.region == s.region:
		case s.slot.Sub(other.slot) > stale: // it looks no more
		case other.failing, !other.bad.Before(s.first):
			return false
		case !other.slot.Before(s.slot):
			good = true
		}
	}
	return good
}

func (w *Watch) judge(r *region, now time.Time) (blind bool) {
	if len(r.doubted) < atLeast || oneInN*len(r.doubted) <= len(r.times) {
		return false
	}
	hosts, first := map[string]bool{}, now
	for id, turned := range r.doubted {
		if now.Sub(turned) > within {
			delete(r.doubted, id)
			continue
		}
		t := w.targets[id]
		hosts[t.host] = true
		for _, s := range t.seen {
			if w.regions[s.region] == r && s.first.Before(first) {
				first = s.first
			}
		}
	}
	if len(r.doubted) < atLeast || oneInN*len(r.doubted) <= len(r.times) || len(hosts) < onHosts {
		return false
	}
	r.since, r.suspects, r.back = r.after(SignMassChange, first), map[int64]bool{}, 0
	for id := range r.doubted {
		r.suspects[id] = true
	}
	r.why[SignMassChange] = fmt.Sprintf("%d of %d targets turned to failing there within a minute, on %d hosts; other regions find them good", len(r.doubted), len(r.times), len(hosts))
	return true
}

// forget leaves out what was measured more than a minute ago.
func (r *region) forget(now time.Time) {
	for len(r.measured) > 0 && now.Sub(r.measured[0].at) > within {
		id := r.measured[0].target
		if r.times[id]--; r.times[id] <= 0 {
			delete(r.times, id)
		}
		r.measured = r.measured[1:]
	}
}

// Canary takes a round in and says whether a window began or ended with it.
func (w *Watch) Canary(round Round) (changed bool) {
	r := w.region(round.Region)
	p := r.probers[round.Prober]
	if !round.At.After(p.last) {
		return false
	}
	if p.good.IsZero() {
		p.good = round.At // nothing is known of the time before its first round
	}
	p.last, p.bad = round.At, !round.Good
	if round.Good {
		p.good = round.At
	}
	r.probers[round.Prober] = p
	var since time.Time
	for _, one := range r.probers {
		switch {
		case round.At.Sub(one.last) > silence:
		case !one.bad:
			if !r.rounds.IsZero() {
				r.end(SignCanaries, r.rounds, round.At)
				r.rounds = time.Time{}
				return true
			}
			return false
		case one.good.After(since):
			since = one.good
		}
	}
	if changed = r.rounds.IsZero(); changed {
		r.rounds = r.after(SignCanaries, since)
		r.why[SignCanaries] = "its probers cannot reach what they always must be able to reach"
		if round.Said != "" {
			r.why[SignCanaries] += ": " + round.Said
		}
	}
	return changed
}

// after is when a window begins: not before the one before it is over.
func (r *region) after(sign Sign, from time.Time) time.Time {
	for _, w := range r.over {
		if w.Sign == sign && w.To.After(from) {
			from = w.To
		}
	}
	return from
}

func (r *region) end(sign Sign, from, to time.Time) {
	if to.Before(from) {
		to = from
	}
	r.over = slices.DeleteFunc(r.over, func(w Window) bool { return to.Sub(w.To) > keepEnds })
	r.over = append(r.over, Window{Blindness: verdict.Blindness{Span: verdict.Span{From: from, To: to}}, Sign: sign, Why: r.why[sign]})
	delete(r.why, sign)
}

// Remove forgets a target that is no more.
func (w *Watch) Remove(id int64) {
	delete(w.targets, id)
	for _, r := range w.regions {
		delete(r.doubted, id)
		r.acquit(id)
	}
}
