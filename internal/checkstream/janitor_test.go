package checkstream

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

// mixed publishes one second per call: odd targets expire after a minute, even ones
// after five.
func mixed(second int64, n int64) []uptime.Check {
	list := checks(second, 1, n)
	for i := range list {
		if list[i].TargetID%2 == 0 {
			list[i].Interval = 10 * time.Minute
		}
	}
	return list
}

func TestJanitorSettlesWhatADeadRegionNeverRead(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, r *Redis) {
		ctx, p, each := t.Context(), NewPublisher(r), int64(100)
		if testing.Short() {
			each = 30
		}
		half := int(10 * each / 2)
		must(t, p.EnsureGroups(ctx, []string{"eu"}))
		start := redisNow(t, r) - 300
		setTick(t, r, start-1)
		for second := start; second < start+10; second++ {
			publish(t, p, second, mixed(second, each))
		}
		at := func(d time.Duration) time.Time { return time.Unix(start, 0).Add(d) }
		expired := func(now time.Time, limit int) []Entry {
			all := gather(t, func(ctx context.Context) ([]Entry, error) { return p.Expired(ctx, "eu", now, limit) })
			// A machine that takes long gets some of them again.
			slices.SortFunc(all, func(a, b Entry) int { return strings.Compare(a.ID, b.ID) })
			return slices.CompactFunc(all, func(a, b Entry) bool { return a.ID == b.ID })
		}
		if early := expired(at(74*time.Second), 1000); len(early) > 0 {
			t.Fatalf("%d before expiry and grace", len(early))
		}
		if none, err := p.Expired(ctx, "elsewhere", at(time.Hour), 10); err != nil || len(none) > 0 {
			t.Fatal(none, err)
		}
		short := expired(at(86*time.Second), 70)
		if len(short) != half {
			t.Fatalf("%d of %d expired ones", len(short), half)
		}
		for _, e := range short {
			if e.Check.TargetID%2 == 0 || e.Err != nil {
				t.Fatalf("took an unexpired one: %+v", e)
			}
		}
		must(t, p.Settle(ctx, "eu", idsOf(short)))
		// The others lie in between: a prober that comes takes them at once, as new.
		prober, _ := consumer(r, "eu", "p1")
		heartbeat(t, prober, Heartbeat{})
		back := gather(t, func(ctx context.Context) ([]Entry, error) { return prober.Reclaim(ctx, time.Hour, Room{150, 150}) })
		back = append(back, readAll(t, prober)...)
		if len(back) != half {
			t.Fatalf("%d of %d unexpired ones", len(back), half)
		}
		for _, e := range back {
			if e.Check.TargetID%2 != 0 || e.Deliveries != 1 {
				t.Fatalf("%+v", e)
			}
		}
		// It dies without settling them.
		age(t, r, "eu", "p1", idsOf(back), time.Minute)
		long := expired(at(326*time.Second), 70)
		if len(long) != half {
			t.Fatalf("%d of %d expired at last", len(long), half)
		}
		must(t, p.Settle(ctx, "eu", idsOf(long)))
		if n := pending(t, r, "eu"); n != 0 {
			t.Fatalf("%d left", n)
		}
	})
}

func TestJanitorLeavesALiveProberAlone(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, r *Redis) {
		ctx, p := t.Context(), NewPublisher(r)
		must(t, p.EnsureGroups(ctx, []string{"eu"}))
		second := redisNow(t, r) - 100
		setTick(t, r, second-1)
		publish(t, p, second, checks(second, 1, 50))
		prober, _ := consumer(r, "eu", "p1")
		entries := readAll(t, prober)
		if got, err := p.Expired(ctx, "eu", time.Now(), 100); err != nil || len(got) > 0 {
			t.Fatalf("took %d from a prober that has just read them: %v", len(got), err)
		}
		age(t, r, "eu", "p1", idsOf(entries), JanitorGrace+time.Second)
		must(t, prober.Renew(ctx, idsOf(entries[:20])))
		got, err := p.Expired(ctx, "eu", time.Now(), 100)
		if err != nil || len(got) != 30 || got[0].TargetID != 21 {
			t.Fatalf("%d %v", len(got), err)
		}
		// A publisher that dies before it settles them: the next one gets them again, later.
		successor := NewPublisher(r)
		if again, err := successor.Expired(ctx, "eu", time.Now(), 100); err != nil || len(again) > 0 {
			t.Fatalf("%d while their rows are being written: %v", len(again), err)
		}
		age(t, r, "eu", janitorName, idsOf(got), JanitorGrace+time.Second)
		if again, err := successor.Expired(ctx, "eu", time.Now(), 100); err != nil || len(again) != 30 {
			t.Fatalf("%d of 30 again: %v", len(again), err)
		}
	})
}

func TestJanitorHandsOutUnreadableAndTrimmedOnes(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, r *Redis) {
		ctx, p := t.Context(), NewPublisher(r)
		must(t, p.EnsureGroups(ctx, []string{"eu"}))
		second := redisNow(t, r) - 100
		setTick(t, r, second-1)
		publish(t, p, second, checks(second, 1, 10))
		prober, _ := consumer(r, "eu", "p1")
		age(t, r, "eu", "p1", idsOf(readAll(t, prober)), time.Minute)
		must(t, r.commands.XTrimMaxLen(ctx, keyChecks, 4).Err())
		strange := addArgs(check(second, 11))
		strange.Values = []any{"v", "7", "z", "?"}
		must(t, r.commands.XAdd(ctx, strange).Err())
		got, err := p.Expired(ctx, "eu", time.Now(), 100)
		must(t, err)
		var gone, unreadable int
		for _, e := range got {
			switch {
			case e.Gone:
				gone++
			case e.Err != nil:
				unreadable++
			}
		}
		if len(got) != 11 || gone != 6 || unreadable != 1 {
			t.Fatalf("%d entries, %d gone, %d unreadable", len(got), gone, unreadable)
		}
		must(t, p.Settle(ctx, "eu", idsOf(got)))
		if n := pending(t, r, "eu"); n != 0 {
			t.Fatalf("%d left", n)
		}
	})
}

// The heart of a drained prober beats: what nobody reads is settled all the same, and no
// entry waits for it.
func TestJanitorSettlesWhatADrainedRegionDoesNotRead(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, r *Redis) {
		ctx, p := t.Context(), NewPublisher(r)
		must(t, p.EnsureGroups(ctx, []string{"eu"}))
		_, err := NewFleet(r).DrainProber(ctx, "eu", "p1", "user:1")
		must(t, err)
		prober := NewConsumer(r, "eu", "p1")
		start := redisNow(t, r) - 100
		setTick(t, r, start-1)
		publish(t, p, start, checks(start, 1, 50))
		heartbeat(t, prober, Heartbeat{State: Drained})
		expired := gather(t, func(ctx context.Context) ([]Entry, error) { return p.Expired(ctx, "eu", time.Unix(start+100, 0), 100) })
		if len(expired) != 50 {
			t.Fatalf("%d of 50", len(expired))
		}
		must(t, p.Settle(ctx, "eu", idsOf(expired)))
		heartbeat(t, prober, Heartbeat{State: Drained})
		if n := pending(t, r, "eu"); n != 0 {
			t.Errorf("%d left", n)
		}
		groups, err := NewFleet(r).Groups(ctx)
		if err != nil || groups[0].Lag != 0 {
			t.Errorf("the region is behind: %+v, %v", groups, err)
		}
	})
}
