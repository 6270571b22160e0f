package cycle

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/probefleet/probefleet/internal/schedulestore"
	"github.com/probefleet/probefleet/internal/service"
	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/publisher/internal/schedule"
)

const (
	pollEvery = time.Second
	batchMost = 20_000 // changes adopted together: the tick waits for their commit
)

// errBehind says that Redis knows of a newer schedule than this publisher.
var errBehind = errors.New("a newer schedule was adopted by another publisher")

// batch is the changes after one sequence, up to another, in one piece.
type batch struct {
	after, upTo  int64
	targets      []schedule.Change // Effective 0 while pending
	regions      []schedule.RegionChange
	pending      int
	firstPending int64 // 0: none
}

// feed reads changes beside the loop, so that a slow database delays no tick.
type feed struct {
	versions  Versions
	targets   Targets
	health    Health
	log       *slog.Logger
	explainer *explainer

	known   atomic.Int64 // what the loop has; -1 before the first load
	inbox   atomic.Pointer[batch]
	woken   chan struct{}
	lastOK  atomic.Int64 // unix ns of the last answer of the database
	failing bool
}

func newFeed(versions Versions, targets Targets, health Health, log *slog.Logger, explainer *explainer) *feed {
	f := &feed{versions: versions, targets: targets, health: health, log: log, explainer: explainer, woken: make(chan struct{}, 1)}
	f.known.Store(-1)
	f.lastOK.Store(time.Now().UnixNano())
	return f
}

// wake makes the feed look now.
func (f *feed) wake() {
	select {
	case f.woken <- struct{}{}:
	default:
	}
}

// take gives the batch that follows what the loop knows.
func (f *feed) take() *batch {
	if b := f.inbox.Swap(nil); b != nil && b.after == f.known.Load() {
		return b
	}
	return nil
}

func (f *feed) run(ctx context.Context) error {
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	for {
		f.tell(f.runOnce(ctx))
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		case <-f.woken:
		}
	}
}

func (f *feed) runOnce(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, databaseTimeout)
	defer cancel()
	seq, err := f.versions.Seq(limited)
	if err != nil {
		return err
	}
	f.explainer.flush(ctx)
	known := f.known.Load()
	if waiting := f.inbox.Load(); known < 0 || seq <= known || waiting != nil && waiting.after == known {
		return nil
	}
	b, err := f.read(ctx, known)
	if err != nil {
		return err
	}
	f.inbox.Store(b)
	return nil
}

func (f *feed) tell(err error) {
	if err == nil {
		f.lastOK.Store(time.Now().UnixNano())
	}
	if f.known.Load() < 0 {
		return // who has no schedule yet says why that cannot be read
	}
	if err == nil {
		f.health.Set("database", service.OK, "")
	} else if age := f.age(); age > 2*pollEvery {
		f.health.Set("database", service.Degraded, fmt.Sprintf("changes of targets are not seen, the schedule of %v ago stays in force: %v", age.Round(time.Second), err))
	}
	if failing := err != nil; failing != f.failing {
		f.failing = failing
		f.log.Info("database state changed", "failing", failing, "error", err)
	}
}

// age is how old the schedule may be.
func (f *feed) age() time.Duration { return time.Since(time.Unix(0, f.lastOK.Load())) }

var errEnough = errors.New("enough for one batch")

// read gathers the changes after a sequence. The counter is read first, so that
// everything up to it is seen by the reads that follow.
func (f *feed) read(ctx context.Context, after int64) (*batch, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*databaseTimeout)
	defer cancel()
	upTo, err := f.versions.Seq(ctx)
	if err != nil {
		return nil, err
	}
	b := &batch{after: after, upTo: upTo}
	err = f.versions.EachVersion(ctx, after, func(v schedulestore.Version) error {
		if v.Seq > upTo {
			return errEnough
		}
		if len(b.targets) == batchMost {
			b.upTo = v.Seq - 1
			return errEnough
		}
		b.targets = append(b.targets, changeOf(v))
		b.count(v.Seq, v.EffectiveFrom)
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return nil, err
	}
	regions, err := f.versions.RegionVersions(ctx, after)
	if err != nil {
		return nil, err
	}
	for _, v := range regions {
		if v.Seq <= b.upTo {
			b.regions = append(b.regions, regionChangeOf(v))
			b.count(v.Seq, v.EffectiveFrom)
		}
	}
	return b, f.describe(ctx, b)
}

func (b *batch) count(seq int64, effective time.Time) {
	if effective.IsZero() {
		b.pending++
		if b.firstPending == 0 || seq < b.firstPending {
			b.firstPending = seq
		}
	}
}

// describe adds the specifications of the changed targets as they are now.
func (f *feed) describe(ctx context.Context, b *batch) error {
	var ids []int64
	seen := map[int64]bool{}
	for _, c := range b.targets {
		if id := c.Schedule.TargetID; !c.Deleted && !seen[id] {
			seen[id] = true
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	targets, err := f.targets.ByIDs(ctx, ids)
	if err != nil {
		return err
	}
	specs := make(map[int64]*schedule.Spec, len(targets))
	for _, t := range targets {
		specs[t.ID] = schedule.SpecOf(t)
	}
	for i := range b.targets {
		b.targets[i].Spec = specs[b.targets[i].Schedule.TargetID]
	}
	return nil
}

func changeOf(v schedulestore.Version) schedule.Change {
	return schedule.Change{Seq: v.Seq, Effective: effective(v.EffectiveFrom), Schedule: v.Schedule, Deleted: v.Deleted}
}

func regionChangeOf(v schedulestore.RegionVersion) schedule.RegionChange {
	return schedule.RegionChange{Seq: v.Seq, Effective: effective(v.EffectiveFrom), Region: v.Region, Active: v.Active}
}

func effective(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return schedule.EffectiveSecond(t)
}

// load reads the whole schedule as of a second, and the sequence up to which it
// is complete and adopted.
func load(ctx context.Context, versions Versions, targets Targets, second int64) (*schedule.Wheel, int64, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	known, err := versions.Seq(ctx)
	if err != nil {
		return nil, 0, fmt.Errorf("load schedule: %w", err)
	}
	regions, err := versions.RegionVersions(ctx, 0)
	if err != nil {
		return nil, 0, fmt.Errorf("load schedule: %w", err)
	}
	for _, v := range regions {
		if v.EffectiveFrom.IsZero() {
			known = min(known, v.Seq-1)
		}
	}
	wheel := schedule.New(second)
	err = versions.EachVersion(ctx, 0, func(v schedulestore.Version) error {
		if v.EffectiveFrom.IsZero() {
			known = min(known, v.Seq-1)
		}
		if v.Seq > known {
			return errEnough
		}
		wheel.Apply(changeOf(v))
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return nil, 0, fmt.Errorf("load schedule: %w", err)
	}
	for _, v := range regions {
		if v.Seq <= known {
			wheel.ApplyRegion(regionChangeOf(v))
		}
	}
	err = targets.Each(ctx, func(t uptime.Target) error {
		wheel.Describe(t.ID, *schedule.SpecOf(t))
		return nil
	})
	if err != nil {
		return nil, 0, fmt.Errorf("load schedule: %w", err)
	}
	return wheel, known, nil
}
