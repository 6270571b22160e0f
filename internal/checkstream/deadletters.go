package checkstream

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/redis/go-redis/v9"

	"github.com/probefleet/probefleet/internal/uptime"
)

// Bounds of {pf}:dead: beyond either the oldest letters are dropped, and counted.
const (
	MaxLetters     = 10_000
	MaxLetterBytes = 64 << 20
)

const (
	letterPage = 100  // letters in one script: it holds up everybody else
	letterList = 1001 // in one List: the largest page, and the letter that says that there is another
)

// ErrNoLetter says that there is no (longer a) letter of that id.
var ErrNoLetter = errors.New("no such dead letter")

// DeadLetters is the operator's end of {pf}:dead.
type DeadLetters struct{ r *Redis }

// NewDeadLetters makes the operator's end of r.
func NewDeadLetters(r *Redis) *DeadLetters { return &DeadLetters{r: r} }

// List gives at most limit letters, and never more than 1001, after the id after ("": from
// the oldest), oldest first.
func (d *DeadLetters) List(ctx context.Context, after string, limit int) ([]Letter, error) {
	from := "-"
	if after != "" {
		if _, err := parseLetterID(after); err != nil {
			return nil, err
		}
		from = "(" + after
	}
	return d.read(ctx, from, "+", int64(min(max(limit, 1), letterList)))
}

// Get gives one letter, or ErrNoLetter.
func (d *DeadLetters) Get(ctx context.Context, id string) (Letter, error) {
	if _, err := parseLetterID(id); err != nil {
		return Letter{}, fmt.Errorf("%w: %w", ErrNoLetter, err)
	}
	letters, err := d.read(ctx, id, id, 1)
	if err != nil {
		return Letter{}, err
	}
	if len(letters) == 0 {
		return Letter{}, fmt.Errorf("%w: %s", ErrNoLetter, id)
	}
	return letters[0], nil
}

func (d *DeadLetters) read(ctx context.Context, from, to string, limit int64) ([]Letter, error) {
	pipe := d.r.commands.Pipeline()
	found, clock := pipe.XRangeN(ctx, keyDead, from, to, limit), pipe.Time(ctx)
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, fmt.Errorf("dead letters: %w", err)
	}
	letters := make([]Letter, len(found.Val()))
	ids := make([]string, len(letters))
	for i, message := range found.Val() {
		letters[i], ids[i] = newLetter(message), message.ID
	}
	if len(ids) == 0 {
		return letters, nil
	}
	requests, err := d.r.commands.HMGet(ctx, keyLetters, ids...).Result()
	if err != nil {
		return nil, fmt.Errorf("dead letters: %w", err)
	}
	for i, request := range requests {
		letters[i].request(request, clock.Val())
	}
	return letters, nil
}

// Ask asks the probers of the letters' regions to run them again. It gives how many of
// the letters are there and asked for now; asking twice changes nothing, asking for one
// that was given up starts anew.
func (d *DeadLetters) Ask(ctx context.Context, ids []string) (n int, err error) {
	return d.each(ctx, "ask for replays", d.r.scripts.ask, d.r.commands, ids, replayTries)
}

// Purge removes letters for good and gives how many it removed. A replay in progress
// still records its row.
func (d *DeadLetters) Purge(ctx context.Context, ids []string) (n int, err error) {
	return d.each(ctx, "purge dead letters", d.r.scripts.remove, d.r.once, ids, "purged")
}

func (d *DeadLetters) each(ctx context.Context, operation string, script *redis.Script, client *redis.Client, ids []string, args ...any) (n int, err error) {
	for _, id := range ids {
		if _, err := parseLetterID(id); err != nil {
			return 0, fmt.Errorf("%s: %w", operation, err)
		}
	}
	for len(ids) > 0 {
		part := ids[:min(len(ids), letterPage)]
		ids = ids[len(part):]
		all := append(make([]any, 0, len(args)+len(part)), args...)
		for _, id := range part {
			all = append(all, id)
		}
		done, err := script.Run(ctx, client, []string{keyDead, keyLetters}, all...).Int()
		if err != nil {
			return n, fmt.Errorf("%s: %w", operation, err)
		}
		n += done
	}
	return n, nil
}

// Count is the number of letters.
func (d *DeadLetters) Count(ctx context.Context) (int64, error) {
	n, err := d.r.commands.XLen(ctx, keyDead).Result()
	if err != nil {
		return 0, fmt.Errorf("count dead letters: %w", err)
	}
	return n, nil
}

