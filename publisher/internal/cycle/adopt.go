package cycle

import (
	"context"
	"time"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/service"
	"github.com/probefleet/probefleet/internal/uptime"
)

// adopt takes the changes that have been read, gives those that are pending their
// beginning, and puts them on the wheel.
func (l *Loop) adopt(ctx context.Context, clock checkstream.Clock) error {
	b := l.feed.take()
	if b == nil {
		return nil
	}
	if b.pending > 0 {
		committed, err := l.commit(ctx, clock, b)
		if err != nil || committed == nil {
			return err
		}
		b = committed
	}
	l.apply(ctx, b, b.upTo)
	return nil
}

// commit raises the sequence in Redis and then writes down when the changes
// begin. When the database does not say that it has, the schedule known so far
// stays in force, provided that nobody else can have begun the changes: nobody had
// raised the sequence, nor has published, since this pass looked. Should the write
// have happened all the same, the seconds published meanwhile are stated as a gap
// once the database is back (see apply).
func (l *Loop) commit(ctx context.Context, clock checkstream.Clock, b *batch) (*batch, error) {
	limited, cancel := finish(ctx, redisTimeout)
	defer cancel()
	last, err := l.Stream.Raise(limited, b.upTo)
	if err != nil {
		return nil, err
	}
	limited, cancel = finish(ctx, databaseTimeout)
	defer cancel()
	adopted, err := l.Versions.Adopt(limited, b.upTo, time.Unix(last+1, 0).UTC())
	if err == nil && adopted != b.pending { // another publisher was quicker with some of them
		var again *batch
		if again, err = l.feed.read(limited, b.after); err == nil {
			b = again
			if b.firstPending > 0 {
				b.upTo = b.firstPending - 1 // newer ones: next time
			}
		}
	} else if err == nil {
		b.begin(last + 1)
	}
	if err == nil {
		l.Log.Info("schedule changed", "schedule_seq", b.upTo, "changes", len(b.targets), "regions", len(b.regions), "after", last)
		return b, nil
	}
	l.Health.Set("database", service.Degraded, "changes of targets wait for the database: "+err.Error())
	l.Log.Warn("changes could not be adopted", "schedule_seq", b.upTo, "error", err)
	begun := clock.Tick
	if clock.After > 0 {
		begun++
	}
	if last != begun || clock.Seq >= b.upTo {
		return nil, errBehind
	}
	l.fence = b.upTo
	if l.limbo == 0 {
		l.limbo = last + 1
	}
	return nil, nil
}

// begin gives the pending changes their first second.
func (b *batch) begin(second int64) {
	for i := range b.targets {
		if b.targets[i].Effective == 0 {
			b.targets[i].Effective = second
		}
	}
	for i := range b.regions {
		if b.regions[i].Effective == 0 {
			b.regions[i].Effective = second
		}
	}
}

// apply puts the changes up to a sequence on the wheel; all have a beginning.
func (l *Loop) apply(ctx context.Context, b *batch, upTo int64) {
	earliest := int64(0)
	began := func(second int64) {
		if earliest == 0 || second < earliest {
			earliest = second
		}
	}
	l.mu.Lock()
	for _, c := range b.targets {
		if c.Seq <= upTo {
			l.wheel.Apply(c)
			began(c.Effective)
		}
	}
	for _, c := range b.regions {
		if c.Seq <= upTo {
			l.wheel.ApplyRegion(c)
			began(c.Effective)
		}
	}
	l.mu.Unlock()
	l.setKnown(upTo)
	if l.limbo > 0 {
		if earliest > 0 && earliest <= l.tick { // it had happened: these seconds followed the old schedule
			l.explainer.gap(ctx, uptime.ReasonPublisherDown, max(earliest, l.limbo), l.tick+1)
		}
		l.limbo = 0
	}
}

// follow is what a standby does with changes: it takes those that the publisher
// at work has adopted, and looks again for the others.
func (l *Loop) follow(ctx context.Context) {
	b := l.feed.take()
	if b == nil {
		return
	}
	upTo := b.upTo
	if b.firstPending > 0 {
		upTo = b.firstPending - 1
	}
	if upTo > b.after {
		l.apply(ctx, b, upTo)
	}
}
