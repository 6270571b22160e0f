package checkstream

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/probefleet/probefleet/internal/uptime"
)

// Publisher is the writing end. Any number may run: the scripts let them interleave
// without harm. One Publisher may be used from several goroutines.
type Publisher struct {
	*Fleet

	r *Redis

	mu      sync.Mutex
	cursors map[string]string // where the janitor goes on, by region
}

// NewPublisher makes the publisher's end of r.
func NewPublisher(r *Redis) *Publisher {
	return &Publisher{Fleet: NewFleet(r), r: r, cursors: make(map[string]string)}
}

// Clock is how far publishing has come.
type Clock struct {
	Tick    int64     // the last completely published second, unix
	After   int64     // target id of the last entry in second Tick+1; 0: none yet
	Seq     int64     // the adopted schedule
	Now     time.Time // by Redis
	Fresh   bool      // Redis had lost its clock (or its clock was far ahead): Tick began at Now + 1 s; true until the first Publish or Skip
	Backlog int64     // entries in the stream
}

// Clock reads the checkpoint and creates it where there is none.
func (p *Publisher) Clock(ctx context.Context) (Clock, error) {
	reply, err := p.again(ctx, func(string) *redis.Cmd {
		return p.r.scripts.clock.Run(ctx, p.r.once, []string{keyClock, keyChecks})
	}).Slice()
	if err != nil {
		return Clock{}, refusal("publisher clock", err)
	}
	if len(reply) != 6 {
		return Clock{}, fmt.Errorf("publisher clock: unexpected reply of %d parts", len(reply))
	}
	var n [6]int64
	for i, part := range reply {
		switch part := part.(type) {
		case int64:
			n[i] = part
		case string:
			if n[i], err = strconv.ParseInt(part, 10, 64); err != nil {
				return Clock{}, fmt.Errorf("publisher clock: %w", err)
			}
		}
	}
	return Clock{Tick: n[0], After: n[1], Seq: n[2], Now: time.UnixMilli(n[3]).UTC(), Fresh: n[4] == 1, Backlog: n[5]}, nil
}

// Raise adopts a schedule: from now on callers with a lower seq are refused. It gives
// the last second whose publishing has begun: the new schedule is effective after it.
func (p *Publisher) Raise(ctx context.Context, seq int64) (tick int64, err error) {
	tick, err = p.again(ctx, func(string) *redis.Cmd {
		return p.r.scripts.raise.Run(ctx, p.r.once, []string{keyClock, keyChecks}, seq)
	}).Int64()
	return tick, refusal("raise schedule", err)
}

// Chunk is a part of one second's checks.
type Chunk struct {
	Second     int64
	Seq        int64          // the schedule it was planned with
	Checks     []uptime.Check // of this second, ascending target id, at most MaxChunk
	Last       bool           // completes the second
	BacklogMax int64          // refuse from this stream length on; 0: never
}

// MaxChunk is how many checks one call may add: a script holds up everybody else.
const MaxChunk = 500

// Publish adds the chunk's checks that are not in the stream yet. It retries lost
// replies itself (what is there then counts as added), so an error that is not one of
// this package's refusals means that Redis cannot be reached: ask Clock where to go on.
func (p *Publisher) Publish(ctx context.Context, chunk Chunk) (added int, err error) {
	if len(chunk.Checks) > MaxChunk {
		return 0, fmt.Errorf("publish: %d checks in a chunk, at most %d", len(chunk.Checks), MaxChunk)
	}
	args := make([]any, 5, 5+4*len(chunk.Checks))
	args[0], args[1], args[2], args[3] = chunk.Second, chunk.Seq, flag(chunk.Last), chunk.BacklogMax
	var before int64
	for _, check := range chunk.Checks {
		if check.TargetID <= before || check.ScheduledAt.Unix() != chunk.Second {
			return 0, fmt.Errorf("publish: target %d is out of order or not of second %d", check.TargetID, chunk.Second)
		}
		before = check.TargetID
		body, spec, err := encodeCheck(check)
		if err != nil {
			return 0, fmt.Errorf("publish: %w", err)
		}
		args = append(args, check.TargetID, check.ExpiresAt().UnixMilli(), body, spec)
	}
	added, err = p.again(ctx, func(again string) *redis.Cmd {
		args[4] = again
		return p.r.scripts.publish.Run(ctx, p.r.once, []string{keyClock, keyChecks, keyRefused}, args...)
	}).Int()
	return added, refusal("publish", err)
}

// Skip advances the clock to toSecond without publishing: for what can no longer be
// run, once its missed rows are durable.
func (p *Publisher) Skip(ctx context.Context, seq, toSecond int64) error {
	err := p.again(ctx, func(again string) *redis.Cmd {
		return p.r.scripts.skip.Run(ctx, p.r.once, []string{keyClock, keyChecks}, seq, toSecond, again)
	}).Err()
	return refusal("skip seconds", err)
}

// again runs one of the scripts that are safe to repeat until Redis has answered, at
// most three times. It tells the script whether it may have run before.
func (p *Publisher) again(ctx context.Context, run func(again string) *redis.Cmd) *redis.Cmd {
	cmd := run("0")
	for wait := 50 * time.Millisecond; !answered(cmd.Err()) && wait <= 200*time.Millisecond; wait *= 4 {
		select {
		case <-ctx.Done():
			return cmd
		case <-time.After(wait):
		}
		cmd = run("1")
	}
	return cmd
}

func flag(b bool) string {
	if b {
		return "1"
	}
	return "0"
}

// Refused gives the seconds that met a full stream: second -> first refused target.
// They stay until their missed rows are durable and ClearRefused says so.
func (p *Publisher) Refused(ctx context.Context) (map[int64]int64, error) {
	all, err := p.r.commands.HGetAll(ctx, keyRefused).Result()
	if err != nil {
		return nil, fmt.Errorf("refused seconds: %w", err)
	}
	refused := make(map[int64]int64, len(all))
	for second, first := range all {
		s, err1 := strconv.ParseInt(second, 10, 64)
		id, err2 := strconv.ParseInt(first, 10, 64)
		if err1 != nil || err2 != nil {
			return nil, fmt.Errorf("refused seconds: unexpected %q=%q", second, first)
		}
		refused[s] = id
	}
	return refused, nil
}

// ClearRefused forgets a refused second.
func (p *Publisher) ClearRefused(ctx context.Context, second int64) error {
	if err := p.r.commands.HDel(ctx, keyRefused, strconv.FormatInt(second, 10)).Err(); err != nil {
		return fmt.Errorf("clear refused second: %w", err)
	}
	return nil
}
