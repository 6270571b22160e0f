package livefeed

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/uptime"
)

// Who asks for rounds gets them between the results, in order; others do not notice them.
func TestRoundsKeepTheirPlace(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, r *checkstream.Redis) {
		a := NewAnnouncer(r)
		bad := Round{Region: "eu", Prober: "p1", At: time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC), Said: "a.example: refused"}
		good := Round{Region: "eu", Prober: "p1", At: bad.At.Add(time.Second), Good: true}
		one, two := samples(2)[:1], samples(2)[1:]
		must(t, a.AnnounceRound(t.Context(), bad))
		must(t, a.Announce(t.Context(), one))
		must(t, a.AnnounceRound(t.Context(), good))
		must(t, a.Announce(t.Context(), two))

		var order []any
		ctx, stop := context.WithCancel(t.Context())
		f := NewFollower(r).WithRounds(func(_ string, round Round) error { order = append(order, round); return nil }).WithPulse(func() {
			if len(order) == 4 {
				stop()
			}
		})
		_ = f.Follow(ctx, beginning, func(_ string, results []uptime.Result) error { order = append(order, results[0].TargetID); return nil })
		if want := []any{bad, one[0].TargetID, good, two[0].TargetID}; !slices.Equal(order, want) {
			t.Errorf("delivered %v, not %v", order, want)
		}

		got, silent := follow(t, r, beginning)
		for _, want := range [][]uptime.Result{one, two} {
			if d := next(t, got); d.results[0].TargetID != want[0].TargetID {
				t.Errorf("delivered %v, not %v", d.results, want)
			}
		}
		if n := silent.Skipped(); n != 0 {
			t.Errorf("%d entries were taken for damaged ones", n)
		}
	})
}
