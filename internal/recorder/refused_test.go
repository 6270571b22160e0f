package recorder

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/spool/spooltest"
	"github.com/probefleet/probefleet/internal/uptime"
)

// One row in a thousand that the store refuses: the others are stored, it is rejected
// once, and finding it costs at most eleven more inserts.
//
// Promise: one bad row in a batch costs only itself
func TestOneBadRowInAThousand(t *testing.T) {
	t.Parallel()
	for _, bad := range []int64{1, 2, 499, 500, 501, 777, 999, 1000} {
		synctest.Test(t, func(t *testing.T) {
			store := newTable()
			store.fail = holding(bad)
			var rejected []int64
			r := New(store, Options{Spool: openSpool(t, spooltest.New(), 0), Reject: func(row uptime.Result, err error) {
				if rejected = append(rejected, row.TargetID); errors.Is(err, ErrReplayed) {
					t.Error("not replayed")
				}
			}})
			stop := start(t, r)
			if err := r.RecordWait(t.Context(), rowsOf(1, 1000)); !resultstore.IsPermanent(err) {
				t.Errorf("answered %v", err)
			}
			if err := stop(); err != nil {
				t.Error(err)
			}
			if got := store.has(t); got != 999 || !slices.Equal(rejected, []int64{bad}) {
				t.Errorf("%d rows stored, %v rejected", got, rejected)
			}
			if extra := len(store.sent()) - 1; extra > 11 {
				t.Errorf("row %d: %d more inserts", bad, extra)
			}
		})
	}
}

// The breaker opens while a refused batch is taken apart: what is left goes to the
// spool under its own tokens, and the bad row is rejected from there.
func TestRefusedBatchDuringAnOutage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := newTable()
		bad := holding(7)
		store.fail = func(b resultstore.Batch) (error, bool) {
			if err, kept := bad(b); err != nil && len(b.Rows) == 8 {
				return err, kept
			}
			return errAway, true // the answer is lost
		}
		disk := openSpool(t, spooltest.New(), 0)
		rejected := map[int64]error{}
		r := New(store, Options{MaxRows: 8, Spool: disk, Reject: func(row uptime.Result, err error) { rejected[row.TargetID] = err }})
		stop := start(t, r)
		answers := 0
		if err := r.Record(t.Context(), rowsOf(1, 8), Watch{Done: func(err error) {
			if answers++; err != nil {
				t.Errorf("everything is on disk: %v", err)
			}
		}}); err != nil {
			t.Fatal(err)
		}
		await(t, 10*time.Second, "spooled", func() bool { return disk.State().Batches == 2 })
		token := store.sent()[0].batch.Token
		store.mu.Lock()
		half := store.tokens[token+"/0"]
		store.mu.Unlock()
		if first, _ := disk.Oldest(); !half || first.Rows != 4 {
			t.Errorf("the first half was sent: %v; on disk: %d rows", half, first.Rows)
		}
		store.set(bad)
		await(t, 10*time.Second, "replayed", func() bool { return disk.State().Batches == 0 })
		if err := stop(); err != nil {
			t.Error(err)
		}
		if answers != 1 || len(rejected) != 1 || !errors.Is(rejected[7], ErrReplayed) || !resultstore.IsPermanent(rejected[7]) {
			t.Errorf("%d answers, rejected %v", answers, rejected)
		}
		if got := store.has(t); got != 7 {
			t.Errorf("%d rows stored", got)
		}
		for token := range store.tokens {
			if len(token) < 36 || token[:36] != store.sent()[0].batch.Token {
				t.Errorf("token %s is of another batch", token)
			}
		}
		if got := testutil.ToFloat64(r.metrics.rows.WithLabelValues(outcomeRejected)); got != 1 {
			t.Errorf("%v rows counted as rejected", got)
		}
	})
}

