package livefeed

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/uptime"
)

const (
	readCount  = 100
	firstPause = 100 * time.Millisecond
	longPause  = 2 * time.Second
	beginning  = "0-0"
)

// Follower is the reading end.
type Follower struct {
	commands, reader redis.UniversalClient
	skipped          atomic.Int64
	pulse            func() // nil: nobody wants to know
	rounds           func(id string, r Round) error
	confirmations    func(id string, o checkstream.VisitOutcome) error
}

// NewFollower makes the reading end of r.
func NewFollower(r *checkstream.Redis) *Follower {
	return &Follower{commands: r.Commands(), reader: r.Reader()}
}

// WithPulse gives another reading end of the same, which calls pulse whenever it has
// delivered everything there was: at least every checkstream.MaxBlock while Redis answers.
// Who hears nothing for longer does not know what has happened since.
func (f *Follower) WithPulse(pulse func()) *Follower {
	g := f.again()
	g.pulse = pulse
	return g
}

// again is another reading end of the same.
func (f *Follower) again() *Follower {
	return &Follower{commands: f.commands, reader: f.reader, pulse: f.pulse, rounds: f.rounds, confirmations: f.confirmations}
}

// Skipped counts the entries that could not be decoded: they were passed over.
func (f *Follower) Skipped() int64 { return f.skipped.Load() }

// Follow calls fn with every entry after fromID ("": from now on), in order, until ctx
// ends or fn fails. It waits for Redis as long as it takes. Ids rise, except after
// Redis lost data or was turned back: then everything that is there is delivered.
// Ending ctx is noticed within checkstream.MaxBlock; closing the Redis ends it at once.
func (f *Follower) Follow(ctx context.Context, fromID string, fn func(id string, results []uptime.Result) error) error {
	return f.follow(ctx, keyResults, fromID, func(messages []redis.XMessage) error {
		for _, m := range messages {
			is, err := f.beside(m)
			if !is {
				payload, _ := m.Values["b"].(string)
				results, broken := decode([]byte(payload))
				if broken != nil {
					f.skipped.Add(1)
					continue
				}
				err = fn(m.ID, results)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// FollowChanges calls fn with every change from now on, like Follow: with all together that one
// read found, as whoever reads the targets can read these at once.
func (f *Follower) FollowChanges(ctx context.Context, fn func([]Change) error) error {
	return f.follow(ctx, keyChanges, "", func(messages []redis.XMessage) error {
		changes := make([]Change, 0, len(messages))
		for _, m := range messages {
			if c, ok := changeOf(m); ok {
				changes = append(changes, c)
			} else {
				f.skipped.Add(1)
			}
		}
		if len(changes) == 0 {
			return nil
		}
		return fn(changes)
	})
}

func changeOf(m redis.XMessage) (c Change, ok bool) {
	number := func(name string) (int64, error) {
		text, _ := m.Values[name].(string)
		return strconv.ParseInt(text, 10, 64)
	}
	id, err1 := number("id")
	seq, err2 := number("seq")
	op, _ := m.Values["op"].(string)
	return Change{TargetID: id, Op: op, Seq: seq}, err1 == nil && err2 == nil && (op == OpCreated || op == OpUpdated || op == OpDeleted)
}

func (f *Follower) follow(ctx context.Context, key, after string, deliver func([]redis.XMessage) error) error {
	known := after != ""
	pause := firstPause
	checked := false // whether after was compared with the stream since the last entry
	for ctx.Err() == nil {
		var err error
		if !known || !checked {
			if after, err = f.position(ctx, key, after, known); err == nil {
				known = true
			}
		}
		var messages []redis.XMessage
		if err == nil {
			messages, err = f.read(ctx, key, after)
		}
		if err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if errors.Is(err, redis.ErrClosed) {
				return err
			}
			checked = false
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(pause/2 + rand.N(pause)):
			}
			pause = min(2*pause, longPause)
			continue
		}
		pause = firstPause
		checked = len(messages) > 0 // silence may mean that the ids went back
		if len(messages) > 0 {
			if err := deliver(messages); err != nil {
				return err
			}
			after = messages[len(messages)-1].ID
		}
		if f.pulse != nil && len(messages) < readCount {
			f.pulse()
		}
	}
	return ctx.Err()
}

// position gives where to read on: the end of the stream at the start, later after
// itself, or the beginning when the stream has gone back behind it.
func (f *Follower) position(ctx context.Context, key, after string, known bool) (string, error) {
	newest := beginning
	info, err := f.commands.XInfoStream(ctx, key).Result()
	switch {
	case err == nil && info.LastGeneratedID != "":
		newest = info.LastGeneratedID
	case err != nil && !strings.Contains(err.Error(), "no such key"):
		return after, fmt.Errorf("position in %s: %w", key, err)
	}
	if !known {
		return newest, nil
	}
	if Before(newest, after) {
		return beginning, nil
	}
	return after, nil
}

func (f *Follower) read(ctx context.Context, key, after string) ([]redis.XMessage, error) {
	streams, err := f.reader.XRead(ctx, &redis.XReadArgs{
		Streams: []string{key, after}, Count: readCount, Block: checkstream.MaxBlock,
	}).Result()
	if errors.Is(err, redis.Nil) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("follow %s: %w", key, err)
	}
	var messages []redis.XMessage
	for _, stream := range streams {
		messages = append(messages, stream.Messages...)
	}
	return messages, nil
}

// Before says whether an id of an entry comes before another.
func Before(a, b string) bool {
	ams, aseq := parts(a)
	bms, bseq := parts(b)
	return ams < bms || ams == bms && aseq < bseq
}

// Announced is when an entry was written, by the clock of Redis.
func Announced(id string) time.Time {
	ms, _ := parts(id)
	return time.UnixMilli(int64(ms)).UTC()
}

func parts(id string) (ms, seq uint64) {
	first, second, _ := strings.Cut(id, "-")
	ms, _ = strconv.ParseUint(first, 10, 64) // what is no id is the beginning
	seq, _ = strconv.ParseUint(second, 10, 64)
	return ms, seq
}
