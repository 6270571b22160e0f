package resultstore

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// between has something happen after a statement has read and before it has written.
type between struct {
	driver.Conn
	t       *testing.T
	into    string
	happens []func() // the first time, the second …
	ends    []time.Time
}

func (b *between) Exec(ctx context.Context, sql string, args ...any) error {
	end, _ := ctx.Deadline()
	b.ends = append(b.ends, end)
	insert := "INSERT INTO " + b.into + " "
	if !strings.Contains(sql, insert) || len(b.happens) == 0 {
		return b.Conn.Exec(ctx, sql, args...)
	}
	for _, prepare := range []string{"DROP TABLE IF EXISTS read_so_far", "CREATE TABLE read_so_far AS " + b.into} {
		if err := b.Conn.Exec(b.t.Context(), prepare); err != nil {
			return err
		}
	}
	if err := b.Conn.Exec(ctx, strings.Replace(sql, insert, "INSERT INTO read_so_far ", 1), args...); err != nil {
		return err
	}
	happens := b.happens[0]
	b.happens = b.happens[1:]
	happens()
	return b.Conn.Exec(ctx, "INSERT INTO "+b.into+" SELECT * FROM read_so_far")
}

// A rebuild computes the last hour of a day, and the day, while the job is about to write
// the same day as it was before: the day has to be that of all its hours in the end.
func TestDayIsThatOfHoursThatChangeMeanwhile(t *testing.T) {
	t.Parallel()
	s, url := open(t)
	rebuild := openAt(t, url)
	start := time.Now().UTC().Truncate(day).Add(-3 * day)
	insert(t, s, batchOf(up(1, "eu", start), up(1, "eu", start.Add(hour)), up(1, "eu", start.Add(2*hour)), up(1, "eu", start.Add(3*hour))))
	recompute(t, s, Rollup{Bucket: start, Version: time.Now()})
	hourAndDay := func(n time.Duration) func() {
		return func() {
			began := Rollup{Bucket: start.Add(n * hour), Version: time.Now().Add(-hour), Unseen: true}
			recompute(t, rebuild, began)
			began.Bucket = start
			if _, err := rebuild.RecomputeDay(t.Context(), began); err != nil {
				t.Fatal(err)
			}
		}
	}
	job := &between{Conn: s.conn, t: t, into: "rollup_1d", happens: []func(){hourAndDay(1), hourAndDay(2)}}
	s.conn = job
	for name, r := range map[string]Rollup{"all": {}, "those that were marked": {Marked: time.UnixMilli(1)}} {
		r.Bucket, r.Version = start, time.Now()
		if _, err := s.RecomputeDay(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		var ups uint64
		if err := s.query(t.Context(), pageBound, `SELECT up FROM rollup_1d FINAL WHERE region = ''`, nil, func(rows driver.Rows) error {
			var n uint32
			err := rows.Scan(&n)
			ups = uint64(n)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if want := uint64(3); name == "all" && ups < want || len(job.happens) > 0 {
			t.Errorf("%s: the day has %d of its slots, %d left to happen", name, ups, len(job.happens))
		}
		job.happens = []func(){hourAndDay(3)}
	}
	for range 2 * dayTries {
		job.happens = append(job.happens, hourAndDay(1))
	}
	if _, err := s.RecomputeDay(t.Context(), Rollup{Bucket: start, Version: time.Now()}); err == nil || !strings.Contains(err.Error(), "go on changing") {
		t.Errorf("hours that never stand still: %v", err)
	}
}

// All statements of a call have one end: three times five minutes would be longer than its
// watchdog waits.
func TestComputingIsBoundAsAWhole(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	at := pastHour()
	insert(t, s, batchOf(up(1, "eu", at)))
	seen := &between{Conn: s.conn, t: t}
	s.conn = seen
	began := time.Now()
	recompute(t, s, Rollup{Bucket: at, Version: time.Now(), Closed: true})
	if _, err := s.RecomputeDay(t.Context(), Rollup{Bucket: at.Truncate(day), Version: time.Now()}); err != nil {
		t.Fatal(err)
	}
	if len(seen.ends) != 4 || !seen.ends[0].Equal(seen.ends[1]) || !seen.ends[0].Equal(seen.ends[2]) || seen.ends[2].After(time.Now().Add(rollupBound)) || seen.ends[0].Before(began.Add(rollupBound)) {
		t.Errorf("statements end at %v", seen.ends)
	}
}

// What could not be computed is marked again: the same targets of the same hour, or of one
// hour of the day, as if rows of them had just arrived.
func TestMarkAgain(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	start := time.Now().UTC().Truncate(day).Add(-3 * day)
	for _, one := range []struct {
		target int
		hours  time.Duration
		ago    int
	}{{1, 2, 100}, {2, 2, 50}, {2, 5, 100}, {3, 30, 50}} {
		if err := s.conn.Exec(t.Context(), `INSERT INTO rollup_dirty (bucket, target_id, dirty_at) SELECT {at:DateTime('UTC')}, {target:UInt64}, now64(3) - INTERVAL {ago:UInt32} MINUTE`,
			seconds("at", start.Add(one.hours*hour)), clickhouse.Named("target", uint64(one.target)), clickhouse.Named("ago", uint32(one.ago))); err != nil {
			t.Fatal(err)
		}
	}
	since := func() map[time.Time]int64 {
		t.Helper()
		dirty, err := s.DirtyHours(t.Context(), time.Now().Add(-30*time.Minute), start, start.Add(3*day))
		if err != nil {
			t.Fatal(err)
		}
		found := map[time.Time]int64{}
		for _, d := range dirty {
			found[d.Hour] = d.Targets
		}
		return found
	}
	if err := s.MarkAgain(t.Context(), Rollup{Bucket: start.Add(2 * hour), Marked: time.Now().Add(-70 * time.Minute)}, hour); err != nil {
		t.Fatal(err)
	}
	if got := since(); len(got) != 1 || got[start.Add(2*hour)] != 1 {
		t.Errorf("those of an hour that were marked: %v", got)
	}
	if err := s.MarkAgain(t.Context(), Rollup{Bucket: start}, day); err != nil {
		t.Fatal(err)
	}
	if got := since(); len(got) != 2 || got[start.Add(2*hour)] != 2 || got[start.Add(5*hour)] != 1 {
		t.Errorf("all of a day: %v", got)
	}
}
