package ledger

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

// DefaultSettle is how long after its expiry a slot's row may still be on its way.
const DefaultSettle = 120 * time.Second

// SweepEvery is the time between two sweeps that wait settle for a row.
func SweepEvery(settle time.Duration) time.Duration { return min(time.Minute, settle) }

// OutcomeSource counts the rows in [from, to) per target, region and reason; counts are
// indexed by uptime.Status. It may speak of a target and region several times.
type OutcomeSource interface {
	Outcomes(ctx context.Context, from, to time.Time, fn func(targetID int64, region string, reason uptime.Reason, counts [6]uint64) error) error
}

// Line is one region's account of a window.
type Line struct {
	Region      string
	Planned     int64 // slots that were due; from outside: that were taken in
	Up          int64
	Degraded    int64
	Down        int64
	Unknown     int64
	Missed      int64
	InFlight    int64 // no row, and none is owed yet
	Spooled     int64 // no row though one is owed, and a live prober has as many on its disk; from outside: taken in, and on a disk
	Unexplained int64 // no row though one is owed: must be 0
	Unplanned   int64 // rows of slots that nobody planned: must be 0

	Reasons []Stated // why Unknown and Missed are what they are, the most frequent first; they add up to these
}

// Stated is how often a reason was given for a status.
type Stated struct {
	Status uptime.Status
	Reason uptime.Reason
	Count  int64
}

// Ledger compares the plan with the rows.
type Ledger struct {
	versions VersionSource
	outcomes OutcomeSource
	spools   Spools
	pushes   Pushes
	settle   time.Duration
	now      func() time.Time
}

// Pushes counts what is expected of heartbeats in [from, to) and has no row in the result
// store: rows that wait for it, pings that may still come, and those whose deadline was
// before owed though nobody has said what came of them.
type Pushes interface {
	Pushed(ctx context.Context, from, to, owed time.Time) (waiting, expected, overdue int64, err error)
}

// WithPushes puts the heartbeats on the account, as the region uptime.RegionPush. What is
// planned there is what has come to its end, and what is expected next: each of that has
// one row or is counted here.
func (l *Ledger) WithPushes(pushes Pushes) *Ledger {
	l.pushes = pushes
	return l
}

// New makes a ledger of its sources. A nil spools means that nobody keeps rows.
func New(versions VersionSource, outcomes OutcomeSource, spools Spools) *Ledger {
	return &Ledger{versions: versions, outcomes: outcomes, spools: spools, settle: DefaultSettle, now: time.Now}
}

// WithClock gives the ledger another clock than this machine's.
func (l *Ledger) WithClock(now func() time.Time) *Ledger {
	l.now = now
	return l
}

// Settling gives the ledger a figure other than DefaultSettle: that of the sweep.
func (l *Ledger) Settling(settle time.Duration) *Ledger {
	l.settle = settle
	return l
}

