//go:build bench

package historybench

import (
	"context"
	"fmt"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/probefleet/probefleet/deploy/embedded"
	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/testfleet"
	"github.com/probefleet/probefleet/migrations"
)

func TestMain(m *testing.M) { testfleet.Main(m) }

// bench is a history that grows.
type bench struct {
	settings
	*progress
	*fleet
	ctx   context.Context
	url   string
	store *resultstore.Store
	conn  driver.Conn // for what the store has no question for: weights, made-up rollups
}

func TestHistory(t *testing.T) {
	s := readSettings(t)
	ctx, stop := signal.NotifyContext(t.Context(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	p := readProgress(t, s)
	b := &bench{settings: s, progress: p, fleet: newFleet(s.targets, p.End), ctx: ctx}
	b.start(t)
	p.save(t)
	t.Logf("%d series every %v, up to %v million rows, in %s", s.targets*len(regions()), interval, slices.Max(s.growth), s.dir)

	step(t, p, "make up rollups", func() int { return b.makeUpRollups(t) })
	var doc document
	newer := p.End
	for _, rows := range s.growth {
		older := p.End.Add(-s.span(rows))
		size := func(what string) string { return fmt.Sprintf("%v million rows: %s", rows, what) }
		loaded := step(t, p, size("load"), func() loading { return b.load(t, size("load"), older, newer) })
		rolled := step(t, p, size("compute rollups"), func() computing { return b.computeRollups(t) })
		step(t, p, size("merge what is closed"), func() bool { return b.settle(t) })
		if rows == s.rows {
			doc.Bytes = step(t, p, size("weigh"), func() bytes { return b.weigh(t, older) })
		}
		at := step(t, p, size("ask"), func() answers { return b.askAll(t) })
		at.Rows, at.Loading, at.Computing = rows, loaded, rolled
		doc.Sizes = append(doc.Sizes, at)
		if rows == s.rows {
			doc.Hours = step(t, p, size("compute hours again"), func() hours { return b.computeHours(t, older) })
			doc.Rebuild = step(t, p, size("rebuild 30 days"), func() rebuilding { return b.rebuild(t, older) })
		}
		newer = older
	}
	doc.write(t, b)
}

// start is the engine as `probefleet up` runs it, on the data that is there.
func (b *bench) start(t *testing.T) {
	t.Helper()
	lib, err := embedded.FindEngine("")
	if err != nil {
		t.Fatal(err)
	}
	engine, err := embedded.StartClickHouse(b.ctx, embedded.Options{Dir: filepath.Join(b.dir, "clickhouse"), LibPath: lib})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := engine.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	b.url = engine.URL()
	if err := migrations.UpClickHouse(b.ctx, b.url, nil); err != nil {
		t.Fatal(err)
	}
	if b.store, err = resultstore.Open(b.ctx, b.url); err != nil {
		t.Fatal(err)
	}
	options, err := clickhouse.ParseDSN(b.url)
	if err != nil {
		t.Fatal(err)
	}
	options.ReadTimeout = 30 * time.Minute
	options.Settings = clickhouse.Settings{"async_insert": 0, "max_execution_time": 1800, // and what the store reads with
		"do_not_merge_across_partitions_select_final": 1, "optimize_move_to_prewhere_if_final": 1}
	if b.conn, err = clickhouse.Open(options); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.conn.Close(); _ = b.store.Close() })
}

func (b *bench) exec(t *testing.T, sql string, args ...any) {
	t.Helper()
	if err := b.conn.Exec(b.ctx, sql, args...); err != nil {
		t.Fatalf("%.200s: %v", sql, err)
	}
}

// one reads a single row.
func (b *bench) one(t *testing.T, sql string, into ...any) {
	t.Helper()
	if err := b.conn.QueryRow(b.ctx, sql).Scan(into...); err != nil {
		t.Fatalf("%.200s: %v", sql, err)
	}
}

// strings reads a column of texts.
func (b *bench) strings(t *testing.T, sql string, args ...any) (all []string) {
	t.Helper()
	rows, err := b.conn.Query(b.ctx, sql, args...)
	if err != nil {
		t.Fatalf("%.200s: %v", sql, err)
	}
	defer rows.Close()
	for rows.Next() {
		var one string
		if err := rows.Scan(&one); err != nil {
			t.Fatalf("%.200s: %v", sql, err)
		}
		all = append(all, one)
	}
	if err := rows.Err(); err != nil {
		t.Fatalf("%.200s: %v", sql, err)
	}
	return all
}
