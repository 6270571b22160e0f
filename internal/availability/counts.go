package availability

// Counts are slots by what they came to.
type Counts struct{ Up, Degraded, Down, Unknown, Missed uint64 }

// Add gives the sum of both.
func (c Counts) Add(o Counts) Counts {
	return Counts{c.Up + o.Up, c.Degraded + o.Degraded, c.Down + o.Down, c.Unknown + o.Unknown, c.Missed + o.Missed}
}

// Measured are the slots in which a probe really looked at the target.
func (c Counts) Measured() uint64 { return c.Up + c.Degraded + c.Down }

// Planned are all slots.
func (c Counts) Planned() uint64 { return c.Measured() + c.Unknown + c.Missed }

// Uptime is the part of the measured slots in which the target worked.
func (c Counts) Uptime() Ratio { return Ratio{c.Up + c.Degraded, c.Measured()} }

// Coverage is the part of the planned slots that was measured.
func (c Counts) Coverage() Ratio { return Ratio{c.Measured(), c.Planned()} }

// Low is the uptime if the target was down in every slot that was not measured.
func (c Counts) Low() Ratio { return Ratio{c.Up + c.Degraded, c.Planned()} }

// High is the uptime if the target worked in every slot that was not measured.
func (c Counts) High() Ratio { return Ratio{c.Planned() - c.Down, c.Planned()} }

// Fold takes what the regions made of one slot time, one count a region, and gives
// the one count of the target as a whole: down when more than half of the regions
// that measured found it down, else degraded when any found it down or degraded,
// else up. Without a measurement it is unknown when any region tried, else missed.
// Nothing of nothing.
func (c Counts) Fold() Counts {
	switch {
	case 2*c.Down > c.Measured():
		return Counts{Down: 1}
	case c.Down+c.Degraded > 0:
		return Counts{Degraded: 1}
	case c.Up > 0:
		return Counts{Up: 1}
	case c.Unknown > 0:
		return Counts{Unknown: 1}
	case c.Missed > 0:
		return Counts{Missed: 1}
	}
	return Counts{}
}

// unknown is the same number of slots of which nothing is known.
func (c Counts) unknown() Counts { return Counts{Unknown: c.Planned()} }
