package evaluator

import (
	"context"
	"slices"
	"time"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/internal/verdict"
	"github.com/probefleet/probefleet/internal/verdictstore"
)

const (
	// confirmTimeout bounds a visit that confirms: who waits for it waits for a page.
	confirmTimeout = 5 * time.Second
	// A failure that was announced longer ago is not asked about: its next slot is as near.
	confirmWithin = 5 * time.Second
	askBound      = 2 * time.Second
	asksWaiting   = 64
	asksAtOnce    = 100 // as many as there is room for are asked, when not all can be
)

// Confirmer asks regions to look again: see checkstream.NewConfirm.
type Confirmer interface {
	Add(ctx context.Context, visits []checkstream.Visit) error
}

// confirm notes whom to ask about a first failure: every other region that can judge and
// sees no failure itself. It is called after the failure was folded in.
func (f *fold) confirm(t *target, o *verdict.Observation, first bool) {
	if !first || t.state.Incident != nil || !t.Target.Kind.Probed() {
		return
	}
	job := checkstream.Confirmation{TargetID: t.Target.ID, Slot: o.ScheduledAt}.Job()
	for _, region := range t.Rules.Regions {
		if region == o.Region || fails(t.state, region) || t.conditions.BlindAt(region, o.ScheduledAt) {
			continue
		}
		f.look(t, job, region)
	}
}

// look notes that a region is to look at a target.
func (f *fold) look(t *target, job, region string) {
	f.asks = append(f.asks, checkstream.Visit{
		Job: job, Attempt: 1, Region: region, Kind: t.Target.Kind, URL: t.Target.URL, Timeout: min(t.Target.Timeout, confirmTimeout), Spec: t.Target.Spec.Text(),
	})
}

// fails says whether a region's newest measurement is a failure.
func fails(s verdict.FoldState, region string) bool {
	for _, r := range s.Regions {
		if r.Region == region && len(r.Newest) > 0 {
			return r.Newest[len(r.Newest)-1].Status == uptime.StatusDown
		}
	}
	return false
}

// confirmed folds in what a region saw that was asked.
func (f *fold) confirmed(o *checkstream.VisitOutcome, at time.Time) {
	c, is := o.Confirms()
	t, found := f.targets[c.TargetID]
	if !is || !found {
		return
	}
	f.confirmations = append(f.confirmations, verdictstore.Confirmation{
		TargetID: c.TargetID, Slot: c.Slot, Region: o.Region, Prober: o.Prober, CheckedAt: o.CheckedAt, Status: o.Status, Failure: o.Failure, Reason: o.Reason, HTTPStatus: o.HTTPStatus, TotalUS: o.TotalUS, Message: o.Message,
	})
	if t.Rules.Former(c.Slot) {
		return
	}
	saw := verdict.Confirmed(&o.Look)
	f.step(t, verdict.Event{At: at, Result: &saw})
	f.schedule(t)
}

// ask hands what is to be asked to whoever asks, and forgets it: nobody waits for that.
func (f *fold) ask(to chan<- []checkstream.Visit, now time.Time) {
	if len(f.asks) > 0 && now.Sub(f.now) <= confirmWithin {
		select {
		case to <- f.asks:
		default: // more fails at once than can be asked about
		}
	}
	f.asks = nil
}

// asking asks until ctx ends. What cannot be asked is told by the next slot.
func (e *Evaluator) asking(ctx context.Context, visits <-chan []checkstream.Visit) {
	for {
		select {
		case <-ctx.Done():
			return
		case all := <-visits:
			for some := range slices.Chunk(all, asksAtOnce) {
				e.askFor(ctx, some)
			}
		}
	}
}

// askFor asks for visits, all or none.
func (e *Evaluator) askFor(ctx context.Context, visits []checkstream.Visit) {
	ctx, cancel := context.WithTimeout(ctx, askBound)
	defer cancel()
	counter := e.metrics.asked
	if err := e.Confirm.Add(ctx, visits); err != nil {
		counter = e.metrics.unasked
		e.Log.Debug("other regions were not asked", "visits", len(visits), "error", err)
	}
	counter.Add(float64(len(visits)))
}
