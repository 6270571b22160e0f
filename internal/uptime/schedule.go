package uptime

import (
	"slices"
	"time"
)

// Schedule says when and where a target is due. Slots are a pure function of
// the target's id and the interval, so anyone computes the same ones.
type Schedule struct {
	TargetID int64
	Interval time.Duration // whole seconds
	Regions  []string      // sorted; empty means every region
	Active   bool
}

// Slot is one due visit: it ends in exactly one row.
type Slot struct {
	TargetID    int64
	Region      string
	ScheduledAt time.Time // millisecond precision, UTC
}

// Phase is a target's fixed offset within its interval, in whole milliseconds.
// The hash (splitmix64's finaliser) spreads consecutive ids evenly.
func Phase(targetID int64, interval time.Duration) time.Duration {
	x := uint64(targetID) + 0x9e3779b97f4a7c15
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9
	x = (x ^ (x >> 27)) * 0x94d049bb133111eb
	x ^= x >> 31
	return time.Duration(x%uint64(interval.Milliseconds())) * time.Millisecond
}

// NextSlot is the first slot of a target at or after t.
func NextSlot(targetID int64, interval time.Duration, t time.Time) time.Time {
	step := interval.Milliseconds()
	phase := Phase(targetID, interval).Milliseconds()
	from := ceilMilli(t)
	k := (from - phase) / step
	at := k*step + phase
	for at < from {
		at += step
	}
	return time.UnixMilli(at).UTC()
}

// CountSlots is the number of slots of a target in [from, to).
func CountSlots(targetID int64, interval time.Duration, from, to time.Time) int64 {
	first := NextSlot(targetID, interval, from)
	if !first.Before(to) {
		return 0
	}
	return (ceilMilli(to)-1-first.UnixMilli())/interval.Milliseconds() + 1
}

func ceilMilli(t time.Time) int64 {
	ms := t.UnixMilli()
	if t.After(time.UnixMilli(ms)) {
		ms++
	}
	return ms
}

// Expiry is how long after its slot a check is still worth running:
// the interval, but at least one and at most five minutes.
func Expiry(interval time.Duration) time.Duration {
	return min(max(interval, time.Minute), 5*time.Minute)
}

// ResolveRegions gives the regions of active that a schedule wants, sorted.
func ResolveRegions(wanted, active []string) []string {
	if len(wanted) == 0 {
		return slices.Sorted(slices.Values(active))
	}
	var both []string
	for _, region := range wanted {
		if slices.Contains(active, region) {
			both = append(both, region)
		}
	}
	slices.Sort(both)
	return both
}
