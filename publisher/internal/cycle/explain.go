package cycle

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/probefleet/probefleet/internal/service"
	"github.com/probefleet/probefleet/internal/uptime"
)

// outage remembers since when this process, being alive, could not use Redis.
type outage struct {
	since   int64 // first second that could not be published; 0 none
	failing bool
	over    [2]int64 // the last one that is over: its first and last second
}

func (o *outage) failed(second int64) {
	if o.since == 0 {
		o.since = second
	}
	o.failing = true
}

func (o *outage) worked() { o.failing = false }

// caughtUp ends it: until then what expires on the way has the same cause.
func (o *outage) caughtUp(now int64) {
	if o.since > 0 {
		o.over = [2]int64{o.since, now}
	}
	o.since, o.failing = 0, false
}

// reason of a slot that expired unpublished.
func (o *outage) reason(second int64) uptime.Reason {
	if o.since > 0 && second >= o.since {
		return uptime.ReasonRedisDown
	}
	return uptime.ReasonPublisherDown
}

// explainer makes it known that slots were missed: as rows, else as a gap in the
// database, else as a gap it keeps until the database is back.
type explainer struct {
	rows     Rows
	versions Versions
	health   Health
	log      *slog.Logger

	mu      sync.Mutex
	stuck   time.Time // until then the results store is not tried
	pending []gap
	pile    []uptime.Result // in a gap already, and worth a row of their own before the sweep comes
	piled   chan struct{}
}

// What an outage leaves behind is explained by a gap at once, so that it does not hold up
// what can still be run, and by rows as soon as may be.
const (
	promptly = 2_000   // missed rows that the tick waits for
	pileMost = 250_000 // that wait; the sweep writes what is beyond
	pileAt   = 5_000   // that are written together

	pileTimeout = 30 * time.Second
)

type gap struct {
	reason   uptime.Reason
	from, to int64 // half open, whole seconds
}

// explain returns once the slots are explained, or ctx has ended. The last resort
// needs no store: unexplained slots are found by the sweep.
func (e *explainer) explain(ctx context.Context, rows []uptime.Result, reason uptime.Reason, from, to int64) error {
	// A gap speaks of everything in its seconds: of a second that had room for some it would
	// say too much.
	if len(rows) > promptly && reason != uptime.ReasonBackpressure && e.addGap(ctx, reason, from, to+1) == nil {
		e.later(rows)
		return nil
	}
	e.mu.Lock()
	try := time.Now().After(e.stuck)
	e.mu.Unlock()
	if try {
		limited, cancel := context.WithTimeout(ctx, rowsTimeout+time.Duration(len(rows)/10_000)*time.Second)
		err := e.rows.RecordWait(limited, rows)
		cancel()
		if err == nil {
			e.health.Set("results", service.OK, "")
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		e.mu.Lock()
		e.stuck = time.Now().Add(10 * time.Second)
		e.mu.Unlock()
		e.health.Set("results", service.Degraded, "missed rows cannot be written, gaps are noted instead: "+err.Error())
		e.log.Warn("missed rows are not durable yet, noting a gap instead", "rows", len(rows), "reason", reason, "error", err)
	}
	e.gap(ctx, reason, from, to+1)
	return nil
}

// gap notes seconds in [from, to), now or when the database is back.
func (e *explainer) gap(ctx context.Context, reason uptime.Reason, from, to int64) {
	if from >= to {
		return
	}
	err := e.addGap(ctx, reason, from, to)
	if err == nil {
		return
	}
	e.log.Warn("gap is kept until the database is back", "reason", reason, "from", from, "to", to, "error", err)
	e.mu.Lock()
	defer e.mu.Unlock()
	if n := len(e.pending); n > 0 && e.pending[n-1].reason == reason && e.pending[n-1].to == from {
		e.pending[n-1].to = to
		return
	}
	e.pending = append(e.pending, gap{reason, from, to})
}

func (e *explainer) addGap(ctx context.Context, reason uptime.Reason, from, to int64) error {
	limited, cancel := finish(ctx, rowsTimeout)
	defer cancel()
	return e.versions.AddGap(limited, reason, time.Unix(from, 0).UTC(), time.Unix(to, 0).UTC())
}

// later puts rows on the pile.
func (e *explainer) later(rows []uptime.Result) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.pile = append(e.pile, rows[:min(len(rows), max(0, pileMost-len(e.pile)))]...)
	select {
	case e.piled <- struct{}{}:
	default:
	}
}

// run writes the pile down, oldest first, until ctx ends. Rows that cannot be written
// are left to the sweep.
func (e *explainer) run(ctx context.Context) error {
	for {
		e.mu.Lock()
		n := min(len(e.pile), pileAt)
		rows := e.pile[:n:n]
		if e.pile = e.pile[n:]; len(e.pile) == 0 {
			e.pile = nil
		}
		e.mu.Unlock()
		if n == 0 {
			select {
			case <-e.piled:
				continue
			case <-ctx.Done():
				return nil
			}
		}
		limited, cancel := context.WithTimeout(ctx, pileTimeout)
		err := e.rows.RecordWait(limited, rows)
		cancel()
		if err != nil && ctx.Err() == nil {
			e.log.Warn("missed rows of a gap are left to the sweep", "rows", n, "error", err)
		}
	}
}

// flush tries the gaps that were kept, oldest first.
func (e *explainer) flush(ctx context.Context) {
	for {
		e.mu.Lock()
		if len(e.pending) == 0 {
			e.mu.Unlock()
			return
		}
		g := e.pending[0]
		e.mu.Unlock()
		limited, cancel := context.WithTimeout(ctx, rowsTimeout)
		err := e.versions.AddGap(limited, g.reason, time.Unix(g.from, 0).UTC(), time.Unix(g.to, 0).UTC())
		cancel()
		if err != nil {
			return
		}
		e.mu.Lock()
		if e.pending[0].to == g.to {
			e.pending = e.pending[1:]
		} else { // it grew meanwhile
			e.pending[0].from = g.to
		}
		e.mu.Unlock()
	}
}
