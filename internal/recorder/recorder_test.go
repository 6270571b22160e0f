package recorder

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/uptime"
)

var errAway = errors.New("store is away")

// fakeSink answers each insert with what answer says and keeps what it was sent.
type fakeSink struct {
	mu     sync.Mutex
	sent   []resultstore.Batch
	answer func(ctx context.Context, n int, b resultstore.Batch) error
}

func (f *fakeSink) Insert(ctx context.Context, b resultstore.Batch) error {
	f.mu.Lock()
	b.Rows = slices.Clone(b.Rows)
	f.sent = append(f.sent, b)
	n := len(f.sent)
	f.mu.Unlock()
	if f.answer == nil {
		return nil
	}
	return f.answer(ctx, n, b)
}

func (f *fakeSink) batches() []resultstore.Batch {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.sent)
}

func row(target int64) uptime.Result {
	return uptime.Result{TargetID: target, Region: "eu", ScheduledAt: time.Now(), CheckedAt: time.Now(), Status: uptime.StatusUp}
}

func rowsOf(first, n int64) []uptime.Result {
	rows := make([]uptime.Result, n)
	for i := range rows {
		rows[i] = row(first + int64(i))
	}
	return rows
}

// start runs a recorder until the returned function is called, which gives Run's answer.
func start(t *testing.T, r *Recorder) func() error {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	return func() error { cancel(); return <-ended }
}

func TestBatchIsSealedBySizeOrAge(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sink := &fakeSink{}
		r := New(sink, Options{Prober: "p1", Region: "eu", MaxRows: 10, MaxAge: time.Second})
		stop := start(t, r)
		if err := r.RecordWait(t.Context(), rowsOf(1, 10)); err != nil {
			t.Fatal(err)
		}
		full := time.Now()
		if err := r.RecordWait(t.Context(), rowsOf(11, 3)); err != nil {
			t.Fatal(err)
		}
		if waited := time.Since(full); waited != time.Second {
			t.Errorf("three rows waited %v, want 1s", waited)
		}
		if err := stop(); err != nil {
			t.Errorf("Run: %v", err)
		}
		sent := sink.batches()
		if len(sent) != 2 || len(sent[0].Rows) != 10 || len(sent[1].Rows) != 3 {
			t.Fatalf("sent %d batches", len(sent))
		}
		if sent[0].Token == sent[1].Token || sent[0].Prober != "p1" || sent[0].Region != "eu" || sent[0].Attempt != 1 {
			t.Errorf("first batch: %+v", sent[0])
		}
	})
}

// Rows in a hurry take along those that wait, and no later ones.
func TestHurriedRowsWaitForNoCompany(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sink := &fakeSink{}
		r := New(sink, Options{Prober: "p1", Region: "eu", MaxRows: 10, MaxAge: time.Second})
		stop := start(t, r)
		begun := time.Now()
		var waited []time.Duration
		done := func(err error) {
			if err != nil {
				t.Error(err)
			}
			waited = append(waited, time.Since(begun))
		}
		for i, hurry := range []bool{false, true, false} {
			if err := r.Record(t.Context(), rowsOf(int64(1+i), 1), Watch{Done: done, Hurry: hurry}); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if want := []time.Duration{0, 0, time.Second}; !slices.Equal(waited, want) {
			t.Errorf("rows waited %v, want %v", waited, want)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

// Promise: a repeated insert has the same token, rows and order
func TestRetryKeepsTokenRowsAndOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sink := &fakeSink{answer: func(_ context.Context, n int, _ resultstore.Batch) error {
			if n < 30 {
				return errAway
			}
			return nil
		}}
		registry := prometheus.NewRegistry()
		r := New(sink, Options{MaxRows: 5, Metrics: registry})
		stop := start(t, r)
		answers := make(chan error, 1)
		if err := r.Record(t.Context(), rowsOf(1, 5), Watch{Done: func(err error) { answers <- err }}); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Millisecond) // of the bubble's clock
		synctest.Wait()
		if s := r.State(); !s.Retrying || s.LastError != errAway.Error() || s.Buffered != 5 || s.OldestAge <= 0 {
			t.Errorf("state while away: %+v", s)
		}
		if err := <-answers; err != nil {
			t.Fatal(err)
		}
		sent := sink.batches()
		if len(sent) != 30 {
			t.Fatalf("sent %d times", len(sent))
		}
		for i, b := range sent {
			if b.Token != sent[0].Token || b.Attempt != i+1 || !slices.Equal(b.Rows, sent[0].Rows) {
				t.Fatalf("attempt %d differs: token %s attempt %d", i+1, b.Token, b.Attempt)
			}
		}
		if sent[0].Rows[0].IngestedAt.IsZero() {
			t.Error("the rows' rank must be fixed before the first attempt")
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
		if s := r.State(); s != (State{Breaker: "closed"}) {
			t.Errorf("state at the end: %+v", s)
		}
		if got := testutil.ToFloat64(r.metrics.retries); got != 29 {
			t.Errorf("%v retries counted", got)
		}
	})
}

