package cycle

import (
	"context"
	"slices"
	"time"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/ledger"
	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/uptime"
)

const (
	janitorEvery   = 5 * time.Second
	janitorPage    = 500
	janitorTimeout = 20 * time.Second
	retiredGrace   = maxExpiry + 60 // s: after it every entry for a retired region is settled
)

// janitor settles, for every group there is, what expired without the region
// having done so: a dead region, or a live one that cannot settle anything, must
// not keep the stream from being trimmed. The rows are durable before the entries
// are gone.
func (l *Loop) janitor(ctx context.Context) {
	v := l.view.Load()
	if !v.Leader || !l.Lease.Held() {
		return
	}
	regions, err := l.groupsToTend(ctx, v)
	if err != nil {
		l.Log.Debug("janitor cannot see the groups", "error", err)
		return
	}
	for _, region := range regions {
		for l.Lease.Held() && ctx.Err() == nil {
			n, err := l.settleExpired(ctx, v, region)
			if err != nil {
				l.Log.Warn("expired entries are not settled yet", "region", region, "error", err)
				break
			}
			if n < janitorPage {
				break
			}
		}
	}
}

// groupsToTend gives every group, after ending those of regions that were retired
// long enough ago and that nobody serves any more.
func (l *Loop) groupsToTend(ctx context.Context, v *View) ([]string, error) {
	limited, cancel := context.WithTimeout(ctx, redisTimeout)
	defer cancel()
	groups, err := l.Upkeep.Groups(limited)
	if err != nil {
		return nil, err
	}
	var regions []string
	for _, group := range groups {
		since, retired := v.Retired[group.Region]
		if retired && v.now().Unix() > since+retiredGrace && v.Tick > since {
			if l.endGroup(limited, group.Region) {
				continue
			}
		}
		regions = append(regions, group.Region)
	}
	return regions, nil
}

// endGroup destroys a retired region's group, unless a prober still reads it: it
// would make the group anew and read everything again.
func (l *Loop) endGroup(ctx context.Context, region string) bool {
	probers, err := l.Upkeep.Probers(ctx)
	if err != nil || slices.ContainsFunc(probers, func(h checkstream.Heartbeat) bool { return h.Region == region && h.Live() }) {
		return false
	}
	if err := l.Upkeep.DestroyGroup(ctx, region); err != nil {
		l.Log.Warn("group of a retired region stays", "region", region, "error", err)
		return false
	}
	l.Log.Info("group of a retired region ended", "region", region)
	return true
}

func (l *Loop) settleExpired(ctx context.Context, v *View, region string) (int, error) {
	limited, cancel := context.WithTimeout(ctx, janitorTimeout)
	defer cancel()
	entries, err := l.Upkeep.Expired(limited, region, v.now(), janitorPage)
	if err != nil || len(entries) == 0 {
		return 0, err
	}
	var rows []uptime.Result
	var ids []string
	var unnamed []checkstream.Entry
	for _, entry := range entries {
		ids = append(ids, entry.ID)
		switch row, answer := l.missedRow(v, region, entry); answer {
		case owed:
			rows = append(rows, row)
		case cannotName:
			unnamed = append(unnamed, entry)
		}
	}
	rows = append(rows, l.formerSlots(limited, region, unnamed)...)
	if len(rows) > 0 {
		switch err := l.Rows.RecordWait(limited, rows); {
		case resultstore.IsPermanent(err): // such as slots older than rows are kept: they must not hold up the stream for ever
			l.Log.Error("some rows can never be stored, their entries are settled all the same", "region", region, "error", err)
		case err != nil:
			return 0, err
		}
	}
	if err := l.Upkeep.Settle(limited, region, ids); err != nil {
		return 0, err
	}
	l.countSettled(region, rows, len(ids)-len(rows))
	return len(entries), nil
}

// What an entry's slot is owed.
const (
	nothing    = iota
	owed       // a row
	cannotName // a row perhaps, but the slot cannot be told from the schedule in force
)

// missedRow is the row an entry's slot is owed. None is owed by a region the
// check was not for, or to a target that is deleted.
func (l *Loop) missedRow(v *View, region string, entry checkstream.Entry) (uptime.Result, int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.wheel == nil || !l.wheel.Knows(entry.TargetID) {
		return uptime.Result{}, nothing
	}
	check := entry.Check
	if entry.Gone || entry.Err != nil {
		var named bool
		if check, named = l.wheel.SlotIn(entry.TargetID, entry.Second); !named {
			return uptime.Result{}, cannotName
		}
	}
	if !slices.Contains(check.Regions, region) {
		return uptime.Result{}, nothing
	}
	reason := unsettled(entry)
	if !entry.Gone && v.inOutage(check.ScheduledAt, check.ExpiresAt()) {
		reason = uptime.ReasonRedisDown
	}
	return check.Missed(region, reason, l.Name), owed
}

func unsettled(entry checkstream.Entry) uptime.Reason {
	if entry.Gone {
		return uptime.ReasonTrimmed
	}
	return uptime.ReasonRegionDown
}

// formerSlots are the rows of entries whose body cannot be read and whose target
// has another schedule by now: the versions know the slot. While the database is
// away they are left to the sweep, which states them as lost.
func (l *Loop) formerSlots(ctx context.Context, region string, entries []checkstream.Entry) []uptime.Result {
	if len(entries) == 0 {
		return nil
	}
	first, last := entries[0].Second, entries[0].Second
	for _, e := range entries {
		first, last = min(first, e.Second), max(last, e.Second)
	}
	plan, err := ledger.Load(ctx, l.Versions, time.Unix(first, 0), time.Unix(last+1, 0))
	if err != nil {
		l.Log.Warn("slots of some entries are left to the sweep", "region", region, "entries", len(entries), "error", err)
		return nil
	}
	var rows []uptime.Result
	for _, e := range entries {
		if at, seq, planned := plan.SlotIn(e.TargetID, region, e.Second); planned {
			rows = append(rows, uptime.Result{TargetID: e.TargetID, Region: region, ScheduledAt: at,
				Status: uptime.StatusMissed, Reason: unsettled(e), Prober: l.Name, SpecVersion: seq})
		}
	}
	return rows
}

func (l *Loop) countSettled(region string, rows []uptime.Result, without int) {
	reasons := map[uptime.Reason]int{}
	for _, row := range rows {
		reasons[row.Reason]++
	}
	for reason, n := range reasons {
		l.metrics.settled.WithLabelValues(string(reason)).Add(float64(n))
		l.metrics.missed.WithLabelValues(string(reason)).Add(float64(n))
	}
	l.metrics.settled.WithLabelValues("nothing").Add(float64(without))
	if n := reasons[uptime.ReasonTrimmed]; n > 0 {
		l.Log.Error("somebody else trimmed entries that were pending", "region", region, "slots", n)
	}
	if len(rows) > 0 {
		l.Log.Warn("settled what a region did not", "region", region, "slots", len(rows), "reasons", reasons)
	}
}
