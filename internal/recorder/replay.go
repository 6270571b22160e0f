package recorder

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/probefleet/probefleet/internal/recorder/bisect"
	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/spool"
	"github.com/probefleet/probefleet/internal/uptime"
)

const (
	replayRate   = 4000                   // rows a second, so that live rows find the store free
	giveWayEvery = 5                      // attempts of one batch: then the writer may make the trial,
	giveWayFor   = 500 * time.Millisecond // so that a batch which never works cannot keep the breaker open
	pollTrial    = 100 * time.Millisecond // while the writer makes it
	diskPause    = time.Second            // after a spool error that may go away
)

// replay brings what is on disk to the store until ctx ends: oldest first, one batch
// at a time, through the breaker.
func (r *Recorder) replay(ctx context.Context) {
	var deleted deletedRows
	idle := time.NewTicker(idleBeat)
	defer idle.Stop()
	for ctx.Err() == nil {
		r.o.BeatReplay()
		it, ok := r.o.Spool.Oldest()
		if !ok {
			select {
			case <-r.o.Spool.Wake():
			case <-idle.C:
			case <-ctx.Done():
			}
			continue
		}
		start := time.Now()
		if err := r.replayOnce(ctx, it, &deleted); err != nil {
			r.o.Log.Error("batch not replayed", "seq", it.Seq, "rows", it.Rows, "error", err)
			r.spoolFailed(err)
			start = start.Add(diskPause)
		}
		sleep(ctx, time.Until(start.Add(time.Duration(it.Rows)*time.Second/replayRate)))
	}
}

// replayOnce settles one batch of the spool: every row of it is stored, rejected or of
// a deleted target, and only then is it removed. When ctx ends first it stays as it is.
func (r *Recorder) replayOnce(ctx context.Context, it spool.Item, deleted *deletedRows) error {
	batch, err := r.o.Spool.Read(it)
	if errors.Is(err, spool.ErrCorrupt) {
		return nil // the spool has said so, and goes on with the next
	}
	if err != nil {
		return err
	}
	refused := map[int]error{}
	var done fates
	bisect.Settle(batch.Token, len(batch.Rows), func(p bisect.Part) (bisect.Outcome, error) {
		part := batch
		part.Token, part.Rows = p.Token, batch.Rows[p.From:p.To]
		outcome, fates, err := r.again(ctx, part, len(part.Rows) == len(batch.Rows), deleted)
		if outcome == bisect.Stored {
			done.add(fates)
		}
		return outcome, err
	}, func(row int, why error) { refused[row] = why })
	if ctx.Err() != nil {
		return nil
	}
	rejected := 0
	for i, row := range batch.Rows {
		switch why := refused[i]; {
		case why == nil:
		case resultstore.IsTooOld(why):
			done.tooOld++
		default:
			rejected++
			r.rejected(row, fmt.Errorf("%w: %w", ErrReplayed, why))
		}
	}
	r.o.BeatReplay()
	if err := r.o.Spool.Remove(it); err != nil {
		return err
	}
	if done.tooOld > 0 {
		r.refusedOld(done.tooOld, it)
	}
	r.metrics.batches.WithLabelValues(outcomeReplayed).Inc()
	r.metrics.rows.WithLabelValues(outcomeReplayed).Add(float64(done.stored))
	r.metrics.rows.WithLabelValues(outcomeDeleted).Add(float64(done.deleted))
	r.metrics.rows.WithLabelValues(outcomeTooOld).Add(float64(done.tooOld))
	r.metrics.rows.WithLabelValues(outcomeRejected).Add(float64(rejected))
	return nil
}

// fates are what became of rows: they are in the store, or were left out.
type fates struct{ stored, deleted, tooOld int }

func (f *fates) add(o fates) {
	f.stored, f.deleted, f.tooOld = f.stored+o.stored, f.deleted+o.deleted, f.tooOld+o.tooOld
}

// refusedOld tells of rows that came too late to be kept.
func (r *Recorder) refusedOld(rows int, it spool.Item) {
	r.o.Log.Warn("rows of the spool are older than results are kept, and are not stored", "rows", rows, "first", it.First, "last", it.Last)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tooOld, r.tooOldAt = r.tooOld+rows, time.Now()
}

// again asks the store until it takes or refuses a part, or ctx ends. It says how many
// rows of deleted targets, and of times that are not kept any more, were left out. The
// part keeps its token: what a try before has stored of it counts once.
func (r *Recorder) again(ctx context.Context, part resultstore.Batch, whole bool, deleted *deletedRows) (bisect.Outcome, fates, error) {
	defer r.stuck(false)
	rows := part.Rows
	tries := 0
	for turn := 1; ctx.Err() == nil; turn++ {
		r.o.BeatReplay()
		sleep(ctx, r.breaker.wait())
		if turn%giveWayEvery == 0 && !r.breaker.closed() {
			sleep(ctx, giveWayFor)
		}
		if whole {
			deleted.forget()
		}
		part.Rows = deleted.without(ctx, r.o.Deleted, rows)
		left := fates{deleted: len(rows) - len(part.Rows)}
		part.Rows = slices.DeleteFunc(slices.Clone(part.Rows), func(row uptime.Result) bool { return r.o.TooOld(row.ScheduledAt) })
		left.stored = len(part.Rows)
		left.tooOld = len(rows) - left.deleted - left.stored
		if len(part.Rows) == 0 {
			return bisect.Stored, left, nil
		}
		// The store works for others: it is this batch, and they need not go to the disk for it.
		known := tries >= patience && r.breaker.closed()
		err := r.breaker.ask(ctx, known, func() error {
			part.Attempt++
			return r.insert(ctx, part)
		})
		switch {
		case errors.Is(err, errNotAsked): // the writer's trial is under way, or has just failed
			sleep(ctx, pollTrial)
		case err == nil:
			return bisect.Stored, left, nil
		case resultstore.IsPermanent(err):
			return bisect.Refused, fates{}, err
		default:
			r.stuck(true)
			if tries++; tries == 1 {
				r.o.Log.Warn("replay failed, repeating until it works", "rows", len(part.Rows), "error", err)
			}
			if r.breaker.closed() { // else the breaker sets the pace
				sleep(ctx, r.pauseAfter(tries))
			}
		}
	}
	return bisect.Aside, fates{}, nil
}

func (r *Recorder) stuck(is bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.replayFails = is
}
