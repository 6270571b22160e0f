package deletion

import (
	"context"
	"slices"
	"time"

	"github.com/probefleet/probefleet/internal/livefeed"
	"github.com/probefleet/probefleet/internal/targetstore"
)

// erase looks at every deletion that is due for it in one place. Those that a prober's
// disk may bring back come last and a page a pass: they are many, and seldom have anything.
func (s *Saga) erase(ctx context.Context, p place) error {
	err := s.owed(ctx, p.table, p.source, func(ctx context.Context, all []targetstore.Owed) error { return s.look(ctx, p, all) })
	if err != nil {
		return err
	}
	now := s.now()
	watched, err := s.Notes.Watched(ctx, p.table, now, now.Add(-s.watched()), page)
	if err != nil {
		return err
	}
	return s.look(ctx, p, watched)
}

// watched is for how long after it was asked for a deletion is looked at.
func (s *Saga) watched() time.Duration { return s.Rows.RawKept() + watchedLonger }

// owed hands over all that a step is due for, page by page.
func (s *Saga) owed(ctx context.Context, step, source string, do func(context.Context, []targetstore.Owed) error) error {
	due := s.now()
	for after := int64(0); ; {
		all, err := s.Notes.Owed(ctx, step, source, due, after, page)
		if err != nil || len(all) == 0 {
			return err
		}
		if err := do(ctx, all); err != nil {
			return err
		}
		after = all[len(all)-1].TargetID
	}
}

// look removes the rows there are of some deleted targets in one place, and notes what it
// saw. What was found is looked for again: rows may have come while it was removed.
func (s *Saga) look(ctx context.Context, p place, all []targetstore.Owed) error {
	if len(all) == 0 {
		return nil
	}
	at := s.now()
	ids := make([]int64, len(all))
	for i, o := range all {
		ids[i] = o.TargetID
	}
	found, err := s.clear(ctx, p, ids)
	if err != nil {
		return s.failed(ctx, p.table, ids, err)
	}
	cameBack, hidden := 0, false
	looks := make([]targetstore.Look, len(all))
	for i, o := range all {
		clean := !slices.Contains(found, o.TargetID)
		done := !o.Step.Done.IsZero() || clean && over(o, at)
		looks[i] = targetstore.Look{TargetID: o.TargetID, Clean: clean, Done: done, Next: nextLook(o.Deletion, at, clean, done)}
		if !clean && !o.Step.Done.IsZero() {
			cameBack++
		}
		// What was removed is on the disk until the last look, or the one after what came back.
		hidden = hidden || clean && done && (o.Step.Done.IsZero() || o.Step.CleanSince.IsZero())
	}
	if hidden && p.table != targetstore.StepChecks {
		if err := s.Rows.EraseDeleted(ctx, p.table); err != nil {
			return s.failed(ctx, p.table, ids, err)
		}
	}
	if cameBack > 0 {
		s.metrics.cameBack.WithLabelValues(p.table).Add(float64(cameBack))
		s.Log.Info("late rows of deleted targets removed", "table", p.table, "targets", cameBack)
	}
	return s.Notes.MarkLooked(ctx, p.table, at, looks)
}

// clear removes what there is of deleted targets in one place, and says of which there was any.
func (s *Saga) clear(ctx context.Context, p place, ids []int64) (found []int64, err error) {
	if p.table == targetstore.StepChecks {
		if found, err = s.Checks.OfTargets(ctx, ids); err != nil || len(found) == 0 {
			return nil, err
		}
		return found, s.Checks.DeleteOfTargets(ctx, found)
	}
	if found, err = s.Rows.TargetsWithRows(ctx, ids, p.table); err != nil || len(found) == 0 {
		return nil, err
	}
	return found, s.Rows.DeleteTargets(ctx, found, p.table)
}

// forget has every API drop its answers about deleted targets. The one that deleted a
// target has told the others at once; this is for those that did not hear it, and for
// answers that were being made then. None is given meanwhile: each looks first whether
// there is such a target.
func (s *Saga) forget(ctx context.Context) error {
	return s.owed(ctx, stepAnswers, "", func(ctx context.Context, all []targetstore.Owed) error {
		at := s.now()
		looks := make([]targetstore.Look, len(all))
		for i, o := range all {
			done := !at.Before(o.Requested.Add(answering))
			looks[i] = targetstore.Look{TargetID: o.TargetID, Clean: done, Done: done, Next: o.Requested.Add(answering)}
			if o.Step.Done.IsZero() {
				if err := s.Changes.AnnounceChanges(ctx, livefeed.Change{TargetID: o.TargetID, Op: livefeed.OpDeleted}); err != nil {
					return s.failed(ctx, stepAnswers, []int64{o.TargetID}, err)
				}
			}
		}
		return s.Notes.MarkLooked(ctx, stepAnswers, at, looks)
	})
}
