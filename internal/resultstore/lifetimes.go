package resultstore

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// lifetimes are what the tables say of themselves.
type lifetimes struct {
	ttl   map[string]time.Duration // of each table that has one that is understood
	since map[string]time.Time     // older rows of a table may have been dropped, whatever its TTL says now; absent: none were that it keeps
}

func (l lifetimes) retentions() (Retentions, error) {
	r := Retentions{Raw: l.ttl["results"], Hourly: l.ttl["rollup_1h"], Daily: l.ttl["rollup_1d"]}
	if r.Raw == 0 || r.Hourly == 0 || r.Daily == 0 {
		return Retentions{}, fmt.Errorf("read retention: a table has no TTL that is understood: %+v", r)
	}
	return r, nil
}

// whole is how far back, at now, no row of a table was dropped.
func (l lifetimes) whole(table string, now time.Time) time.Duration {
	if since, noted := l.since[table]; noted {
		return min(l.ttl[table], now.Sub(since))
	}
	return l.ttl[table]
}

// kept are the retentions as far as the tables are whole. Of days nothing coarser could tell
// that any are missing.
func (l lifetimes) kept(now time.Time) Retentions {
	return Retentions{Raw: l.whole("results", now), Hourly: l.whole("rollup_1h", now), Daily: l.ttl["rollup_1d"]}
}

// wholeComment is how a table says since when it is whole.
const wholeComment = "whole since "

var ttlPattern = regexp.MustCompile(` TTL \S+ \+ toInterval(Hour|Day)\((\d+)\)`)

func (s *Store) lifetimes(ctx context.Context) (lifetimes, error) {
	names := map[string]string{}
	for tier := range (Retentions{}).tiers(0) {
		names[s.local(tier.table)] = tier.table
	}
	all := lifetimes{ttl: map[string]time.Duration{}, since: map[string]time.Time{}}
	err := s.query(ctx, pageBound, `SELECT name, engine_full, comment FROM system.tables WHERE database = currentDatabase() AND name IN {names:Array(String)}`,
		[]any{clickhouse.Named("names", keys(names))}, func(rows driver.Rows) error {
			var name, engine, comment string
			if err := rows.Scan(&name, &engine, &comment); err != nil {
				return err
			}
			if since, err := time.Parse(wholeComment+time.RFC3339, comment); err == nil {
				all.since[names[name]] = since.UTC()
			}
			if found := ttlPattern.FindStringSubmatch(engine); found != nil {
				unit := map[string]time.Duration{"Hour": hour, "Day": day}[found[1]]
				n, err := strconv.Atoi(found[2])
				all.ttl[names[name]] = time.Duration(n) * unit
				return err
			}
			return nil
		})
	return all, err
}

const rolledBeforeSQL = `SELECT count() FROM (SELECT 1 FROM rollup_1h WHERE bucket < {since:DateTime('UTC')} LIMIT 1 UNION ALL SELECT 1 FROM rollup_1d WHERE bucket < {since:DateTime('UTC')} LIMIT 1)`

// noteWhole is for before a table is kept for longer. What was dropped of it is in coarser
// figures alone: an hour must neither be computed again from a late result of it, nor be
// read where it is not. Where there are no such figures nothing is noted.
func (s *Store) noteWhole(ctx context.Context, have lifetimes, table string) error {
	now := s.now()
	since := ceilTo(now.Add(-have.whole(table, now)), time.Second).UTC()
	var figures uint64
	err := s.query(ctx, pageBound, rolledBeforeSQL, []any{seconds("since", since)}, func(rows driver.Rows) error { return rows.Scan(&figures) })
	if err == nil && figures > 0 {
		have.since[table] = since
		err = s.alter(ctx, fmt.Sprintf("ALTER TABLE %s MODIFY COMMENT '%s'", s.everywhere(table), wholeComment+since.Format(time.RFC3339)))
	}
	if err != nil {
		return fmt.Errorf("note since when %s is whole: %w", table, err)
	}
	return nil
}
