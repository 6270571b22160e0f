// Package spooled tells which rows are on disks and on their way: those that
// probers report with their heartbeats, and those of this publisher.
//
// A prober whose heartbeat is gone vouches for nothing any more. But it is only
// gone when Redis has answered for a while without it: a Redis that is away, or has
// lost its data, does not make rows on a disk disappear.
package spooled

import (
	"context"
	"sync"
	"time"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/ledger"
	"github.com/probefleet/probefleet/internal/spool"
)

const (
	goneAfter = 5 * checkstream.HeartbeatTTL
	askLimit  = 2 * time.Second
)

// Probers gives the heartbeats.
type Probers interface {
	Probers(ctx context.Context) ([]checkstream.Heartbeat, error)
}

// Watch remembers what each prober last reported. It may be asked from several
// goroutines; ask at least every few minutes.
type Watch struct {
	probers Probers
	own     func() spool.State

	mu   sync.Mutex
	last map[prober]report
}

type prober struct{ region, name string }

type report struct {
	spool  ledger.Spool
	absent time.Time // since when it is not heard; zero: it is
}

// New makes a watch of the probers' disks and the own one.
func New(probers Probers, own func() spool.State) *Watch {
	return &Watch{probers: probers, own: own, last: map[prober]report{}}
}

// Spools gives what is on disks, by region; ledger.EveryRegion has the own rows.
func (w *Watch) Spools(ctx context.Context) map[string]ledger.Spool {
	own := w.own() // before anything that is read later: a row that moves is seen in one place or the other
	limited, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	beats, err := w.probers.Probers(limited)

	w.mu.Lock()
	defer w.mu.Unlock()
	w.hear(beats, err == nil, time.Now())
	all := map[string]ledger.Spool{}
	if own.Rows > 0 {
		all[ledger.EveryRegion] = ledger.Spool{Rows: int64(own.Rows), First: own.First, Last: own.Last}
	}
	for p, r := range w.last {
		all[p.region] = all[p.region].Add(r.spool)
	}
	return all
}

// hear takes what live probers say, and drops those that have not been heard for
// long while Redis answered.
func (w *Watch) hear(beats []checkstream.Heartbeat, answered bool, now time.Time) {
	live := map[prober]bool{}
	for _, h := range beats {
		if p := (prober{h.Region, h.Name}); h.Live() {
			live[p] = true
			w.last[p] = report{spool: ledger.Spool{Rows: h.Spooled, First: h.SpoolFirst, Last: h.SpoolLast}}
		}
	}
	for p, r := range w.last {
		switch {
		case live[p]:
			continue
		case !answered:
			r.absent = time.Time{}
		case r.absent.IsZero():
			r.absent = now
		case now.Sub(r.absent) >= goneAfter:
			delete(w.last, p)
			continue
		}
		w.last[p] = r
	}
}
