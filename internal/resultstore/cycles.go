package resultstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// Cycle is the publisher's note of one second. It is audit, not truth: what was
// planned follows from the schedule versions.
type Cycle struct {
	Second    time.Time // the second whose slots were published
	Due       int       // slots: targets × regions
	Published int
	Missed    int
	Seq       int64
	Publisher string
	Took      time.Duration
}

const insertCycles = `INSERT INTO cycles (tick, due, published, missed, schedule_seq, publisher, took_us, published_at)`

// InsertCycles stores notes. A second noted twice counts once, the later note
// winning. The token is chosen like a batch's and kept over retries.
func (s *Store) InsertCycles(ctx context.Context, token string, cycles []Cycle) error {
	if token == "" {
		return errors.New("insert cycles: a batch needs a token")
	}
	if len(cycles) == 0 {
		return nil
	}
	n, now := len(cycles), s.now()
	var (
		tick, at               = make([]time.Time, n), make([]time.Time, n)
		due, published, missed = make([]uint32, n), make([]uint32, n), make([]uint32, n)
		seq, publisher, took   = make([]uint64, n), make([]string, n), make([]uint32, n)
	)
	for i, c := range cycles {
		if c.Second.Unix() <= 0 || c.Second.After(lastDateTime) || min(c.Due, c.Published, c.Missed) < 0 || c.Seq < 0 || c.Took < 0 {
			return fmt.Errorf("insert cycles: %w", &RowError{Problem: fmt.Sprintf("cycle %+v", c)})
		}
		tick[i], at[i] = c.Second, now
		due[i], published[i], missed[i] = clampUint32(int64(c.Due)), clampUint32(int64(c.Published)), clampUint32(int64(c.Missed))
		seq[i], publisher[i], took[i] = uint64(c.Seq), c.Publisher, clampUint32(c.Took.Microseconds())
	}
	if err := s.insert(ctx, token, insertCycles, []any{tick, due, published, missed, seq, publisher, took, at}); err != nil {
		return fmt.Errorf("insert cycles: %w", err)
	}
	return nil
}

// Cycled is what became of the slots of a time, as the publisher noted it.
type Cycled struct{ Due, Published, Missed int64 }

// Cycles sums up the notes of the seconds in [from, to).
func (s *Store) Cycles(ctx context.Context, from, to time.Time) (sum Cycled, err error) {
	const sql = `SELECT toInt64(sum(due)), toInt64(sum(published)), toInt64(sum(missed)) FROM cycles FINAL
WHERE tick >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND tick < fromUnixTimestamp64Milli({to:Int64}, 'UTC')`
	err = s.query(ctx, pageBound, sql, []any{millis("from", ceilMilli(from)), millis("to", ceilMilli(to))}, func(rows driver.Rows) error {
		return rows.Scan(&sum.Due, &sum.Published, &sum.Missed)
	})
	if err != nil {
		return Cycled{}, fmt.Errorf("read cycles: %w", err)
	}
	return sum, nil
}

// LastCycle is the newest second that was noted; false when there is none.
func (s *Store) LastCycle(ctx context.Context) (second time.Time, ok bool, err error) {
	err = s.query(ctx, pageBound, `SELECT tick FROM cycles ORDER BY tick DESC LIMIT 1`, nil, func(rows driver.Rows) error {
		ok = true
		return rows.Scan(&second)
	})
	if err != nil {
		return time.Time{}, false, fmt.Errorf("read last cycle: %w", err)
	}
	return second.UTC(), ok, nil
}

func clampUint32(n int64) uint32 { return uint32(min(max(n, 0), 1<<32-1)) }
