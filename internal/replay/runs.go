package replay

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/internal/verdict"
)

// Run is results of a region that are alike. Only measurements are in runs.
type Run struct {
	Region       string
	First        time.Time     // slot
	Every        time.Duration // from one slot to the next
	Count        int
	Status       uptime.Status
	Failure      uptime.Failure
	HTTPStatus   int
	TotalUS      uint32 // of one of them: all are on the same side of each latency that matters
	CertNotAfter time.Time
	Lag          time.Duration // from a slot until its result was known
}

// slot is the one of the nth result.
func (r *Run) slot(n int) time.Time { return r.First.Add(time.Duration(n) * r.Every) }

// known is when the nth result was.
func (r *Run) known(n int) time.Time { return r.slot(n).Add(r.Lag) }

func (r *Run) observation(n int) verdict.Observation {
	return verdict.Observation{Region: r.Region, Status: r.Status, Failure: r.Failure, HTTPStatus: r.HTTPStatus, ScheduledAt: r.slot(n), TotalUS: r.TotalUS, CertNotAfter: r.CertNotAfter, Revision: 1}
}

// goesOn says whether a result is the next of a run.
func (r *Run) goesOn(next *Run, latencies []int) bool {
	over := func(us uint32) (n int) {
		for _, ms := range latencies {
			if int64(us) > int64(ms)*1000 {
				n++
			}
		}
		return n
	}
	return r.slot(r.Count).Equal(next.First) && r.Status == next.Status && r.Failure == next.Failure && r.HTTPStatus == next.HTTPStatus &&
		r.CertNotAfter.Equal(next.CertNotAfter) && r.Lag == next.Lag && over(r.TotalUS) == over(next.TotalUS)
}

// lane is the runs of one region, in order, and how far they have been taken; or the
// stragglers of all regions, each a run of its own.
type lane struct {
	runs  []Run
	late  bool
	run   int // index
	n     int // results taken of it
	calm  int // of them, since a straggler of any region came
	since int // results that changed nothing, since something changed anywhere or its run began
}

func (l *lane) over() bool { return l.run == len(l.runs) }

func (l *lane) now() *Run { return &l.runs[l.run] }

func (l *lane) next() time.Time { return l.now().known(l.n) }

// before says whose next result comes first: it was known first or, of those that were known
// at once, is of the first region, and of the earlier slot.
func (l *lane) before(m *lane) bool {
	return cmp.Or(l.next().Compare(m.next()), strings.Compare(l.now().Region, m.now().Region), l.now().slot(l.n).Compare(m.now().slot(m.n))) < 0
}

func (l *lane) take(n int) {
	l.n += n
	l.calm += n
	if l.n == l.now().Count {
		l.run, l.n, l.calm = l.run+1, 0, 0
	}
}

// lanes sorts runs by region, and cuts them where results that are alike begin to count
// for something else: at a rule about certificates, and at the edges of blindness.
func lanes(runs []Run, policy verdict.Policy, c verdict.Conditions) []*lane {
	byRegion := map[string]*lane{}
	var all []*lane
	for _, r := range runs {
		if r.Count < 1 {
			continue
		}
		l := byRegion[r.Region]
		if l == nil {
			l = &lane{}
			byRegion[r.Region], all = l, append(all, l)
		}
		l.runs = append(l.runs, r)
	}
	late := &lane{late: true}
	for _, l := range all {
		if days := policy.Degraded.CertificateDays; days > 0 {
			for i := 0; i < len(l.runs); i++ {
				if end := l.runs[i].CertNotAfter; !end.IsZero() {
					l.cutOne(i, end.Add(-time.Duration(days)*24*time.Hour+1))
				}
			}
		}
		for _, b := range c.Blind {
			if b.Region == l.runs[0].Region {
				l.cut(b.From)
				l.cut(b.To)
			}
		}
		late.runs = append(late.runs, l.stragglers()...)
	}
	slices.SortFunc(late.runs, func(a, b Run) int {
		return cmp.Or(a.known(0).Compare(b.known(0)), strings.Compare(a.Region, b.Region), a.First.Compare(b.First))
	})
	return append(all, late)
}

// stragglers takes out what was known only after the result of a later slot, one by one.
func (l *lane) stragglers() (late []Run) {
	kept := make([]Run, 0, len(l.runs))
	var soonest time.Time
	for _, r := range slices.Backward(l.runs) {
		for ; r.Count > 0 && !soonest.IsZero() && r.known(r.Count-1).After(soonest); r.Count-- {
			one := r
			one.First, one.Count = r.slot(r.Count-1), 1
			late = append(late, one)
		}
		if r.Count > 0 {
			kept, soonest = append(kept, r), r.known(0)
		}
	}
	slices.Reverse(kept)
	l.runs = kept
	return late
}

// cut ends whichever run goes on at an instant.
func (l *lane) cut(at time.Time) {
	for i := range l.runs {
		if l.cutOne(i, at) {
			return
		}
	}
}

// cutOne makes two runs of one: the slots before an instant, and those from it on.
func (l *lane) cutOne(i int, at time.Time) bool {
	r := l.runs[i]
	if at.IsZero() || !r.First.Before(at) || r.slot(r.Count-1).Before(at) {
		return false
	}
	n := int((at.Sub(r.First) + r.Every - 1) / r.Every)
	rest := r
	l.runs[i].Count, rest.First, rest.Count = n, r.slot(n), r.Count-n
	l.runs = slices.Insert(l.runs, i+1, rest)
	return true
}
