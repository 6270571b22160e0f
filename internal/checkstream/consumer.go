package checkstream

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// Consumer is a prober's end: one name in its region's group. Its methods may be
// used from several goroutines, but Own belongs before the first Read.
//
// It remembers what it handed out until that is acknowledged, declared dead or
// released, and never hands the same entry out twice in between.
type Consumer struct {
	r            *Redis
	region, name string
	now          func() time.Time

	mu       sync.Mutex
	held     map[string]struct{}
	lostAt   time.Time // when a reply was last lost: Redis may have delivered what we never saw
	upSince  time.Time // since when Redis has answered without a break
	silent   map[string]silence
	idleFrom string // where the idle scan goes on
}

// NewConsumer makes the end of the prober name in region. Names must be stable over
// restarts and different within a region.
func NewConsumer(r *Redis, region, name string) *Consumer {
	return &Consumer{
		r: r, region: region, name: name, now: time.Now,
		held: make(map[string]struct{}), silent: make(map[string]silence), idleFrom: "-",
	}
}

// EnsureGroup creates the region's group where there is none.
func (c *Consumer) EnsureGroup(ctx context.Context) error {
	if c.name == "" || c.name == janitorName || c.region == "" || strings.ContainsAny(c.region, "/ ,=") {
		return fmt.Errorf("prober %q in region %q: not a usable name", c.name, c.region)
	}
	err := c.r.ensureGroup(ctx, c.region)
	c.heard(err)
	return err
}

// Read waits up to block (at most MaxBlock; 0: not at all) for at most max new
// entries. None is not an error. A group that vanished is created anew.
func (c *Consumer) Read(ctx context.Context, max int, block time.Duration) ([]Entry, error) {
	if max <= 0 {
		return nil, nil
	}
	wait := min(block, MaxBlock).Truncate(time.Millisecond) // with 0 Redis would wait for ever
	pipe := c.r.reader.Pipeline()
	command := []any{"XREADGROUP", "GROUP", c.region, c.name, "COUNT", max}
	if wait > 0 {
		command = append(command, "BLOCK", wait.Milliseconds())
	}
	read := pipe.Do(ctx, append(command, "STREAMS", keyChecks, ">")...)
	tombstones := pipe.HLen(ctx, keyTombstones)
	_, _ = pipe.Exec(ctx) // each command has its own error
	c.heard(read.Err())
	switch err := read.Err(); {
	case errors.Is(err, redis.Nil):
		return nil, nil
	case noGroup(err):
		return nil, c.EnsureGroup(ctx)
	case err != nil:
		return nil, fmt.Errorf("read checks: %w", err)
	}
	entries, err := entriesOf(read.Val())
	if err != nil {
		return nil, fmt.Errorf("read checks: %w", err)
	}
	entries = c.hold(entries)
	if tombstones.Err() != nil || tombstones.Val() > 0 {
		c.r.mark(ctx, entries)
	}
	return entries, nil
}

// entriesOf reads the reply to XREADGROUP of one stream: its name, then (id, fields) of each.
func entriesOf(reply any) ([]Entry, error) {
	streams, _ := reply.([]any)
	if len(streams) != 1 {
		return nil, fmt.Errorf("unexpected reply %T of %d streams", reply, len(streams))
	}
	stream, _ := streams[0].([]any)
	if len(stream) != 2 {
		return nil, fmt.Errorf("unexpected stream of %d parts", len(stream))
	}
	messages, _ := stream[1].([]any)
	entries := make([]Entry, 0, len(messages))
	for _, message := range messages {
		pair, _ := message.([]any)
		if len(pair) != 2 {
			return nil, fmt.Errorf("unexpected entry of %d parts", len(pair))
		}
		id, _ := pair[0].(string)
		body, _ := pair[1].([]any)
		entries = append(entries, newEntry(id, 1, body))
	}
	return entries, nil
}

// Renew says that we still work on the entries, so that nobody takes them for idle.
// It does not take back what somebody took over.
func (c *Consumer) Renew(ctx context.Context, ids []string) error {
	for len(ids) > 0 {
		n := min(len(ids), 500)
		args := make([]any, 0, n+2)
		args = append(args, c.region, c.name)
		for _, id := range ids[:n] {
			args = append(args, id)
		}
		err := c.r.scripts.renew.Run(ctx, c.r.commands, []string{keyChecks}, args...).Err()
		c.heard(err)
		if err != nil && !noGroup(err) {
			return fmt.Errorf("renew %d entries: %w", len(ids), err)
		}
		ids = ids[n:]
	}
	return nil
}

// Ack settles entries whose rows are durable, also ones that somebody else has taken
// over since.
func (c *Consumer) Ack(ctx context.Context, ids []string) error {
	err := c.r.ack(ctx, c.region, ids)
	c.heard(err)
	if err == nil {
		c.Release(ids)
	}
	return err
}

// Release forgets entries without settling them: the next Own or Reclaim may hand
// them out again.
func (c *Consumer) Release(ids []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range ids {
		delete(c.held, id)
	}
}

// Beat announces that this prober is alive, and tells it whether it is to drain. Beat
// before the first Read: a reader without a heartbeat counts as dead.
func (c *Consumer) Beat(ctx context.Context, beat Heartbeat) (drain bool, err error) {
	text, err := beat.encode()
	if err != nil {
		return false, fmt.Errorf("heartbeat: %w", err)
	}
	wish, err := c.r.scripts.beat.Run(ctx, c.r.commands, []string{keyRegions, keyDrains}, regionField(c.region, c.name), text).Int64()
	c.heard(err)
	if err != nil {
		return false, fmt.Errorf("heartbeat: %w", err)
	}
	return wish == 1, nil
}

// Leave removes the heartbeat at a clean stop: what is still pending is taken over
// within seconds. That of a prober which is to drain stays, and grows old.
func (c *Consumer) Leave(ctx context.Context) error {
	if err := c.r.scripts.leave.Run(ctx, c.r.commands, []string{keyRegions, keyDrains}, regionField(c.region, c.name)).Err(); err != nil {
		return fmt.Errorf("leave %s: %w", c.region, err)
	}
	return nil
}

// hold gives those of the entries that are not handed out already, and remembers them.
// Redis delivers one again that we still work on when it lost data or was turned back,
// or when somebody took it over and died: it is in our name then, and ours to settle.
func (c *Consumer) hold(entries []Entry) []Entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.DeleteFunc(entries, func(e Entry) bool {
		_, known := c.held[e.ID]
		c.held[e.ID] = struct{}{}
		return known
	})
}

func (c *Consumer) holds(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok := c.held[id]
	return ok
}

// heard keeps track of whether Redis answers.
func (c *Consumer) heard(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case !answered(err):
		c.lostAt, c.upSince = c.now(), time.Time{}
		clear(c.silent)
	case c.upSince.IsZero():
		c.upSince = c.now()
	}
}
