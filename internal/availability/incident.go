package availability

import (
	"slices"
	"time"
)

// Incident is a stretch in which a target was down, as exact as the cells it was
// found in.
type Incident struct {
	Span
	Slots    uint64        // down ones
	Downtime time.Duration // an interval for each, but not more than its regular slots could come to
}

// Incidents finds the stretches in which cells of one series tell of down slots. What
// was not measured in between does not end a stretch: nothing shows that the target
// had recovered. A cell that was measured and has no down slot ends it, and so does
// maintenance. Cells outside of the window, and those on an edge, are not looked at.
func (t Terms) Incidents(cells []Cell) []Incident {
	sorted := slices.SortedFunc(slices.Values(cells), func(a, b Cell) int { return a.From.Compare(b.From) })
	var found []Incident
	open, maintenance := false, 0
	for _, c := range sorted {
		f := t.Of(c)
		if f.Measured() == 0 {
			continue
		}
		if f.Down == 0 {
			open = false
			continue
		}
		if began := t.Except.before(c.From); !open || began != maintenance {
			found = append(found, Incident{Span: c.Span})
			open, maintenance = true, began
		}
		last := &found[len(found)-1]
		last.To = c.To
		last.Slots += f.Down
		last.Downtime += f.Downtime
	}
	for i := range found {
		one := &found[i]
		one.Downtime = min(one.Downtime, one.To.Sub(one.From)+t.Every.longest())
	}
	return found
}
