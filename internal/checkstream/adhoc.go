package checkstream

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

// Every region has a stream of visits of its own, so that a prober reads, and may read,
// nothing else; all of a region's probers are one group.
const (
	keyAdhoc   = "{pf}:adhoc:region:" // and the region
	keyOpen    = "{pf}:adhoc:open"    // names of open visits, by expiry in ms
	keyResults = "{pf}:adhoc:results" // outcomes as JSON, one an entry

	keyConfirm     = "{pf}:confirm:region:"
	keyConfirmOpen = "{pf}:confirm:open"

	// LiveResults is the stream of results (package livefeed), in which outcomes of the
	// confirmation lane lie as entries of their own.
	LiveResults = "{pf}:results"
	// OutcomeField of an entry holds an outcome: see DecodeOutcome.
	OutcomeField = "o"

	adhocGroup = "probers"
)

// lane is where visits of a purpose are asked for and told of.
type lane struct {
	stream, open, outcomes string
	life                   time.Duration // from then on a visit is not begun
	most                   int64         // open at once, over all regions
	keep                   time.Duration // of outcomes
	mostOutcomes           int64
}

func adhocLane() lane {
	return lane{keyAdhoc, keyOpen, keyResults, VisitTTL, MaxVisits, OutcomeKeep, maxOutcomes}
}

// Confirmations are worth nothing when the next slot comes, and their outcomes are kept as
// long as results are.
func confirmLane() lane {
	return lane{keyConfirm, keyConfirmOpen, LiveResults, ConfirmTTL, MaxConfirms, resultsKeep, unbounded}
}

// Bounds of the lane.
const (
	MaxVisits   = 1000             // open at once, over all regions
	VisitTTL    = 60 * time.Second // from then on a visit is not begun
	VisitGrace  = 40 * time.Second // what began in time may end as late as this after it
	OutcomeKeep = 5 * time.Minute

	MaxConfirms = 2000
	ConfirmTTL  = 8 * time.Second
	resultsKeep = 10 * time.Minute // as livefeed.Keep
	unbounded   = 1 << 40

	maxOutcomes = 1000
	outcomePage = 50
)

// Refusals of Add. A refused call added nothing.
var (
	ErrLaneFull = errors.New("the lane of visits on demand is full") // for now
	ErrVisit    = errors.New("the visit cannot be asked for")        // ever
)

// Adhoc is the asking end of a lane of visits: those on demand, or those that confirm what
// another region saw.
//
// A visit that was added is run by some prober of its region, or by nobody once VisitTTL
// has passed. One whose prober dies is run once more by another. Its outcome comes at
// most once per delivery that was settled; in the rare case that a reply of Redis is lost
// a visit may be made, and told, twice. Outcomes stay for OutcomeKeep.
type Adhoc struct {
	r *Redis
	lane
	skipped atomic.Int64
}

// NewAdhoc makes the asking end of the lane of visits on demand.
func NewAdhoc(r *Redis) *Adhoc { return &Adhoc{r: r, lane: adhocLane()} }

// NewConfirm makes the asking end of the confirmation lane. Its visits live for ConfirmTTL,
// there are MaxConfirms at most, and their outcomes are told in the stream of results.
func NewConfirm(r *Redis) *Adhoc { return &Adhoc{r: r, lane: confirmLane()} }

// Skipped counts the outcomes that could not be read.
func (a *Adhoc) Skipped() int64 { return a.skipped.Load() }

// Add asks for visits: all of them or, with an error, none that is known of. It may be
// repeated: a visit of the same job, attempt and region that is open is not added again.
func (a *Adhoc) Add(ctx context.Context, visits []Visit) error {
	if len(visits) == 0 {
		return nil
	}
	keys := []string{a.open}
	args := []any{a.most, a.life.Milliseconds(), VisitGrace.Milliseconds(), adhocGroup}
	for _, v := range visits {
		if err := v.judge(); err != nil {
			return fmt.Errorf("%w: %w", ErrVisit, err)
		}
		keys = append(keys, a.stream+v.Region)
		args = append(args, v.fields()...)
	}
	err := a.r.scripts.visitAdd.Run(ctx, a.r.commands, keys, args...).Err()
	switch {
	case err == nil:
		return nil
	case strings.HasPrefix(err.Error(), "FULL"):
		return ErrLaneFull
	}
	return fmt.Errorf("ask for %d visits: %w", len(visits), err)
}

// Open is how many visits are asked for and not settled.
func (a *Adhoc) Open(ctx context.Context) (int64, error) {
	now, err := a.r.Now(ctx)
	if err != nil {
		return 0, err
	}
	n, err := a.r.commands.ZCount(ctx, a.open, strconv.FormatInt(now.UnixMilli(), 10), "+inf").Result()
	if err != nil {
		return 0, fmt.Errorf("count open visits: %w", err)
	}
	return n, nil
}

// Outcomes waits up to block (at most MaxBlock) for outcomes that came after the position
// after, and gives the position to go on from, also with an error. "" begins at the
// present, and gives nothing yet. When Redis has lost data or was turned back everything
// that is there comes, perhaps again.
func (a *Adhoc) Outcomes(ctx context.Context, after string, block time.Duration) (outcomes []VisitOutcome, next string, err error) {
	if after == "" {
		next, err = a.newest(ctx)
		return nil, next, err
	}
	streams, err := a.r.reader.XRead(ctx, &redis.XReadArgs{Streams: []string{a.outcomes, after}, Count: outcomePage, Block: max(time.Millisecond, min(block, MaxBlock))}).Result()
	if errors.Is(err, redis.Nil) { // silence may mean that the ids went back
		newest, err := a.newest(ctx)
		if err == nil && positionBelow(newest, after) {
			after = firstPosition
		}
		return nil, after, err
	}
	if err != nil {
		return nil, after, fmt.Errorf("outcomes of visits: %w", err)
	}
	for _, stream := range streams {
		for _, message := range stream.Messages {
			after = message.ID
			text, _ := message.Values[OutcomeField].(string)
			outcome, err := DecodeOutcome(text)
			if err != nil {
				a.skipped.Add(1)
				continue
			}
			outcomes = append(outcomes, outcome)
		}
	}
	return outcomes, after, nil
}

const firstPosition = "0-0"

func (a *Adhoc) newest(ctx context.Context) (string, error) {
	info, err := a.r.commands.XInfoStream(ctx, a.outcomes).Result()
	switch {
	case err != nil && strings.Contains(err.Error(), "no such key"):
		return firstPosition, nil
	case err != nil:
		return "", fmt.Errorf("outcomes of visits: %w", err)
	case info.LastGeneratedID == "":
		return firstPosition, nil
	}
	return info.LastGeneratedID, nil
}

func positionBelow(a, b string) bool {
	number := func(id string) (ms, seq uint64) {
		first, second, _ := strings.Cut(id, "-")
		ms, _ = strconv.ParseUint(first, 10, 64) // ids of Redis are numbers
		seq, _ = strconv.ParseUint(second, 10, 64)
		return ms, seq
	}
	ams, aseq := number(a)
	bms, bseq := number(b)
	return ams < bms || ams == bms && aseq < bseq
}
