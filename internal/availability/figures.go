package availability

import (
	"slices"
	"time"
)

// Quarter is the finest stretch that rollups keep apart. Every zone in use is a
// whole number of quarter hours away from UTC.
const Quarter = 15 * time.Minute

// Cell is what was counted of one series (a target in one region, or as a whole) in
// a stretch of any length. All of its slots are within the stretch.
type Cell struct {
	Span
	Counts
}

// Figures are what a window came to. They add up.
type Figures struct {
	Counts                 // of the slots that count
	Excluded uint64        // slots within maintenance, or while the region was blind, which count nowhere
	Downtime time.Duration // of the down slots: one interval each; of an account never more than its regular slots could be
}

// Add gives the sum of both.
func (f Figures) Add(o Figures) Figures {
	return Figures{f.Counts.Add(o.Counts), f.Excluded + o.Excluded, f.Downtime + o.Downtime}
}

// DowntimeMinutes is the downtime in minutes, rounded to two decimals: a second or more
// never becomes 0.
func (f Figures) DowntimeMinutes() float64 {
	hundredths := (f.Downtime.Milliseconds() + 300) / 600
	return float64(hundredths) / 100
}

// Terms say what counts, and for how long a down slot stands.
type Terms struct {
	Window Span
	Except Spans            // maintenance
	Blind  map[string]Spans // by region: when it could not be believed
	Every  Intervals
	// Grain makes figures the same however fine the counts are: edges within a stretch of
	// this length, from multiples of it on, are treated as if no count were finer. 0 takes
	// counts as fine as they are.
	Grain time.Duration

	unsure Spans // of which counts do not tell what they would be without a region that was blind
}

// In gives the terms of one region, whose slots within its blind windows count as little as
// maintenance does; region "" is the target as a whole. Its counts are to be those of the other
// regions already (a slot for which all were blind is unknown): with a grain they cannot be,
// because they are the same whatever they are had from, and what touches a blind window is
// unknown.
func (t Terms) In(region string) Terms {
	if region != "" {
		if blind := t.Blind[region]; len(blind) > 0 {
			t.Except = NewSpans(append(slices.Clone(t.Except), blind...)...)
		}
		return t
	}
	if t.Grain > 0 {
		t.unsure = t.AnyBlind()
	}
	return t
}

// AnyBlind is when any of the regions was blind.
func (t Terms) AnyBlind() Spans {
	var all []Span
	for _, blind := range t.Blind {
		all = append(all, blind...)
	}
	return NewSpans(all...)
}

// judged is the stretch by which a cell is judged.
func (t Terms) judged(s Span) Span {
	if t.Grain > 0 {
		s.From = s.From.Truncate(t.Grain)
		if end := s.To.Truncate(t.Grain); end.Before(s.To) {
			s.To = end.Add(t.Grain)
		}
	}
	return s
}

// Of gives what a cell adds to the figures of the window: its counts when it lies in
// the window and outside of maintenance, nothing when it lies outside of the window.
// A cell on an edge counts as unknown: which of its slots belong to the window cannot
// be told. Cut the counts at Cuts and there are none.
func (t Terms) Of(c Cell) Figures {
	s := t.judged(c.Span)
	if !t.Window.Touches(s) {
		return Figures{}
	}
	switch excepted := t.Except.share(s); {
	case excepted == whole && t.Window.Holds(s):
		return Figures{Excluded: c.Planned()}
	case excepted == whole:
		return Figures{} // cut off by the window, but it counts nowhere anyway
	case excepted == part || !t.Window.Holds(s) || t.unsure.share(s) != none:
		return Figures{Counts: c.unknown()}
	}
	return Figures{Counts: c.Counts, Downtime: time.Duration(c.Down) * t.Every.At(s.From)}
}

// most is the downtime if all regular slots of the window that count were down: each stretch
// that counts is down for its length, and for what its last slot reaches beyond.
func (t Terms) most() time.Duration {
	counts, stretches := t.Window.To.Sub(t.Window.From), 1
	for _, s := range t.Except {
		if s = t.Window.Within(s); !s.Empty() {
			counts, stretches = counts-s.To.Sub(s.From), stretches+1
		}
	}
	return max(counts, 0) + time.Duration(stretches)*t.Every.longest()
}

// Sum adds cells up.
func (t Terms) Sum(cells []Cell) (sum Figures) {
	for _, c := range cells {
		sum = sum.Add(t.Of(c))
	}
	return sum
}

// Cuts are the instants within the window, ascending, at which counting changes: the
// edges of maintenance, of blind windows and of the periods, and changes of the interval. Counts must
// not reach across them. With a grain they are the ends of the stretches those are in.
func (t Terms) Cuts(periods []Period) []time.Time {
	var cuts []time.Time
	add := func(at time.Time) {
		stretch := t.judged(Span{at, at})
		for _, end := range [...]time.Time{stretch.From, stretch.To} {
			if end.After(t.Window.From) && end.Before(t.Window.To) {
				cuts = append(cuts, end.UTC())
			}
		}
	}
	for _, s := range t.Except {
		add(s.From)
		add(s.To)
	}
	for _, blind := range t.Blind {
		for _, s := range blind {
			add(s.From)
			add(s.To)
		}
	}
	for _, p := range periods {
		add(p.From)
		add(p.To)
	}
	for i, interval := range t.Every {
		if i > 0 { // the first holds for what was before it, too
			add(interval.From)
		}
	}
	slices.SortFunc(cuts, time.Time.Compare)
	return slices.CompactFunc(cuts, time.Time.Equal)
}

// Account adds up the cells of one series, in total and by period.
type Account struct {
	Total    Figures
	ByPeriod []Figures // as many as there are periods

	terms   Terms
	periods []Period
	sums    []Figures // of the window and of each period, with all downtime there is
}

// NewAccount starts at nothing. The periods are in ascending order and do not overlap.
func NewAccount(terms Terms, periods []Period) *Account {
	return &Account{terms: terms, periods: periods, ByPeriod: make([]Figures, len(periods)), sums: make([]Figures, 1+len(periods))}
}

// add takes a cell into a sum, and gives what is told of it. Where checkers have slots of their
// own beside those of the regions, or a heartbeat says several times that it failed, more slots
// are down than there were intervals: a target is not down for longer than there was time.
func (t Terms) add(sum *Figures, c Cell) Figures {
	*sum = sum.Add(t.Of(c))
	told := *sum
	if told.Downtime > 0 {
		told.Downtime = min(told.Downtime, t.most())
	}
	return told
}

// Add takes a cell in. The order of cells does not matter.
func (a *Account) Add(c Cell) {
	a.Total = a.terms.add(&a.sums[0], c)
	first, _ := slices.BinarySearchFunc(a.periods, c.From, func(p Period, t time.Time) int {
		if p.To.After(t) {
			return 1
		}
		return -1
	})
	for i := first; i < len(a.periods) && a.periods[i].From.Before(c.To); i++ {
		within := a.terms
		within.Window = within.Window.Within(a.periods[i].Span)
		a.ByPeriod[i] = within.add(&a.sums[1+i], c)
	}
}
