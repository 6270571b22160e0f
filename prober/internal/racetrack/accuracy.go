package racetrack

import (
	"math"
	"slices"
	"time"
)

// Visit is what a visit of a timed server was measured to take, and what it took that server.
type Visit struct {
	Total, Server time.Duration
	Marked        bool // saturated: the prober itself says that its times are not exact
}

// added is what others than the server put on top: to connect, to be woken, to read.
func (v Visit) added() time.Duration { return v.Total - v.Server }

// tolerated is how far a result may be off that is not marked.
const tolerated = 2 * time.Millisecond

// Errors are how far visits of a busy prober are from those of an idle one, in ms. They are of
// those that are not marked, unless they say otherwise.
type Errors struct {
	Results   int     `json:"results"`
	Marked    int     `json:"marked"`
	IdleP50   float64 `json:"idle_p50_ms"`       // what visits of the idle prober took
	AddedP50  float64 `json:"idle_added_p50_ms"` // … beyond what the server did
	IdleP99   float64 `json:"idle_error_p99_ms"` // how far the idle prober's are from that themselves
	P50       float64 `json:"error_p50_ms"`      // how far the busy prober's are from AddedP50, beyond what the server did
	P99       float64 `json:"error_p99_ms"`
	Over      int     `json:"over_2ms"`      // of them that are off by more than that
	MarkedP50 float64 `json:"marked_p50_ms"` // … of those that are marked
	MarkedP99 float64 `json:"marked_p99_ms"`
	WholeP50  float64 `json:"whole_p50_ms"` // … from IdleP50, with what the busy machine did to the server
	WholeP99  float64 `json:"whole_p99_ms"`
}

// ErrorsOf compares visits of a prober that was idle with those of one that was busy.
func ErrorsOf(idle, busy []Visit) Errors {
	total, added := func(v Visit) time.Duration { return v.Total }, Visit.added
	e := Errors{Results: len(busy)}
	calm := unmarked(idle)
	usual, usuallyAdded := Quantile(each(calm, total), .5), Quantile(each(calm, added), .5)
	off := func(of []Visit, what func(Visit) time.Duration, from time.Duration, quantile float64) float64 {
		return Millis(Quantile(each(of, func(v Visit) time.Duration { return (what(v) - from).Abs() }), quantile))
	}
	exact, marked := unmarked(busy), slices.DeleteFunc(slices.Clone(busy), func(v Visit) bool { return !v.Marked })
	for _, v := range exact {
		if (v.added() - usuallyAdded).Abs() > tolerated {
			e.Over++
		}
	}
	e.Marked = len(marked)
	e.IdleP50, e.AddedP50, e.IdleP99 = Millis(usual), Millis(usuallyAdded), off(calm, added, usuallyAdded, .99)
	e.P50, e.P99 = off(exact, added, usuallyAdded, .5), off(exact, added, usuallyAdded, .99)
	e.MarkedP50, e.MarkedP99 = off(marked, added, usuallyAdded, .5), off(marked, added, usuallyAdded, .99)
	e.WholeP50, e.WholeP99 = off(exact, total, usual, .5), off(exact, total, usual, .99)
	return e
}

func unmarked(all []Visit) []Visit {
	return slices.DeleteFunc(slices.Clone(all), func(v Visit) bool { return v.Marked })
}

func each(of []Visit, what func(Visit) time.Duration) []time.Duration {
	all := make([]time.Duration, len(of))
	for i, v := range of {
		all[i] = what(v)
	}
	return all
}

// Quantile is the smallest of the numbers that so large a share of them does not exceed; of
// none it is zero.
func Quantile(of []time.Duration, share float64) time.Duration {
	if len(of) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(of))
	return sorted[max(0, int(math.Ceil(share*float64(len(sorted))))-1)]
}

// Millis is in ms, to a hundredth.
func Millis(d time.Duration) float64 { return math.Round(d.Seconds()*1e5) / 100 }
