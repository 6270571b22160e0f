package recorder

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/migrations"
)

func TestMain(m *testing.M) { testbackend.Main(m) }

// forgetful stores a batch and says that it has not, every second time.
type forgetful struct {
	store *resultstore.Store
	calls atomic.Int64
}

func (f *forgetful) Insert(ctx context.Context, b resultstore.Batch) error {
	if err := f.store.Insert(ctx, b); err != nil {
		return err
	}
	if f.calls.Add(1)%2 == 1 {
		return errAway
	}
	return nil
}

// Lost answers and a batch recorded again by another process add nothing.
func TestLostAnswersCountOnce(t *testing.T) {
	t.Parallel()
	url := testbackend.ClickHouse(t)
	if err := migrations.UpClickHouse(t.Context(), url, nil); err != nil {
		t.Fatal(err)
	}
	store, err := resultstore.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()

	const n = 2500
	slot := time.Now().Add(-time.Minute).Truncate(time.Second)
	rows := make([]uptime.Result, n)
	for i := range rows {
		rows[i] = row(int64(i%500) + 1)
		rows[i].ScheduledAt = slot.Add(-time.Duration(i/500) * time.Second)
	}
	for range 2 {
		sink := &forgetful{store: store}
		r := New(sink, Options{Prober: "p1", Region: "eu", MaxAge: 10 * time.Millisecond})
		stop := start(t, r)
		if err := r.RecordWait(t.Context(), rows); err != nil {
			t.Fatal(err)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
		if sink.calls.Load() < 6 {
			t.Errorf("%d inserts: the test has lost its point", sink.calls.Load())
		}
	}
	var total uint64
	err = store.Outcomes(t.Context(), slot.Add(-time.Minute), slot.Add(time.Second), func(_ int64, _ string, _ uptime.Reason, counts [6]uint64) error {
		total += counts[uptime.StatusUp]
		return nil
	})
	if err != nil || total != n {
		t.Errorf("%d slots, want %d (%v)", total, n, err)
	}
}
