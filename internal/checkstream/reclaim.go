package checkstream

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	reclaimPage  = 500
	reclaimPages = 20 // of the idle scan, in one call
	// orphanIdle is how long an entry of ours must have been untouched before we take
	// it for one whose delivery we never saw: longer than any reply is on its way.
	orphanIdle = 5 * time.Second
	// secondLook is how long a stale heartbeat must stay the same under our own eyes:
	// a jump of the server's clock alone kills nobody.
	secondLook = 2500 * time.Millisecond
)

// silence is the stale heartbeat we saw first, and when.
type silence struct{ at, seen time.Time }

// Own gives this prober's own pending entries that it has not handed out: at start,
// what its predecessor of the same name left. Call it until it gives none.
func (c *Consumer) Own(ctx context.Context, max int) ([]Entry, error) {
	entries, _, err := c.own(ctx, max, 0)
	return entries, err
}

// own takes what is pending in our name and idle, yet not held. complete says that
// nothing more is there.
func (c *Consumer) own(ctx context.Context, max int, idle time.Duration) (out []Entry, complete bool, err error) {
	from := "-"
	for len(out) < max {
		page, err := c.r.commands.XPendingExt(ctx, &redis.XPendingExtArgs{
			Stream: keyChecks, Group: c.region, Idle: idle, Start: from, End: "+", Count: reclaimPage, Consumer: c.name,
		}).Result()
		c.heard(err)
		if noGroup(err) {
			return out, true, c.EnsureGroup(ctx)
		}
		if err != nil {
			return out, false, orLater(out, fmt.Errorf("own entries: %w", err))
		}
		var only []any
		for _, row := range page {
			if !c.holds(row.ID) && len(out)+len(only) < max {
				only = append(only, row.ID)
			}
		}
		if len(only) > 0 {
			_, entries, err := c.take(ctx, c.name, idle, from, reclaimPage, only...)
			if err != nil {
				return out, false, orLater(out, err)
			}
			out = append(out, entries...)
		}
		if len(page) < reclaimPage {
			return out, true, nil
		}
		from = idAfter(page[len(page)-1].ID)
	}
	return out, false, nil
}

// Reclaim takes over at most max entries: from the janitor and from probers without
// a heartbeat; then from anybody who has not touched one for idle (0: nobody). What
// this prober holds is passed over; what Redis delivered to it in a lost reply is
// found. Call it every second or two: a silent prober must be seen silent twice.
func (c *Consumer) Reclaim(ctx context.Context, idle time.Duration, max int) ([]Entry, error) {
	if max <= 0 {
		return nil, nil
	}
	var out []Entry
	for _, step := range []func(context.Context, time.Duration, int) ([]Entry, error){c.orphans, c.fromDead, c.fromIdle} {
		entries, err := step(ctx, idle, max-len(out))
		out = append(out, entries...)
		if noGroup(err) {
			return out, orLater(out, c.EnsureGroup(ctx))
		}
		if err != nil {
			return out, orLater(out, err)
		}
		if len(out) >= max {
			break
		}
	}
	return out, nil
}

// orLater drops an error when there are entries to hand out: it will be back.
func orLater(out []Entry, err error) error {
	if len(out) > 0 {
		return nil
	}
	return err
}

// orphans looks, once after every lost reply, for what was delivered in it.
func (c *Consumer) orphans(ctx context.Context, _ time.Duration, max int) ([]Entry, error) {
	c.mu.Lock()
	lostAt := c.lostAt
	c.mu.Unlock()
	if lostAt.IsZero() || c.now().Sub(lostAt) < orphanIdle+time.Second {
		return nil, nil
	}
	entries, complete, err := c.own(ctx, max, orphanIdle)
	c.mu.Lock()
	if complete && err == nil && c.lostAt.Equal(lostAt) {
		c.lostAt = time.Time{}
	}
	c.mu.Unlock()
	return entries, err
}

