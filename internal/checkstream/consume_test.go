package checkstream

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/probefleet/probefleet/internal/uptime"
)

func addArgs(c uptime.Check) *redis.XAddArgs {
	body, _, err := encodeCheck(c)
	if err != nil {
		panic(err)
	}
	return &redis.XAddArgs{
		Stream: keyChecks, ID: entryID(c.ScheduledAt.Unix(), c.TargetID),
		Values: []any{"v", versionPlain, "x", c.ExpiresAt().UnixMilli(), "c", body},
	}
}

func TestReadGivesWhatWasPublished(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, r *Redis) {
		ctx, p := t.Context(), NewPublisher(r)
		c, _ := consumer(r, "eu", "p1")
		must(t, c.EnsureGroup(ctx))
		must(t, c.EnsureGroup(ctx))
		if entries, err := c.Read(ctx, 10, time.Millisecond); err != nil || len(entries) > 0 {
			t.Fatalf("%v %v", entries, err)
		}
		second := redisNow(t, r)
		setTick(t, r, second-1)
		want := checks(second, 1, 5)
		want[3].Spec = `{"expect":{"status":["204-299"]}}`
		must(t, r.Tombstone(ctx, 3))
		publish(t, p, second, want)
		entries, err := c.Read(ctx, 10, MaxBlock)
		must(t, err)
		for i, e := range entries {
			if diff := cmp.Diff(want[i], e.Check); diff != "" || e.Deliveries != 1 || e.Gone || e.Tombstoned != (i == 2) || !e.ScheduledAt().Equal(want[i].ScheduledAt) {
				t.Errorf("%+v %s", e, diff)
			}
		}
		if len(entries) != 5 || pending(t, r, "eu") != 5 {
			t.Fatalf("%d entries, %d pending", len(entries), pending(t, r, "eu"))
		}
		must(t, c.Ack(ctx, idsOf(entries)))
		if len(c.held) > 0 || pending(t, r, "eu") != 0 {
			t.Fatal("not settled")
		}
	})
}

func TestGroupThatVanishedIsReadFromTheBeginning(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, r *Redis) {
		ctx, p := t.Context(), NewPublisher(r)
		c, _ := consumer(r, "eu", "p1")
		second := redisNow(t, r)
		setTick(t, r, second-2)
		publish(t, p, second-1, checks(second-1, 1, 5)) // before anybody reads
		entries := gatherTwice(t, c)
		if len(entries) != 5 {
			t.Fatalf("a new region gets %d of 5", len(entries))
		}
		must(t, p.DestroyGroup(ctx, "eu"))
		must(t, p.DestroyGroup(ctx, "eu"))
		if taken, err := c.Reclaim(ctx, time.Second, Room{10, 10}); err != nil || len(taken) > 0 {
			t.Fatalf("%v %v", taken, err)
		}
		if again := gatherTwice(t, c); len(again) > 0 || pending(t, r, "eu") != 5 {
			t.Fatalf("%d that it still works on were handed out again, %d of 5 are its own again", len(again), pending(t, r, "eu"))
		}
		must(t, p.DestroyGroup(ctx, "eu"))
		c.Release(idsOf(entries))
		if again := gatherTwice(t, c); len(again) != 5 {
			t.Fatalf("after the group was destroyed: %d of 5", len(again))
		}
		must(t, r.commands.Del(ctx, keyChecks).Err())
		if taken, err := c.Reclaim(ctx, time.Second, Room{10, 10}); err != nil || len(taken) > 0 {
			t.Fatalf("%v %v", taken, err)
		}
		publish(t, p, second, checks(second, 1, 5))
		if entries := gatherTwice(t, c); len(entries) != 5 {
			t.Fatalf("after the stream was lost: %d of 5", len(entries))
		}
	})
}

// gatherTwice reads again after nothing: the first read may only create the group.
func gatherTwice(t *testing.T, c *Consumer) []Entry {
	t.Helper()
	return append(readAll(t, c), readAll(t, c)...)
}