// spooled opens a spool that holds batches of ten rows, with targets from 1.
func spooled(t *testing.T, fs *spooltest.FS, batches int64) Spool {
	t.Helper()
	disk := openSpool(t, fs, 0)
	for i := range batches {
		rows := rowsOf(1+10*i, 10)
		for j := range rows {
			rows[j].IngestedAt = time.Now()
		}
		token := string(rune('a' + i))
		if err := disk.Append(resultstore.Batch{Token: token, Prober: "p", Region: "eu", Attempt: 3, Rows: rows}); err != nil {
			t.Fatal(err)
		}
	}
	return disk
}

func TestReplayLeavesOutDeletedTargets(t *testing.T) {
	t.Parallel()
	for _, known := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			store := newTable()
			store.fail = holding(16)
			var asked []int64
			rejected := 0
			r := New(store, Options{
				Spool: spooled(t, spooltest.New(), 3),
				Deleted: func(ctx context.Context, ids []int64) (map[int64]bool, error) {
					asked = append(asked, ids...)
					if !known {
						<-ctx.Done()
						return nil, ctx.Err()
					}
					return map[int64]bool{1: true, 3: true, 21: true, 99: true}, nil
				},
				Reject: func(uptime.Result, error) { rejected++ },
			})
			stop := start(t, r)
			begin := time.Now()
			await(t, 10*time.Second, "replayed", func() bool { return r.State().Spool.Batches == 0 })
			took := time.Since(begin)
			if err := stop(); err != nil {
				t.Error(err)
			}
			want, questions := 26, 30
			if !known { // asked once, waited for once
				want, questions = 29, 10
			}
			if got := store.has(t); got != want || rejected != 1 || len(asked) != questions || took > 1200*time.Millisecond {
				t.Errorf("known %v: %d rows stored, %d rejected, %d asked about, %v", known, got, rejected, len(asked), took)
			}
		})
	}
}

// Rows that come back later than results are kept are counted and told of, never stored nor
// made dead letters, whether this process knows how long that is or only the store does.
func TestReplayLeavesOutWhatIsTooOld(t *testing.T) {
	t.Parallel()
	for _, known := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			store, oldest := newTable(), time.Now().Add(-7*24*time.Hour)
			tooOld := func(slot time.Time) bool { return slot.Before(oldest) }
			store.fail = func(b resultstore.Batch) (error, bool) {
				if slices.ContainsFunc(b.Rows, func(r uptime.Result) bool { return tooOld(r.ScheduledAt) }) {
					return &resultstore.RowError{Problem: "older than results are kept", TooOld: true}, false
				}
				return nil, true
			}
			disk := openSpool(t, spooltest.New(), 0)
			for i, token := range []string{"all-of-them", "some-of-them", "none-of-them"} {
				rows := rowsOf(int64(1+10*i), 10)
				for j := range rows {
					if rows[j].ScheduledAt = oldest; j < 10-5*i {
						rows[j].ScheduledAt = oldest.Add(-time.Millisecond)
					}
				}
				if err := disk.Append(resultstore.Batch{Token: token, Prober: "p", Region: "eu", Attempt: 1, Rows: rows}); err != nil {
					t.Fatal(err)
				}
			}
			o := Options{Spool: disk, Reject: func(row uptime.Result, err error) { t.Errorf("%d rejected: %v", row.TargetID, err) }}
			if known {
				o.TooOld = tooOld
			}
			r := New(store, o)
			stop := start(t, r)
			await(t, 10*time.Second, "replayed", func() bool { return r.State().Spool.Batches == 0 })
			if err := stop(); err != nil {
				t.Error(err)
			}
			count := func(outcome string) float64 { return testutil.ToFloat64(r.metrics.rows.WithLabelValues(outcome)) }
			if s := r.State(); store.has(t) != 15 || s.TooOld != 15 || s.TooOldAt.IsZero() || count(outcomeTooOld) != 15 || count(outcomeReplayed) != 15 || count(outcomeRejected) != 0 {
				t.Errorf("known %v: %d rows stored, %+v, %v too old, %v replayed", known, store.has(t), s, count(outcomeTooOld), count(outcomeReplayed))
			}
			if sent := len(store.sent()); known && sent != 2 {
				t.Errorf("%d inserts", sent)
			}
		})
	}
}

