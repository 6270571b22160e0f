package resultstore

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

// A row whose place another took is told as long as it is there, and never guessed afterwards.
func TestRowsAsTheyWereKnown(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	slot := base()
	told := func(r uptime.Result, minutes int) uptime.Result {
		r.IngestedAt = kept(slot.Add(time.Duration(minutes) * time.Minute))
		return r
	}
	failed := up(1, "eu", slot)
	failed.Status, failed.Failure = uptime.StatusDown, uptime.FailureTimeout
	late := up(1, "us", slot)
	late.Late = true
	insert(t, s,
		batchOf(told(failed, 1), told(missed(1, "us", slot), 2), told(up(1, "eu", slot.Add(-time.Minute)), 0), told(up(2, "eu", slot), 1)),
		batchOf(told(up(1, "eu", slot), 10), told(late, 20)),
	)
	at := func(minutes int, ids ...int64) (all []string) {
		t.Helper()
		found, err := s.Known(t.Context(), ids, 2, slot.Add(-time.Hour), slot.Add(time.Duration(minutes)*time.Minute))
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range ids {
			for _, r := range found[id] {
				later := time.Duration(0)
				if !r.LaterAt.IsZero() {
					later = r.LaterAt.Sub(kept(slot)).Round(time.Minute)
				}
				text := fmt.Sprint(r.TargetID, " ", r.Region, " ", r.ScheduledAt.Sub(slot), " ", r.Known, " later ", later)
				if r.Known {
					text += fmt.Sprint(" ", r.Status, r.Failure, r.Reason, " late ", r.Late)
				}
				all = append(all, text)
			}
		}
		return all
	}
	check := func(minutes int, want ...string) {
		t.Helper()
		if got := at(minutes, 1, 2); !slices.Equal(got, want) {
			t.Errorf("after %d minutes: %q, want %q", minutes, got, want)
		}
	}
	const before = "1 eu -1m0s true later 0s up late false"
	check(0, "1 eu 0s false later 1m0s", "1 us 0s false later 2m0s", before, "2 eu 0s false later 1m0s")
	check(5, "1 eu 0s true later 10m0s downtimeout late false", "1 us 0s true later 20m0s missedlost late false", before, "2 eu 0s true later 0s up late false")
	check(30, "1 eu 0s true later 0s up late false", "1 us 0s true later 0s up late true", before, "2 eu 0s true later 0s up late false")

	if err := s.conn.Exec(t.Context(), "OPTIMIZE TABLE results FINAL"); err != nil {
		t.Fatal(err)
	}
	check(5, "1 eu 0s false later 10m0s", "1 us 0s false later 20m0s", before, "2 eu 0s true later 0s up late false")
	check(30, "1 eu 0s true later 0s up late false", "1 us 0s true later 0s up late true", before, "2 eu 0s true later 0s up late false")
}
