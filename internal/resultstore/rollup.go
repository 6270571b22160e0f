package resultstore

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// CloseAfter is how long after its end an hour, or a day, is taken for complete.
const CloseAfter = 10 * time.Minute

const (
	hour = time.Hour
	day  = 24 * time.Hour

	// rollupBound is for computing one hour or one day again, with all that it takes.
	rollupBound = 5 * time.Minute
	// dayTries is how often a day is computed while its hours go on changing.
	dayTries = 5
)

//go:embed sql/rollup_hour.sql
var hourSQL string

//go:embed sql/rollup_day.sql
var daySQL string

//go:embed sql/corrections.sql
var correctionsSQL string

// Rollup says what to compute again: one hour, or one UTC day, of all targets or of
// those that were marked.
type Rollup struct {
	Bucket  time.Time // start of the hour, or of the UTC day
	Marked  time.Time // only targets of which rows arrived after it, by the server's clock; zero: all
	Version time.Time // in whole seconds; of two rows of one bucket the one with the higher version counts
	// Closed says that the hour had been published as complete: what changes now is a correction.
	Closed bool
	// Unseen says that a row which is not there was never published: making it is no correction.
	Unseen bool
}

// Recomputed counts what was written.
type Recomputed struct {
	Rows    int64 // one a region of a target, and one for the target as a whole
	Revised int64 // those that had said something else when their hour was closed
}

// RecomputeHour writes rollup_1h for an hour from results FINAL. Doing it again, at any
// time and by several at once, does no harm: rows are absolute, and what arrives while it
// runs is marked for the next time. A change of a closed hour is kept in corrections;
// nothing is lost when this ends half way and is done again.
func (s *Store) RecomputeHour(ctx context.Context, r Rollup) (done Recomputed, err error) {
	if err := r.valid(hour); err != nil {
		return done, err
	}
	ctx, cancel := context.WithTimeout(ctx, rollupBound)
	defer cancel()
	defer func() {
		if err != nil {
			err = fmt.Errorf("compute the hour %s: %w", r.Bucket.UTC().Format(time.RFC3339), err)
		}
	}()
	if r.Closed { // of one that ended between its two halves
		if _, err := s.noteCorrections(ctx, r, time.Unix(1, 0)); err != nil {
			return done, err
		}
	}
	over := r.Closed || !r.Version.Before(r.Bucket.Add(hour+CloseAfter)) // it may hold what has to be kept
	done.Rows, err = s.rollup(ctx, hourSQL, r, hour,
		clickhouse.Named("over", over), clickhouse.Named("closed", r.Closed), clickhouse.Named("fresh", r.Unseen))
	if err != nil || !r.Closed {
		return done, err
	}
	done.Revised, err = s.noteCorrections(ctx, r, r.Version)
	return done, err
}

// RecomputeDay writes rollup_1d for a UTC day from rollup_1h FINAL, also in the place of a
// row with a higher version. Closed and Unseen are not used: a day is as revised as its hours.
//
// Somebody else may change an hour meanwhile and be done with the day before this is, whose
// rows then lack that hour and are the last: so the day is computed until its hours stood still.
func (s *Store) RecomputeDay(ctx context.Context, r Rollup) (done Recomputed, err error) {
	if err := r.valid(day); err != nil {
		return done, err
	}
	ctx, cancel := context.WithTimeout(ctx, rollupBound)
	defer cancel()
	before, err := s.hoursOf(ctx, r)
	for try := 1; err == nil; try++ {
		var after hourVersions
		if done.Rows, err = s.rollup(ctx, daySQL, r, day); err == nil {
			after, err = s.hoursOf(ctx, r)
		}
		if err == nil && after == before {
			return done, nil
		}
		if before = after; err == nil && try == dayTries {
			err = errors.New("its hours go on changing")
		}
	}
	return done, fmt.Errorf("compute the day %s: %w", r.Bucket.UTC().Format(time.DateOnly), err)
}

// hourVersions tell the hours of a day from any they were before: a row that is made or
// replaced raises them.
type hourVersions struct{ rows, sum uint64 }

