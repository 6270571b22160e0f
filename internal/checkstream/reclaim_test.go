package checkstream

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/probefleet/probefleet/internal/testbackend"
)

func TestSilentProbersAreTakenOver(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, r *Redis) {
		ctx, p := t.Context(), NewPublisher(r)
		must(t, p.EnsureGroups(ctx, []string{"eu"}))
		second := redisNow(t, r)
		setTick(t, r, second-1)
		publish(t, p, second, checks(second, 1, 900))
		crashed, _ := consumer(r, "eu", "crashed")
		left, _ := consumer(r, "eu", "left")
		alive, _ := consumer(r, "eu", "alive")
		heir, clock := consumer(r, "eu", "heir")
		for _, c := range []*Consumer{crashed, left, alive, heir} {
			heartbeat(t, c, Heartbeat{Version: c.name})
			if c != heir {
				entries, err := c.Read(ctx, 300, 0)
				if err != nil || len(entries) != 300 {
					t.Fatal(len(entries), err)
				}
			}
		}
		must(t, left.Leave(ctx))
		if entries, err := heir.Reclaim(ctx, time.Hour, Room{1000, 1000}); err != nil || len(entries) > 0 {
			t.Fatalf("judged at once: %d %v", len(entries), err)
		}
		staleBeat(t, r, "eu", "crashed")
		onceDead(t, heir, clock)
		entries := gather(t, func(ctx context.Context) ([]Entry, error) {
			heartbeat(t, alive, Heartbeat{Version: alive.name})
			return heir.Reclaim(ctx, time.Hour, Room{250, 250})
		})
		if len(entries) != 600 {
			t.Fatalf("%d of 600", len(entries))
		}
		for _, e := range entries {
			if e.Deliveries != 2 || e.TargetID > 600 {
				t.Fatalf("%+v", e)
			}
		}
		infos, err := r.commands.XInfoConsumers(ctx, keyChecks, "eu").Result()
		if err != nil || len(infos) != 2 {
			t.Fatalf("names of the dead were not removed: %v %v", infos, err)
		}
		beats, err := p.Probers(ctx)
		if err != nil || len(beats) != 3 || beats[0].Name != "alive" || !beats[0].Live() || beats[1].Live() || beats[1].Age < 59*time.Second {
			t.Fatalf("%+v %v", beats, err)
		}
		must(t, p.ForgetProber(ctx, "eu", "crashed"))
		if beats, err = p.Probers(ctx); err != nil || len(beats) != 2 {
			t.Fatalf("%+v %v", beats, err)
		}
	})
}

// After an outage every heartbeat is old: nobody may conclude anything from it.
func TestNobodyIsDeadRightAfterAnOutage(t *testing.T) {
	t.Parallel()
	server := testbackend.RedisServer(t)
	r := open(t, server.URL())
	ctx, p := t.Context(), NewPublisher(r)
	must(t, p.EnsureGroups(ctx, []string{"eu"}))
	second := redisNow(t, r)
	setTick(t, r, second-1)
	publish(t, p, second, checks(second, 1, 10))
	other, _ := consumer(r, "eu", "other")
	me, clock := consumer(r, "eu", "me")
	if n := len(readAll(t, other)); n != 10 {
		t.Fatal(n)
	}
	staleBeat(t, r, "eu", "other")
	onceDead(t, me, clock)
	server.Stop()
	if _, err := me.Read(ctx, 1, time.Second); err == nil {
		t.Fatal("read from nothing")
	}
	clock.advance(time.Minute)
	server.Restart()
	for _, wait := range []time.Duration{0, 2 * HeartbeatTTL, time.Second, secondLook - 2*time.Second} {
		clock.advance(wait)
		if entries, err := me.Reclaim(ctx, time.Hour, Room{100, 100}); err != nil || len(entries) > 0 {
			t.Fatalf("taken %v after the outage: %d %v", wait, len(entries), err)
		}
	}
	clock.advance(secondLook)
	if entries, err := me.Reclaim(ctx, time.Hour, Room{100, 100}); err != nil || len(entries) != 10 {
		t.Fatalf("never taken over: %d %v", len(entries), err)
	}
}

