package recorder

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/spool"
	"github.com/probefleet/probefleet/internal/spool/spooltest"
	"github.com/probefleet/probefleet/internal/uptime"
)

// table stands in for ClickHouse: it drops a token it knows, and keeps the rows of the
// others by slot. fail is asked for each insert; with kept it fails after the rows are
// in, as a lost answer does.
type table struct {
	fail func(b resultstore.Batch) (err error, kept bool)
	slow time.Duration

	mu     sync.Mutex
	calls  []call
	tokens map[string]bool
	rows   map[uptime.Slot][]uptime.Result
}

type call struct {
	at    time.Time
	batch resultstore.Batch
	err   error
}

func newTable() *table {
	return &table{tokens: map[string]bool{}, rows: map[uptime.Slot][]uptime.Result{}}
}

func (s *table) Insert(ctx context.Context, b resultstore.Batch) error {
	b.Rows = slices.Clone(b.Rows)
	at := time.Now()
	if s.slow > 0 {
		sleep(ctx, s.slow)
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var err error
	kept := true
	if s.fail != nil {
		if err, kept = s.fail(b); err == nil {
			kept = true
		}
	}
	s.calls = append(s.calls, call{at, b, err})
	if kept && !s.tokens[b.Token] {
		s.tokens[b.Token] = true
		for _, row := range b.Rows {
			s.rows[row.Slot()] = append(s.rows[row.Slot()], row)
		}
	}
	return err
}

func (s *table) set(fail func(b resultstore.Batch) (error, bool)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail = fail
}

func (s *table) sent() []call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

// has says how many slots it has, and fails the test for a row that is there twice.
func (s *table) has(t *testing.T) int {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for slot, rows := range s.rows {
		if len(rows) != 1 {
			t.Errorf("slot %+v has %d rows", slot, len(rows))
		}
	}
	return len(s.rows)
}

func away(resultstore.Batch) (error, bool) { return errAway, false }

// holding is permanent for batches that hold target.
func holding(target int64) func(b resultstore.Batch) (error, bool) {
	return func(b resultstore.Batch) (error, bool) {
		if slices.ContainsFunc(b.Rows, func(r uptime.Result) bool { return r.TargetID == target }) {
			return &resultstore.RowError{Problem: "no"}, false
		}
		return nil, true
	}
}

func openSpool(t *testing.T, fs *spooltest.FS, maxBytes int64) *spool.Spool {
	t.Helper()
	s, err := spool.Open(spool.Options{Dir: "/spool", FS: fs.Process(), MaxBytes: maxBytes})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// await lets virtual time pass until ok, at most limit.
func await(t *testing.T, limit time.Duration, what string, ok func() bool) time.Duration {
	t.Helper()
	start := time.Now()
	for !ok() {
		if time.Since(start) > limit {
			t.Fatalf("%s: not within %v", what, limit)
		}
		<-time.After(10 * time.Millisecond)
	}
	return time.Since(start)
}

// feed records one row a target every interval until stop is closed, and gives the
// delay of each answer to seen.
func feed(t *testing.T, r *Recorder, targets int64, every time.Duration, stop <-chan struct{}, seen func(delay time.Duration, err error)) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		at := time.Now()
		if err := r.Record(t.Context(), rowsOf(1, targets), Watch{Done: func(err error) { seen(time.Since(at), err) }}); err != nil {
			t.Error(err)
			return
		}
		select {
		case <-tick.C:
		case <-stop:
			return
		}
	}
}
