package deletion

import (
	"context"
	"time"

	"github.com/probefleet/probefleet/internal/targetstore"
)

const (
	// pruneEvery is how often tombstones are pruned that are older than deletions are watched.
	pruneEvery = time.Hour
	// unsure is for how long before that one need not be there: clocks and pruning need not
	// agree.
	unsure = 12 * time.Hour
)

// bury sees to it that Redis has a tombstone of every unfinished deletion; and of
// all that are watched, when it has fewer than it was given.
func (s *Saga) bury(ctx context.Context) error {
	since := s.now().Add(unsure - s.watched())
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
		return s.untold(ctx, waiting, err)
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

// prune removes tombstones once nothing can bring anything of their targets back. How long
// that is ClickHouse has to say each time: what is known of it here may be a guess.
func (s *Saga) prune(ctx context.Context) error {
	now := s.now()
	if now.Sub(s.pruned) < pruneEvery {
		return nil
	}
	kept, err := s.Rows.Kept(ctx)
	if err != nil {
		return err
	}
	if err := s.Tombstones.PruneTombstones(ctx, kept.Raw+watchedLonger); err != nil {
		return err
	}
	s.pruned = now
	return nil
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
		return s.untold(ctx, all, err)
	}
	var missing, unmarked []int64
	for _, d := range all {
		if !there[d.TargetID] {
			missing = append(missing, d.TargetID)
		}
		if d.Tombstoned.IsZero() || d.LastError != "" {
			unmarked = append(unmarked, d.TargetID)
		}
	}
	if len(missing) > 0 {
		if err := s.Tombstones.Tombstone(ctx, missing...); err != nil {
			return s.untold(ctx, all, err)
		}
	}
	if len(unmarked) == 0 {
		return nil
	}
	return s.Notes.MarkTombstoned(ctx, unmarked, s.now())
}

// untold notes that probers could not be told, as far as the database lets.
func (s *Saga) untold(ctx context.Context, all []targetstore.Deletion, err error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), noteLimit)
	defer cancel()
	if err := s.Notes.MarkUntold(ctx, ids(all), err.Error()); err != nil {
		s.Log.Debug("a failure could not be noted", "step", stepTombstone, "error", err)
	}
	return err
}

func ids(all []targetstore.Deletion) []int64 {
	out := make([]int64, len(all))
	for i, d := range all {
		out[i] = d.TargetID
	}
	return out
}
