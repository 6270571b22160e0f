package availability

import (
	"slices"
	"time"
)

// Interval is how often a target is due from an instant on.
type Interval struct {
	From  time.Time
	Every time.Duration
}

// Intervals are a target's intervals over time, in ascending order. Make them with
// NewIntervals.
type Intervals []Interval

// NewIntervals orders intervals; of two from the same instant the later given counts.
// Those that change nothing are left out.
func NewIntervals(all ...Interval) Intervals {
	sorted := slices.Clone(all)
	slices.SortStableFunc(sorted, func(a, b Interval) int { return a.From.Compare(b.From) })
	var kept Intervals
	for _, i := range sorted {
		if n := len(kept); n > 0 && kept[n-1].From.Equal(i.From) {
			kept = kept[:n-1]
		}
		if n := len(kept); n == 0 || kept[n-1].Every != i.Every {
			kept = append(kept, i)
		}
	}
	return kept
}

// At is the interval in force at an instant; before the first it is the first, and
// without any it is 0.
func (all Intervals) At(t time.Time) time.Duration {
	n, found := slices.BinarySearchFunc(all, t, func(i Interval, t time.Time) int { return i.From.Compare(t) })
	if found {
		n++
	}
	if len(all) == 0 {
		return 0
	}
	return all[max(n-1, 0)].Every
}

// longest is the longest of them; 0: there are none.
func (all Intervals) longest() (longest time.Duration) {
	for _, i := range all {
		longest = max(longest, i.Every)
	}
	return longest
}