// LetterTotals count the letters that are no longer there.
type LetterTotals struct {
	Dropped  int64 // for want of room
	Replayed int64
	Purged   int64 // by an operator, or with their target
}

// Totals counts since Redis last lost its data.
func (d *DeadLetters) Totals(ctx context.Context) (LetterTotals, error) {
	values, err := d.r.commands.HMGet(ctx, keyLetters, "dropped", "replayed", "purged").Result()
	if err != nil {
		return LetterTotals{}, fmt.Errorf("dead letters: %w", err)
	}
	var t LetterTotals
	for i, total := range []*int64{&t.Dropped, &t.Replayed, &t.Purged} {
		text, _ := values[i].(string)
		*total, _ = strconv.ParseInt(text, 10, 64) // absent: none
	}
	return t, nil
}

// Dead settles an entry that nobody can run and keeps a copy in {pf}:dead: its fields,
// up to 64 KiB of them. Of several callers exactly one gets moved. Of a deleted target
// nothing is kept.
func (c *Consumer) Dead(ctx context.Context, e Entry, reason string) (moved bool, err error) {
	return c.bury(ctx, e, "", reason, false)
}

// DeadRow is Dead for an entry whose row the store refused: the letter keeps the row.
func (c *Consumer) DeadRow(ctx context.Context, e Entry, row uptime.Result, reason string) (moved bool, err error) {
	text, problem := encodeRow(row)
	return c.bury(ctx, e, text, cutText(reason, maxReason-len(problem))+problem, false)
}

// KeepRow keeps the letter of a row that was refused after its entry had been settled,
// such as one from a spool. Called again after a lost reply it may keep a second one:
// replaying both stores one row.
func (c *Consumer) KeepRow(ctx context.Context, e Entry, row uptime.Result, reason string) (kept bool, err error) {
	text, problem := encodeRow(row)
	return c.bury(ctx, e, text, cutText(reason, maxReason-len(problem))+problem, true)
}

func (c *Consumer) bury(ctx context.Context, e Entry, row, reason string, settled bool) (moved bool, err error) {
	moved, err = c.r.scripts.dead.Run(ctx, c.r.commands, []string{keyChecks, keyDead, keyLetters, keyTombstones},
		c.region, c.name, e.ID, cutText(reason, maxReason), e.Deliveries, row, maxField, c.r.letters.count, c.r.letters.bytes, settled).Bool()
	c.heard(err)
	if err != nil && !noGroup(err) {
		return false, fmt.Errorf("dead letter %s: %w", e.ID, err)
	}
	c.Release([]string{e.ID})
	return moved, nil
}

// Replays takes at most max letters of this region that somebody asked to be run again.
// Each is this prober's for a minute, and whoever made its row durable calls Replayed. A
// letter that is not finished then is handed out again, to anybody: after the third time
// the request counts as given up. Letters of deleted targets are removed, and those that
// this program cannot replay are not handed out.
func (c *Consumer) Replays(ctx context.Context, max int) ([]Letter, error) {
	if max <= 0 {
		return nil, nil
	}
	reply, err := c.r.scripts.replays.Run(ctx, c.r.once, []string{keyDead, keyLetters, keyTombstones},
		c.region, min(max, letterPage), replayClaim.Milliseconds(), replayTries).Slice()
	c.heard(err)
	if err != nil {
		return nil, fmt.Errorf("replays of %s: %w", c.region, err)
	}
	var letters []Letter
	for _, item := range reply {
		row, _ := item.([]any)
		if len(row) != 3 {
			return nil, fmt.Errorf("replays of %s: unexpected row of %d parts", c.region, len(row))
		}
		message := redis.XMessage{Values: fieldsOf(row[1])}
		message.ID, _ = row[0].(string)
		letter := newLetter(message)
		letter.request(row[2], c.now())
		letter.Replay = ReplayRunning
		if letter.Replayable() {
			letters = append(letters, letter)
		}
	}
	return letters, nil
}

// Replayed removes a letter whose row is durable, and its request. It does so once,
// however many replayed it.
func (c *Consumer) Replayed(ctx context.Context, l Letter) error {
	err := c.r.scripts.remove.Run(ctx, c.r.commands, []string{keyDead, keyLetters}, "replayed", l.ID).Err()
	c.heard(err)
	if err != nil {
		return fmt.Errorf("replayed letter %s: %w", l.ID, err)
	}
	return nil
}
