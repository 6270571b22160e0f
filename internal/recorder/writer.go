package recorder

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"

	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/uptime"
)

// Pauses between attempts: a random share of first × 2^n, at most longest.
const (
	firstPause   = 250 * time.Millisecond
	longestPause = 15 * time.Second
)

// Run writes batches until ctx ends, then accepts no more rows and writes what it
// holds for at most FlushTimeout. It returns nil when everything it accepted was
// settled, and ErrStopped with a count when rows were given back.
func (r *Recorder) Run(ctx context.Context) error {
	// Inserts outlive ctx by FlushTimeout: an insert cut off half way is an ambiguous one.
	work, abandon := context.WithCancelCause(context.WithoutCancel(ctx))
	defer abandon(nil)
	defer context.AfterFunc(ctx, func() {
		r.close()
		stopFlush := time.AfterFunc(r.o.FlushTimeout, func() { abandon(ErrStopped) })
		context.AfterFunc(work, func() { stopFlush.Stop() })
	})()

	for {
		batch := r.next(ctx)
		if batch == nil {
			break
		}
		r.runOnce(work, batch)
	}
	if r.givenBack > 0 {
		return fmt.Errorf("%w: %d rows given back", ErrStopped, r.givenBack)
	}
	return nil
}

// runOnce settles one batch, whatever that takes.
func (r *Recorder) runOnce(ctx context.Context, batch []item) {
	token, err := uuid.NewV7()
	if err != nil { // no randomness: the rows stay with their callers
		r.giveBack(batch, fmt.Errorf("make batch token: %w", err))
		return
	}
	valid := batch[:0:0]
	for _, it := range batch {
		if it.record.left == 0 { // a Record without rows
			it.record.done(nil)
		} else if err := resultstore.Validate(it.row); err != nil {
			r.reject([]item{it}, err)
		} else {
			valid = append(valid, it)
		}
	}
	r.write(ctx, token.String(), valid)
}

// write stores items under a token. When the store refuses them for good it tries
// the halves, so that one bad row does not take its neighbours along.
func (r *Recorder) write(ctx context.Context, token string, items []item) {
	if len(items) == 0 {
		return
	}
	err := r.insert(ctx, token, items)
	switch {
	case err == nil:
		r.metrics.batches.WithLabelValues(outcomeStored).Inc()
		r.settle(items, nil, outcomeStored)
	case !resultstore.IsPermanent(err):
		r.giveBack(items, err)
	case len(items) == 1:
		r.metrics.batches.WithLabelValues(outcomeRejected).Inc()
		r.reject(items, err)
	default:
		half := len(items) / 2
		r.write(ctx, token+"/0", items[:half])
		r.write(ctx, token+"/1", items[half:])
	}
}

// insert repeats one batch until it is stored, refused for good, or ctx ends.
func (r *Recorder) insert(ctx context.Context, token string, items []item) error {
	batch := resultstore.Batch{Token: token, Prober: r.o.Prober, Region: r.o.Region, Rows: make([]uptime.Result, len(items))}
	for i, it := range items {
		batch.Rows[i] = it.row
	}
	for ctx.Err() == nil {
		batch.Attempt++
		start := time.Now()
		err := r.sink.Insert(ctx, batch)
		r.metrics.insertSeconds.Observe(time.Since(start).Seconds())
		r.note(err, batch.Attempt)
		if err == nil || resultstore.IsPermanent(err) {
			return err
		}
		r.metrics.retries.Inc()
		pause := time.NewTimer(pauseAfter(batch.Attempt))
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return err
		}
	}
	return context.Cause(ctx)
}

// pauseAfter has full jitter, so that a fleet does not come back in step.
func pauseAfter(attempt int) time.Duration {
	ceiling := min(firstPause<<min(attempt-1, 10), longestPause)
	return rand.N(ceiling) + time.Millisecond
}

// note keeps the state for health pages, and logs when it changes.
func (r *Recorder) note(err error, attempt int) {
	r.mu.Lock()
	was := r.retrying
	r.retrying, r.lastErr = resultstore.IsTransient(err), ""
	if err != nil {
		r.lastErr = err.Error()
	}
	now := r.retrying
	r.mu.Unlock()
	switch {
	case now && !was:
		r.o.Log.Warn("insert failed, repeating until it works", "error", err)
	case was && err == nil:
		r.o.Log.Info("insert works again", "attempt", attempt)
	}
}

// next waits for a batch: full, old enough, or the rest after ctx has ended. Nil
// means that nothing is left and nothing more will come.
func (r *Recorder) next(ctx context.Context) []item {
	ended := ctx.Done()
	for {
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
		return nil, time.Hour, r.closed
	}
	wait = r.o.MaxAge - time.Since(r.queue[0].at)
	if len(r.queue) < r.o.MaxRows && wait > 0 && !r.closed {
		return nil, wait, false
	}
	n := min(len(r.queue), r.o.MaxRows)
	r.writing, r.queue = r.queue[:n:n], r.queue[n:]
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

func (r *Recorder) reject(items []item, err error) {
	rows := make([]uptime.Result, len(items))
	for i, it := range items {
		rows[i] = it.row
	}
	r.o.Log.Error("row rejected", "target_id", rows[0].TargetID, "region", rows[0].Region, "scheduled_at", rows[0].ScheduledAt, "error", err)
	r.o.Reject(rows, err)
	r.settle(items, err, outcomeRejected)
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
			rec.done(rec.err)
		}
	}
}
