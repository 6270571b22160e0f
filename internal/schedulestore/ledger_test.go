package schedulestore_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/probefleet/probefleet/internal/database"
	"github.com/probefleet/probefleet/internal/database/databasetest"
	"github.com/probefleet/probefleet/internal/schedulestore"
	"github.com/probefleet/probefleet/internal/uptime"
)

func TestGapsAndSweepMark(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		store := schedulestore.New(db)
		for _, reason := range []uptime.Reason{uptime.ReasonRedisDown, uptime.ReasonPublisherDown} {
			if err := store.AddGap(t.Context(), reason, noon, noon.Add(time.Minute)); err != nil {
				t.Fatal(err)
			}
		}
		for _, c := range []struct {
			from, to time.Duration
			want     int
		}{{-time.Hour, 0, 0}, {-time.Hour, time.Second, 2}, {30 * time.Second, 40 * time.Second, 2}, {time.Minute, time.Hour, 0}} {
			gaps, err := store.Gaps(t.Context(), noon.Add(c.from), noon.Add(c.to))
			if err != nil || len(gaps) != c.want {
				t.Errorf("gaps in [%v, %v): %v, %v", c.from, c.to, gaps, err)
			}
			if len(gaps) > 0 {
				if diff := cmp.Diff(schedulestore.Gap{Reason: uptime.ReasonRedisDown, From: noon, To: noon.Add(time.Minute)}, gaps[0]); diff != "" {
					t.Error(diff)
				}
			}
		}
		for _, step := range []struct{ set, want time.Time }{{want: time.Time{}}, {noon, noon}, {noon.Add(time.Hour), noon.Add(time.Hour)}, {noon, noon.Add(time.Hour)}} {
			if !step.set.IsZero() {
				if err := store.SetSweptTo(t.Context(), step.set); err != nil {
					t.Fatal(err)
				}
			}
			if got, err := store.SweptTo(t.Context()); err != nil || !got.Equal(step.want) {
				t.Errorf("after setting %v: %v, %v", step.set, got, err)
			}
		}
	})
}