func TestRestartedProberGetsItsOwn(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, r *Redis) {
		ctx, p := t.Context(), NewPublisher(r)
		must(t, p.EnsureGroups(ctx, []string{"eu"}))
		second := redisNow(t, r)
		setTick(t, r, second-1)
		publish(t, p, second, checks(second, 1, 1200))
		before, _ := consumer(r, "eu", "p1")
		other, _ := consumer(r, "eu", "p2")
		if entries, err := before.Read(ctx, 1100, 0); err != nil || len(entries) != 1100 {
			t.Fatal(len(entries), err)
		}
		if entries, err := other.Read(ctx, 1100, 0); err != nil || len(entries) != 100 {
			t.Fatal(len(entries), err)
		}
		if again, complete, err := before.Own(ctx, Room{5000, 0}); err != nil || !complete || len(again) > 0 {
			t.Fatalf("what it holds was handed out again: %d %v", len(again), err)
		}
		now, _ := consumer(r, "eu", "p1")
		own := gather(t, ownOf(now, 300))
		if len(own) != 1100 {
			t.Fatalf("%d of 1100", len(own))
		}
		for _, e := range own {
			if e.Deliveries != 2 || e.Err != nil {
				t.Fatalf("%+v", e)
			}
		}
		must(t, now.Ack(ctx, idsOf(own)))
		if pending(t, r, "eu") != 100 {
			t.Fatal("it settled what is not its own")
		}
	})
}

// Regression: trimming removes pending entries' bodies, and XAUTOCLAIM drops such
// entries without a word.
func TestTrimmedPendingEntriesComeBackAsGone(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, r *Redis) {
		ctx, p := t.Context(), NewPublisher(r)
		must(t, p.EnsureGroups(ctx, []string{"eu"}))
		second := redisNow(t, r) - 100 // so old that the janitor may look at it, too
		setTick(t, r, second-1)
		publish(t, p, second, checks(second, 1, 100))
		lost, _ := consumer(r, "eu", "p1")
		readAll(t, lost)
		must(t, r.commands.XTrimMaxLen(ctx, keyChecks, 40).Err())

		count := func(entries []Entry) (gone int) {
			for _, e := range entries {
				if e.Gone {
					gone++
					if e.TargetID == 0 || e.TargetID > 60 || !e.ScheduledAt().Equal(time.Unix(second, 0)) {
						t.Errorf("%+v", e)
					}
				}
			}
			return gone
		}
		restarted, _ := consumer(r, "eu", "p1")
		own := gather(t, ownOf(restarted, 70))
		if len(own) != 100 || count(own) != 60 {
			t.Fatalf("own: %d entries, %d gone", len(own), count(own))
		}
		// It dies before it has settled anything: nothing was forgotten.
		heir, clock := consumer(r, "eu", "p2")
		heartbeat(t, heir, Heartbeat{})
		onceDead(t, heir, clock)
		inherited := gather(t, func(ctx context.Context) ([]Entry, error) { return heir.Reclaim(ctx, time.Hour, Room{70, 70}) })
		if len(inherited) != 100 || count(inherited) != 60 {
			t.Fatalf("reclaimed: %d entries, %d gone", len(inherited), count(inherited))
		}
		// And so does the heir: the janitor finds the gone ones (the others were touched just now).
		janitor, err := p.Expired(ctx, "eu", time.Now().Add(JanitorGrace), 1000)
		must(t, err)
		if count(janitor) > 60 {
			t.Fatalf("janitor: %d", count(janitor))
		}
		must(t, heir.Ack(ctx, idsOf(inherited)))
		if n := pending(t, r, "eu"); n != 0 {
			t.Fatalf("%d pending", n)
		}
	})
}

