package recorder

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/probefleet/probefleet/internal/recorder/bisect"
	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/uptime"
)

const (
	// Pauses between attempts: a random share of first × 2^n, at most longest.
	firstPause   = 250 * time.Millisecond
	longestPause = 15 * time.Second
	fullPause    = time.Second // at most, while neither store nor spool takes anything
	patience     = 5           // attempts before a batch goes to the spool though others are stored

	idleBeat = 10 * time.Second // between two beats while there is nothing to do
)

// Run writes batches, and replays the spool, until ctx ends. Then it accepts no more
// rows and makes what it holds durable for at most FlushTimeout. It returns nil when
// everything it accepted was settled, and ErrStopped with a count when rows were given
// back.
func (r *Recorder) Run(ctx context.Context) error {
	// Inserts outlive ctx: one cut off half way is an ambiguous one. With a spool they
	// get half of the time, so that the disk can take the rest in the other half.
	work, abandon := context.WithCancelCause(context.WithoutCancel(ctx))
	defer abandon(nil)
	asking, cutOff := context.WithCancelCause(work)
	defer cutOff(nil)
	defer context.AfterFunc(ctx, func() {
		r.close()
		all := time.AfterFunc(r.o.FlushTimeout, func() { abandon(ErrStopped) })
		context.AfterFunc(work, func() { all.Stop() })
		if r.o.Spool != nil {
			half := time.AfterFunc(r.o.FlushTimeout/2, func() { cutOff(ErrStopped) })
			context.AfterFunc(asking, func() { half.Stop() })
		}
	})()
	var replayer sync.WaitGroup
	if r.o.Spool != nil {
		replayer.Go(func() { r.replay(r.stopped) })
	}
	for {
		batch := r.next(ctx)
		if batch == nil {
			break
		}
		r.runOnce(work, asking, batch)
	}
	replayer.Wait()
	if r.givenBack > 0 {
		return fmt.Errorf("%w: %d rows given back", ErrStopped, r.givenBack)
	}
	return nil
}

// runOnce settles one batch, whatever that takes.
func (r *Recorder) runOnce(work, asking context.Context, batch []item) {
	token, err := uuid.NewV7()
	if err != nil { // no randomness: the rows stay with their callers
		r.giveBack(batch, fmt.Errorf("make batch token: %w", err))
		return
	}
	valid := make([]item, 0, len(batch))
	for _, it := range batch {
		if it.record.left == 0 { // a Record without rows
			it.record.watch.Done(nil)
		} else if err := resultstore.Validate(it.row); err != nil {
			r.reject(it, err)
		} else {
			valid = append(valid, it)
		}
	}
	bisect.Settle(token.String(), len(valid), func(p bisect.Part) (bisect.Outcome, error) {
		return r.put(work, asking, p.Token, valid[p.From:p.To])
	}, func(row int, why error) {
		r.metrics.batches.WithLabelValues(outcomeRejected).Inc()
		r.reject(valid[row], why)
	})
}

// pauseAfter has full jitter, so that a fleet does not come back in step.
func (r *Recorder) pauseAfter(attempt int) time.Duration {
	ceiling := min(firstPause<<min(attempt-1, 10), longestPause)
	return r.breaker.random(ceiling) + time.Millisecond
}

func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// next waits for a batch: full, old enough, or the rest after ctx has ended. Nil
// means that nothing is left and nothing more will come.
func (r *Recorder) next(ctx context.Context) []item {
	ended := ctx.Done()
	for {
		r.o.BeatWrite()
		batch, wait, closed := r.take()
		if batch != nil {
			return batch
		}
		if closed {
			return nil
		}
		timer := time.NewTimer(wait)
		select {
		case <-r.wake:
		case <-timer.C:
		case <-ended:
			r.close()
			ended = nil
		}
		timer.Stop()
	}
}

// take seals a batch if one is due, or says how long to wait.
func (r *Recorder) take() (batch []item, wait time.Duration, closed bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.writing = nil
	if len(r.queue) == 0 {
		r.queue = nil // let a burst's memory go
		return nil, idleBeat, r.closed
	}
	age := r.o.MaxAge
	switch {
	case !r.breaker.closed():
		age = r.o.AwayAge
	case r.hurry:
		age = 0
	}
	wait = age - time.Since(r.queue[0].at)
	if len(r.queue) < r.o.MaxRows && wait > 0 && !r.closed {
		return nil, wait, false
	}
	n := min(len(r.queue), r.o.MostRows)
	r.writing, r.queue = r.queue[:n:n], r.queue[n:]
	r.hurry = r.hurry && len(r.queue) > 0
	return r.writing, 0, false
}

// close refuses further rows, and those that wait for room.
func (r *Recorder) close() {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.stop()
}

func (r *Recorder) giveBack(items []item, err error) {
	r.givenBack += len(items)
	r.metrics.batches.WithLabelValues(outcomeAbandoned).Inc()
	if !errors.Is(err, ErrStopped) {
		err = fmt.Errorf("%w: %w", ErrStopped, err)
	}
	r.settle(items, err, outcomeAbandoned)
}

func (r *Recorder) reject(it item, err error) {
	r.rejected(*it.row, err)
	r.settle([]item{it}, err, outcomeRejected)
}

func (r *Recorder) rejected(row uptime.Result, err error) {
	r.o.Log.Error("row rejected", "target_id", row.TargetID, "region", row.Region, "scheduled_at", row.ScheduledAt, "error", err)
	r.o.Reject(row, err)
}

// settle takes rows off their records and answers those that are complete.
func (r *Recorder) settle(items []item, err error, outcome string) {
	r.metrics.rows.WithLabelValues(outcome).Add(float64(len(items)))
	for _, it := range items {
		rec := it.record
		rec.left--
		if err != nil && (rec.err == nil || resultstore.IsPermanent(rec.err)) { // permanent only when all of its failures are
			rec.err = err
		}
		if rec.left <= 0 {
			r.room.Release(rec.room)
			rec.watch.Done(rec.err)
		}
	}
}

// tell announces a phase to the records in items, whose rows stand together.
func tell(items []item, p Phase, attempt int) {
	var last *record
	for _, it := range items {
		if it.record != last && it.record.watch.Phase != nil {
			it.record.watch.Phase(p, attempt)
		}
		last = it.record
	}
}
