package ledger

import (
	"math"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

// never is the end of what has no end.
const never = math.MaxInt64

// span is a stretch [from, to) in Unix milliseconds.
type span struct{ from, to int64 }

func (s span) within(o span) span { return span{max(s.from, o.from), min(s.to, o.to)} }
func (s span) empty() bool        { return s.from >= s.to }

func window(from, to time.Time) span { return span{ceilMilli(from), ceilMilli(to)} }

func ceilMilli(t time.Time) int64 {
	ms := t.UnixMilli()
	if t.After(time.UnixMilli(ms)) {
		ms++
	}
	return ms
}

// phase is one version of a target within a window. Inactive ones are not kept.
type phase struct {
	span
	seq      int64
	interval int64 // ms
	wanted   uint32
}

// slots walks the slots of a target in a stretch.
func (p phase) slots(id int64, in span, fn func(ms int64)) {
	if in = in.within(p.span); in.empty() {
		return
	}
	first := uptime.NextSlot(id, time.Duration(p.interval)*time.Millisecond, time.UnixMilli(in.from)).UnixMilli()
	for ms := first; ms < in.to; ms += p.interval {
		fn(ms)
	}
}

func (p phase) count(id int64, in span) int64 {
	if in = in.within(p.span); in.empty() {
		return 0
	}
	return uptime.CountSlots(id, time.Duration(p.interval)*time.Millisecond, time.UnixMilli(in.from), time.UnixMilli(in.to))
}

// expiry in ms of the checks of this phase.
func (p phase) expiry() int64 {
	return uptime.Expiry(time.Duration(p.interval) * time.Millisecond).Milliseconds()
}

// cutAt ends every stretch at an instant and drops what is left of none: a
// later version has taken over from there.
func cutAt(phases []phase, at int64) []phase {
	kept := phases[:0]
	for _, p := range phases {
		if p.to = min(p.to, at); !p.empty() {
			kept = append(kept, p)
		}
	}
	return kept
}