// A jump of the server's clock makes heartbeats look old; they still change.
func TestBeatingProberIsNotDeadHoweverOldItLooks(t *testing.T) {
	t.Parallel()
	c, clock := consumer(open(t, "redis://127.0.0.1:1"), "eu", "me")
	c.heard(nil)
	clock.advance(time.Minute)
	for i := range 10 {
		clock.advance(secondLook)
		old := Heartbeat{Region: "eu", Name: "other", At: time.Unix(int64(i), 0), Age: time.Hour}
		if c.isDead("other", []Heartbeat{old}) {
			t.Fatal("declared dead though it beats")
		}
	}
}

// Regression: an automatic claim that begins at 0-0 each time looks at the first few
// entries only; with fresh ones in front it never reaches the stale ones.
func TestStarvingReclaimCursor(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, r *Redis) {
		ctx, p := t.Context(), NewPublisher(r)
		must(t, p.EnsureGroups(ctx, []string{"eu"}))
		second := redisNow(t, r)
		setTick(t, r, second-1)
		publish(t, p, second, checks(second, 1, 3800))
		busy, _ := consumer(r, "eu", "busy")
		stuck, _ := consumer(r, "eu", "stuck")
		if entries, err := busy.Read(ctx, 3000, 0); err != nil || len(entries) != 3000 {
			t.Fatal(len(entries), err)
		}
		stale := readAll(t, stuck)
		age(t, r, "eu", "stuck", idsOf(stale), time.Minute)

		if _, embedded, err := r.Kind(ctx); err != nil {
			t.Fatal(err)
		} else if !embedded { // the embedded server looks at all entries
			for range 20 {
				claimed, _, err := r.commands.XAutoClaim(ctx, &redis.XAutoClaimArgs{
					Stream: keyChecks, Group: "eu", Consumer: "naive", MinIdle: 45 * time.Second, Start: "0-0", Count: 5,
				}).Result()
				if err != nil || len(claimed) > 0 {
					t.Fatalf("the recipe works after all: %d %v", len(claimed), err)
				}
			}
		}
		heir, _ := consumer(r, "eu", "heir")
		got := gather(t, func(ctx context.Context) ([]Entry, error) { return heir.Reclaim(ctx, 45*time.Second, Room{128, 128}) })
		if len(stale) != 800 || len(got) != 800 {
			t.Fatalf("%d of %d", len(got), len(stale))
		}
	})
}

// Regression: deleting a consumer discards what it has pending, without a word.
func TestDeletingAConsumerNeverDiscardsPending(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, r *Redis) {
		ctx, p := t.Context(), NewPublisher(r)
		must(t, p.EnsureGroups(ctx, []string{"eu"}))
		second := redisNow(t, r)
		setTick(t, r, second-1)
		publish(t, p, second, checks(second, 1, 400))
		forget := func(name string) int {
			n, err := r.scripts.forget.Run(ctx, r.commands, []string{keyChecks}, "eu", name).Int()
			must(t, err)
			return n
		}
		var group sync.WaitGroup
		stop := make(chan struct{})
		group.Go(func() { // while it reads
			for {
				select {
				case <-stop:
					return
				default:
					forget("p1")
				}
			}
		})
		c, _ := consumer(r, "eu", "p1")
		var entries []Entry
		for len(entries) < 400 {
			some, err := c.Read(ctx, 10, 0)
			must(t, err)
			entries = append(entries, some...)
		}
		close(stop)
		group.Wait()
		if n := pending(t, r, "eu"); n != 400 || forget("p1") != 0 {
			t.Fatalf("%d of 400 pending", n)
		}
		must(t, c.Ack(ctx, idsOf(entries)))
		if forget("p1") != 1 {
			t.Fatal("an empty consumer stays for ever")
		}
	})
}
