package deletion

import (
	"context"
	"slices"
	"time"

	"github.com/probefleet/probefleet/internal/targetstore"
)

// erase looks at every deletion that is due for it. Those that a prober's disk may
// bring back come last and a page a pass: they are many, and seldom have anything.
func (s *Saga) erase(ctx context.Context) error {
	err := s.pages(ctx, s.Notes.Unfinished, func(ctx context.Context, all []targetstore.Deletion) error {
		now := time.Now()
		return s.look(ctx, slices.DeleteFunc(slices.Clone(all), func(d targetstore.Deletion) bool { return nextLook(d).After(now) }), now)
	})
	if err != nil {
		return err
	}
	now := time.Now()
	unseen, err := s.Notes.FinishedUnseen(ctx, now.Add(-watched), now.Add(-lookEvery), page)
	if err != nil {
		return err
	}
	return s.look(ctx, unseen, now)
}

// look removes the rows there are of some deleted targets, and notes what it saw.
// What was found is looked for again: rows may have come while it was removed.
func (s *Saga) look(ctx context.Context, all []targetstore.Deletion, at time.Time) error {
	if len(all) == 0 {
		return nil
	}
	found, err := s.Rows.TargetsWithRows(ctx, ids(all))
	if err != nil {
		return s.failed(ctx, all, "look for results", err)
	}
	if len(found) > 0 {
		if err := s.Rows.DeleteTargets(ctx, found); err != nil {
			return s.failed(ctx, all, "erase results", err)
		}
	}
	look := targetstore.Look{At: at, All: ids(all)}
	cameBack := 0
	for _, d := range all {
		switch dirty := slices.Contains(found, d.TargetID); {
		case dirty && !d.Finished.IsZero():
			cameBack++
		case dirty:
		default:
			look.Clean = append(look.Clean, d.TargetID)
			if d.Finished.IsZero() && over(d, at) {
				look.Finished = append(look.Finished, d.TargetID)
			}
		}
	}
	if cameBack > 0 {
		s.metrics.cameBack.Add(float64(cameBack))
		s.Log.Info("late results of deleted targets removed", "targets", cameBack)
	}
	if err := s.Notes.MarkLooked(ctx, look); err != nil {
		return err
	}
	if n := len(look.Finished); n > 0 {
		s.metrics.finished.Add(float64(n))
		s.Log.Info("deletions finished", "targets", n)
	}
	return nil
}
