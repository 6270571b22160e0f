package ledger

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

const (
	settle = 120 * time.Second // after expiry: time for a row to arrive
	period = 60 * time.Second  // of the sweep
)

// OutcomeSource counts the rows in [from, to) per target and region; counts are
// indexed by uptime.Status.
type OutcomeSource interface {
	Outcomes(ctx context.Context, from, to time.Time, fn func(targetID int64, region string, counts [6]uint64) error) error
}

// Line is one region's account of a window.
type Line struct {
	Region      string
	Planned     int64
	Up          int64
	Degraded    int64
	Down        int64
	Unknown     int64
	Missed      int64
	InFlight    int64 // no row, and none is owed yet
	Spooled     int64 // waiting on a prober's disk
	Unexplained int64 // no row though one is owed: must be 0
	Unplanned   int64 // rows of slots that nobody planned: must be 0
}

// Ledger compares the plan with the rows.
type Ledger struct {
	versions VersionSource
	outcomes OutcomeSource
	now      func() time.Time
}

// New makes a ledger of the two sources.
func New(versions VersionSource, outcomes OutcomeSource) *Ledger {
	return &Ledger{versions: versions, outcomes: outcomes, now: time.Now}
}

// Report gives one line per region, sorted, for slots in [from, to). A slot
// without a row counts as in flight until its expiry, two minutes and one sweep
// have passed; for intervals between one and five minutes the longest expiry is
// assumed. Rows past their retention are gone: ask within it.
func (l *Ledger) Report(ctx context.Context, from, to time.Time) ([]Line, error) {
	now := l.now()
	if to.After(now) {
		to = now // what is still to come is not on the account yet
		from = earlier(from, to)
	}
	plan, err := Load(ctx, l.versions, from, to)
	if err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	a := newAccount(plan, now)
	for _, part := range a.parts {
		if part.empty() {
			continue
		}
		seen := make([]uint64, (len(plan.targets)*len(plan.Regions)+63)/64)
		err := l.outcomes.Outcomes(ctx, time.UnixMilli(part.from), time.UnixMilli(part.to), func(id int64, region string, counts [6]uint64) error {
			a.take(part, seen, id, region, counts)
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("report: %w", err)
		}
		a.close(part, seen)
	}
	lines := make([]Line, 0, len(a.lines))
	for _, name := range slices.Sorted(maps.Keys(a.lines)) {
		lines = append(lines, *a.lines[name])
	}
	return lines, nil
}

// account sums a report up.
type account struct {
	plan  *Plan
	parts []part
	lines map[string]*Line
}

// part is a stretch of the window in which a missing row is owed or not: by
// everybody, or only by targets with the shortest expiry.
type part struct {
	span
	owedByShort, owedByAll bool
}

func newAccount(plan *Plan, now time.Time) *account {
	all := now.Add(-uptime.Expiry(uptime.MaxInterval) - settle - period).UnixMilli()
	short := now.Add(-uptime.Expiry(uptime.MinInterval) - settle - period).UnixMilli()
	a := &account{plan: plan, lines: map[string]*Line{}, parts: []part{
		{span: span{0, all}, owedByShort: true, owedByAll: true},
		{span: span{all, short}, owedByShort: true},
		{span: span{short, never}},
	}}
	for i := range a.parts {
		a.parts[i].span = a.parts[i].within(plan.window)
	}
	for _, name := range plan.Regions {
		a.line(name)
	}
	return a
}

func (a *account) line(region string) *Line {
	if a.lines[region] == nil {
		a.lines[region] = &Line{Region: region}
	}
	return a.lines[region]
}

func (a *account) take(p part, seen []uint64, id int64, region string, counts [6]uint64) {
	at, known := a.plan.index[id]
	if !known {
		return // deleted, or never there
	}
	line := a.line(region)
	line.Up += int64(counts[uptime.StatusUp])
	line.Degraded += int64(counts[uptime.StatusDegraded])
	line.Down += int64(counts[uptime.StatusDown])
	line.Unknown += int64(counts[uptime.StatusUnknown])
	line.Missed += int64(counts[uptime.StatusMissed])
	rows := int64(0)
	for _, n := range counts {
		rows += int64(n)
	}
	r, planned := slices.BinarySearch(a.plan.Regions, region)
	if !planned {
		line.Unplanned += rows
		return
	}
	bit := int(at)*len(a.plan.Regions) + r
	seen[bit/64] |= 1 << (bit % 64)
	a.settle(p, &a.plan.targets[at], r, rows)
}

// close adds the targets and regions of which there was no row at all.
func (a *account) close(p part, seen []uint64) {
	for i := range a.plan.targets {
		for r := range a.plan.Regions {
			if bit := i*len(a.plan.Regions) + r; seen[bit/64]&(1<<(bit%64)) == 0 {
				a.settle(p, &a.plan.targets[i], r, 0)
			}
		}
	}
}

func (a *account) settle(p part, t *target, region int, rows int64) {
	planned, owed := int64(0), p.owedByShort
	a.plan.each(t, region, p.span, func(ph phase, s span) {
		planned += ph.count(t.id, s)
		owed = owed && (p.owedByAll || ph.expiry() <= uptime.Expiry(uptime.MinInterval).Milliseconds())
	})
	line := a.lines[a.plan.Regions[region]]
	line.Planned += planned
	switch missing := planned - rows; {
	case missing < 0:
		line.Unplanned -= missing
	case owed:
		line.Unexplained += missing
	default:
		line.InFlight += missing
	}
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
