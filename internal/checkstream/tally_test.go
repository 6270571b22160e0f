package checkstream

import (
	"maps"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/probefleet/probefleet/internal/uptime"
)

// Letters are counted by their region over all pages, and again once any has come or gone.
func TestLettersOfEachRegion(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, r *Redis) {
		ctx, tally := t.Context(), NewLetterTally(r)
		have := func(when string, want map[string]int64) {
			t.Helper()
			if got, err := tally.Regions(ctx); err != nil || !maps.Equal(got, want) {
				t.Errorf("%s: %v %v, want %v", when, got, err, want)
			}
		}
		have("none", map[string]int64{})
		_, d, ids := buried(t, r, 2*letterPage+1)
		have("of one region", map[string]int64{"eu": 201})
		must(t, r.commands.XAdd(ctx, &redis.XAddArgs{Stream: keyDead, Values: []any{"region", "us", "id", "1000-1"}}).Err())
		have("one more of another", map[string]int64{"eu": 201, "us": 1})
		if n, err := d.Purge(ctx, ids[:2]); err != nil || n != 2 {
			t.Fatal(n, err)
		}
		have("two are gone", map[string]int64{"eu": 199, "us": 1})
		must(t, r.Tombstone(ctx, 7))
		have("a target is gone", map[string]int64{"eu": 198, "us": 1})
		must(t, r.commands.XTrimMaxLen(ctx, keyDead, 1).Err())
		have("all but the newest are gone", map[string]int64{"us": 1})
	})
}

// As many as before, but others: one was dropped for want of room.
func TestLettersThatTookThePlaceOfOthersAreCounted(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, r *Redis) {
		ctx, tally := t.Context(), NewLetterTally(r)
		r.letters.count = 3
		c, entries := delivered(t, r, 3)
		for _, e := range entries {
			if moved, err := c.Dead(ctx, e, "killer"); err != nil || !moved {
				t.Fatal(moved, err)
			}
		}
		if got, err := tally.Regions(ctx); err != nil || !maps.Equal(got, map[string]int64{"eu": 3}) {
			t.Fatal(got, err)
		}
		must(t, NewPublisher(r).EnsureGroups(ctx, []string{"eu", "us"}))
		us, _ := consumer(r, "us", "p1")
		if kept, err := us.KeepRow(ctx, entries[0], uptime.Result{TargetID: 1, Region: "us", Status: uptime.StatusDown}, "refused"); err != nil || !kept {
			t.Fatal(kept, err)
		}
		if got, err := tally.Regions(ctx); err != nil || !maps.Equal(got, map[string]int64{"eu": 2, "us": 1}) {
			t.Error(got, err)
		}
	})
}
