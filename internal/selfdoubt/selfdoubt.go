package selfdoubt

import (
	"slices"
	"strings"
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
)

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
}

// Watch follows all regions. It is not safe for concurrent use.
type Watch struct {
	targets map[int64]*target
	regions map[string]*region
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
}

type region struct {
	probers  map[string]prober
	rounds   time.Time           // since when its canaries are bad; zero: they are not
	measured []measured          // in the last minute, in order
	times    map[int64]int       // how often each target is among them
	doubted  map[int64]time.Time // targets that turned in the last minute and are contradicted, and when
	suspects map[int64]bool      // of a mass change: those that are to be good again
	since    time.Time           // of the mass change; zero: there is none
	over     []verdict.Span      // windows that have ended
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
		r = &region{probers: map[string]prober{}, times: map[int64]int{}, doubted: map[int64]time.Time{}}
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
	s.slot, s.failing = m.Slot, m.Failing
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
		r.suspects[id] = true
	}
	if !s.failing && r.suspects[id] {
		r.suspects[id] = false
		back := 0
		for _, still := range r.suspects {
			if !still {
				back++
			}
		}
		if 2*back > len(r.suspects) {
			r.end(r.since, s.slot)
			r.since, r.suspects = time.Time{}, nil
			clear(r.doubted)
			return true
		}
	}
	return false
}

// contradicted says whether another region finds the target good at the same slot or
// later, and none finds it failing.
func (t *target) contradicted(s sight) bool {
	good := false
	for _, other := range t.seen {
		switch {
		case other.region == s.region:
		case s.slot.Sub(other.slot) > stale: // it looks no more
		case other.failing:
			return false
		case !other.slot.Before(s.slot):
			good = true
		}
	}
	return good
}

func (w *Watch) judge(r *region, now time.Time) (blind bool) {
	if len(r.doubted) < atLeast {
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
	r.since, r.suspects = first, map[int64]bool{}
	for id := range r.doubted {
		r.suspects[id] = true
	}
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
				r.end(r.rounds, round.At)
				r.rounds = time.Time{}
				return true
			}
			return false
		case one.good.After(since):
			since = one.good
		}
	}
	changed = r.rounds.IsZero()
	if changed {
		r.rounds = since
	}
	return changed
}

func (r *region) end(from, to time.Time) {
	r.over = slices.DeleteFunc(r.over, func(s verdict.Span) bool { return to.Sub(s.To) > keepEnds })
	r.over = append(r.over, verdict.Span{From: from, To: to})
}

// Remove forgets a target that is no more.
func (w *Watch) Remove(id int64) {
	delete(w.targets, id)
	for _, r := range w.regions {
		delete(r.doubted, id)
		delete(r.suspects, id)
	}
}

// Windows are those of the last day, by region and beginning; one that has no end yet is
// open.
func (w *Watch) Windows() []verdict.Blindness {
	var all []verdict.Blindness
	for name, r := range w.regions {
		spans := slices.Clone(r.over)
		for _, since := range []time.Time{r.rounds, r.since} {
			if !since.IsZero() {
				spans = append(spans, verdict.Span{From: since})
			}
		}
		for _, span := range spans {
			all = append(all, verdict.Blindness{Region: name, Span: span})
		}
	}
	slices.SortFunc(all, func(a, b verdict.Blindness) int {
		if c := strings.Compare(a.Region, b.Region); c != 0 {
			return c
		}
		if c := a.From.Compare(b.From); c != 0 {
			return c
		}
		return a.To.Compare(b.To)
	})
	return all
}
