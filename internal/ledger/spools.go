package ledger

import (
	"context"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

// Spool is what the probers of a region, or the API nodes of what came from outside, keep on their disks: that many rows, the
// slots of which lie in [First, Last].
type Spool struct {
	Rows        int64
	First, Last time.Time
}

// EveryRegion stands for a spool whose rows are of any region, as a publisher's are.
const EveryRegion = ""

// Add joins two spools of one region.
func (s Spool) Add(o Spool) Spool {
	switch {
	case o.Rows == 0:
		return s
	case s.Rows == 0:
		return o
	}
	s.Rows += o.Rows
	s.First = earlier(s.First, o.First)
	if o.Last.After(s.Last) {
		s.Last = o.Last
	}
	return s
}

// Spools tells, by region, what probers that are alive keep on their disks.
type Spools func(ctx context.Context) map[string]Spool

func (s Spools) ask(ctx context.Context) map[string]Spool {
	if s == nil {
		return nil
	}
	return s(ctx)
}

// keptRows is a spool as accounts use it.
type keptRows struct {
	span
	rows int64
}

// grain of a spool's ends: spools of one outage begin and end together, and each
// end is one more question to the results store.
const grain = time.Minute

func keptIn(spools map[string]Spool) map[string]*keptRows {
	kept := make(map[string]*keptRows, len(spools))
	for region, s := range spools {
		if uptime.ReservedRegion(region) {
			continue // nobody planned these: see account.received
		}
		if s.Rows > 0 && !s.First.IsZero() && !s.Last.Before(s.First) {
			kept[region] = &keptRows{span{s.First.Truncate(grain).UnixMilli(), s.Last.Truncate(grain).Add(grain).UnixMilli()}, s.Rows}
		}
	}
	return kept
}

// holds are the stretches, by region, whose missing rows may be on a disk.
type holds map[string]span

// have says whether the row of a slot may be on a disk.
func (h holds) have(region string, ms int64) bool {
	own, shared := h[region], h[EveryRegion]
	return own.from <= ms && ms < own.to || shared.from <= ms && ms < shared.to
}

// first is the earliest held instant. The sweep's cursor stays before it, since
// what is passed over must be looked at again.
func (h holds) first() int64 {
	first := int64(never)
	for _, s := range h {
		first = min(first, s.from)
	}
	return first
}

// releases says whether something that was held before is held no more, and lies
// past the first held instant: the cursor would not come by it.
func (h holds) releases(before holds) bool {
	first := h.first()
	for region, was := range before {
		if is := h[region]; is.to < was.to || was.from < is.from && first < is.from {
			return true
		}
	}
	return false
}
