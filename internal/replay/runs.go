package replay

import (
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

// Compress makes runs of a target's results, which are in the order of their slots within
// each region, for policies that have these latencies among their rules, in ms.
func Compress(results []uptime.Result, interval time.Duration, latencies ...int) []Run {
	var all []Run
	newest := map[string]int{}
	for i := range results {
		r := &results[i]
		if !r.Status.Measured() || r.Late {
			continue
		}
		one := Run{Region: r.Region, First: r.ScheduledAt.UTC(), Every: interval, Count: 1, Status: r.Status, Failure: r.Failure, HTTPStatus: r.HTTPStatus, TotalUS: r.TotalUS, CertNotAfter: r.CertNotAfter}
		one.Lag = max(0, r.CheckedAt.Sub(r.ScheduledAt)+time.Duration(r.TotalUS)*time.Microsecond)
		one.Lag = (one.Lag + time.Second - 1).Truncate(time.Second)
		if at, found := newest[r.Region]; found && all[at].goesOn(one, latencies) {
			all[at].Count++
			continue
		}
		newest[r.Region] = len(all)
		all = append(all, one)
	}
	return all
}

// goesOn says whether a result is the next of a run.
func (r *Run) goesOn(next Run, latencies []int) bool {
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

// lane is the runs of one region, in order, and how far they have been taken.
type lane struct {
	runs  []Run
	run   int // index
	n     int // results taken of it
	since int // results that changed nothing, since something changed anywhere or its run began
}

func (l *lane) over() bool { return l.run == len(l.runs) }

func (l *lane) now() *Run { return &l.runs[l.run] }

func (l *lane) next() time.Time { return l.now().known(l.n) }

func (l *lane) take(n int) {
	l.n += n
	if l.n == l.now().Count {
		l.run, l.n = l.run+1, 0
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
	}
	slices.SortFunc(all, func(a, b *lane) int { return strings.Compare(a.runs[0].Region, b.runs[0].Region) })
	return all
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
