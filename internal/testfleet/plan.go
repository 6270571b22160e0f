package testfleet

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	_ "github.com/jackc/pgx/v5/stdlib" // registers "pgx"
	_ "modernc.org/sqlite"             // registers "sqlite"
)

// Slot is one due visit.
type Slot struct {
	Target int64
	Region string
	AtMS   int64
}

const forever = int64(1) << 62

type span struct{ from, to int64 }

type version struct {
	interval, from  int64
	regions         []string
	active, deleted bool
}

// plan is what the relational database says is due.
type plan struct {
	regions map[string][]span   // when each was active
	targets map[int64][]version // oldest first
}

func readPlan(ctx context.Context, databaseURL string) (plan, error) {
	driver, source := "pgx", databaseURL
	if path, sqlite := strings.CutPrefix(databaseURL, "sqlite:"); sqlite {
		driver, source = "sqlite", path+"?mode=ro&_pragma=busy_timeout(5000)"
	}
	db, err := sql.Open(driver, source)
	if err != nil {
		return plan{}, fmt.Errorf("audit: %w", err)
	}
	defer db.Close()
	p := plan{regions: map[string][]span{}, targets: map[int64][]version{}}
	if err := errors.Join(p.readRegions(ctx, db), p.readTargets(ctx, db)); err != nil {
		return plan{}, fmt.Errorf("audit: %w", err)
	}
	return p, nil
}

func (p plan) readRegions(ctx context.Context, db *sql.DB) error {
	return each(ctx, db, `SELECT region, active, effective_from_ms FROM region_versions WHERE effective_from_ms IS NOT NULL ORDER BY seq`, func(rows *sql.Rows) error {
		var region string
		var active bool
		var from int64
		if err := rows.Scan(&region, &active, &from); err != nil {
			return err
		}
		spans := p.regions[region]
		if n := len(spans); n > 0 && spans[n-1].to == forever {
			spans[n-1].to = from
		}
		if active {
			spans = append(spans, span{from, forever})
		}
		p.regions[region] = spans
		return nil
	})
}

func (p plan) readTargets(ctx context.Context, db *sql.DB) error {
	return each(ctx, db, `SELECT target_id, interval_s, regions, active, deleted, effective_from_ms FROM schedule_versions WHERE effective_from_ms IS NOT NULL ORDER BY seq`, func(rows *sql.Rows) error {
		var id int64
		var v version
		var regions string
		if err := rows.Scan(&id, &v.interval, &regions, &v.active, &v.deleted, &v.from); err != nil {
			return err
		}
		if err := json.Unmarshal([]byte(regions), &v.regions); err != nil {
			return err
		}
		p.targets[id] = append(p.targets[id], v)
		return nil
	})
}

func each(ctx context.Context, db *sql.DB, query string, take func(*sql.Rows) error) error {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := take(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// slots gives every slot in [from, to) of targets that still exist; deleted says
// whose rows are removed with them.
func (p plan) slots(from, to int64) (due map[Slot]bool, deleted map[int64]bool) {
	due, deleted = map[Slot]bool{}, map[int64]bool{}
	for id, versions := range p.targets {
		if versions[len(versions)-1].deleted {
			deleted[id] = true
			continue
		}
		for i, v := range versions {
			until := to
			if i+1 < len(versions) {
				until = min(until, versions[i+1].from)
			}
			if !v.active {
				continue
			}
			step := v.interval * 1000
			at := max(v.from, from)
			at += ((phase(id, step)-at)%step + step) % step
			for ; at < until; at += step {
				for region, spans := range p.regions {
					if len(v.regions) > 0 && !slices.Contains(v.regions, region) {
						continue
					}
					if slices.ContainsFunc(spans, func(s span) bool { return at >= s.from && at < s.to }) {
						due[Slot{id, region, at}] = true
					}
				}
			}
		}
	}
	return due, deleted
}

// phase is the published hash: splitmix64's finaliser of the id, modulo the interval.
func phase(id, intervalMS int64) int64 {
	x := uint64(id) + 0x9e3779b97f4a7c15
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	x ^= x >> 31
	return int64(x % uint64(intervalMS))
}
