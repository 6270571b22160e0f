package schedulestore_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"
	"gorm.io/gorm"

	"github.com/probefleet/probefleet/internal/database"
	"github.com/probefleet/probefleet/internal/database/databasetest"
	"github.com/probefleet/probefleet/internal/schedulestore"
	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/internal/uptime"
)

func TestMain(m *testing.M) { testbackend.Main(m) }

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func appendVersion(t testing.TB, db *database.DB, schedule uptime.Schedule, deleted bool) int64 {
	t.Helper()
	var given int64
	err := schedulestore.Change(t.Context(), db, func(tx *gorm.DB, seq int64) error {
		given = seq
		return schedulestore.Append(t.Context(), tx, seq, schedulestore.Draft{Schedule: schedule, Deleted: deleted}, time.Now())
	})
	if err != nil {
		t.Fatal(err)
	}
	return given
}

func versions(t testing.TB, store *schedulestore.Store, after int64) []schedulestore.Version {
	t.Helper()
	var all []schedulestore.Version
	err := store.EachVersion(t.Context(), after, func(v schedulestore.Version) error {
		all = append(all, v)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A reader that goes on from the highest seq it has seen must never miss a
// version that commits later with a lower one.
func TestSeqOrderIsCommitOrder(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		writers, each := 8, 40
		if testing.Short() {
			each = 15
		}
		store := schedulestore.New(db)
		errRollback := errors.New("roll back")
		writersDone := make(chan struct{})
		var group errgroup.Group
		for w := range writers {
			group.Go(func() error {
				for i := range each {
					err := schedulestore.Change(t.Context(), db, func(tx *gorm.DB, seq int64) error {
						schedule := uptime.Schedule{TargetID: int64(w*each + i), Interval: time.Minute, Active: true}
						if err := schedulestore.Append(t.Context(), tx, seq, schedulestore.Draft{Schedule: schedule}, time.Now()); err != nil {
							return err
						}
						if i%5 == 4 {
							return errRollback // must leave no hole
						}
						return nil
					})
					if err != nil && !errors.Is(err, errRollback) {
						return err
					}
				}
				return nil
			})
		}
		var followed []int64
		var follower errgroup.Group
		follower.Go(func() error {
			var last int64
			for done := false; ; {
				select {
				case <-writersDone:
					done = true // one more round sees the rest
				default:
				}
				err := store.EachVersion(t.Context(), last, func(v schedulestore.Version) error {
					followed = append(followed, v.Seq)
					last = v.Seq
					return nil
				})
				if err != nil || done {
					return err
				}
			}
		})
		if err := group.Wait(); err != nil {
			t.Error(err)
		}
		close(writersDone)
		if err := follower.Wait(); err != nil {
			t.Fatal(err)
		}
		committed := writers * each * 4 / 5
		want := make([]int64, committed)
		for i := range want {
			want[i] = int64(i + 1)
		}
		if !slices.Equal(followed, want) {
			t.Errorf("the follower saw %d of %d versions", len(followed), committed)
		}
		if seq, err := store.Seq(t.Context()); err != nil || seq != int64(committed) {
			t.Errorf("Seq = %d, %v; want %d", seq, err, committed)
		}
	})
}

func TestAdoptTouchesOnlyPendingUpToSeq(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		store := schedulestore.New(db)
		schedule := uptime.Schedule{TargetID: 7, Interval: time.Minute, Regions: []string{"us", "eu"}, Active: true}
		appendVersion(t, db, schedule, false) // 1
		if changed, err := store.AddRegion(t.Context(), "eu"); err != nil || !changed {
			t.Fatal(changed, err) // 2
		}
		schedule.Interval = 30 * time.Second
		appendVersion(t, db, schedule, false) // 3

		adopt := func(seq int64, from time.Time, want int) {
			t.Helper()
			if got, err := store.Adopt(t.Context(), seq, from); err != nil || got != want {
				t.Fatalf("Adopt(%d) = %d, %v; want %d", seq, got, err, want)
			}
		}
		adopt(2, noon, 2)
		adopt(2, noon.Add(time.Hour), 0)
		schedule.Regions = []string{"eu", "us"}
		first := schedule
		first.Interval = time.Minute
		want := []schedulestore.Version{
			{Seq: 1, Schedule: first, EffectiveFrom: noon},
			{Seq: 3, Schedule: schedule},
		}
		if diff := cmp.Diff(want, versions(t, store, 0)); diff != "" {
			t.Fatal(diff)
		}
		adopt(3, noon.Add(time.Minute), 1)
		want[1].EffectiveFrom = noon.Add(time.Minute)
		if diff := cmp.Diff(want, versions(t, store, 0)); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(want[1:], versions(t, store, 1)); diff != "" {
			t.Error(diff)
		}
		regions, err := store.RegionVersions(t.Context(), 0)
		if diff := cmp.Diff([]schedulestore.RegionVersion{{Seq: 2, Region: "eu", Active: true, EffectiveFrom: noon}}, regions); err != nil || diff != "" {
			t.Error(err, diff)
		}
	})
}

