package rollup

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/probefleet/probefleet/internal/resultstore"
)

func TestPlan(t *testing.T) {
	t.Parallel()
	today := time.Date(2026, 3, 10, 0, 0, 0, 0, time.UTC)
	at := func(days, hours int) time.Time { return today.Add(time.Duration(days)*day + time.Duration(hours)*hour) }
	dirty := func(hours ...time.Time) (all []resultstore.DirtyHour) {
		for _, h := range hours {
			all = append(all, resultstore.DirtyHour{Hour: h, Targets: 1})
		}
		return all
	}
	for name, c := range map[string]struct {
		succeeded, started, before time.Time
		dirty                      []resultstore.DirtyHour
		want                       plan
	}{
		"the usual": {
			succeeded: at(0, 15), started: at(0, 15).Add(time.Minute), dirty: dirty(at(0, 15), at(0, 14)),
			want: plan{closed: at(0, 15).Add(-10 * time.Minute), days: []dayPlan{{start: today, hours: []time.Time{at(0, 15), at(0, 14)}}}},
		},
		"nothing": {
			succeeded: at(0, 15), started: at(0, 16), want: plan{closed: at(0, 15).Add(-10 * time.Minute)},
		},
		"the first run": {
			started: at(0, 15), dirty: dirty(at(-2, 3), at(0, 14), at(-2, 5)),
			want: plan{days: []dayPlan{{start: today, hours: []time.Time{at(0, 14)}}, {start: at(-2, 0), hours: []time.Time{at(-2, 5), at(-2, 3)}, ended: true}}},
		},
		"midnight, too early": {
			succeeded: at(0, 0).Add(9 * time.Minute), started: at(0, 0).Add(10*time.Minute - 1), dirty: dirty(at(-1, 23)),
			want: plan{closed: at(0, 0).Add(-time.Minute), days: []dayPlan{{start: at(-1, 0), hours: []time.Time{at(-1, 23)}}}},
		},
		"midnight": {
			succeeded: at(0, 0).Add(9 * time.Minute), started: at(0, 0).Add(10 * time.Minute), dirty: dirty(at(0, 0)),
			want: plan{closed: at(0, 0).Add(-time.Minute), days: []dayPlan{{start: today, hours: []time.Time{at(0, 0)}}, {start: at(-1, 0), ended: true, all: true}}},
		},
		"once is enough": {
			succeeded: at(0, 0).Add(10 * time.Minute), started: at(0, 0).Add(11 * time.Minute), want: plan{closed: at(0, 0)},
		},
		"days without a publisher": {
			succeeded: at(-3, 12), started: at(0, 1), dirty: dirty(at(-2, 2)),
			want: plan{closed: at(-3, 12).Add(-10 * time.Minute), days: []dayPlan{
				{start: at(-1, 0), ended: true, all: true}, {start: at(-2, 0), hours: []time.Time{at(-2, 2)}, ended: true, all: true}, {start: at(-3, 0), ended: true, all: true}}},
		},
		"half of it is done": {
			succeeded: at(-3, 12), started: at(0, 1), before: at(-1, 0), dirty: dirty(at(-2, 2), at(0, 0)),
			want: plan{closed: at(-3, 12).Add(-10 * time.Minute), days: []dayPlan{
				{start: at(-2, 0), hours: []time.Time{at(-2, 2)}, ended: true, all: true}, {start: at(-3, 0), ended: true, all: true}}},
		},
		"the clock went back": {
			succeeded: at(1, 0), started: at(0, 1), dirty: dirty(at(-1, 2)),
			want: plan{days: []dayPlan{{start: at(-1, 0), hours: []time.Time{at(-1, 2)}, ended: true}}},
		},
	} {
		got := planned(c.succeeded, c.started, c.before, c.dirty)
		if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(plan{}, dayPlan{})); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestWhatIsLookedAt(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 10, 12, 30, 0, 0, time.UTC)
	for _, c := range []struct{ succeeded, want time.Time }{
		{time.Time{}, time.Time{}},
		{now.Add(-time.Minute), now.Add(-3 * time.Minute)},
		{now, now.Add(-2 * time.Minute)},
		{now.Add(time.Second), time.Time{}}, // the clock went back
	} {
		if got := markedSince(c.succeeded, now); !got.Equal(c.want) {
			t.Errorf("after %v: %v, want %v", c.succeeded, got, c.want)
		}
	}
}
