package recorder

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/probefleet/probefleet/internal/resultstore"
)

func TestFullBufferHoldsCallersBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		sink := &fakeSink{answer: func(context.Context, int, resultstore.Batch) error { <-release; return nil }}
		r := New(sink, Options{MaxRows: 10, MaxBuffered: 20})
		stop := start(t, r)
		ignore := Watch{Done: func(error) {}}
		for i := range int64(2) {
			if err := r.Record(t.Context(), rowsOf(1+10*i, 10), ignore); err != nil {
				t.Fatal(err)
			}
		}
		short, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := r.Record(short, rowsOf(30, 1), ignore); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("a full buffer answered %v", err)
		}
		if s := r.State(); s.Saturation != 1 {
			t.Errorf("state %+v", s)
		}
		through := make(chan error, 1)
		go func() { through <- r.RecordWait(t.Context(), rowsOf(40, 1)) }()
		synctest.Wait()
		close(release)
		if err := <-through; err != nil {
			t.Error(err)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

func TestStopFlushesWhatItHolds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sink := &fakeSink{answer: func(_ context.Context, n int, _ resultstore.Batch) error {
			if n == 1 {
				return errAway
			}
			return nil
		}}
		r := New(sink, Options{MaxRows: 10, MaxAge: time.Hour})
		stop := start(t, r)
		var answers []error
		if err := r.Record(t.Context(), rowsOf(1, 5), Watch{Done: func(err error) { answers = append(answers, err) }}); err != nil {
			t.Fatal(err)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
		if !slices.Equal(answers, []error{nil}) {
			t.Errorf("answers %v", answers)
		}
		if err := r.Record(t.Context(), rowsOf(9, 1), Watch{Done: func(error) { t.Error("done after refusal") }}); !errors.Is(err, ErrStopped) {
			t.Errorf("a stopped recorder answered %v", err)
		}
	})
}

func TestStopGivesBackWhatCannotBeStored(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sink := &fakeSink{answer: func(ctx context.Context, _ int, _ resultstore.Batch) error { <-ctx.Done(); return ctx.Err() }}
		r := New(sink, Options{MaxRows: 10, MaxBuffered: 30})
		stop := start(t, r)
		var answers []error
		for i := range int64(3) {
			if err := r.Record(t.Context(), rowsOf(1+10*i, 10), Watch{Done: func(err error) { answers = append(answers, err) }}); err != nil {
				t.Fatal(err)
			}
		}
		blocked := make(chan error, 1)
		go func() {
			blocked <- r.Record(t.Context(), rowsOf(90, 1), Watch{Done: func(error) { t.Error("done after refusal") }})
		}()
		synctest.Wait()
		begin := time.Now()
		if err := stop(); !errors.Is(err, ErrStopped) {
			t.Errorf("Run: %v", err)
		}
		if took := time.Since(begin); took != 20*time.Second {
			t.Errorf("flush took %v, want 20s", took)
		}
		if err := <-blocked; !errors.Is(err, ErrStopped) {
			t.Errorf("a blocked caller got %v", err)
		}
		if len(answers) != 3 || slices.ContainsFunc(answers, func(err error) bool { return !errors.Is(err, ErrStopped) }) {
			t.Errorf("answers %v", answers)
		}
	})
}

// A refused row must not hide that its neighbours are not stored: who hears of
// something permanent gives up on the whole record.
func TestRefusedRowDoesNotHideAnAbandonedOne(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sink := &fakeSink{answer: func(context.Context, int, resultstore.Batch) error { return errAway }}
		r := New(sink, Options{MaxRows: 10, MaxAge: time.Second, FlushTimeout: time.Second})
		stop := start(t, r)
		rows := rowsOf(1, 5)
		rows[0].Region = ""
		answer := make(chan error, 1)
		if err := r.Record(t.Context(), rows, Watch{Done: func(err error) { answer <- err }}); err != nil {
			t.Fatal(err)
		}
		if err := stop(); !errors.Is(err, ErrStopped) {
			t.Error(err)
		}
		if err := <-answer; !errors.Is(err, ErrStopped) || resultstore.IsPermanent(err) {
			t.Errorf("answered %v", err)
		}
	})
}