func TestUnreadableEntryIsHandedOutAndDiesOnce(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, r *Redis) {
		ctx := t.Context()
		const poison = 50
		for i := range poison {
			must(t, r.commands.XAdd(ctx, &redis.XAddArgs{Stream: keyChecks, ID: entryID(1000, int64(i+1)), Values: []any{"v", "9", "c", "x"}}).Err())
		}
		c, _ := consumer(r, "eu", "p1")
		must(t, c.EnsureGroup(ctx))
		entries := readAll(t, c)
		if len(entries) != poison || entries[0].Err == nil {
			t.Fatalf("%+v", entries)
		}
		var group sync.WaitGroup
		var mu sync.Mutex
		moved := 0
		for i := range 4 {
			group.Go(func() {
				racer, _ := consumer(r, "eu", "p1")
				bury := racer.Dead
				if i%2 == 0 {
					bury = func(ctx context.Context, e Entry, reason string) (bool, error) {
						return racer.DeadRow(ctx, e, uptime.Result{Status: uptime.StatusUp}, reason)
					}
				}
				for _, e := range entries {
					ok, err := bury(ctx, e, "unreadable")
					if err != nil {
						t.Error(err)
					}
					if ok {
						mu.Lock()
						moved++
						mu.Unlock()
					}
				}
			})
		}
		group.Wait()
		dead, err := NewFleet(r).DeadLetters(ctx)
		if err != nil || moved != poison || dead != poison || pending(t, r, "eu") != 0 {
			t.Fatalf("%d moved, %d dead, %d pending, %v", moved, dead, pending(t, r, "eu"), err)
		}
	})
}

func TestRenewKeepsIdleTakersAway(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, r *Redis) {
		ctx, p := t.Context(), NewPublisher(r)
		must(t, p.EnsureGroups(ctx, []string{"eu"}))
		second := redisNow(t, r)
		setTick(t, r, second-1)
		publish(t, p, second, checks(second, 1, 20))
		slow, _ := consumer(r, "eu", "slow")
		thief, _ := consumer(r, "eu", "thief")
		entries := readAll(t, slow)
		age(t, r, "eu", "slow", idsOf(entries), time.Minute)
		must(t, slow.Renew(ctx, idsOf(entries[:10])))
		stolen, err := thief.Reclaim(ctx, 45*time.Second, Room{100, 100})
		if err != nil || len(stolen) != 10 || stolen[0].TargetID != 11 || stolen[0].Deliveries != 2 {
			t.Fatalf("%d taken, %v", len(stolen), err)
		}
		must(t, slow.Renew(ctx, idsOf(entries))) // does not take the others back
		rows, err := r.commands.XPendingExt(ctx, &redis.XPendingExtArgs{Stream: keyChecks, Group: "eu", Start: "-", End: "+", Count: 100, Consumer: "thief"}).Result()
		if err != nil || len(rows) != 10 {
			t.Fatalf("%d left with the thief, %v", len(rows), err)
		}
		for _, row := range rows {
			if row.RetryCount != 2 {
				t.Fatalf("renewing counts as a delivery: %+v", row)
			}
		}
	})
}

// age makes pending entries look untouched for so long.
func age(t *testing.T, r *Redis, region, name string, ids []string, idle time.Duration) {
	t.Helper()
	for len(ids) > 0 {
		n := min(len(ids), 500)
		args := []any{"XCLAIM", keyChecks, region, name, 0}
		for _, id := range ids[:n] {
			args = append(args, id)
		}
		args = append(args, "IDLE", idle.Milliseconds(), "RETRYCOUNT", 1, "JUSTID")
		must(t, r.commands.Do(t.Context(), args...).Err())
		ids = ids[n:]
	}
}

func TestUnusableNames(t *testing.T) {
	t.Parallel()
	r := open(t, "redis://127.0.0.1:1")
	for _, c := range []*Consumer{NewConsumer(r, "eu", ""), NewConsumer(r, "", "p"), NewConsumer(r, "a/b", "p"), NewConsumer(r, "eu", janitorName)} {
		var dial *net.OpError
		if err := c.EnsureGroup(t.Context()); err == nil || errors.As(err, &dial) {
			t.Errorf("%s/%s: %v", c.region, c.name, err)
		}
	}
}
