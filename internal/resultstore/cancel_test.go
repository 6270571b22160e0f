package resultstore

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/migrations"
)

// slowly makes every read of a column of a table take 0.2 s a row, of 30.
func slowly(t *testing.T, s *Store, table, column, kind string) {
	t.Helper()
	for _, sql := range []string{
		`DROP VIEW IF EXISTS results_latest_mv`, `DROP VIEW IF EXISTS rollup_dirty_mv`,
		fmt.Sprintf(`ALTER TABLE %s DROP COLUMN %s`, table, column),
		fmt.Sprintf(`ALTER TABLE %s ADD COLUMN %s %s ALIAS 1 + sleepEachRow(0.2)`, table, column, kind),
	} {
		if err := s.conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
}

// Whatever is asked: when the caller leaves, the server stops working on it.
func TestQuestionsEndWithTheirCaller(t *testing.T) {
	t.Parallel()
	url := testbackend.ClickHouse(t)
	if err := migrations.UpClickHouse(t.Context(), url, nil); err != nil {
		t.Fatal(err)
	}
	s := openAt(t, url+"?max_block_size=1&function_sleep_max_microseconds_per_block=60000000")
	watch := openAt(t, url)
	now := time.Now().UTC()
	var spread, together []uptime.Result // over the month, and in one hour
	for i := range 30 {
		at, region := now.Add(-time.Duration(i)*20*time.Hour).Truncate(time.Millisecond), fmt.Sprint("r", i)
		failed := up(1, "failing "+region, at) // else a question for failures has nothing to be slow with
		failed.Status, failed.Failure = uptime.StatusDown, uptime.FailureTimeout
		spread = append(spread, up(1, region, at), failed)
		together = append(together, up(1, region, now.Truncate(hour).Add(-2*day)))
	}
	insert(t, s, batchOf(spread...), batchOf(together...))
	recompute(t, s, Rollup{Bucket: together[0].ScheduledAt, Version: now})
	slowly(t, s, "results", "total_us", "UInt32")
	slowly(t, s, "results_latest", "total_us", "UInt32")
	slowly(t, s, "rollup_1h", "dns_us_sum", "UInt64")
	s.RolledUp(now)
	month := WindowQuery{TargetID: 1, From: now.Add(-29 * day), To: now}
	ask := map[string]func(context.Context) error{
		"a page": func(ctx context.Context) error {
			_, err := s.Results(ctx, ResultQuery{TargetID: 1, From: month.From, To: now, Limit: 1000})
			return err
		},
		"the newest":  func(ctx context.Context) error { _, err := s.LatestN(ctx, []int64{1}, 90, month.From); return err },
		"the present": func(ctx context.Context) error { _, err := s.Current(ctx, nil); return err },
		"a series": func(ctx context.Context) error {
			_, err := s.Series(ctx, SeriesQuery{TargetID: 1, From: month.From, To: now, Step: 10 * time.Minute})
			return err
		},
		"a series of hours": func(ctx context.Context) error {
			_, err := s.Series(ctx, SeriesQuery{TargetID: 1, From: month.From, To: now})
			return err
		},
		"a matrix": func(ctx context.Context) error {
			_, err := s.Matrix(ctx, SeriesQuery{TargetID: 1, From: month.From, To: now})
			return err
		},
		"failures": func(ctx context.Context) error { _, err := s.Failures(ctx, month); return err },
		"measurements": func(ctx context.Context) error {
			return s.Measured(ctx, []int64{1}, month.From, now, func(*uptime.Result) error { return nil })
		},
		"a histogram": func(ctx context.Context) error { _, err := s.Histogram(ctx, month); return err },
	}
	var asking sync.WaitGroup
	for name, question := range ask {
		running := func() uint64 {
			return count(t, watch, `SELECT count() FROM system.processes WHERE query NOT LIKE '%system.processes%' AND current_database = currentDatabase()`)
		}
		ctx, leave := context.WithCancel(t.Context())
		answer := make(chan error, 1)
		asking.Go(func() { answer <- question(ctx) })
		eventually(t, name+" is worked on", func() bool { return running() > 0 || len(answer) > 0 })
		leave()
		if err := <-answer; !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
		eventually(t, name+" is gone", func() bool { return running() == 0 })
	}
	asking.Wait()
}
