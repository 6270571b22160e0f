package testfleet

import (
	"context"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// Auditor reads the two databases of an installation, directly.
type Auditor struct {
	databaseURL string
	click       clickhouse.Conn
}

// Audit is the account of a window.
type Audit struct {
	Planned    int
	Rows       int            // visible rows of planned slots
	Missing    int            // planned slots without a row
	Doubled    int            // visible rows beyond the first of a slot
	Unplanned  int            // rows of slots that nobody planned
	OfDeleted  int            // rows of deleted targets, about to be removed
	Outcomes   map[string]int // "up", "missed(expired)", … -> rows of planned slots
	SomeAbsent []Slot         // up to five of the missing ones
	ByRegion   map[string]map[string]int
}

func (a Audit) String() string {
	return fmt.Sprintf("planned %d, rows %d, missing %d, doubled %d, unplanned %d, of deleted targets %d, %v", a.Planned, a.Rows, a.Missing, a.Doubled, a.Unplanned, a.OfDeleted, a.Outcomes)
}

// NewAuditor makes an auditor of DATABASE_URL and CLICKHOUSE_URL; it connects on first use.
func NewAuditor(databaseURL, clickhouseURL string) (*Auditor, error) {
	options, err := clickhouse.ParseDSN(clickhouseURL)
	if err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	conn, err := clickhouse.Open(options)
	if err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	return &Auditor{databaseURL: databaseURL, click: conn}, nil
}

// Close ends its connections.
func (a *Auditor) Close() error { return a.click.Close() }

// Window compares what was planned in [from, to) with the rows that are visible.
func (a *Auditor) Window(ctx context.Context, from, to time.Time) (Audit, error) {
	p, err := readPlan(ctx, a.databaseURL)
	if err != nil {
		return Audit{}, err
	}
	due, deleted := p.slots(from.UnixMilli(), to.UnixMilli())
	out := Audit{Planned: len(due), Outcomes: map[string]int{}, ByRegion: map[string]map[string]int{}}
	rows, err := a.click.Query(ctx, `SELECT target_id, region, toUnixTimestamp64Milli(scheduled_at), count(), any(toString(status)), any(reason)
		FROM results FINAL WHERE `+within(from, to)+` GROUP BY target_id, region, scheduled_at`)
	if err != nil {
		return Audit{}, fmt.Errorf("audit: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var id, n uint64
		var region, status, reason string
		var at int64
		if err := rows.Scan(&id, &region, &at, &n, &status, &reason); err != nil {
			return Audit{}, fmt.Errorf("audit: %w", err)
		}
		key := Slot{int64(id), region, at}
		if deleted[key.Target] {
			out.OfDeleted++
			continue
		}
		if !due[key] {
			out.Unplanned++
			continue
		}
		delete(due, key)
		out.Rows += int(n)
		out.Doubled += int(n) - 1
		if reason != "" {
			status += "(" + reason + ")"
		}
		out.Outcomes[status]++
		if out.ByRegion[region] == nil {
			out.ByRegion[region] = map[string]int{}
		}
		out.ByRegion[region][status]++
	}
	if err := rows.Err(); err != nil {
		return Audit{}, fmt.Errorf("audit: %w", err)
	}
	out.Missing = len(due)
	for key := range due {
		if len(out.SomeAbsent) == 5 {
			break
		}
		out.SomeAbsent = append(out.SomeAbsent, key)
	}
	return out, nil
}

// KeepCopies stops ClickHouse from folding equal rows together until fold is
// called, so that Copies can count them.
func (a *Auditor) KeepCopies(ctx context.Context) (fold func() error, err error) {
	if err := a.click.Exec(ctx, "SYSTEM STOP MERGES results"); err != nil {
		return nil, fmt.Errorf("stop merges: %w", err)
	}
	return func() error {
		if err := a.click.Exec(context.WithoutCancel(ctx), "SYSTEM START MERGES results"); err != nil {
			return fmt.Errorf("start merges: %w", err)
		}
		return nil
	}, nil
}

// Copies is how many rows of [from, to) were stored again: those on disk, less the
// distinct ones. Merging folds them, so it is exact only under KeepCopies.
func (a *Auditor) Copies(ctx context.Context, from, to time.Time) (int, error) {
	var stored, distinct uint64
	err := a.click.QueryRow(ctx, `SELECT count(), uniqExact(target_id, region, scheduled_at) FROM results WHERE `+within(from, to)).Scan(&stored, &distinct)
	if err != nil {
		return 0, fmt.Errorf("count copies: %w", err)
	}
	return int(stored - distinct), nil
}

// Measured is how many visible rows of slots in [from, to) are measurements, by region.
func (a *Auditor) Measured(ctx context.Context, from, to time.Time) (map[string]int, error) {
	rows, err := a.click.Query(ctx, `SELECT region, uniqExact(target_id, scheduled_at) FROM results WHERE status <= 3 AND `+within(from, to)+` GROUP BY region`)
	if err != nil {
		return nil, fmt.Errorf("count measurements: %w", err)
	}
	defer rows.Close()
	counts := map[string]int{}
	for rows.Next() {
		var region string
		var n uint64
		if err := rows.Scan(&region, &n); err != nil {
			return nil, fmt.Errorf("count measurements: %w", err)
		}
		counts[region] = int(n)
	}
	return counts, rows.Err()
}

// Query is for questions of one test alone; it reads one number.
func (a *Auditor) Query(ctx context.Context, question string) (float64, error) {
	var n float64
	if err := a.click.QueryRow(ctx, "SELECT toFloat64(ifNull(("+question+"), 0))").Scan(&n); err != nil {
		return 0, fmt.Errorf("%s: %w", question, err)
	}
	return n, nil
}

// Texts reads a column of texts.
func (a *Auditor) Texts(ctx context.Context, question string) (all []string, err error) {
	if err := a.click.QueryRow(ctx, "SELECT groupArray(*) FROM ("+question+")").Scan(&all); err != nil {
		return nil, fmt.Errorf("%s: %w", question, err)
	}
	return all, nil
}

// Exec runs a statement that sets the stage of a test.
func (a *Auditor) Exec(ctx context.Context, statement string) error {
	if err := a.click.Exec(ctx, statement); err != nil {
		return fmt.Errorf("%s: %w", statement, err)
	}
	return nil
}

func within(from, to time.Time) string {
	return fmt.Sprintf("scheduled_at >= fromUnixTimestamp64Milli(%d) AND scheduled_at < fromUnixTimestamp64Milli(%d)", from.UnixMilli(), to.UnixMilli())
}