func TestEachVersionStreamsEverything(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		const many = 20_000
		store := schedulestore.New(db)
		err := db.Tx(t.Context(), func(tx *gorm.DB) error {
			err := tx.Exec(`INSERT INTO schedule_versions (seq, target_id, interval_s, regions, active, deleted, created_at_ms)
WITH RECURSIVE n (seq) AS (SELECT 1 UNION ALL SELECT seq + 1 FROM n WHERE seq < ?)
SELECT seq, 1000000 - seq, 60, '["eu"]', TRUE, FALSE, 0 FROM n`, many).Error
			return errors.Join(err, tx.Exec("UPDATE schedule_counter SET seq = ?", many).Error)
		})
		if err != nil {
			t.Fatal(err)
		}
		var next int64 = 1
		err = store.EachVersion(t.Context(), 0, func(v schedulestore.Version) error {
			want := schedulestore.Version{Seq: next, Schedule: uptime.Schedule{TargetID: 1_000_000 - next, Interval: time.Minute, Regions: []string{"eu"}, Active: true}}
			if !reflect.DeepEqual(want, v) {
				return fmt.Errorf("got %+v, want %+v", v, want)
			}
			if next%5_000 == 0 { // a reader may use the store while it reads
				if _, err := store.Seq(t.Context()); err != nil {
					return err
				}
				if err := store.SetSweptTo(t.Context(), noon.Add(time.Duration(next))); err != nil {
					return err
				}
			}
			next++
			return nil
		})
		if err != nil || next != many+1 {
			t.Errorf("read %d of %d versions: %v", next-1, many, err)
		}
		stop := errors.New("stop")
		if err := store.EachVersion(t.Context(), 0, func(schedulestore.Version) error { return stop }); !errors.Is(err, stop) {
			t.Errorf("the callback's error was not passed on: %v", err)
		}
	})
}

func TestRegionsChangeOnce(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		store := schedulestore.New(db)
		if changed, err := store.RetireRegion(t.Context(), "eu"); err != nil || changed {
			t.Errorf("retiring an unknown region: %v, %v", changed, err)
		}
		var group errgroup.Group
		won := make(chan bool, 20)
		for range cap(won) {
			group.Go(func() error {
				changed, err := store.AddRegion(t.Context(), "eu")
				won <- changed
				return err
			})
		}
		if err := group.Wait(); err != nil {
			t.Fatal(err)
		}
		close(won)
		var winners int
		for changed := range won {
			if changed {
				winners++
			}
		}
		if winners != 1 {
			t.Errorf("%d of %d callers added the region", winners, cap(won))
		}
		for i, step := range []struct {
			do   func(string) (bool, error)
			want bool
		}{
			{func(r string) (bool, error) { return store.RetireRegion(t.Context(), r) }, true},
			{func(r string) (bool, error) { return store.RetireRegion(t.Context(), r) }, false},
			{func(r string) (bool, error) { return store.AddRegion(t.Context(), r) }, true},
		} {
			if changed, err := step.do("eu"); err != nil || changed != step.want {
				t.Errorf("step %d: %v, %v", i, changed, err)
			}
		}
		regions, err := store.RegionVersions(t.Context(), 0)
		var flags []bool
		for _, r := range regions {
			flags = append(flags, r.Active)
		}
		if err != nil || !slices.Equal(flags, []bool{true, false, true}) {
			t.Errorf("versions %v, %v", regions, err)
		}
	})
}

