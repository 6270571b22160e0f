package replay

import (
	"slices"
	"sync"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/internal/verdict"
)

// Report is what people would have been told.
type Report struct {
	Results     int           `json:"results"`
	Incidents   int           `json:"incidents"`
	Pages       int           `json:"pages"`
	FalseAlarms int           `json:"false_alarms"`
	DelayP50    time.Duration `json:"delay_p50_ns"`
	DelayP99    time.Duration `json:"delay_p99_ns"`
	Downtime    time.Duration `json:"downtime_ns"` // of all incidents
	StillOpen   int           `json:"still_open"`
	delays      []time.Duration
}

// Fleet replays many targets, so many at a time. An outage shorter than short makes its
// page a false alarm.
func Fleet(histories []History, policy verdict.Policy, short time.Duration, workers int) Report {
	parts := make([]Report, max(1, workers))
	var group sync.WaitGroup
	for worker := range parts {
		group.Go(func() {
			for i := worker; i < len(histories); i += len(parts) {
				state, decisions := Target(histories[i], policy)
				parts[worker].add(histories[i], state, decisions, short)
			}
		})
	}
	group.Wait()
	var all Report
	for _, p := range parts {
		all.Results += p.Results
		all.Incidents += p.Incidents
		all.Pages += p.Pages
		all.FalseAlarms += p.FalseAlarms
		all.Downtime += p.Downtime
		all.StillOpen += p.StillOpen
		all.delays = append(all.delays, p.delays...)
	}
	slices.Sort(all.delays)
	if n := len(all.delays); n > 0 {
		all.DelayP50, all.DelayP99 = all.delays[(n-1)*50/100], all.delays[(n-1)*99/100]
	}
	all.delays = nil
	return all
}

// Compare replays two policies over the same past.
func Compare(histories []History, a, b verdict.Policy, short time.Duration, workers int) (Report, Report) {
	return Fleet(histories, a, short, workers), Fleet(histories, b, short, workers)
}

// incident is one with what became of it.
type incident struct {
	began, ended time.Time // ended is zero while it is open
	paged        time.Time // zero: nobody was
}

func (r *Report) add(h History, state verdict.FoldState, decisions []verdict.Decision, short time.Duration) {
	for _, run := range h.Runs {
		r.Results += run.Count
	}
	for _, i := range incidents(decisions) {
		r.Incidents++
		ended := i.ended
		if ended.IsZero() {
			r.StillOpen++
			ended = state.At
		}
		r.Downtime += max(0, ended.Sub(i.began))
		if i.paged.IsZero() {
			continue
		}
		r.Pages++
		r.delays = append(r.delays, i.paged.Sub(i.began))
		if !i.ended.IsZero() && ended.Sub(i.began) < short || len(h.Regions) > 1 && h.witnesses(i.began, ended) < 2 {
			r.FalseAlarms++
		}
	}
}

func incidents(decisions []verdict.Decision) []*incident {
	var all []*incident
	bySlot := map[time.Time]*incident{}
	for _, d := range decisions {
		i := bySlot[d.Slot]
		if d.Kind == verdict.Opened {
			i = &incident{}
			bySlot[d.Slot], all = i, append(all, i)
		}
		if i == nil {
			continue // it was suppressed
		}
		i.began = d.Began
		if d.Kind == verdict.Resolved {
			i.ended = d.Ended
		}
		if d.Notify == verdict.NotifyPage && i.paged.IsZero() {
			i.paged = d.At
		}
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
