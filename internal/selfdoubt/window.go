package selfdoubt

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/probefleet/probefleet/internal/verdict"
)

// Pass lets time pass, up to which everything was taken in, and says whether a window ended:
// nobody is blind who says nothing any more.
func (w *Watch) Pass(now time.Time) (changed bool) {
	if now = now.Truncate(time.Millisecond); now.Sub(w.now) < lookBack {
		return false
	}
	if now.Sub(w.now) > silence { // nobody listened meanwhile
		w.patience = now
	}
	w.now = now
	for name, r := range w.regions {
		if !r.rounds.IsZero() && now.Sub(r.heard(w.patience)) > giveUp {
			r.end(SignCanaries, r.rounds, now)
			r.rounds, changed = time.Time{}, true
		}
		if r.since.IsZero() || now.Sub(w.patience) <= doubtFor {
			continue
		}
		for id := range r.suspects {
			if now.Sub(w.targets[id].measured(name)) > doubtFor {
				r.acquit(id)
			}
		}
		changed = r.recovered(now) || changed
	}
	return changed
}

// heard is when a prober of the region last said something; not before then.
func (r *region) heard(then time.Time) time.Time {
	for _, p := range r.probers {
		if p.last.After(then) {
			then = p.last
		}
	}
	return then
}

// measured is the newest slot at which a region saw the target.
func (t *target) measured(region string) (last time.Time) {
	if t == nil {
		return last
	}
	for _, s := range t.seen {
		if s.region == region {
			last = s.slot
		}
	}
	return last
}

// Retire ends what is open of a region of which nothing is asked any more.
func (w *Watch) Retire(name string, now time.Time) (changed bool) {
	r := w.regions[name]
	if now = now.Truncate(time.Millisecond); r == nil {
		return false
	}
	if !r.rounds.IsZero() {
		r.end(SignCanaries, r.rounds, now)
		r.rounds, changed = time.Time{}, true
	}
	if !r.since.IsZero() {
		clear(r.suspects)
		r.back = 0
		changed = r.recovered(now) || changed
	}
	return changed
}

// Resume takes over the windows that were found before, in place of those that were found in
// what was taken in until now: that was for knowing what everybody saw last.
func (w *Watch) Resume(windows []Window, now time.Time) {
	for _, r := range w.regions {
		r.rounds, r.since, r.suspects, r.back, r.over = time.Time{}, time.Time{}, nil, 0, nil
		clear(r.why)
	}
	for _, found := range windows {
		r := w.region(found.Region)
		if !found.To.IsZero() {
			found.Suspects = nil
			r.over = append(r.over, found)
			continue
		}
		r.why[found.Sign] = found.Why
		if found.Sign == SignCanaries {
			r.rounds = found.From
			continue
		}
		r.since, r.suspects = found.From, map[int64]bool{}
		for _, id := range found.Suspects {
			r.suspects[id] = true
		}
	}
	w.now, w.patience = now, now
}

// Windows are those of the last day, by region and beginning; one that has no end yet is
// open.
func (w *Watch) Windows() (all []Window) {
	for name, r := range w.regions {
		found := slices.Clone(r.over)
		open := func(sign Sign, since time.Time, suspects []int64) {
			if !since.IsZero() {
				found = append(found, Window{Blindness: verdict.Blindness{Span: verdict.Span{From: since}}, Sign: sign, Why: r.why[sign], Suspects: suspects})
			}
		}
		open(SignCanaries, r.rounds, nil)
		open(SignMassChange, r.since, slices.Sorted(maps.Keys(r.suspects)))
		for _, one := range found {
			one.Region = name
			all = append(all, one)
		}
	}
	slices.SortFunc(all, func(a, b Window) int {
		return cmp.Or(cmp.Compare(a.Region, b.Region), a.From.Compare(b.From), a.To.Compare(b.To), cmp.Compare(a.Sign, b.Sign))
	})
	return all
}
