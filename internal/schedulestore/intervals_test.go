package schedulestore_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/probefleet/probefleet/internal/availability"
	"github.com/probefleet/probefleet/internal/database"
	"github.com/probefleet/probefleet/internal/database/databasetest"
	"github.com/probefleet/probefleet/internal/schedulestore"
	"github.com/probefleet/probefleet/internal/uptime"
)

func TestIntervalsOverTime(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		store := schedulestore.New(db)
		adopt := func(after time.Duration, deleted bool, every time.Duration, ids ...int64) {
			t.Helper()
			var seq int64
			for _, id := range ids {
				seq = appendVersion(t, db, uptime.Schedule{TargetID: id, Interval: every, Active: every != 5*time.Minute}, deleted)
			}
			if _, err := store.Adopt(t.Context(), seq, noon.Add(after)); err != nil {
				t.Fatal(err)
			}
		}
		adopt(0, false, time.Minute, 1, 2, 3)
		adopt(time.Hour, false, time.Minute, 1)         // something else changed
		adopt(2*time.Hour, false, 5*time.Minute, 1, 3)  // paused, too
		adopt(3*time.Hour, false, 10*time.Second, 1, 1) // twice in one second
		adopt(4*time.Hour, true, time.Hour, 2)
		appendVersion(t, db, uptime.Schedule{TargetID: 1, Interval: time.Hour, Active: true}, false) // nobody has adopted it
		appendVersion(t, db, uptime.Schedule{TargetID: 4, Interval: time.Hour, Active: true}, false)

		ids := []int64{1, 2, 4}
		for id := int64(100); id < 1300; id++ { // more than one statement takes
			ids = append(ids, id)
		}
		got, err := store.Intervals(t.Context(), ids)
		want := map[int64]availability.Intervals{
			1: {{From: noon, Every: time.Minute}, {From: noon.Add(2 * time.Hour), Every: 5 * time.Minute}, {From: noon.Add(3 * time.Hour), Every: 10 * time.Second}},
			2: {{From: noon, Every: time.Minute}},
		}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Error(diff, err)
		}
		if none, err := store.Intervals(t.Context(), nil); len(none) != 0 || err != nil {
			t.Error(none, err)
		}
	})
}
