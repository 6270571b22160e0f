package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/probefleet/probefleet/dashboard-api/internal/answercache"
	"github.com/probefleet/probefleet/dashboard-api/internal/live"
	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/database"
	"github.com/probefleet/probefleet/internal/livefeed"
	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/internal/verdict"
)

const (
	warmSince      = 26 * time.Hour // longer than the longest interval, so that every target shows its state
	warmPatience   = 20 * time.Second
	reconcileEvery = 30 * time.Second
	resultsEvery   = time.Minute
	resultsBack    = time.Hour // how late a row may come and still be found
	expireEvery    = time.Hour
	countBack      = 30 * 24 * time.Hour
)

// targets is what the feed reads of the target store.
type targets interface {
	ByIDs(ctx context.Context, ids []int64) ([]uptime.Target, error)
	Each(ctx context.Context, fn func(uptime.Target) error) error
}

// measured is the newest measurement of each target and region, and the newest row.
type measured interface {
	LastMeasured(ctx context.Context, since time.Time) ([]uptime.Result, error)
	Newest(ctx context.Context, ids []int64) ([]uptime.Result, error)
	Measured(ctx context.Context, ids []int64, from, to time.Time, fn func(*uptime.Result) error) error
}

// follower is the reading end of the change streams.
type follower interface {
	Follow(ctx context.Context, fromID string, fn func(id string, results []uptime.Result) error) error
	FollowChanges(ctx context.Context, fn func([]livefeed.Change) error) error
}

// feed keeps the hub up to date: the stores at start, then the streams, and a
// comparison with the stores every minute or less, since announcements may be lost.
type feed struct {
	hub      *live.Hub
	kept     *answercache.Cache // hears of everything first: a page that is told of a change asks again
	targets  targets
	results  measured
	follower follower
	back     <-chan struct{} // a token whenever the result store answers again
	now      func() time.Time
	log      *slog.Logger

	compared time.Time // when the results were last compared with the recorded ones; zero: never
}

// load fills the hub with the targets and, if the result store answers, with their
// last results; else those come when it does, and until then the targets have no
// data. What is measured while it runs is in the stream, which is followed from
// before.
func (f *feed) load(ctx context.Context, now time.Time, regions []string, recorded bool) error {
	var all []uptime.Target
	err := f.targets.Each(ctx, func(t uptime.Target) error {
		all = append(all, t)
		return nil
	})
	if err != nil {
		return fmt.Errorf("load targets: %w", err)
	}
	f.hub.Load(all, nil, regions)
	f.log.Info("live state loaded", "targets", len(all), "regions", len(regions), "recorded", recorded)
	if !recorded {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, warmPatience)
	defer cancel()
	if err := f.reconcileResultsOnce(ctx, now); err != nil {
		f.log.Warn("last results not loaded: they come later", "error", err)
	}
	return nil
}

// followResults takes results in from a little before now on.
func (f *feed) followResults(now time.Time) func(context.Context) error {
	from := strconv.FormatInt(now.Add(-livefeed.Keep).UnixMilli(), 10) + "-0"
	f.hub.Reading(live.Mark(from))
	return func(ctx context.Context) error {
		return f.follower.Follow(ctx, from, func(id string, results []uptime.Result) error {
			f.kept.Arriving(answercache.Slots(results)...)
			f.hub.Announced(id, results)
			return nil
		})
	}
}

// confirmed takes in what a region saw that was asked to look again: see livefeed.WithConfirmations.
func confirmed(hub *live.Hub) func(string, checkstream.VisitOutcome) error {
	return func(_ string, o checkstream.VisitOutcome) error {
		if c, is := o.Confirms(); is {
			hub.Confirm(c.TargetID, c.Slot, &o.Look)
		}
		return nil
	}
}

// followChanges takes changes of targets in. Those that the hub has are not read again: nearly all
// of this node's own. A read that fails is left to the reconciliation.
func (f *feed) followChanges(ctx context.Context) error {
	return f.follower.FollowChanges(ctx, func(changes []livefeed.Change) error {
		unread := map[int64]bool{}
		for _, change := range changes {
			f.kept.Forget(change.TargetID)
			switch {
			case change.Op == livefeed.OpDeleted:
				f.hub.Remove(change.TargetID)
				delete(unread, change.TargetID)
			case !f.hub.Has(change.TargetID, change.Seq):
				unread[change.TargetID] = true
			}
		}
		if len(unread) == 0 {
			return nil
		}
		if err := f.take(ctx, unread); err == nil || errors.Is(err, database.ErrUnavailable) {
			return nil
		}
		// One that cannot be read does not keep the others.
		for id := range unread {
			_ = f.take(ctx, map[int64]bool{id: true})
		}
		return nil
	})
}

