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

// What a region saw that was asked to confirm comes through the lane, once, in its place; and is
// of no later than it was told, whatever the clock of its prober says.
func TestConfirmationsLieBetweenResults(t *testing.T) {
	t.Parallel()
	for name, ahead := range map[string]bool{"right clock": false, "clock ahead": true} {
		t.Run(name, func(t *testing.T) { t.Parallel(); confirmationsLieBetweenResults(t, ahead) })
	}
}

func confirmationsLieBetweenResults(t *testing.T, ahead bool) {
	onBoth(t, func(t *testing.T, r *checkstream.Redis) {
		asked := checkstream.Confirmation{TargetID: 7, Slot: time.Date(2026, 5, 4, 3, 2, 10, 0, time.UTC)}
		visit := checkstream.Visit{Job: asked.Job(), Attempt: 1, Region: "us", Kind: uptime.KindHTTP, URL: "https://example.com/", Timeout: time.Second}
		lane := checkstream.NewConfirm(r)
		must(t, lane.Add(t.Context(), []checkstream.Visit{visit}))
		must(t, lane.Add(t.Context(), []checkstream.Visit{visit})) // asked for again it is still one
		one, two := samples(2)[:1], samples(2)[1:]
		a := NewAnnouncer(r)
		must(t, a.Announce(t.Context(), one))
		if others, err := checkstream.NewAdhocConsumer(r, "us", "p1").Read(t.Context(), 10, 0); err != nil || len(others) != 0 {
			t.Errorf("the lane of visits on demand has %v, %v", others, err)
		}
		prober := checkstream.NewConfirmConsumer(r, "us", "p1")
		entries, err := prober.Read(t.Context(), 10, 0)
		must(t, err)
		if len(entries) != 1 || entries[0].Job != asked.Job() {
			t.Fatalf("the prober gets %+v", entries)
		}
		saw := checkstream.VisitOutcome{Look: uptime.Look{Prober: "p1", Status: uptime.StatusDown, Failure: uptime.FailureStatusCode, HTTPStatus: 503, CheckedAt: asked.Slot.Add(time.Second)}}
		if ahead {
			saw.CheckedAt = time.Now().Add(time.Hour)
		}
		must(t, prober.Settle(t.Context(), entries[0], saw))
		must(t, prober.Settle(t.Context(), entries[0], saw)) // its first reply was lost
		must(t, a.Announce(t.Context(), two))

		var order []any
		ctx, stop := context.WithCancel(t.Context())
		f := NewFollower(r).WithConfirmations(func(_ string, o checkstream.VisitOutcome) error {
			c, is := o.Confirms()
			if !is || o.Region != "us" || o.HTTPStatus != 503 {
				t.Errorf("%+v", o)
			}
			if ahead == o.CheckedAt.Equal(saw.CheckedAt) || o.CheckedAt.After(time.Now()) {
				t.Errorf("made at %v by a prober that says %v", o.CheckedAt, saw.CheckedAt)
			}
			order = append(order, c)
			return nil
		}).WithPulse(func() {
			if len(order) == 3 {
				stop()
			}
		})
		_ = f.Follow(ctx, beginning, func(_ string, results []uptime.Result) error { order = append(order, results[0].TargetID); return nil })
		if want := []any{one[0].TargetID, asked, two[0].TargetID}; !slices.Equal(order, want) {
			t.Errorf("delivered %v, not %v", order, want)
		}
		got, silent := follow(t, r, beginning)
		next(t, got)
		if next(t, got); silent.Skipped() != 0 {
			t.Error("who does not ask for confirmations takes one for a damaged entry")
		}
	})
}
