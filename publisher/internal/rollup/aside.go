package rollup

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/rollupstore"
	"github.com/probefleet/probefleet/internal/service"
)

const mostPause = 30 * time.Minute // between two tries of what cannot be computed

// bucket is an hour or a day.
type bucket struct {
	start  time.Time
	length time.Duration
}

// trouble is what is known of one that could not be computed. A job that begins knows of
// none, and tries at once what is marked.
type trouble struct {
	since, until time.Time // it failed first, and is left in peace until then
	tries        int
	err          error
}

// compute computes an hour or a day, and says whether it did. One that cannot be computed
// is put aside, for the others' sake: it is marked again, so that the next run finds it
// whatever becomes of this one. An error is a store that is away, or the end.
func (j *Job) compute(ctx context.Context, r resultstore.Rollup, length time.Duration) (wrote resultstore.Recomputed, computed bool, err error) {
	if err := j.carryOn(ctx); err != nil {
		return wrote, false, err
	}
	b := bucket{r.Bucket, length}
	if before := j.aside[b]; before == nil || !time.Now().Before(before.until) {
		recompute := j.Results.RecomputeHour
		if length == day {
			recompute = j.Results.RecomputeDay
		}
		wrote, err = recompute(ctx, r)
		if err == nil {
			delete(j.aside, b)
			return wrote, true, nil
		}
		if err := j.carryOn(ctx); err != nil {
			return wrote, false, err
		}
		if _, away := j.Results.ServerTime(ctx); away != nil {
			return wrote, false, err
		}
		j.putAside(b, err)
	}
	return wrote, false, j.Results.MarkAgain(ctx, r, length)
}

// putAside notes that one failed: it is tried again after a pause that doubles.
func (j *Job) putAside(b bucket, err error) {
	now := time.Now()
	t := j.aside[b]
	if t == nil {
		t = &trouble{since: now}
		j.aside[b] = t
	}
	pause := mostPause
	if t.tries < 5 {
		pause = runEvery << t.tries
	}
	t.tries, t.until, t.err = t.tries+1, now.Add(pause), err
	j.Log.Warn("could not be computed, others are", "bucket", b.start, "length", b.length, "tries", t.tries, "next_in", pause, "error", err)
}

// giveUp is for those that are left alone from now on.
func (j *Job) giveUp(oldest time.Time) {
	for b, t := range j.aside {
		if !b.start.Add(b.length).After(oldest) {
			delete(j.aside, b)
			j.Log.Error("could never be computed, and its results are about to be dropped", "bucket", b.start, "length", b.length, "tries", t.tries, "error", t.err)
		}
	}
}

// noteAside notes of which hours and days there are no figures, for those who answer about the
// past: with this run they believe the rollups of all others. What is too old to be tried again
// stays noted for as long as figures of its time are kept.
func (j *Job) noteAside(ctx context.Context, oldest, keptSince time.Time) error {
	noted, err := j.Notes.Aside(ctx)
	if err != nil {
		return err
	}
	var aside []rollupstore.Bucket
	for _, b := range noted {
		if !b.To.After(oldest) && b.To.After(keptSince) {
			aside = append(aside, b)
		}
	}
	for b := range j.aside {
		aside = append(aside, rollupstore.Bucket{From: b.start.UTC(), To: b.start.Add(b.length).UTC()})
	}
	slices.SortFunc(aside, func(a, b rollupstore.Bucket) int {
		return cmp.Or(a.From.Compare(b.From), a.To.Compare(b.To))
	})
	if slices.Equal(aside, noted) {
		return nil
	}
	return j.Notes.SetAside(ctx, aside)
}

// oldestTrouble is the one that lasts longest; nil: there is none.
func (j *Job) oldestTrouble() (oldest *trouble) {
	for _, t := range j.aside {
		if oldest == nil || t.since.Before(oldest.since) {
			oldest = t
		}
	}
	return oldest
}

// tellTrouble says after a run how the figures are.
func (j *Job) tellTrouble() {
	t := j.oldestTrouble()
	if t == nil || time.Since(t.since) <= staleAfter {
		j.Health.Set("rollups", service.OK, "")
		return
	}
	j.Health.Set("rollups", service.Degraded, fmt.Sprintf("%d hours or days cannot be computed, one of them for %v: %v", len(j.aside), time.Since(t.since).Round(time.Minute), t.err))
}