func TestSchedulesAsTheyWereKnown(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		store := schedulestore.New(db)
		born := time.Now().UTC().Add(-time.Hour).Truncate(time.Millisecond)
		for i, s := range []uptime.Schedule{
			{TargetID: 7, Interval: time.Minute, Active: true},
			{TargetID: 7, Interval: 2 * time.Minute, Regions: []string{"eu"}, Active: true},
			{TargetID: 7, Interval: 2 * time.Minute, Regions: []string{"eu"}},
			{TargetID: 7, Interval: 3 * time.Minute},
			{TargetID: 8, Interval: time.Minute},
		} {
			seq := appendVersion(t, db, s, false)
			if err := db.Write().Exec("UPDATE schedule_versions SET created_at_ms = ? WHERE seq = ?", born.Add(time.Duration(i)*10*time.Minute).UnixMilli(), seq).Error; err != nil {
				t.Fatal(err)
			}
		}
		after := func(minutes int) time.Time { return born.Add(time.Duration(minutes) * time.Minute) }
		was := []schedulestore.Earlier{
			{Schedule: uptime.Schedule{TargetID: 7, Interval: time.Minute, Active: true}, Until: after(10)},
			{Schedule: uptime.Schedule{TargetID: 7, Interval: 2 * time.Minute, Regions: []string{"eu"}, Active: true}, Until: after(20)},
			{Schedule: uptime.Schedule{TargetID: 7, Interval: 2 * time.Minute, Regions: []string{"eu"}}, Until: after(30)},
		}
		for minutes, want := range map[int]schedulestore.Known{
			-1: {Schedule: uptime.Schedule{TargetID: 7, Interval: time.Minute, Active: true}, ChangedAt: after(10)}, // a moment before it was written down
			9:  {Schedule: uptime.Schedule{TargetID: 7, Interval: time.Minute, Active: true}, ChangedAt: after(10)},
			10: {Schedule: uptime.Schedule{TargetID: 7, Interval: 2 * time.Minute, Regions: []string{"eu"}, Active: true}, ChangedAt: after(20), Earlier: was[:1]},
			29: {Schedule: uptime.Schedule{TargetID: 7, Interval: 2 * time.Minute, Regions: []string{"eu"}}, PausedAt: after(20), ChangedAt: after(30), Earlier: was[:2]},
			99: {Schedule: uptime.Schedule{TargetID: 7, Interval: 3 * time.Minute}, PausedAt: after(20), Earlier: was},
		} {
			got, err := store.KnownAt(t.Context(), []int64{7, 9}, after(minutes))
			if err != nil || len(got) != 1 || !reflect.DeepEqual(got[7], want) {
				t.Errorf("after %d minutes: %+v, %v; want %+v", minutes, got, err, want)
			}
		}
	})
}

func TestRegionsAsTheyWereThere(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		store := schedulestore.New(db)
		for _, change := range []func(context.Context, string) (bool, error){store.AddRegion, store.RetireRegion, store.AddRegion} {
			for _, region := range []string{"us", "eu"} {
				if _, err := change(t.Context(), region); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := db.Write().Exec("UPDATE region_versions SET created_at_ms = ? + seq * 1000", noon.UnixMilli()).Error; err != nil {
			t.Fatal(err)
		}
		all, err := store.RegionsUntil(t.Context(), noon.Add(3*time.Second))
		at := func(second int) time.Time { return noon.Add(time.Duration(second) * time.Second) }
		want := []schedulestore.Regions{{}, {From: at(1), Active: []string{"us"}}, {From: at(2), Active: []string{"eu", "us"}}, {From: at(3), Active: []string{"eu"}}}
		if err != nil || !reflect.DeepEqual(all, want) {
			t.Errorf("after 3 seconds: %v, %v; want %v", all, err, want)
		}
		all, err = store.RegionsUntil(t.Context(), at(6))
		if err != nil || len(all) != 7 || len(all[4].Active) != 0 || !slices.Equal(all[6].Active, []string{"eu", "us"}) {
			t.Errorf("after all of it: %v, %v", all, err)
		}
	})
}
