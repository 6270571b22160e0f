package statuspage

import (
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/availability"
	"github.com/probefleet/probefleet/internal/pagestore"
	"github.com/probefleet/probefleet/internal/verdict"
)

func TestPastDaysThatNobodyAccountsForAreNotGreen(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	page := pagestore.Page{Terms: pagestore.Terms{Groups: []pagestore.Group{{Components: []pagestore.Component{{ID: 1, Name: "Site", Rule: pagestore.RuleWorst, Targets: []int64{7}}}}}}}
	window, periods := Days(page, at)
	account := availability.NewAccount(availability.Terms{Window: window, Every: availability.NewIntervals(availability.Interval{From: window.From, Every: time.Minute})}, periods)
	for _, p := range periods {
		account.Add(availability.Cell{Span: p.Span, Counts: availability.Counts{Up: 100}})
	}
	green := func(behind time.Time) (n int) {
		v := NewTeller().AsKnown(Past{
			At: at, Page: page, States: map[int64]verdict.State{7: verdict.StateUp}, Periods: periods,
			Accounts: map[int64]*availability.Account{7: account}, Behind: behind,
		})
		for _, d := range v.Groups[0].Components[0].Days {
			if d.State == pagestore.Up {
				n++
			}
		}
		return n
	}
	if all, some := green(time.Time{}), green(at.Add(-52*time.Hour)); all != 90 || some != 87 {
		t.Errorf("%d and %d green days", all, some)
	}
}