// Promise: every row handed to the recorder is answered exactly once
func TestEveryRecordIsAnsweredExactlyOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sink := &fakeSink{answer: func(_ context.Context, n int, b resultstore.Batch) error {
			if slices.ContainsFunc(b.Rows, func(r uptime.Result) bool { return r.TargetID == 77 }) {
				return &resultstore.RowError{Problem: "the server says no"}
			}
			if n%3 == 1 {
				return errAway
			}
			return nil
		}}
		var rejected []int64
		r := New(sink, Options{MaxRows: 16, MaxBuffered: 40, Reject: func(row uptime.Result, _ error) { rejected = append(rejected, row.TargetID) }})
		stop := start(t, r)

		const records = 200
		var mu sync.Mutex
		answers := make([]int, records)
		failed := map[int]error{}
		var group sync.WaitGroup
		for i := range records {
			group.Go(func() {
				rows := rowsOf(int64(i*10), int64(i%25)) // none to more than a batch
				for j := range rows {
					rows[j].TargetID = int64(i) + 1
				}
				if i == 120 {
					rows[3].Status = uptime.StatusMissed // without a reason: invalid
				}
				err := r.Record(t.Context(), rows, Watch{Done: func(err error) {
					mu.Lock()
					defer mu.Unlock()
					answers[i]++
					if err != nil {
						failed[i] = err
					}
				}})
				if err != nil {
					t.Errorf("record %d: %v", i, err)
				}
			})
		}
		group.Wait()
		if err := stop(); err != nil {
			t.Errorf("Run: %v", err)
		}
		for i, n := range answers {
			if n != 1 {
				t.Errorf("record %d was answered %d times", i, n)
			}
		}
		for i, err := range failed {
			if (i != 76 && i != 120) || !resultstore.IsPermanent(err) {
				t.Errorf("record %d failed: %v", i, err)
			}
		}
		if len(failed) != 2 {
			t.Errorf("%d records failed, want those of target 77 and of the invalid row", len(failed))
		}
		slices.Sort(rejected)
		if want := []int64{77, 121}; !slices.Equal(rejected, want) {
			t.Errorf("rejected %v, want %v", rejected, want)
		}
		if s := r.State(); s.Buffered != 0 || !r.room.TryAcquire(40) {
			t.Errorf("room is lost: %+v", s)
		}
	})
}

func TestHalvesKeepDerivedTokens(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sink := &fakeSink{answer: func(_ context.Context, _ int, b resultstore.Batch) error {
			if slices.ContainsFunc(b.Rows, func(r uptime.Result) bool { return r.TargetID == 3 }) {
				return &resultstore.RowError{Problem: "no"}
			}
			return nil
		}}
		r := New(sink, Options{MaxRows: 4})
		stop := start(t, r)
		if err := r.RecordWait(t.Context(), rowsOf(1, 4)); !resultstore.IsPermanent(err) {
			t.Errorf("answer %v", err)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
		sent := sink.batches()
		token := sent[0].Token
		var tokens []string
		for _, b := range sent {
			tokens = append(tokens, b.Token)
		}
		if want := []string{token, token + "/0", token + "/1/0", token + "/3-4"}; !slices.Equal(tokens, want) {
			t.Errorf("tokens %v", tokens)
		}
		if got := testutil.ToFloat64(r.metrics.rows.WithLabelValues(outcomeRejected)); got != 1 {
			t.Errorf("%v rows rejected", got)
		}
	})
}
