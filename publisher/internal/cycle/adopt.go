package cycle

import (
	"context"
	"time"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/service"
	"github.com/probefleet/probefleet/internal/uptime"
)

// adoptRetry is how long changes wait after a failure to write them down: each try may
// take all of databaseTimeout, and the tick waits for it.
const adoptRetry = 5 * time.Second

// adopt takes the changes that have been read, gives those that are pending their
// beginning, and puts them on the wheel.
func (l *Loop) adopt(ctx context.Context, clock checkstream.Clock) error {
	if time.Now().Before(l.adoptAt) && l.seen <= l.fence {
		return nil
	}
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
	raised, err := l.Stream.Raise(limited, b.upTo)
	if err != nil {
		return nil, err
	}
	last := l.lastDealtWith(raised)
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
	l.Health.Set("schedule", service.Degraded, "changes of targets wait, the database does not take them: "+err.Error())
	l.Log.Warn("changes could not be adopted", "schedule_seq", b.upTo, "error", err)
	begun := clock.Tick
	if clock.After > 0 {
		begun++
	}
	if raised != begun || clock.Seq >= b.upTo && clock.Seq > l.fence {
		return nil, errBehind
	}
	l.fence, l.adoptAt = b.upTo, time.Now().Add(adoptRetry)
	if l.limbo == 0 {
		l.limbo = last + 1
	}
	return nil, nil
}

// lastDealtWith is the last second that a change must not reach back to. What Redis
// says is not all: it may have lost its last moments, whose checks have been run, and
// slots are stated as missed before the tick moves on.
func (l *Loop) lastDealtWith(raised int64) int64 {
	return max(raised, min(max(l.mine, l.stated), l.clock.second()+1))
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
	l.Health.Set("schedule", service.OK, "")
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
