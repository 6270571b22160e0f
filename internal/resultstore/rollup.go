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

	// rollupBound is for computing one hour or one day again.
	rollupBound = 5 * time.Minute
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
func (s *Store) RecomputeDay(ctx context.Context, r Rollup) (done Recomputed, err error) {
	if err := r.valid(day); err != nil {
		return done, err
	}
	if done.Rows, err = s.rollup(ctx, daySQL, r, day); err != nil {
		return done, fmt.Errorf("compute the day %s: %w", r.Bucket.UTC().Format(time.DateOnly), err)
	}
	return done, nil
}

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
	targets := "true"
	if !r.Marked.IsZero() {
		targets = markedTargets
	}
	return s.write(ctx, fragments(sql, targets), append(args,
		seconds("bucket", r.Bucket), clickhouse.Named("length", uint32(length/time.Second)),
		millis("marked", r.Marked), seconds("version", r.Version)))
}

// write runs an INSERT … SELECT and says how many rows it wrote. The server stops it
// when the bound is over or the context ends.
func (s *Store) write(ctx context.Context, sql string, args []any) (wrote int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, rollupBound)
	defer cancel()
	ctx = clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{
		"max_execution_time": int(rollupBound / time.Second),
		"insert_deduplicate": 0, // what a shard wrote before may be right again
	}), clickhouse.WithProgress(func(p *clickhouse.Progress) { wrote += int64(p.WroteRows) }))
	err = s.conn.Exec(ctx, sql, args...)
	return wrote, err
}

// seconds is an instant as a DateTime parameter takes it.
func seconds(name string, t time.Time) driver.NamedValue {
	return clickhouse.Named(name, t.UTC().Format(time.DateTime))
}