func TestDamagedFileCostsOnlyItself(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fs := spooltest.New()
		disk := spooled(t, fs, 3)
		names := slices.DeleteFunc(fs.Names("/spool"), func(name string) bool { return len(name) < 20 })
		content, err := fs.Content("/spool/" + names[1])
		if err != nil {
			t.Fatal(err)
		}
		content[30] ^= 1
		fs.Put("/spool/"+names[1], content)
		store := newTable()
		r := New(store, Options{Spool: disk})
		stop := start(t, r)
		await(t, 5*time.Second, "replayed", func() bool { return disk.State().Batches == 0 })
		if err := stop(); err != nil {
			t.Error(err)
		}
		if got := store.has(t); got != 20 || disk.State().Corrupt != 1 {
			t.Errorf("%d rows stored, %+v", got, disk.State())
		}
	})
}

// A batch on disk that never works must neither keep the breaker open nor live rows
// from the store.
func TestBatchThatNeverWorksHoldsUpNoLiveRows(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := newTable()
		store.fail = func(b resultstore.Batch) (error, bool) {
			if b.Token == "a" {
				return errAway, false
			}
			return nil, true
		}
		disk := spooled(t, spooltest.New(), 1)
		r := New(store, Options{Spool: disk})
		quit := make(chan struct{})
		stop := start(t, r)
		<-time.After(30 * time.Second) // the breaker is open by now
		if r.State().Breaker == "closed" {
			t.Error("the test has lost its point")
		}
		var feeding sync.WaitGroup
		feeding.Go(func() { feed(t, r, 1, 300*time.Millisecond, quit, func(time.Duration, error) {}) })
		<-time.After(3 * time.Minute)
		direct := testutil.ToFloat64(r.metrics.rows.WithLabelValues(outcomeStored))
		<-time.After(time.Minute)
		if got := testutil.ToFloat64(r.metrics.rows.WithLabelValues(outcomeStored)) - direct; got < 150 {
			t.Errorf("%v of 200 rows a minute were stored directly", got)
		}
		if s := r.State(); !s.Retrying || s.LastError == "" && s.Breaker != "closed" {
			t.Errorf("state %+v", s)
		}
		close(quit)
		feeding.Wait()
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

// A live batch that never works goes to the disk after five attempts, though the
// store takes others.
func TestLiveBatchThatNeverWorksStepsAside(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := newTable()
		store.fail = func(b resultstore.Batch) (error, bool) {
			if b.Rows[0].TargetID == 5000 {
				return errAway, false
			}
			return nil, true
		}
		r := New(store, Options{MaxRows: 10, Spool: openSpool(t, spooltest.New(), 0)})
		r.breaker.random = func(below time.Duration) time.Duration { return below - 1 }
		stop := start(t, r)
		others := time.NewTicker(10 * time.Millisecond) // a replay that works
		defer others.Stop()
		quit := make(chan struct{})
		go func() {
			for {
				select {
				case <-others.C:
					_ = r.breaker.do(t.Context(), func() error { return nil })
				case <-quit:
					return
				}
			}
		}()
		begin := time.Now()
		patient, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := r.RecordWait(patient, rowsOf(5000, 10)); err != nil {
			t.Error(err)
		}
		if took := time.Since(begin); took > 8*time.Second {
			t.Errorf("took %v", took)
		}
		if sent := len(store.sent()); sent < patience || sent > patience+1 || // the replayer may have tried once
			!r.breaker.closed() {
			t.Errorf("%d attempts, breaker %s", sent, r.breaker.name())
		}
		close(quit)
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}
