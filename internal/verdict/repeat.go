package verdict

import (
	"slices"
	"strings"
	"time"
)

// Repeat folds in n more results of a region like its newest one, each an interval after
// the one before and known so long after its slot. It is what as many Steps come to, as
// long as each of them would only have confirmed what was known: no other event and no
// deadline lies between, and the newest Step of each region changed nothing. That is for
// the caller to know; a replay of months does, and pays for changes instead of results.
func Repeat(s FoldState, rules Rules, c Conditions, region string, every, lag time.Duration, n int) FoldState {
	i, found := slices.BinarySearchFunc(s.Regions, region, func(r RegionState, name string) int { return strings.Compare(r.Region, name) })
	if !found || n < 1 {
		return s
	}
	r := s.Regions[i]
	depth := rules.depth()
	o := r.Newest[len(r.Newest)-1]
	first := o.ScheduledAt
	gone := len(r.Newest) + n - depth // how many results are not remembered one by one any more
	for _, old := range r.Newest[:max(0, min(gone, len(r.Newest)))] {
		r.Base, r.Floor = r.Base.after(&old, &rules, &c), old.ScheduledAt
	}
	if more := gone - len(r.Newest); more > 0 { // a threshold's worth settles what they come to
		for k := 1; k <= min(more, MaxThreshold+1); k++ {
			o.ScheduledAt = first.Add(time.Duration(k) * every)
			r.Base = r.Base.after(&o, &rules, &c)
		}
		r.Floor = first.Add(time.Duration(more) * every)
	}
	newest := make([]Observation, 0, depth+1)
	if gone < len(r.Newest) {
		newest = append(newest, r.Newest[max(0, gone):]...)
	}
	for k := max(1, n-depth+1); k <= n; k++ {
		o.ScheduledAt = first.Add(time.Duration(k) * every)
		newest = append(newest, o)
	}
	r.Newest = newest
	s.Regions = slices.Clone(s.Regions)
	s.Regions[i] = r
	if at := o.ScheduledAt.Add(lag).Truncate(tick); at.After(s.At) {
		s.At = at
	}
	return s
}