// take reads targets into the hub; those that are not there any more it forgets.
func (f *feed) take(ctx context.Context, ids map[int64]bool) error {
	there, err := f.targets.ByIDs(ctx, slices.Collect(maps.Keys(ids)))
	if err != nil {
		f.log.Warn("changed targets not read", "target_ids", slices.Sorted(maps.Keys(ids)), "error", err)
		return err
	}
	for _, target := range there {
		f.hub.Upsert(target)
		delete(ids, target.ID)
	}
	for gone := range ids {
		f.hub.Remove(gone)
	}
	return nil
}

// reconcile compares the hub with the database until ctx ends.
func (f *feed) reconcile(ctx context.Context) error {
	return every(ctx, reconcileEvery, func(ctx context.Context) {
		changed, err := f.reconcileOnce(ctx)
		if err != nil && ctx.Err() == nil {
			f.log.Warn("targets not compared with the database", "error", err)
		}
		if changed > 0 {
			f.log.Info("changes found in the database", "count", changed)
		}
	})
}

func (f *feed) reconcileOnce(ctx context.Context) (changed int, err error) {
	ctx, cancel := context.WithTimeout(ctx, reconcileEvery)
	defer cancel()
	known := f.hub.IDs() // taken before the read: what is created meanwhile is not in it and stays
	err = f.targets.Each(ctx, func(t uptime.Target) error {
		if version, found := known[t.ID]; !found || version < t.SpecVersion {
			f.kept.Forget(t.ID)
			f.hub.Upsert(t)
			changed++
		}
		delete(known, t.ID)
		return nil
	})
	if err != nil {
		return changed, err // half a read proves nothing about what it did not reach
	}
	for id := range known {
		f.kept.Forget(id)
		f.hub.Remove(id)
		changed++
	}
	return changed, nil
}

// reconcileResults takes in, every minute and as soon as the store is back, what was
// recorded and perhaps not announced: without it a target could stay green until its
// next slot.
func (f *feed) reconcileResults(ctx context.Context) error {
	ticker := time.NewTicker(resultsEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-f.back:
		case <-ctx.Done():
			return ctx.Err()
		}
		if err := f.reconcileResultsOnce(ctx, f.now()); err != nil && ctx.Err() == nil {
			f.log.Warn("live results not compared with the recorded ones", "error", err)
		}
	}
}

// reconcileResultsOnce looks back to an hour before it last succeeded: rows come late. Of
// heartbeats the newest row counts, however old: pings may be rare, and the row of one that
// is missing comes as late as its grace is long.
func (f *feed) reconcileResultsOnce(ctx context.Context, now time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, resultsEvery)
	defer cancel()
	since := now.Add(-warmSince)
	if recent := f.compared.Add(-resultsBack); recent.After(since) {
		since = recent
	}
	rows, err := f.results.LastMeasured(ctx, since)
	if err != nil {
		return err
	}
	if ids := f.hub.Heartbeats(); len(ids) > 0 {
		newest, err := f.results.Newest(ctx, ids)
		if err != nil {
			return err
		}
		rows = append(rows, newest...)
	}
	if f.compared.IsZero() {
		before, err := f.inARow(ctx, now)
		if err != nil {
			return err
		}
		rows = append(before, rows...)
	}
	f.hub.Apply(rows)
	f.compared = now
	return nil
}

// inARow reads, once, what the newest results alone do not say: where a policy counts them,
// as many as it may count.
func (f *feed) inARow(ctx context.Context, now time.Time) (rows []uptime.Result, err error) {
	byInterval := map[time.Duration][]int64{}
	for _, w := range f.hub.Watched() {
		if w.Rules.Policy.Counts() {
			byInterval[w.Rules.Interval] = append(byInterval[w.Rules.Interval], w.Target.ID)
		}
	}
	for interval, ids := range byInterval {
		err := f.results.Measured(ctx, ids, now.Add(-min(2*verdict.MaxThreshold*interval, countBack)), now.Add(time.Hour), func(r *uptime.Result) error {
			rows = append(rows, *r)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(rows, func(a, b uptime.Result) int { return a.ScheduledAt.Compare(b.ScheduledAt) })
	return rows, nil
}

// every runs fn at each interval until ctx ends.
func every(ctx context.Context, interval time.Duration, fn func(context.Context)) error {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			fn(ctx)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
