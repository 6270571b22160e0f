package checkstream

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/probefleet/probefleet/internal/uptime"
)

const (
	// janitorName is the consumer that settles what a region did not. Probers treat
	// it as dead: what it holds is theirs to take at any time.
	janitorName = "_janitor"
	// JanitorGrace is how long after an entry's expiry the janitor waits, so that a
	// live region states the miss itself. It also leaves alone what somebody took,
	// renewed or was handed within this time.
	JanitorGrace = 15 * time.Second

	janitorPages = 20
)

// Expired takes over entries of a region that expired more than JanitorGrace before
// now: pending ones of any prober, and ones the region never read. They await Settle;
// what is not settled is handed out again after JanitorGrace. Entries whose body is
// gone come with Gone set, whenever they are older than the shortest expiry. A region
// without a group has nothing to settle.
//
// A region is read in order, so unexpired entries in between may come along; they are
// left for the region's probers, which take them at once, as a first delivery.
func (p *Publisher) Expired(ctx context.Context, region string, now time.Time, limit int) ([]Entry, error) {
	limit = min(max(limit, 1), 1000)
	p.mu.Lock()
	from := p.cursors[region]
	p.mu.Unlock()
	if from == "" {
		from = "-"
	}
	var out []Entry
	var failure error
	for range janitorPages {
		reply, err := p.r.scripts.expired.Run(ctx, p.r.once, []string{keyChecks},
			region, janitorName, now.UnixMilli(), JanitorGrace.Milliseconds(), limit-len(out), from,
			uptime.Expiry(0).Milliseconds(), uptime.Expiry(uptime.MaxInterval).Milliseconds()).Result()
		if noGroup(err) {
			break
		}
		if err != nil {
			failure = fmt.Errorf("expired entries of %s: %w", region, err)
			break
		}
		cursor, entries, err := taken(reply)
		if err != nil {
			failure = fmt.Errorf("expired entries of %s: %w", region, err)
			break
		}
		out = append(out, entries...)
		if cursor == "" {
			from = ""
			break
		}
		from = idAfter(cursor)
		if len(out) >= limit {
			break
		}
	}
	p.mu.Lock()
	p.cursors[region] = from
	p.mu.Unlock()
	if len(out) > 0 {
		return out, nil // an error will be back with the next call
	}
	return nil, failure
}

// Settle acknowledges what Expired gave, once its rows are durable.
func (p *Publisher) Settle(ctx context.Context, region string, ids []string) error {
	return p.r.ack(ctx, region, ids)
}

// ack acknowledges in parts of a size that does not hold up the server, and waits for one answer
// to all of them: a caller that is busy comes back late to each.
func (r *Redis) ack(ctx context.Context, region string, ids []string) error {
	_, err := r.commands.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		for part := range slices.Chunk(ids, 1000) {
			pipe.XAck(ctx, keyChecks, region, part...)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("ack %d entries: %w", len(ids), err)
	}
	return nil
}
