package checkstream

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// maxVisitDeliveries bounds the probers that one visit can take down.
	maxVisitDeliveries = 2
	// visitIdle is longer than any visit takes.
	visitIdle = 35 * time.Second
)

// AdhocConsumer is a prober's end of a lane of visits: of its own region's.
type AdhocConsumer struct {
	r            *Redis
	lane         lane
	region, name string
	idle, quiet  time.Duration // until a visit is taken from a live prober, from a dead one
}

// NewAdhocConsumer makes the end of the prober name, as in NewConsumer, in region. Its
// heartbeat is that of the Consumer.
func NewAdhocConsumer(r *Redis, region, name string) *AdhocConsumer {
	return &AdhocConsumer{r: r, lane: adhocLane(), region: region, name: name, idle: visitIdle, quiet: HeartbeatTTL}
}

// NewConfirmConsumer makes a prober's end of the confirmation lane, like NewAdhocConsumer.
func NewConfirmConsumer(r *Redis, region, name string) *AdhocConsumer {
	c := NewAdhocConsumer(r, region, name)
	c.lane = confirmLane()
	return c
}

func (c *AdhocConsumer) stream() string { return c.lane.stream + c.region }

// Read waits up to block (at most MaxBlock) for at most max visits. None is not an error.
// Those that are too late to be begun are dropped here.
func (c *AdhocConsumer) Read(ctx context.Context, max int, block time.Duration) ([]VisitEntry, error) {
	wait := min(block, MaxBlock)
	if wait < time.Millisecond {
		wait = -1 // anything else under a millisecond would mean for ever
	}
	streams, err := c.r.reader.XReadGroup(ctx, &redis.XReadGroupArgs{
		Group: adhocGroup, Consumer: c.name, Streams: []string{c.stream(), ">"}, Count: int64(max), Block: wait,
	}).Result()
	switch {
	case errors.Is(err, redis.Nil):
		return nil, nil
	case noGroup(err): // nobody has asked for a visit here, or not lately
		return nil, c.ensureGroup(ctx)
	case err != nil:
		return nil, fmt.Errorf("read visits: %w", err)
	}
	var entries []VisitEntry
	for _, stream := range streams {
		for _, message := range stream.Messages {
			entries = append(entries, decodeVisit(c.region, message.ID, 1, message.Values))
		}
	}
	return c.inTime(ctx, entries)
}

// Take takes over at most max visits that a prober left: one that beats no longer, or one
// that is stuck. With own it also takes what an earlier life of this prober left, so
// nothing of this one's may be under way. A visit is taken over once.
func (c *AdhocConsumer) Take(ctx context.Context, max int, own bool) ([]VisitEntry, error) {
	flag := "0"
	if own {
		flag = "1"
	}
	rows, err := c.r.scripts.visitTake.Run(ctx, c.r.commands, []string{c.stream(), keyRegions},
		adhocGroup, c.name, c.region, max, c.idle.Milliseconds(), HeartbeatTTL.Milliseconds(), maxVisitDeliveries, flag, c.quiet.Milliseconds()).Slice()
	if err != nil {
		return nil, fmt.Errorf("take visits over: %w", err)
	}
	var entries []VisitEntry
	for _, item := range rows {
		row, _ := item.([]any)
		if len(row) != 3 {
			return nil, fmt.Errorf("take visits over: unexpected row of %d parts", len(row))
		}
		id, _ := row[0].(string)
		deliveries, _ := row[1].(int64)
		entries = append(entries, decodeVisit(c.region, id, deliveries, fieldsOf(row[2])))
	}
	return c.inTime(ctx, entries)
}

// inTime drops what expired. The clock is that of Redis, which set the expiry.
func (c *AdhocConsumer) inTime(ctx context.Context, entries []VisitEntry) ([]VisitEntry, error) {
	if len(entries) == 0 {
		return nil, nil
	}
	now, err := c.r.Now(ctx)
	if err != nil {
		return entries, nil // they are ours already: rather too late than not at all
	}
	kept := entries[:0]
	for _, e := range entries {
		if e.Err == nil && e.ExpiresAt.Before(now) {
			_ = c.settle(ctx, e, "") // else it is swept
			continue
		}
		kept = append(kept, e)
	}
	return kept, nil
}

// Settle tells the outcome of a visit, unless somebody who took it over has told one. The
// outcome's job, region and attempt are the visit's.
func (c *AdhocConsumer) Settle(ctx context.Context, e VisitEntry, outcome VisitOutcome) error {
	outcome.Job, outcome.Region, outcome.Attempt = e.Job, e.Region, e.Attempt
	text, err := encodeOutcome(outcome)
	if err != nil {
		return err
	}
	return c.settle(ctx, e, text)
}

// Drop settles a visit without an outcome: one that cannot be read.
func (c *AdhocConsumer) Drop(ctx context.Context, e VisitEntry) error { return c.settle(ctx, e, "") }

func (c *AdhocConsumer) settle(ctx context.Context, e VisitEntry, outcome string) error {
	err := c.r.scripts.visitSettle.Run(ctx, c.r.commands, []string{c.stream(), c.lane.open, c.lane.outcomes},
		adhocGroup, e.ID, e.name(), outcome, c.lane.keep.Milliseconds(), c.lane.mostOutcomes).Err()
	if err != nil {
		return fmt.Errorf("settle a visit: %w", err)
	}
	return nil
}

func (c *AdhocConsumer) ensureGroup(ctx context.Context) error {
	err := c.r.commands.XGroupCreateMkStream(ctx, c.stream(), adhocGroup, "0").Err()
	if err != nil && !busyGroup(err) {
		return fmt.Errorf("create the group of visits: %w", err)
	}
	return nil
}
