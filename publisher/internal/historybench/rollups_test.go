//go:build bench

package historybench

import (
	"context"
	_ "embed"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/probefleet/probefleet/internal/database"
	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/rollupstore"
	"github.com/probefleet/probefleet/internal/service"
	"github.com/probefleet/probefleet/migrations"
	"github.com/probefleet/probefleet/publisher/internal/rollup"
)

//go:embed testdata/made_up.sql
var madeUpSQL string

// makeUpRollups fills the days of which no results will be loaded at first: hours by one
// statement a day, days from them as the job makes them. Its versions are older than any
// that the job gives.
func (b *bench) makeUpRollups(t *testing.T) int {
	b.describe(t)
	last := b.End.Truncate(day)
	first := last.Add(-time.Duration(b.days) * day)
	told := time.Now()
	at := first
	if reached, begun := b.Loaded["made up"]; begun {
		at = reached
	}
	for ; at.Before(last); at = at.Add(day) {
		b.exec(t, madeUpSQL, clickhouse.Named("day", at.Format(time.DateTime)))
		if _, err := b.store.RecomputeDay(b.ctx, resultstore.Rollup{Bucket: at, Version: at.Add(day + resultstore.CloseAfter)}); err != nil {
			t.Fatal(err)
		}
		b.Loaded["made up"] = at.Add(day)
		b.save(t)
		if time.Since(told) > tellsEvery {
			told = time.Now()
			t.Logf("  %s, %.0f of %d days", at.Format(time.DateOnly), at.Sub(first).Hours()/24+1, b.days)
		}
	}
	b.exec(t, `DROP TABLE made_up SYNC`)
	return b.days
}

// describe tells ClickHouse what the fleet is like.
func (b *bench) describe(t *testing.T) {
	b.exec(t, `DROP TABLE IF EXISTS made_up SYNC`)
	b.exec(t, `CREATE TABLE made_up (target_id UInt64, region String, dns Float64, rtt Float64, https Bool, wait Float64, thinks Float64, transfer Float64) ENGINE = MergeTree ORDER BY target_id`)
	batch, err := b.conn.PrepareBatch(b.ctx, `INSERT INTO made_up`)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range b.sites {
		for region, name := range regions() {
			if err := batch.Append(uint64(s.id), name, s.dns, s.rtt[region], s.https, s.wait, s.thinks, s.transfer); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := batch.Send(); err != nil {
		t.Fatal(err)
	}
}

// computing is what a run of the job did.
type computing struct {
	Hours   int64   `json:"hours"`
	Days    int64   `json:"days"`
	Seconds float64 `json:"seconds"`
}

// computeRollups has the publisher's job do all there is to do, once. It has notes of its
// own: to it nothing has been published yet, so that older results are no corrections.
func (b *bench) computeRollups(t *testing.T) (done computing) {
	ctx, stop := context.WithCancel(b.ctx)
	defer stop()
	counted := &counting{Store: b.store, t: t}
	began := time.Now()
	if err := b.job(t, counted, &watched{finished: stop}).Run(ctx); err != nil {
		t.Fatal(err)
	}
	if b.ctx.Err() != nil {
		t.Fatal(b.ctx.Err())
	}
	return computing{counted.hours.Load(), counted.days.Load(), time.Since(began).Seconds()}
}

// job is the publisher's, with notes of its own.
func (b *bench) job(t *testing.T, results rollup.Results, notes *watched) *rollup.Job {
	url := "sqlite:" + filepath.Join(b.dir, "notes.db")
	if err := migrations.UpRelational(b.ctx, url, nil); err != nil {
		t.Fatal(err)
	}
	db, err := database.Open(b.ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	notes.Store = rollupstore.New(db)
	return rollup.New(rollup.Options{Results: results, Notes: notes, Lease: always{}, Health: deaf{}, Log: slog.New(slog.DiscardHandler)})
}

type always struct{}

func (always) Held() bool { return true }

type deaf struct{}

func (deaf) Set(string, service.Level, string) {}

// watched says when a run begins and when it has finished. To it nothing has been published
// yet; what is to be done is what was marked since an instant.
type watched struct {
	*rollupstore.Store
	since             time.Time
	started, finished func()
}

func (w *watched) State(context.Context) (rollupstore.State, error) { return rollupstore.State{}, nil }

func (w *watched) Start(ctx context.Context, now, _ time.Time) (rollupstore.Run, error) {
	if w.started != nil {
		w.started()
	}
	return w.Store.Start(ctx, now, w.since)
}

func (w *watched) Finish(ctx context.Context, run rollupstore.Run) error {
	err := w.Store.Finish(ctx, run)
	if err == nil {
		w.finished()
	}
	return err
}

// counting tells how far the job is.
type counting struct {
	*resultstore.Store
	t           *testing.T
	hours, days atomic.Int64
}

func (c *counting) RecomputeHour(ctx context.Context, r resultstore.Rollup) (resultstore.Recomputed, error) {
	c.hours.Add(1)
	return c.Store.RecomputeHour(ctx, r)
}

func (c *counting) RecomputeDay(ctx context.Context, r resultstore.Rollup) (resultstore.Recomputed, error) {
	c.days.Add(1)
	began := time.Now()
	done, err := c.Store.RecomputeDay(ctx, r)
	c.t.Logf("  %s done, %d hours so far; the day's own row took %.1f s", r.Bucket.Format(time.DateOnly), c.hours.Load(), time.Since(began).Seconds())
	return done, err
}

// hours are how long an hour of all series takes.
type hours struct {
	Hour latency `json:"hour"` // computed again
	Bare latency `json:"bare"` // the columns that takes, read and added up, in turns with it
}

// computeHours computes random hours that are long over again, one after the other.
func (b *bench) computeHours(t *testing.T, from time.Time) hours {
	const some = 20
	rng := rand.New(rand.NewPCG(3, 3))
	first, last := from.Truncate(time.Hour).Add(time.Hour), b.End.Truncate(time.Hour).Add(-time.Hour)
	var took, bare []time.Duration
	for range some {
		at := first.Add(time.Duration(rng.Int64N(max(1, int64(last.Sub(first)/time.Hour)))) * time.Hour)
		began := time.Now()
		done, err := b.store.RecomputeHour(b.ctx, resultstore.Rollup{Bucket: at, Version: time.Now(), Closed: true, Unseen: true})
		took = append(took, time.Since(began))
		if want := int64(b.targets * (len(regions()) + 1)); err == nil && done.Rows != want {
			err = fmt.Errorf("the hour %v has %d rows, want %d", at, done.Rows, want)
		}
		if err == nil {
			began = time.Now()
			err = b.ask([]string{bareHour(at)})
			bare = append(bare, time.Since(began))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	found := hours{latencyOf(took), latencyOf(bare)}
	t.Logf("  an hour of %d series: %+v", b.targets*len(regions()), found)
	return found
}
