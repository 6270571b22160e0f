package e2e

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	_ "modernc.org/sqlite"
)

// The auditor: planned slots from the schedule versions, rows from ClickHouse,
// with arithmetic of its own. It imports nothing of the pipeline.

type slot struct {
	target int64
	region string
	at     int64 // unix ms
}

type audit struct {
	Planned, Rows, Missing, Doubled int
	Unplanned                       int            // rows nobody planned
	OfDeleted                       int            // rows of deleted targets, about to be removed
	Reasons                         map[string]int // status(reason) -> rows
	missing                         []slot
}

func (a audit) String() string {
	return fmt.Sprintf("planned %d, rows %d, missing %d, doubled %d, unplanned %d, of deleted targets %d, %v", a.Planned, a.Rows, a.Missing, a.Doubled, a.Unplanned, a.OfDeleted, a.Reasons)
}

type versionRow struct {
	target, interval, from int64
	regions                []string
	active, deleted        bool
}

// phaseMS is the published hash: splitmix64's finaliser of the id, modulo the interval.
func phaseMS(id, intervalMS int64) int64 {
	x := uint64(id) + 0x9e3779b97f4a7c15
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	x ^= x >> 31
	return int64(x % uint64(intervalMS))
}

func planned(t testing.TB, databaseURL string, fromMS, toMS int64) (slots map[slot]bool, deleted map[int64]bool) {
	t.Helper()
	db, err := sql.Open("sqlite", strings.TrimPrefix(databaseURL, "sqlite:")+"?mode=ro&_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()

	type span struct{ from, to int64 }
	regionSpans := map[string][]span{}
	rows, err := db.Query(`SELECT region, active, effective_from_ms FROM region_versions WHERE effective_from_ms IS NOT NULL ORDER BY seq`)
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		var region string
		var active bool
		var from int64
		if err := rows.Scan(&region, &active, &from); err != nil {
			t.Fatal(err)
		}
		spans := regionSpans[region]
		if n := len(spans); n > 0 && spans[n-1].to == 1<<62 {
			spans[n-1].to = from
		}
		if active {
			spans = append(spans, span{from, 1 << 62})
		}
		regionSpans[region] = spans
	}
	_ = rows.Close()

	versions := map[int64][]versionRow{}
	rows, err = db.Query(`SELECT target_id, interval_s, regions, active, deleted, effective_from_ms FROM schedule_versions WHERE effective_from_ms IS NOT NULL ORDER BY seq`)
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		var v versionRow
		var regions string
		if err := rows.Scan(&v.target, &v.interval, &regions, &v.active, &v.deleted, &v.from); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(regions), &v.regions); err != nil {
			t.Fatal(err)
		}
		versions[v.target] = append(versions[v.target], v)
	}
	if err := rows.Close(); err != nil {
		t.Fatal(err)
	}

	slots, deleted = map[slot]bool{}, map[int64]bool{}
	for id, list := range versions {
		if list[len(list)-1].deleted {
			deleted[id] = true // its rows are removed with it
			continue
		}
		for i, v := range list {
			until := toMS
			if i+1 < len(list) {
				until = min(until, list[i+1].from)
			}
			if !v.active {
				continue
			}
			step := v.interval * 1000
			at := max(v.from, fromMS)
			at += ((phaseMS(id, step)-at)%step + step) % step
			for ; at < until; at += step {
				for region, spans := range regionSpans {
					if len(v.regions) > 0 && !slices.Contains(v.regions, region) {
						continue
					}
					for _, sp := range spans {
						if at >= sp.from && at < sp.to {
							slots[slot{id, region, at}] = true
						}
					}
				}
			}
		}
	}
	return slots, deleted
}

func openClickHouse(t testing.TB, url string) clickhouse.Conn {
	t.Helper()
	options, err := clickhouse.ParseDSN(url)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := clickhouse.Open(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// auditWindow compares what was planned in [from, to) with what is there.
func auditWindow(t testing.TB, s *system, from, to time.Time) audit {
	t.Helper()
	run := s.run()
	want, deleted := planned(t, run.DatabaseURL, from.UnixMilli(), to.UnixMilli())
	a := audit{Planned: len(want), Reasons: map[string]int{}}
	conn := openClickHouse(t, run.ClickHouseURL)
	rows, err := conn.Query(context.Background(), fmt.Sprintf(
		`SELECT target_id, region, toUnixTimestamp64Milli(scheduled_at), count(), any(toString(status)), any(reason)
		 FROM results FINAL WHERE scheduled_at >= fromUnixTimestamp64Milli(%d) AND scheduled_at < fromUnixTimestamp64Milli(%d)
		 GROUP BY target_id, region, scheduled_at`, from.UnixMilli(), to.UnixMilli()))
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	seen := make(map[slot]bool, len(want))
	for rows.Next() {
		var id, n uint64
		var region, status, reason string
		var at int64
		if err := rows.Scan(&id, &region, &at, &n, &status, &reason); err != nil {
			t.Fatal(err)
		}
		key := slot{int64(id), region, at}
		if deleted[key.target] {
			a.OfDeleted++
			continue
		}
		if !want[key] {
			a.Unplanned++
			continue
		}
		seen[key] = true
		a.Rows += int(n)
		a.Doubled += int(n) - 1
		if reason != "" {
			status += "(" + reason + ")"
		}
		a.Reasons[status]++
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	for key := range want {
		if !seen[key] {
			a.Missing++
			if len(a.missing) < 5 {
				a.missing = append(a.missing, key)
			}
		}
	}
	return a
}
