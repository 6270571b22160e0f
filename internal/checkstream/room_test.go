package checkstream

import (
	"slices"
	"testing"
	"time"
)

// Entries that were delivered again and again are taken over one at a time, others as
// many as there is room for: what only waits in a queue when its prober dies must not
// be blamed for it.
func TestRoomIsKept(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, r *Redis) {
		ctx, p := t.Context(), NewPublisher(r)
		must(t, p.EnsureGroups(ctx, []string{"eu"}))
		second := redisNow(t, r)
		setTick(t, r, second-1)
		publish(t, p, second, checks(second, 1, 1300))
		first, _ := consumer(r, "eu", "p1")
		if n := len(readAll(t, first)); n != 1300 {
			t.Fatal(n)
		}
		lives := func() *Consumer { c, _ := consumer(r, "eu", "p1"); return c }
		if died, _, err := lives().Own(ctx, Room{40, 0}); err != nil || len(died) != 40 {
			t.Fatal(len(died), err)
		}

		c := lives()
		got, complete, err := c.Own(ctx, Room{Entries: 32, Alone: 1})
		if err != nil || complete || len(got) != 33 {
			t.Fatalf("%d, complete %v, %v", len(got), complete, err)
		}
		again := slices.DeleteFunc(slices.Clone(got), func(e Entry) bool { return e.Deliveries == 2 })
		if len(again) != 1 || again[0].Deliveries != 3 {
			t.Fatalf("%d were taken that had been delivered twice", len(again))
		}
		must(t, c.Ack(ctx, idsOf(got)))
		if none, complete, err := c.Own(ctx, Room{}); err != nil || complete || len(none) > 0 {
			t.Fatalf("no room, yet %d %v %v", len(none), complete, err)
		}
		for left := 1300 - 33; left > 0; left -= len(got) {
			got, complete, err = c.Own(ctx, Room{Entries: 600, Alone: 1})
			if err != nil || len(got) == 0 || complete != (len(got) == left) {
				t.Fatalf("%d left, got %d, complete %v, %v", left, len(got), complete, err)
			}
			must(t, c.Ack(ctx, idsOf(got)))
		}
	})
}

func TestRoomIsKeptInTakeovers(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, r *Redis) {
		ctx, p := t.Context(), NewPublisher(r)
		must(t, p.EnsureGroups(ctx, []string{"eu"}))
		second := redisNow(t, r)
		setTick(t, r, second-1)
		publish(t, p, second, checks(second, 1, 600))
		dead, _ := consumer(r, "eu", "dead")
		readAll(t, dead)
		reborn, _ := consumer(r, "eu", "dead")
		if died, _, err := reborn.Own(ctx, Room{20, 0}); err != nil || len(died) != 20 {
			t.Fatal(len(died), err)
		}
		heir, clock := consumer(r, "eu", "heir")
		heartbeat(t, heir, Heartbeat{})
		staleBeat(t, r, "eu", "dead")
		onceDead(t, heir, clock)
		for left := 600; left > 0; {
			got, err := heir.Reclaim(ctx, time.Hour, Room{Entries: 250, Alone: 1})
			must(t, err)
			alone := 0
			for _, e := range got {
				if e.Deliveries > 2 {
					alone++
				}
			}
			if len(got) == 0 || alone > 1 || len(got)-alone > 250 {
				t.Fatalf("%d left, got %d and %d alone", left, len(got), alone)
			}
			must(t, heir.Ack(ctx, idsOf(got)))
			left -= len(got)
		}
	})
}
