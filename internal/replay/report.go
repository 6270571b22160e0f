package replay

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/internal/verdict"
)

// Incident is one that a policy would have opened.
type Incident struct {
	Slot       time.Time // first failing one, by which it is known
	Began      time.Time // the same, corrected by what came late
	OpenedAt   time.Time
	PagedAt    time.Time // zero: nobody was
	Until      time.Time // when it ended or, while Open, as far as is known
	Open       bool
	Severity   verdict.Severity
	FalseAlarm bool
}

// Delay is from its first failing slot until somebody was paged.
func (i *Incident) Delay() time.Duration { return i.PagedAt.Sub(i.Began) }

// Report is what people would have been told.
type Report struct {
	Results     int           `json:"results"`
	Incidents   int           `json:"incidents"`
	Pages       int           `json:"pages"`
	FalseAlarms int           `json:"false_alarms"`
	DelayP50    time.Duration `json:"delay_p50_ns"`
	DelayP99    time.Duration `json:"delay_p99_ns"`
	DelayMost   time.Duration `json:"delay_most_ns"`
	Downtime    time.Duration `json:"downtime_ns"` // of all incidents
	StillOpen   int           `json:"still_open"`
}

// Sum is the report about incidents, of one target or of many.
func Sum(results int, incidents []Incident) Report {
	r := Report{Results: results, Incidents: len(incidents)}
	var delays []time.Duration
	for i := range incidents {
		one := &incidents[i]
		r.Downtime += max(0, one.Until.Sub(one.Began))
		if one.Open {
			r.StillOpen++
		}
		if one.PagedAt.IsZero() {
			continue
		}
		r.Pages++
		delays = append(delays, one.Delay())
		if one.FalseAlarm {
			r.FalseAlarms++
		}
	}
	slices.Sort(delays)
	if n := len(delays); n > 0 {
		r.DelayP50, r.DelayP99, r.DelayMost = delays[(n-1)*50/100], delays[(n-1)*99/100], delays[n-1]
	}
	return r
}

// Fleet replays many targets, so many at a time. An outage shorter than short makes its
// page a false alarm.
func Fleet(histories []History, policy verdict.Policy, short time.Duration, workers int) Report {
	parts, results := make([][]Incident, max(1, workers)), make([]int, max(1, workers))
	var group sync.WaitGroup
	for worker := range parts {
		group.Go(func() {
			for i := worker; i < len(histories); i += len(parts) {
				parts[worker] = append(parts[worker], Incidents(context.Background(), histories[i], policy, short)...)
				for _, run := range histories[i].Runs {
					results[worker] += run.Count
				}
			}
		})
	}
	group.Wait()
	sum := 0
	for _, n := range results {
		sum += n
	}
	return Sum(sum, slices.Concat(parts...))
}

// Compare replays two policies over the same past.
func Compare(histories []History, a, b verdict.Policy, short time.Duration, workers int) (Report, Report) {
	return Fleet(histories, a, short, workers), Fleet(histories, b, short, workers)
}

// Incidents replays one target and gives the incidents, in the order in which they were
// opened. An outage shorter than short makes its page a false alarm.
func Incidents(ctx context.Context, h History, policy verdict.Policy, short time.Duration) []Incident {
	state, decisions := Target(ctx, h, policy)
	var all []Incident
	bySlot := map[time.Time]int{}
	for _, d := range decisions {
		at, found := bySlot[d.Slot]
		if d.Kind == verdict.Opened {
			at, found = len(all), true
			bySlot[d.Slot], all = at, append(all, Incident{Slot: d.Slot, OpenedAt: d.At, Until: state.At, Open: true})
		}
		if !found {
			continue // it was suppressed
		}
		i := &all[at]
		if !d.Began.IsZero() { // that flapping is over says nothing of the incident
			i.Began, i.Severity = d.Began, d.Severity
		}
		if d.Kind == verdict.Resolved {
			i.Until, i.Open = d.Ended, false
		}
		if d.Notify == verdict.NotifyPage && i.PagedAt.IsZero() {
			i.PagedAt = d.At
		}
	}
	for n := range all {
		i := &all[n]
		i.FalseAlarm = !i.PagedAt.IsZero() && (!i.Open && i.Until.Sub(i.Began) < short || len(h.Regions) > 1 && h.witnesses(i.Began, i.Until) < 2)
	}
	return all
}

// witnesses are the regions that saw the target fail from the beginning to the end.
func (h History) witnesses(from, to time.Time) int {
	seen := map[string]bool{}
	for i := range h.Runs {
		r := &h.Runs[i]
		if r.Status == uptime.StatusDown && !r.First.After(to) && !r.slot(r.Count-1).Before(from) {
			seen[r.Region] = true
		}
	}
	return len(seen)
}