// Report gives one line per region, sorted, for slots in [from, to). A slot
// without a row counts as in flight until its expiry, the time a row may take and
// one sweep have passed; for intervals between one and five minutes the longest
// expiry is assumed. So do slots that the publisher has not come to, those from
// published on: it will publish them or state them as missed (zero: where it stands is
// not known). Owed ones that a live prober may have on its disk count as spooled. Rows
// past their retention are gone: ask within it.
func (l *Ledger) Report(ctx context.Context, from, to, published time.Time) ([]Line, error) {
	now := l.now()
	if to.After(now) {
		to = now // what is still to come is not on the account yet
		from = earlier(from, to)
	}
	spools := l.spools.ask(ctx) // before the rows: one that moves meanwhile is seen in either place
	plan, err := Load(ctx, l.versions, from, to)
	if err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	if published.IsZero() {
		published = now
	}
	a := newAccount(plan, now, published, l.settle, spools)
	for _, part := range a.parts {
		seen := make([]uint32, len(plan.targets)*len(plan.Regions)) // rows of each target and region
		err := l.outcomes.Outcomes(ctx, time.UnixMilli(part.from), time.UnixMilli(part.to), func(id int64, region string, reason uptime.Reason, counts [6]uint64) error {
			a.take(seen, id, region, reason, counts)
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("report: %w", err)
		}
		a.close(part, seen)
	}
	a.received(spools)
	if l.pushes != nil {
		waiting, expected, overdue, err := l.pushes.Pushed(ctx, from, to, now.Add(-l.settle-SweepEvery(l.settle)))
		if err != nil {
			return nil, fmt.Errorf("report: %w", err)
		}
		a.push(waiting, expected, overdue)
	}
	lines := make([]Line, 0, len(a.lines))
	for _, name := range slices.Sorted(maps.Keys(a.lines)) {
		line := *a.lines[name]
		line.Reasons = a.stated(name)
		lines = append(lines, line)
	}
	return lines, nil
}

// account sums a report up.
type account struct {
	plan  *Plan
	parts []part
	kept  map[string]*keptRows
	lines map[string]*Line

	reasons map[stating]int64
}

// stating is what reasons are counted by.
type stating struct {
	region string
	status uptime.Status
	reason uptime.Reason
}

// part is a stretch of the window in which a missing row is owed or not: by
// everybody, or only by targets with the shortest expiry; and which lies either
// inside or outside of what each region has on disk.
type part struct {
	span
	owedByShort, owedByAll bool
}

func newAccount(plan *Plan, now, published time.Time, settle time.Duration, spools map[string]Spool) *account {
	a := &account{plan: plan, kept: keptIn(spools), lines: map[string]*Line{}, reasons: map[stating]int64{}}
	late := settle + SweepEvery(settle)
	all := earlier(published, now.Add(-uptime.Expiry(uptime.MaxInterval)-late)).UnixMilli()
	short := earlier(published, now.Add(-uptime.Expiry(uptime.MinInterval)-late)).UnixMilli()
	cuts := []int64{plan.window.from, all, short, plan.window.to}
	for _, k := range a.kept {
		cuts = append(cuts, k.from, k.to)
	}
	slices.Sort(cuts)
	for i := range cuts[1:] {
		p := part{span: span{cuts[i], cuts[i+1]}.within(plan.window)}
		if p.owedByShort, p.owedByAll = p.to <= short, p.to <= all; !p.empty() {
			a.parts = append(a.parts, p)
		}
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

func (a *account) take(seen []uint32, id int64, region string, reason uptime.Reason, counts [6]uint64) {
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
	for _, status := range [...]uptime.Status{uptime.StatusUnknown, uptime.StatusMissed} {
		if n := counts[status]; n > 0 {
			a.reasons[stating{region, status, reason}] += int64(n)
		}
	}
	rows := int64(0)
	for _, n := range counts {
		rows += int64(n)
	}
	if uptime.ReservedRegion(region) { // not ours to plan: what was taken in is what there is to account for
		line.Planned += rows
		return
	}
	r, planned := slices.BinarySearch(a.plan.Regions, region)
	if !planned {
		line.Unplanned += rows
		return
	}
	seen[int(at)*len(a.plan.Regions)+r] += uint32(rows)
}

// stated gives the reasons of a region, the most frequent first.
func (a *account) stated(region string) (all []Stated) {
	for of, n := range a.reasons {
		if of.region == region {
			all = append(all, Stated{of.status, of.reason, n})
		}
	}
	slices.SortFunc(all, func(x, y Stated) int {
		return cmp.Or(cmp.Compare(y.Count, x.Count), cmp.Compare(x.Status, y.Status), cmp.Compare(x.Reason, y.Reason))
	})
	return all
}

// received adds what was taken in from outside and lies on a disk yet. Nobody planned it,
// so all that may be of the window counts.
func (a *account) received(spools map[string]Spool) {
	for region, s := range spools {
		held := span{s.First.UnixMilli(), s.Last.UnixMilli() + 1}
		if uptime.ReservedRegion(region) && s.Rows > 0 && !held.within(a.plan.window).empty() {
			line := a.line(region)
			line.Planned += s.Rows
			line.Spooled += s.Rows
		}
	}
}

// push adds what of the heartbeats has no row yet.
func (a *account) push(waiting, expected, overdue int64) {
	if waiting+expected+overdue == 0 {
		return
	}
	line := a.line(uptime.RegionPush)
	line.Planned += waiting + expected + overdue
	line.Spooled += waiting
	line.InFlight += expected
	line.Unexplained += overdue
}

// close compares the rows of each target and region with its plan, also where there were none.
func (a *account) close(p part, seen []uint32) {
	for i := range a.plan.targets {
		for r := range a.plan.Regions {
			a.settle(p, &a.plan.targets[i], r, int64(seen[i*len(a.plan.Regions)+r]))
		}
	}
}

func (a *account) settle(p part, t *target, region int, rows int64) {
	planned, owed := int64(0), p.owedByShort
	a.plan.each(t, region, p.span, func(ph phase, s span) {
		planned += ph.count(t.id, s)
		owed = owed && (p.owedByAll || ph.expiry() <= uptime.Expiry(uptime.MinInterval).Milliseconds())
	})
	name := a.plan.Regions[region]
	line := a.lines[name]
	line.Planned += planned
	switch missing := planned - rows; {
	case missing < 0:
		line.Unplanned -= missing
	case owed:
		kept := a.onDisk(name, p, missing)
		line.Spooled += kept
		line.Unexplained += missing - kept
	default:
		line.InFlight += missing
	}
}

// onDisk is how many of the missing rows of a part may be on a disk: no row of a
// disk is counted twice.
func (a *account) onDisk(region string, p part, missing int64) (n int64) {
	for _, place := range [...]string{region, EveryRegion} {
		if k := a.kept[place]; k != nil && k.from <= p.from && p.from < k.to {
			take := min(missing-n, k.rows)
			k.rows -= take
			n += take
		}
	}
	return n
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
