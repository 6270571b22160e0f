package checkstream

import (
	"strconv"
	"testing"
	"time"
)

func TestOldTombstonesArePruned(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, r *Redis) {
		ctx := t.Context()
		const day = 86_400
		now := redisNow(t, r)
		var many []int64
		for id := int64(100); id < 2600; id++ { // several pages of everything
			many = append(many, id)
		}
		must(t, r.Tombstone(ctx, many...))
		must(t, r.Tombstone(ctx))
		must(t, r.commands.HSet(ctx, keyTombstones, "1", (now-30*day)*1000, "2", (now-31*day-60)*1000, "3", "?").Err())
		for id := range 1500 {
			must(t, r.commands.HSet(ctx, keyTombstones, strconv.Itoa(10_000+id), "1").Err())
		}
		must(t, r.PruneTombstones(ctx, 100*day*time.Second))
		if deleted, err := r.Tombstoned(ctx, []int64{1, 2}); err != nil || !deleted[1] || !deleted[2] {
			t.Fatalf("of less than a hundred days %v, %v", deleted, err)
		}
		must(t, r.PruneTombstones(ctx, 31*day*time.Second))
		if n, err := r.Tombstones(ctx); err != nil || n != 2501 {
			t.Fatalf("%d left of 2501, %v", n, err)
		}
		deleted, err := r.Tombstoned(ctx, append(many, 1, 2, 3, 4))
		if err != nil || len(deleted) != 2501 || !deleted[1] || deleted[2] || deleted[4] || !deleted[2599] {
			t.Fatalf("%d %v", len(deleted), err)
		}
	})
}
