package recorder

import (
	"context"
	"errors"
	"time"

	"github.com/probefleet/probefleet/internal/failpoint"
	"github.com/probefleet/probefleet/internal/recorder/bisect"
	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/spool"
	"github.com/probefleet/probefleet/internal/uptime"
)

// put makes items durable under one token, which it keeps whatever happens: the store
// may have them after any error. It goes on until the store has taken or refused them,
// the spool has them, or work ends.
func (r *Recorder) put(work, asking context.Context, token string, items []item) (bisect.Outcome, error) {
	batch := resultstore.Batch{Token: token, Prober: r.o.Prober, Region: r.o.Region, Rows: make([]uptime.Result, len(items))}
	for i, it := range items {
		batch.Rows[i] = *it.row
	}
	defer r.attempted(0, false) // stored, refused, on disk or given back: no longer repeated
	cause := context.Cause(work)
	for work.Err() == nil && r.diskError.Load() == nil {
		r.o.BeatWrite()
		if asking.Err() == nil {
			err := r.breaker.do(asking, func() error {
				batch.Attempt++
				r.attempted(batch.Attempt, batch.Attempt > 1)
				tell(items, Inserting, batch.Attempt)
				return r.insert(asking, batch)
			})
			switch {
			case errors.Is(err, errNotAsked):
			case err == nil && r.diskError.Load() != nil:
				continue // the process ends: promise nothing more
			case err == nil:
				failpoint.Hit("recording.stored")
				if batch.Attempt > 1 {
					r.o.Log.Info("insert works again", "attempt", batch.Attempt)
				}
				r.metrics.batches.WithLabelValues(outcomeStored).Inc()
				r.settle(items, nil, outcomeStored)
				return bisect.Stored, nil
			case resultstore.IsPermanent(err):
				return bisect.Refused, err
			default:
				cause = err
				r.attempted(batch.Attempt, true)
				if batch.Attempt == 1 {
					r.o.Log.Warn("insert failed, repeating until it works", "error", err)
				}
			}
		}
		pause := r.pauseAfter(max(1, batch.Attempt))
		if r.o.Spool != nil && (asking.Err() != nil || !r.breaker.closed() || batch.Attempt >= patience) {
			tell(items, Spooling, batch.Attempt)
			r.o.BeatWrite()
			err := r.o.Spool.Append(batch)
			r.spoolFailed(err)
			if r.diskError.Load() != nil {
				continue
			}
			if err == nil {
				failpoint.Hit("recording.spooled")
				r.metrics.batches.WithLabelValues(outcomeSpooled).Inc()
				r.settle(items, nil, outcomeSpooled)
				return bisect.Aside, nil
			}
			cause, pause = err, min(pause, fullPause)
		}
		tell(items, BackingOff, batch.Attempt)
		r.o.BeatWrite()
		sleep(work, pause)
	}
	if disk := r.diskError.Load(); disk != nil {
		cause = *disk
	}
	r.giveBack(items, cause)
	return bisect.Aside, nil
}

// insert asks the store once.
func (r *Recorder) insert(ctx context.Context, batch resultstore.Batch) error {
	start := time.Now()
	err := r.sink.Insert(ctx, batch)
	r.metrics.insertSeconds.Observe(time.Since(start).Seconds())
	if resultstore.IsTransient(err) {
		r.metrics.retries.Inc()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lastErr = ""; err != nil {
		r.lastErr = err.Error()
	}
	return err
}

// spoolFailed ends everything when the disk cannot be trusted any more.
func (r *Recorder) spoolFailed(err error) {
	if _, final := errors.AsType[*spool.IOError](err); !final {
		return
	}
	if r.diskError.CompareAndSwap(nil, &err) {
		r.o.Log.Error("spool cannot be trusted any more", "error", err)
		r.close()
		r.o.Fatal(err)
	}
}

// attempted keeps the writer's side of State.
func (r *Recorder) attempted(n int, failed bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.attempt, r.retrying = n, failed
}
