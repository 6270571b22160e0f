package deletion

import (
	"context"
	"time"

	"github.com/probefleet/probefleet/internal/targetstore"
)

// surelyKept is for how long Redis keeps a tombstone with certainty: half a day less
// than it does, so that clocks and pruning need not agree.
const surelyKept = watched - 12*time.Hour

// bury sees to it that Redis has a tombstone of every unfinished deletion; and of
// all that are watched, when it has fewer than it was given.
func (s *Saga) bury(ctx context.Context) error {
	since := time.Now().Add(-surelyKept)
	given, err := s.Notes.CountDeletions(ctx, since)
	if err != nil {
		return err
	}
	if given.Unfinished == 0 && given.Tombstoned == 0 {
		return nil
	}
	there, err := s.Tombstones.Tombstones(ctx)
	if err != nil {
		waiting, _ := s.Notes.Unfinished(ctx, 0, page) // whom it concerns is told if the database lets
		return s.failed(ctx, waiting, "tombstone", err)
	}
	next := s.Notes.Unfinished
	if there < given.Tombstoned {
		s.Log.Warn("redis has lost tombstones of deleted targets, writing them again", "there", there, "given", given.Tombstoned)
		next = func(ctx context.Context, after int64, limit int) ([]targetstore.Deletion, error) {
			return s.Notes.DeletedSince(ctx, since, after, limit)
		}
	}
	return s.pages(ctx, next, s.buryPage)
}

// pages hands over all deletions that next gives, page by page.
func (s *Saga) pages(ctx context.Context, next func(context.Context, int64, int) ([]targetstore.Deletion, error), do func(context.Context, []targetstore.Deletion) error) error {
	for after := int64(0); ; {
		all, err := next(ctx, after, page)
		if err != nil || len(all) == 0 {
			return err
		}
		if err := do(ctx, all); err != nil {
			return err
		}
		after = all[len(all)-1].TargetID
	}
}

func (s *Saga) buryPage(ctx context.Context, all []targetstore.Deletion) error {
	there, err := s.Tombstones.Tombstoned(ctx, ids(all))
	if err != nil {
		return s.failed(ctx, all, "tombstone", err)
	}
	var missing, unmarked []int64
	for _, d := range all {
		if !there[d.TargetID] {
			missing = append(missing, d.TargetID)
		}
		if d.Tombstoned.IsZero() {
			unmarked = append(unmarked, d.TargetID)
		}
	}
	if len(missing) > 0 {
		if err := s.Tombstones.Tombstone(ctx, missing...); err != nil {
			return s.failed(ctx, all, "tombstone", err)
		}
	}
	if len(unmarked) == 0 {
		return nil
	}
	return s.Notes.MarkTombstoned(ctx, unmarked, time.Now())
}
