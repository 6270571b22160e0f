package cycle

import (
	"context"
	"errors"
	"time"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/uptime"
)

// runMargin is the time a check needs from here to its probe: one that expires on the
// way is better stated here, where the reason is known.
const runMargin = 3 * time.Second

// work is what is left to do of one second.
type work struct {
	second  int64
	due     int            // slots of the whole second
	fresh   []uptime.Check // to publish
	expired []uptime.Check // not worth running any more
	full    []uptime.Check // refused before, for want of room
}

// look works out a second. after is the last target already published in it.
func (l *Loop) look(second, after int64) work {
	l.mu.Lock()
	l.wheel.Advance(second)
	l.due = l.wheel.Due(l.due[:0], second)
	l.mu.Unlock()
	now, w := l.clock.now(), work{second: second}
	first, refused := l.refused[second]
	kept := l.due[:0]
	for _, check := range l.due {
		w.due += len(check.Regions)
		switch {
		case check.TargetID <= after:
		case refused && check.TargetID >= first:
			w.full = append(w.full, check)
		case !now.Add(runMargin).Before(check.ExpiresAt()):
			w.expired = append(w.expired, check)
		default:
			kept = append(kept, check)
		}
	}
	w.fresh = kept
	return w
}

// publishSecond publishes what is fresh, explains the rest, and completes the second.
func (l *Loop) publishSecond(ctx context.Context, w work) error {
	began := time.Now()
	if err := l.ensureGroups(ctx); err != nil {
		return err
	}
	if err := l.explain(ctx, w.second, w.second, l.outage.reason(w.second), w.expired); err != nil {
		return err
	}
	if err := l.publishChunks(ctx, &w); err != nil {
		return err
	}
	if len(w.full) > 0 {
		if err := l.explain(ctx, w.second, w.second, uptime.ReasonBackpressure, w.full); err != nil {
			return err
		}
		if err := l.skip(ctx, w.second); err != nil {
			return err
		}
		l.clearRefused(ctx, w.second)
	}
	l.completed(w.second)
	l.metrics.lateness.Observe(max(0, l.clock.now().Sub(time.Unix(w.second-1, 0)).Seconds()))
	l.note(w, time.Since(began))
	return nil
}

// publishChunks adds the fresh checks; those for which there is no room move to
// full, and the second is then not complete yet.
func (l *Loop) publishChunks(ctx context.Context, w *work) error {
	room := l.backlogMax()
	for begin := 0; begin < len(w.fresh); begin += chunkSize {
		if begin > 0 && ctx.Err() != nil {
			return ctx.Err() // the next publisher goes on from here
		}
		end := min(begin+chunkSize, len(w.fresh))
		chunk := checkstream.Chunk{Second: w.second, Seq: l.fence, Checks: w.fresh[begin:end], Last: end == len(w.fresh) && len(w.full) == 0, BacklogMax: room}
		err := l.publishChunk(ctx, chunk)
		var full *checkstream.FullError
		if errors.As(err, &full) {
			l.metrics.refused.WithLabelValues("full").Inc()
			l.fullAt = time.Now()
			w.full = append(w.fresh[begin:len(w.fresh):len(w.fresh)], w.full...)
			w.fresh = w.fresh[:begin]
			for len(w.full) > 0 && w.full[0].TargetID < full.FirstRefused { // was there already
				w.fresh, w.full = w.fresh[:len(w.fresh)+1], w.full[1:]
			}
			return nil
		}
		if err != nil {
			return err
		}
	}
	if len(w.fresh) == 0 && len(w.full) == 0 {
		return l.skip(ctx, w.second)
	}
	return nil
}

func (l *Loop) publishChunk(ctx context.Context, chunk checkstream.Chunk) error {
	ctx, cancel := finish(ctx, redisTimeout)
	defer cancel()
	_, err := l.Stream.Publish(ctx, chunk)
	return err
}

func (l *Loop) skip(ctx context.Context, to int64) error {
	ctx, cancel := finish(ctx, redisTimeout)
	defer cancel()
	return l.Stream.Skip(ctx, l.fence, to)
}

// explain turns checks into missed rows and sees to it that they are known to be
// missed before the tick moves on.
func (l *Loop) explain(ctx context.Context, from, to int64, reason uptime.Reason, checks []uptime.Check) error {
	if len(checks) == 0 {
		return nil
	}
	var rows []uptime.Result
	for _, check := range checks {
		for _, region := range check.Regions {
			rows = append(rows, check.Missed(region, reason, l.Name))
		}
	}
	l.Beat()
	l.metrics.missed.WithLabelValues(string(reason)).Add(float64(len(rows)))
	l.stated = max(l.stated, to)
	return l.explainer.explain(ctx, rows, reason, from, to)
}

func (l *Loop) completed(second int64) {
	l.tick, l.mine = second, second
}

// note writes the second down: what another publisher added of it counts as
// published, since somebody saw to it.
func (l *Loop) note(w work, took time.Duration) {
	missed := slots(w.expired) + slots(w.full)
	l.metrics.due.Add(float64(w.due))
	l.metrics.published.Add(float64(w.due - missed))
	l.notebook.add(resultstore.Cycle{Second: time.Unix(w.second, 0).UTC(), Due: w.due, Published: w.due - missed, Missed: missed,
		Seq: l.fence, Publisher: l.Name, Took: took})
}

func slots(checks []uptime.Check) (n int) {
	for _, check := range checks {
		n += len(check.Regions)
	}
	return n
}

func (l *Loop) backlogMax() int64 {
	if l.BacklogMax > 0 {
		return l.BacklogMax
	}
	return max(1000, 2*l.wheel.Window())
}
