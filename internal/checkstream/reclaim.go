package checkstream

import (
	"context"
	"fmt"
	"slices"
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
// what its predecessor of the same name left. Call it until it is complete: what
// there was no room for waits.
func (c *Consumer) Own(ctx context.Context, room Room) (entries []Entry, complete bool, err error) {
	return c.own(ctx, room, 0)
}

// own takes what is pending in our name and idle, yet not held. complete says that
// nothing more is there.
func (c *Consumer) own(ctx context.Context, room Room, idle time.Duration) (out []Entry, complete bool, err error) {
	from, complete := "-", true
	for !room.none() {
		rows, err := c.r.commands.XPendingExt(ctx, &redis.XPendingExtArgs{
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
		for _, row := range rows {
			if !c.holds(row.ID) {
				only = append(only, row.ID)
			}
		}
		if len(only) > 0 {
			taken, err := c.takePage(ctx, c.name, idle, from, room, only...)
			if err != nil {
				return out, false, orLater(out, err)
			}
			out, room = append(out, taken.entries...), room.less(taken.entries)
			complete = complete && taken.left == 0
		}
		switch {
		case len(rows) < reclaimPage:
			return out, complete, nil
		case room.Entries <= 0:
			return out, false, nil
		}
		from = idAfter(rows[len(rows)-1].ID)
	}
	return out, false, nil
}

// Reclaim takes entries over, as many as there is room for: from the janitor and from
// probers without a heartbeat; then from anybody who has not touched one for idle (0:
// nobody). What this prober holds is passed over; what Redis delivered to it in a lost
// reply is found. Call it every second or two: a silent prober must be seen silent twice.
func (c *Consumer) Reclaim(ctx context.Context, idle time.Duration, room Room) ([]Entry, error) {
	var out []Entry
	for _, step := range []func(context.Context, time.Duration, Room) ([]Entry, error){c.orphans, c.fromDead, c.fromIdle} {
		if room.none() {
			break
		}
		entries, err := step(ctx, idle, room)
		out, room = append(out, entries...), room.less(entries)
		if noGroup(err) {
			return out, orLater(out, c.EnsureGroup(ctx))
		}
		if err != nil {
			return out, orLater(out, err)
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
func (c *Consumer) orphans(ctx context.Context, _ time.Duration, room Room) ([]Entry, error) {
	c.mu.Lock()
	lostAt := c.lostAt
	c.mu.Unlock()
	if lostAt.IsZero() || c.now().Sub(lostAt) < orphanIdle+time.Second {
		return nil, nil
	}
	entries, complete, err := c.own(ctx, room, orphanIdle)
	c.mu.Lock()
	if complete && err == nil && c.lostAt.Equal(lostAt) {
		c.lostAt = time.Time{}
	}
	c.mu.Unlock()
	return entries, err
}

func (c *Consumer) fromDead(ctx context.Context, _ time.Duration, room Room) ([]Entry, error) {
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
		for from != "" && !room.none() {
			taken, err := c.takePage(ctx, consumer.Name, 0, from, room)
			if err != nil {
				return out, err
			}
			out, room = append(out, taken.entries...), room.less(taken.entries)
			if from = taken.cursor; from != "" {
				from = idAfter(from)
			}
			if room.Entries <= 0 { // those delivered more often have their turn once these are settled
				break
			}
		}
		if from == "" && consumer.Name != janitorName { // never one with pending entries
			if err := c.r.scripts.forget.Run(ctx, c.r.commands, []string{keyChecks}, c.region, consumer.Name).Err(); err != nil {
				return out, fmt.Errorf("forget consumer %s: %w", consumer.Name, err)
			}
		}
		if room.none() {
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
func (c *Consumer) fromIdle(ctx context.Context, idle time.Duration, room Room) ([]Entry, error) {
	if idle <= 0 {
		return nil, nil
	}
	c.mu.Lock()
	from := c.idleFrom
	c.mu.Unlock()
	var out []Entry
	var failure error
	for range reclaimPages {
		taken, err := c.takePage(ctx, "", idle, from, room)
		if err != nil {
			failure = err
			break
		}
		out, room = append(out, taken.entries...), room.less(taken.entries)
		if room.Entries <= 0 && taken.left > 0 {
			break // this page again
		}
		if taken.cursor == "" {
			from = "-"
			break
		}
		from = idAfter(taken.cursor)
		if room.none() {
			break
		}
	}
	c.mu.Lock()
	c.idleFrom = from
	c.mu.Unlock()
	return out, failure
}

// takePage moves entries of one page into our name, atomically, and holds them.
// XAUTOCLAIM would not do: it neither says whose an entry was nor how often it was
// delivered, claims our own, and forgets what was trimmed before it is settled.
func (c *Consumer) takePage(ctx context.Context, owner string, idle time.Duration, from string, room Room, only ...any) (page, error) {
	args := append([]any{c.region, c.name, owner, idle.Milliseconds(), from, reclaimPage, max(room.Entries, 0), max(room.Alone, 0)}, only...)
	reply, err := c.r.scripts.take.Run(ctx, c.r.once, []string{keyChecks}, args...).Slice()
	c.heard(err)
	if err != nil {
		return page{}, fmt.Errorf("take over entries: %w", err)
	}
	if len(reply) < 2 {
		return page{}, fmt.Errorf("take over entries: unexpected reply of %d parts", len(reply))
	}
	var p page
	p.left, _ = reply[1].(int64)
	var entries []Entry
	if p.cursor, entries, err = taken(slices.Delete(reply, 1, 2)); err != nil {
		return page{}, fmt.Errorf("take over entries: %w", err)
	}
	p.entries = c.hold(entries)
	c.r.mark(ctx, p.entries)
	return p, nil
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
