package resultstore

import (
	"testing"
	"time"
)

// The job may compute an hour and its day while a rebuild, whose version is older, is in the
// midst of the day: when the rebuild has ended the day is the sum of its hours all the same.
func TestDayOfARebuildThatTheJobCameBetween(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	first := time.Now().UTC().Truncate(day).Add(-2 * day)
	begun := time.Now().Truncate(time.Second)
	ofDay := func(version time.Time) {
		t.Helper()
		if _, err := s.RecomputeDay(t.Context(), Rollup{Bucket: first, Version: version}); err != nil {
			t.Fatal(err)
		}
	}
	insert(t, s, batchOf(up(1, "eu", first), up(1, "eu", first.Add(hour)), up(1, "eu", first.Add(2*hour))))
	recompute(t, s, Rollup{Bucket: first.Add(2 * hour), Version: begun})
	recompute(t, s, Rollup{Bucket: first.Add(hour), Version: begun.Add(time.Minute)})
	ofDay(begun.Add(time.Minute)) // the job
	recompute(t, s, Rollup{Bucket: first, Version: begun})
	ofDay(begun)
	for _, table := range []string{"rollup_1h", "rollup_1d"} {
		if n := count(t, s, `SELECT sum(up) FROM `+table+` FINAL WHERE region = 'eu'`); n != 3 {
			t.Errorf("%s counts %d of 3", table, n)
		}
	}
	insert(t, s, batchOf(up(1, "eu", first.Add(3*hour))))
	recompute(t, s, Rollup{Bucket: first.Add(3 * hour), Version: begun.Add(2 * time.Minute)})
	ofDay(begun.Add(2 * time.Minute))
	if n := count(t, s, `SELECT sum(up) FROM rollup_1d FINAL WHERE region = 'eu'`); n != 4 {
		t.Errorf("the next run of the job: %d of 4", n)
	}
}
