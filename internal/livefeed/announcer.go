package livefeed

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/uptime"
)

const (
	keyResults = checkstream.LiveResults
	keyChanges = "{pf}:changes"

	// Keep is how long an entry can be followed.
	Keep = 10 * time.Minute
)

//go:embed announce.lua
var announceSource string

// Announcer is the writing end. It may be used from several goroutines.
type Announcer struct {
	client redis.UniversalClient
	add    *redis.Script
}

// NewAnnouncer makes the writing end of r.
func NewAnnouncer(r *checkstream.Redis) *Announcer {
	return &Announcer{client: r.Commands(), add: redis.NewScript(announceSource)}
}

// Announce tells the followers about results: one entry, or one for each MaxResults.
func (a *Announcer) Announce(ctx context.Context, results []uptime.Result) error {
	return a.AnnounceAll(ctx, [][]uptime.Result{results})
}

// AnnounceAll is Announce for several batches, with one answer to all. After an error some may have
// been told; telling them again is harmless.
func (a *Announcer) AnnounceAll(ctx context.Context, batches [][]uptime.Result) error {
	err := a.addAll(ctx, keyResults, func(add func(...any)) {
		for _, results := range batches {
			for part := range slices.Chunk(results, MaxResults) {
				add("b", encode(part))
			}
		}
	})
	if err != nil {
		return fmt.Errorf("announce results: %w", err)
	}
	return nil
}

// addAll adds the entries that each names, with one answer to all.
func (a *Announcer) addAll(ctx context.Context, key string, each func(add func(fields ...any))) error {
	run := func(script func(context.Context, redis.Scripter, []string, ...any) *redis.Cmd) error {
		_, err := a.client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
			each(func(fields ...any) {
				script(ctx, pipe, []string{key}, append([]any{Keep.Milliseconds()}, fields...)...)
			})
			return nil
		})
		return err
	}
	err := run(a.add.EvalSha)
	if redis.HasErrorPrefix(err, "NOSCRIPT") { // this Redis has not seen it yet, or has forgotten it
		err = run(a.add.Eval)
	}
	return err
}

// What happened to a target.
const (
	OpCreated = "created"
	OpUpdated = "updated"
	OpDeleted = "deleted"
)

// Change says that a target changed. It carries no content: read the target's row.
type Change struct {
	TargetID int64
	Op       string // OpCreated, OpUpdated or OpDeleted
	Seq      int64  // the schedule_seq of the change
}

// AnnounceChanges tells the followers about changes, with one answer to all. After an error some may
// have been told; telling them again is harmless.
func (a *Announcer) AnnounceChanges(ctx context.Context, changes ...Change) error {
	err := a.addAll(ctx, keyChanges, func(add func(...any)) {
		for _, c := range changes {
			add("id", c.TargetID, "op", c.Op, "seq", c.Seq)
		}
	})
	if err != nil {
		return fmt.Errorf("announce changes: %w", err)
	}
	return nil
}
