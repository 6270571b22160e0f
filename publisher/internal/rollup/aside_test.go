package rollup

import (
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/rollupstore"
	"github.com/probefleet/probefleet/internal/service"
)

// One hour that cannot be computed keeps no other from it: it is marked again by every run,
// tried less and less often, told of after ten minutes, and computed once that works.
func TestBadHourHoldsUpNobody(t *testing.T) {
	at(t, func(t *testing.T, w *world, j *Job) {
		time.Sleep(time.Second)
		_ = w.do(func() {
			w.bad = time.Now().UTC().Truncate(hour).Add(-hour)
			w.dirty = append(w.dirty, resultstore.DirtyHour{Hour: w.bad})
			w.computed = nil
		})
		time.Sleep(9 * time.Minute)
		_ = w.do(func() {
			if len(w.computed) != 9 || len(w.again) != 9 || w.tried != 4 || !w.state.Succeeded.After(time.Now().Add(-2*time.Minute)) || w.level != service.OK {
				t.Errorf("%d other hours, marked %d times, tried %d times, cursor %v", len(w.computed), len(w.again), w.tried, w.state.Succeeded)
			}
			if !w.again[0].Bucket.Equal(w.bad) || w.again[0].Marked.IsZero() {
				t.Errorf("marked %+v", w.again[0])
			}
			if want := []rollupstore.Bucket{{From: w.bad, To: w.bad.Add(hour)}}; !slices.Equal(w.aside, want) {
				t.Errorf("noted as missing %v, want %v", w.aside, want)
			}
		})
		if testutil.ToFloat64(j.metrics.aside) != 1 {
			t.Error("it is not counted")
		}
		time.Sleep(3 * time.Minute)
		_ = w.do(func() {
			if w.level != service.Degraded || w.silence > lookEvery {
				t.Error("nobody is told")
			}
			w.computed, w.again = nil, nil
		})
		time.Sleep(10 * hour)
		_ = w.do(func() {
			if len(w.computed) != 600 || len(w.again) != 600 || w.tried > 27 {
				t.Errorf("%d other hours, marked %d times, tried %d times", len(w.computed), len(w.again), w.tried)
			}
			w.bad, w.computed = time.Time{}, nil
		})
		time.Sleep(mostPause + runEvery)
		_ = w.do(func() {
			if len(w.computed) <= 31 || w.level != service.OK || testutil.ToFloat64(j.metrics.aside) != 0 {
				t.Errorf("%d hours once it can be computed, health %v", len(w.computed), w.level)
			}
			if len(w.aside) > 0 {
				t.Errorf("noted as missing %v", w.aside)
			}
		})
	})
}

// Where nothing at all can be computed no run counts as done, whatever else answers.
func TestNothingButBadHoursIsNoRun(t *testing.T) {
	at(t, func(t *testing.T, w *world, _ *Job) {
		time.Sleep(time.Second)
		var succeeded time.Time
		_ = w.do(func() { w.bad, succeeded = w.dirty[0].Hour, w.state.Succeeded })
		time.Sleep(12 * time.Minute)
		_ = w.do(func() {
			if !w.state.Succeeded.Equal(succeeded) || w.state.Run == nil || !w.state.Run.Before.IsZero() || w.level != service.Degraded {
				t.Errorf("%+v, health %v", w.state, w.level)
			}
			w.dirty = append(w.dirty, resultstore.DirtyHour{Hour: w.bad.Add(-hour)})
		})
		time.Sleep(2 * runEvery)
		_ = w.do(func() {
			if !w.state.Succeeded.After(succeeded) {
				t.Error("another hour did not end it")
			}
		})
	})
}

// A day that cannot be computed comes again through the mark of one of its hours.
func TestBadDayHoldsUpNobody(t *testing.T) {
	at(t, func(t *testing.T, w *world, _ *Job) {
		time.Sleep(time.Second)
		_ = w.do(func() { w.bad = time.Now().UTC().Truncate(day); w.tried = 0 })
		time.Sleep(day)
		_ = w.do(func() {
			if w.tried == 0 || len(w.again) == 0 || !w.again[0].Marked.IsZero() || w.state.Succeeded.Before(time.Now().Add(-2*runEvery)) {
				t.Errorf("tried %d times, marked %d times, cursor %v", w.tried, len(w.again), w.state.Succeeded)
			}
		})
	})
}

// What could never be computed stays noted for as long as figures of its time are kept; what
// could be tried again, and is not aside any more, was computed.
func TestWhatCouldNeverBeComputedStaysNoted(t *testing.T) {
	at(t, func(t *testing.T, w *world, _ *Job) {
		now := time.Now().UTC().Truncate(day)
		bucket := func(days int, length time.Duration) rollupstore.Bucket {
			from := now.AddDate(0, 0, -days)
			return rollupstore.Bucket{From: from, To: from.Add(length)}
		}
		_ = w.do(func() {
			w.aside = []rollupstore.Bucket{bucket(2000, hour), bucket(100, hour), bucket(31, day), bucket(5, hour)}
		})
		time.Sleep(2 * runEvery)
		_ = w.do(func() {
			if want := []rollupstore.Bucket{bucket(100, hour), bucket(31, day)}; !slices.Equal(w.aside, want) {
				t.Errorf("noted %v, want %v", w.aside, want)
			}
		})
	})
}

// An hour of which the results may be dropped at any moment is not computed again.
func TestLastHoursAreLeftAlone(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	now := time.Now().UTC()
	gone, last := resultstore.OldestHour(now, resultstore.Retention).Add(-hour), resultstore.OldestHour(now, resultstore.Retention).Add(hour)
	for _, at := range []time.Time{gone, last} { // they were taken when they were younger
		if err := r.conn.Exec(t.Context(), `INSERT INTO results (target_id, region, scheduled_at, checked_at, status, attempt, prober) VALUES (1, 'eu', $1, $1, 'up', 1, 'p')`, at); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := r.job.runOnce(t.Context()); err != nil {
		t.Fatal(err)
	}
	rows := r.rows(t, "rollup_1h")
	_, computed := rows[cell{1, "eu", last}]
	_, touched := rows[cell{1, "eu", gone}]
	if !computed || touched {
		t.Errorf("computed %v, touched %v", computed, touched)
	}
}