func (c *Consumer) fromDead(ctx context.Context, _ time.Duration, max int) ([]Entry, error) {
	consumers, err := c.r.commands.XInfoConsumers(ctx, keyChecks, c.region).Result()
	c.heard(err)
	if err != nil {
		if strings.Contains(err.Error(), "no such key") {
			return nil, c.EnsureGroup(ctx)
		}
		return nil, fmt.Errorf("consumers of %s: %w", c.region, err)
	}
	beats, err := c.r.beats(ctx)
	c.heard(err)
	if err != nil {
		return nil, err
	}
	var out []Entry
	for _, consumer := range consumers {
		if consumer.Name == c.name || !c.isDead(consumer.Name, beats) {
			continue
		}
		from := "-"
		for from != "" && len(out) < max {
			cursor, entries, err := c.take(ctx, consumer.Name, 0, from, min(reclaimPage, max-len(out)))
			if err != nil {
				return out, err
			}
			out = append(out, entries...)
			if from = cursor; from != "" {
				from = idAfter(cursor)
			}
		}
		if from == "" && consumer.Name != janitorName {
			if err := c.r.scripts.forget.Run(ctx, c.r.commands, []string{keyChecks}, c.region, consumer.Name).Err(); err != nil {
				return out, fmt.Errorf("forget consumer %s: %w", consumer.Name, err)
			}
		}
		if len(out) >= max {
			break
		}
	}
	return out, nil
}

// isDead judges a consumer by its heartbeat, and only after Redis has answered us for
// twice the time a heartbeat lasts: after an outage everybody looks dead.
func (c *Consumer) isDead(name string, beats []Heartbeat) bool {
	if name == janitorName {
		return true
	}
	var at time.Time
	for _, beat := range beats {
		if beat.Region == c.region && beat.Name == name {
			if beat.Live() {
				c.mu.Lock()
				delete(c.silent, name)
				c.mu.Unlock()
				return false
			}
			at = beat.At
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	if c.upSince.IsZero() || now.Sub(c.upSince) < 2*HeartbeatTTL {
		return false
	}
	first, ok := c.silent[name]
	if !ok || !first.at.Equal(at) {
		c.silent[name] = silence{at: at, seen: now}
		return false
	}
	return now.Sub(first.seen) >= secondLook
}

// fromIdle goes on through all pending entries where the last call stopped: from the
// beginning each time, fresh entries in front would hide the idle ones behind.
func (c *Consumer) fromIdle(ctx context.Context, idle time.Duration, max int) ([]Entry, error) {
	if idle <= 0 {
		return nil, nil
	}
	c.mu.Lock()
	from := c.idleFrom
	c.mu.Unlock()
	var out []Entry
	var failure error
	for range reclaimPages {
		cursor, entries, err := c.take(ctx, "", idle, from, min(reclaimPage, max-len(out)))
		if err != nil {
			failure = err
			break
		}
		out = append(out, entries...)
		if cursor == "" {
			from = "-"
			break
		}
		from = idAfter(cursor)
		if len(out) >= max {
			break
		}
	}
	c.mu.Lock()
	c.idleFrom = from
	c.mu.Unlock()
	return out, failure
}

// take moves one page of pending entries into our name, atomically, and holds them.
// XAUTOCLAIM would not do: it neither says whose an entry was nor how often it was
// delivered, claims our own, and forgets what was trimmed before it is settled.
// What we hold already (bodies that are gone stay pending where they are) is left out.
func (c *Consumer) take(ctx context.Context, owner string, idle time.Duration, from string, count int, only ...any) (string, []Entry, error) {
	args := append([]any{c.region, c.name, owner, idle.Milliseconds(), from, count}, only...)
	reply, err := c.r.scripts.take.Run(ctx, c.r.once, []string{keyChecks}, args...).Result()
	c.heard(err)
	if err != nil {
		return "", nil, fmt.Errorf("take over entries: %w", err)
	}
	cursor, entries, err := taken(reply)
	if err != nil {
		return "", nil, fmt.Errorf("take over entries: %w", err)
	}
	fresh := entries[:0]
	for _, e := range entries {
		if !e.Gone || !c.holds(e.ID) {
			fresh = append(fresh, e)
		}
	}
	c.hold(fresh)
	c.mark(ctx, fresh)
	return cursor, fresh, nil
}

// idAfter gives the id that follows, to go on behind a page.
func idAfter(id string) string {
	ms, seq, _ := strings.Cut(id, "-")
	n, err := strconv.ParseUint(seq, 10, 64)
	if err != nil {
		return "-"
	}
	return ms + "-" + strconv.FormatUint(n+1, 10)
}
