package resultstore

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/probefleet/probefleet/internal/availability"
	"github.com/probefleet/probefleet/internal/uptime"
)

// pastHour is over for long.
var pastHour = sync.OnceValue(func() time.Time { return time.Now().UTC().Truncate(time.Hour).Add(-30 * time.Hour) })

func recompute(t testing.TB, s *Store, r Rollup) Recomputed {
	t.Helper()
	done, err := s.RecomputeHour(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return done
}

func TestTargetAsAWhole(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	at := pastHour()
	const u, d, x, k, m = uptime.StatusUp, uptime.StatusDegraded, uptime.StatusDown, uptime.StatusUnknown, uptime.StatusMissed
	cases := []struct {
		regions []uptime.Status
		want    uptime.Status
	}{
		{[]uptime.Status{u, u, u}, u},
		{[]uptime.Status{u, u, d}, d},
		{[]uptime.Status{u, u, x}, d},
		{[]uptime.Status{u, x, x}, x},
		{[]uptime.Status{u, x}, d},       // half is not more than half
		{[]uptime.Status{u, x, k, m}, d}, // who did not measure does not vote
		{[]uptime.Status{x, k, k, m, m}, x},
		{[]uptime.Status{u, k, m}, u},
		{[]uptime.Status{k, m, m}, k},
		{[]uptime.Status{m, m}, m},
	}
	var rows []uptime.Result
	for i, c := range cases {
		for region, status := range c.regions {
			r := missed(int64(i+1), fmt.Sprint("r", region), at.Add(20*time.Minute))
			if r.Status = status; status.Measured() {
				r = up(r.TargetID, r.Region, r.ScheduledAt)
				r.Status = status
			}
			rows = append(rows, r)
		}
	}
	insert(t, s, batchOf(rows...))
	recompute(t, s, Rollup{Bucket: at, Version: time.Now()})
	found := map[int64]uptime.Status{}
	err := s.query(t.Context(), pageBound, `SELECT target_id, [up, degraded, down, unknown, missed] AS n, indexOf(n, 1), arraySum(n), quarter.up[2] + quarter.degraded[2] + quarter.down[2] + quarter.unknown[2] + quarter.missed[2]
FROM rollup_1h FINAL WHERE region = ''`, nil, func(rows driver.Rows) error {
		var id, status, sum uint64
		var n []uint32
		var second uint64
		err := rows.Scan(&id, &n, &status, &sum, &second)
		if sum != 1 || second != 1 {
			t.Errorf("target %d: %v", id, n)
		}
		found[int64(id)] = uptime.Status(status)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range cases {
		if found[int64(i+1)] != c.want {
			t.Errorf("%v is %v, want %v", c.regions, found[int64(i+1)], c.want)
		}
	}
}

// A day of a zone that begins at a quarter of an hour is exact.
func TestDaysOfAnyZone(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	first := time.Now().UTC().Truncate(day).Add(-3 * day)
	var rows []uptime.Result
	hours := 48
	if testing.Short() {
		hours = 27
	}
	for at := first; at.Before(first.Add(time.Duration(hours) * time.Hour)); at = at.Add(7 * time.Minute) {
		rows = append(rows, up(1, "eu", at))
	}
	insert(t, s, batchOf(rows...))
	for h := range hours {
		recompute(t, s, Rollup{Bucket: first.Add(time.Duration(h) * time.Hour), Version: time.Now()})
	}
	for _, name := range []string{"UTC", "Asia/Kathmandu", "Asia/Kolkata", "Australia/Eucla", "America/St_Johns", "Europe/Berlin"} {
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		want, got := map[string]uint64{}, map[string]uint64{}
		for _, r := range rows {
			want[r.ScheduledAt.In(zone).Format(time.DateOnly)]++
		}
		err = s.query(t.Context(), pageBound, `SELECT toString(toDate(bucket + 900 * q, '`+name+`')) AS day, sum(ups)
FROM (SELECT bucket, quarter.up AS up FROM rollup_1h FINAL WHERE region = 'eu') ARRAY JOIN up AS ups, [0, 1, 2, 3] AS q GROUP BY day`, nil, func(rows driver.Rows) error {
			var day string
			var n uint64
			err := rows.Scan(&day, &n)
			got[day] = n
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// Percentiles of merged hours and days are those of the results, to 2 %; the row of the
// target as a whole adds nothing to them.
func TestPercentilesOfRollups(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	first := time.Now().UTC().Truncate(day).Add(-2 * day)
	var rows []uptime.Result
	var all []float64
	for i := range 3 * 60 * 3 {
		r := up(1, []string{"ap", "eu", "us"}[i%3], first.Add(time.Duration(i/3)*time.Minute))
		r.TotalUS = uint32(20_000 + (i*i*7919)%900_000)
		if i%20 == 0 {
			r.Status, r.TotalUS = uptime.StatusDown, 10_000_000
		} else {
			all = append(all, float64(r.TotalUS))
		}
		rows = append(rows, r)
	}
	insert(t, s, batchOf(rows...))
	version := time.Now()
	for h := range 3 {
		recompute(t, s, Rollup{Bucket: first.Add(time.Duration(h) * time.Hour), Version: version})
	}
	if _, err := s.RecomputeDay(t.Context(), Rollup{Bucket: first, Version: version}); err != nil {
		t.Fatal(err)
	}
	slices.Sort(all)
	for _, table := range []string{"rollup_1h", "rollup_1d"} {
		var got []float64
		err := s.query(t.Context(), pageBound, `SELECT arrayMap(x -> toFloat64(x), quantilesDDMerge(0.02, 0.5, 0.95, 0.99)(latency)) FROM `+table+` FINAL`, nil, func(rows driver.Rows) error { return rows.Scan(&got) })
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range []float64{0.5, 0.95, 0.99} {
			want := all[int(p*float64(len(all)-1))]
			if math.Abs(got[i]-want) > 0.03*want {
				t.Errorf("%s: p%v is %v, want %v", table, 100*p, got[i], want)
			}
		}
	}
}

// What ended between the change of an hour and the note of it is noted the next time,
// before the hour changes again; who finds the same change again notes it once.
func TestCorrectionIsNotLost(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	at, version := pastHour(), time.Now().Truncate(time.Second)
	next := func(closed bool) Recomputed {
		t.Helper()
		version = version.Add(time.Second)
		return recompute(t, s, Rollup{Bucket: at, Version: version, Closed: closed})
	}
	corrections := func() []availability.Correction {
		t.Helper()
		all, err := s.Corrections(t.Context(), []int64{1}, at, at.Add(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		return slices.DeleteFunc(all[1], func(c availability.Correction) bool { return c.Region == "" })
	}
	insert(t, s, batchOf(missed(1, "eu", at)))
	next(false)
	insert(t, s, batchOf(up(1, "eu", at)))
	if done := next(true); done.Revised != 2 || len(corrections()) != 1 {
		t.Fatalf("%+v, %+v", done, corrections())
	}
	if err := s.conn.Exec(t.Context(), `TRUNCATE TABLE corrections`); err != nil {
		t.Fatal(err)
	}
	insert(t, s, batchOf(up(1, "eu", at.Add(time.Minute))))
	if done := next(true); done.Revised != 2 {
		t.Errorf("%+v", done)
	}
	want := []availability.Correction{
		{Region: "eu", Hour: at, RevisedAt: version.UTC(), Old: availability.Counts{Up: 1}, New: availability.Counts{Up: 2}, OldTotalUS: 15, NewTotalUS: 30},
		{Region: "eu", Hour: at, RevisedAt: version.Add(-time.Second).UTC(), Old: availability.Counts{Missed: 1}, New: availability.Counts{Up: 1}, NewTotalUS: 15},
	}
	if got := corrections(); !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
	for range 3 {
		if done := next(true); done.Revised != 0 {
			t.Errorf("nothing changed: %+v", done)
		}
	}
	if got := corrections(); !slices.Equal(got, want) {
		t.Errorf("after runs that change nothing: %+v", got)
	}
	if n := count(t, s, `SELECT countIf(revised_at > 0) FROM rollup_1h FINAL`); n != 2 {
		t.Errorf("%d rows are revised", n)
	}
}

func TestRebuildOfWhatWasNeverThereCorrectsNothing(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	at := pastHour()
	insert(t, s, batchOf(up(1, "eu", at)))
	if done := recompute(t, s, Rollup{Bucket: at, Version: time.Now(), Closed: true, Unseen: true}); done != (Recomputed{Rows: 2}) {
		t.Errorf("%+v", done)
	}
}

// Each table is emptied of a target whatever becomes of the others, and the next look
// finds what is left.
func TestDeletedTargetsLeaveNothing(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	at := time.Now().UTC().Truncate(day).Add(-2 * day)
	insert(t, s, batchOf(missed(1, "eu", at), missed(2, "eu", at)))
	recompute(t, s, Rollup{Bucket: at, Version: time.Now()})
	insert(t, s, batchOf(printed(up(1, "eu", at), uptime.Print{URL: "x"}), printed(up(2, "eu", at), uptime.Print{URL: "x"})))
	recompute(t, s, Rollup{Bucket: at, Version: time.Now().Add(time.Second), Closed: true})
	if _, err := s.RecomputeDay(t.Context(), Rollup{Bucket: at, Version: time.Now()}); err != nil {
		t.Fatal(err)
	}
	left := func() (tables []string) {
		for _, table := range targetTables {
			if count(t, s, `SELECT count() FROM `+table+` WHERE target_id = 1`) > 0 {
				tables = append(tables, table)
			}
			if count(t, s, `SELECT count() FROM `+table+` WHERE target_id = 2`) == 0 {
				t.Errorf("%s has lost another target", table)
			}
		}
		return tables
	}
	if got := left(); !slices.Equal(got, targetTables[:]) {
		t.Fatalf("a test without rows in every table: %v", got)
	}
	for _, rename := range []string{"rollup_1h TO hidden", "hidden TO rollup_1h"} {
		if err := s.conn.Exec(t.Context(), `RENAME TABLE `+rename); err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(rename, "rollup") {
			if err := s.DeleteTargets(t.Context(), []int64{1}); err == nil || !strings.Contains(err.Error(), "rollup_1h") {
				t.Errorf("a table that is away: %v", err)
			}
		}
	}
	if got := left(); !slices.Equal(got, []string{"rollup_1h"}) {
		t.Errorf("one table was away, rows are left in %v", got)
	}
	if found, err := s.TargetsWithRows(t.Context(), []int64{1, 3}); err != nil || !slices.Equal(found, []int64{1}) {
		t.Errorf("found %v, %v", found, err)
	}
	if err := s.DeleteTargets(t.Context(), []int64{1}); err != nil {
		t.Error(err)
	}
	if got := left(); got != nil {
		t.Errorf("left in %v", got)
	}
}

// Deleted rows leave the disk: the parts that hide them are written anew, day by day.
//
// Promise: deleted targets leave no rows
func TestDeletedRowsAreErased(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	at := time.Now().UTC().Truncate(day).Add(-3 * day)
	var rows []uptime.Result
	for n := range 3 {
		for id := int64(1); id <= 2; id++ {
			r := up(id, "eu", at.Add(time.Duration(n)*day))
			r.Message = "what it said"
			rows = append(rows, printed(r, uptime.Print{URL: "x"}))
		}
	}
	insert(t, s, batchOf(rows...))
	recompute(t, s, Rollup{Bucket: at, Version: time.Now()})
	stored := func(table string) uint64 {
		t.Helper()
		return count(t, s, `SELECT sum(rows) FROM system.parts WHERE database = currentDatabase() AND table = '`+table+`' AND active`)
	}
	if err := s.DeleteTargets(t.Context(), []int64{1}); err != nil {
		t.Fatal(err)
	}
	if n := stored("results"); n != 6 { // else there is nothing to erase
		t.Fatalf("%d rows are stored", n)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := s.EraseDeleted(ended, "results"); err == nil {
		t.Error("erased by nobody")
	}
	for _, table := range targetTables {
		for range 2 { // the second time there is nothing to do
			if err := s.EraseDeleted(t.Context(), table); err != nil {
				t.Fatal(err)
			}
		}
		if all, seen := stored(table), count(t, s, `SELECT count() FROM `+table); all != seen || seen == 0 && table != "corrections" && table != "rollup_1d" {
			t.Errorf("%s stores %d rows, and %d can be seen", table, all, seen)
		}
	}
	if n := stored("results"); n != 3 {
		t.Errorf("of the other target %d rows are left", n)
	}
	if err := s.EraseDeleted(t.Context(), "batches"); err == nil {
		t.Error("erased from a table without targets")
	}
}

func TestDirtyHours(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	at := pastHour()
	start, err := s.ServerTime(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b := batchOf(up(1, "eu", at), up(1, "us", at.Add(time.Minute)), up(2, "eu", at.Add(time.Hour-time.Millisecond)), up(1, "eu", at.Add(-time.Hour)))
	insert(t, s, b, b)
	for name, c := range map[string]struct {
		marked, from, to time.Time
		want             []DirtyHour
	}{
		"all":             {start.Add(-time.Minute), at.Add(-day), at.Add(day), []DirtyHour{{at, 2}, {at.Add(-time.Hour), 1}}},
		"of ever":         {time.UnixMilli(1), at.Add(-day), at.Add(day), []DirtyHour{{at, 2}, {at.Add(-time.Hour), 1}}},
		"not so far back": {start.Add(-time.Minute), at, at.Add(day), []DirtyHour{{at, 2}}},
		"half open":       {start.Add(-time.Minute), at.Add(-day), at, []DirtyHour{{at.Add(-time.Hour), 1}}},
		"none since":      {time.Now().Add(time.Hour), at.Add(-day), at.Add(day), nil},
	} {
		if got, err := s.DirtyHours(t.Context(), c.marked, c.from, c.to); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	for name, r := range map[string]Rollup{"no hour": {Bucket: at.Add(time.Minute), Version: start}, "no version": {Bucket: at}} {
		if _, err := s.RecomputeHour(t.Context(), r); err == nil {
			t.Error(name)
		}
	}
}