const hourVersionsSQL = `SELECT count(), sum(toUInt64(toUnixTimestamp(version))) FROM rollup_1h FINAL
WHERE bucket >= {bucket:DateTime('UTC')} AND bucket < {bucket:DateTime('UTC')} + {length:UInt32} AND /*targets*/`

func (s *Store) hoursOf(ctx context.Context, r Rollup) (v hourVersions, err error) {
	sql, args := r.question(hourVersionsSQL, day)
	err = s.query(ctx, rollupBound, sql, args, func(rows driver.Rows) error { return rows.Scan(&v.rows, &v.sum) })
	return v, err
}

// MarkAgain marks the targets of an hour, or of a UTC day, as if rows of them had arrived
// now: for one that could not be computed.
func (s *Store) MarkAgain(ctx context.Context, r Rollup, length time.Duration) error {
	sql, args := r.question(markAgainSQL, length)
	if _, err := s.write(ctx, sql, args); err != nil {
		return fmt.Errorf("mark %s again: %w", r.Bucket.UTC().Format(time.RFC3339), err)
	}
	return nil
}

// One hour of a day is enough: who computes it computes the day of its targets.
const markAgainSQL = `INSERT INTO rollup_dirty (bucket, target_id, dirty_at)
SELECT max(bucket), target_id, now64(3) FROM rollup_dirty
WHERE bucket >= {bucket:DateTime('UTC')} AND bucket < {bucket:DateTime('UTC')} + {length:UInt32} AND /*targets*/ GROUP BY target_id`

func (r Rollup) valid(length time.Duration) error {
	if r.Bucket.Unix()%int64(length/time.Second) != 0 || r.Bucket.Unix() <= 0 || r.Version.Unix() <= 0 {
		return errors.New("compute a rollup: its bucket or version is not one")
	}
	return nil
}

func (s *Store) noteCorrections(ctx context.Context, r Rollup, since time.Time) (int64, error) {
	return s.rollup(ctx, correctionsSQL, r, hour, seconds("revised", since))
}

const markedTargets = `target_id IN (SELECT target_id FROM rollup_dirty
  WHERE bucket >= {bucket:DateTime('UTC')} AND bucket < {bucket:DateTime('UTC')} + {length:UInt32} AND dirty_at > fromUnixTimestamp64Milli({marked:Int64}, 'UTC'))`

// rollup runs a statement for its bucket and targets, and says how many rows it wrote.
func (s *Store) rollup(ctx context.Context, sql string, r Rollup, length time.Duration, args ...any) (wrote int64, err error) {
	sql, its := r.question(sql, length)
	return s.write(ctx, sql, append(args, its...))
}

// question is a statement for its bucket and targets.
func (r Rollup) question(sql string, length time.Duration) (string, []any) {
	targets := "true"
	if !r.Marked.IsZero() {
		targets = markedTargets
	}
	return fragments(sql, targets), []any{
		seconds("bucket", r.Bucket), clickhouse.Named("length", uint32(length/time.Second)),
		millis("marked", r.Marked), seconds("version", r.Version),
	}
}

// write runs an INSERT … SELECT and says how many rows it wrote. The server stops it
// when the bound is over or the context ends.
func (s *Store) write(ctx context.Context, sql string, args []any) (wrote int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, rollupBound)
	defer cancel()
	end, _ := ctx.Deadline()
	ctx = clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{
		"max_execution_time": max(1, int(time.Until(end).Seconds())), // what a caller left of the bound
		"insert_deduplicate": 0,                                      // what a shard wrote before may be right again
	}), clickhouse.WithProgress(func(p *clickhouse.Progress) { wrote += int64(p.WroteRows) }))
	err = s.conn.Exec(ctx, sql, args...)
	return wrote, err
}

// seconds is an instant as a DateTime parameter takes it.
func seconds(name string, t time.Time) driver.NamedValue {
	return clickhouse.Named(name, t.UTC().Format(time.DateTime))
}
