package checkstream

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/probefleet/probefleet/internal/testbackend"
)

// Somebody moves an entry to another prober while the first works on it: both settle
// it, it is gone once, and nobody gets it a third time.
//
// Promise: an entry delivered to two probers is settled once
func TestEntryOfTwoProbersIsSettledOnce(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, r *Redis) {
		ctx := t.Context()
		first, entries := delivered(t, r, 30)
		second, _ := consumer(r, "eu", "p2")
		ids := idsOf(entries)
		move := func(to string, ids []string) {
			t.Helper()
			args := []any{"XCLAIM", keyChecks, "eu", to, 0}
			for _, id := range ids {
				args = append(args, id)
			}
			must(t, r.commands.Do(ctx, args...).Err())
		}
		move("p2", ids)
		got := gather(t, ownOf(second, 100))
		if len(got) != 30 {
			t.Fatalf("%d of 30", len(got))
		}
		must(t, first.Renew(ctx, ids))
		must(t, first.Ack(ctx, ids[:10]))
		for _, e := range got[:20] { // half of them are settled already
			moved, err := second.Dead(ctx, e, "killer")
			if err != nil || moved != (slices.Index(ids, e.ID) >= 10) {
				t.Fatalf("%s: moved %v, %v", e.ID, moved, err)
			}
		}
		must(t, first.Ack(ctx, ids[10:20])) // late: they are letters now
		// The rest comes back to the first, which still works on it.
		move("p1", ids[20:])
		age(t, r, "eu", "p1", ids[20:], time.Minute)
		again, complete, err := first.Own(ctx, Room{100, 100})
		if err != nil || !complete || len(again) > 0 {
			t.Fatalf("%d handed out a second time, %v", len(again), err)
		}
		move("p3", ids[20:])
		age(t, r, "eu", "p3", ids[20:], time.Minute)
		if again, err := first.Reclaim(ctx, time.Second, Room{100, 100}); err != nil || len(again) > 0 {
			t.Fatalf("%d handed out a second time, %v", len(again), err)
		}
		must(t, first.Ack(ctx, ids[20:]))
		must(t, second.Ack(ctx, ids[20:]))
		if n, err := NewDeadLetters(r).Count(ctx); err != nil || n != 10 || pending(t, r, "eu") != 0 {
			t.Fatalf("%d letters, %d pending, %v", n, pending(t, r, "eu"), err)
		}
	})
}

// An operator cuts the stream to nothing: whoever looks for them next, exactly the
// pending ones come out as gone, each until it is settled.
func TestTrimmedPendingAreExactlyTheGone(t *testing.T) {
	t.Parallel()
	for name, find := range map[string]func(*testing.T, *Redis) []Entry{
		"restarted": func(t *testing.T, r *Redis) []Entry {
			c, _ := consumer(r, "eu", "p1")
			return gather(t, ownOf(c, 20))
		},
		"taken over": func(t *testing.T, r *Redis) []Entry {
			c, _ := consumer(r, "eu", "p2")
			return gather(t, func(ctx context.Context) ([]Entry, error) {
				got, err := c.Reclaim(ctx, time.Second, Room{20, 20})
				must(t, c.Ack(ctx, idsOf(got)))
				return got, err
			})
		},
		"janitor": func(t *testing.T, r *Redis) []Entry {
			p := NewPublisher(r)
			var all []Entry
			for range 5 {
				got, err := p.Expired(t.Context(), "eu", time.Now().Add(time.Hour), 20)
				must(t, err)
				must(t, p.Settle(t.Context(), "eu", idsOf(got)))
				all = append(all, got...)
			}
			return all
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onBoth(t, func(t *testing.T, r *Redis) {
				c, entries := delivered(t, r, 80)
				must(t, c.Ack(t.Context(), idsOf(entries[:30])))
				want := idsOf(entries[30:])
				age(t, r, "eu", "p1", want, time.Minute)
				must(t, r.commands.XTrimMaxLen(t.Context(), keyChecks, 0).Err())
				gone := find(t, r)
				if i := slices.IndexFunc(gone, func(e Entry) bool { return !e.Gone || e.TargetID <= 30 || e.Second != entries[0].Second }); i >= 0 {
					t.Fatalf("%+v", gone[i])
				}
				got := idsOf(gone)
				slices.Sort(got)
				slices.Sort(want)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatal(diff)
				}
				settler, _ := consumer(r, "eu", "p3")
				must(t, settler.Ack(t.Context(), got))
				if n := pending(t, r, "eu"); n != 0 {
					t.Fatalf("%d left", n)
				}
			})
		})
	}
}

// Redis comes back with nothing: the next read makes the group again and gets
// everything published since; no id is below one that was there before.
func TestTotalLossIsReadFromTheBeginning(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, r *Redis) {
		ctx, p := t.Context(), NewPublisher(r)
		c, before := delivered(t, r, 20)
		heartbeat(t, c, Heartbeat{})
		must(t, r.commands.FlushDB(ctx).Err())

		clock, err := p.Clock(ctx)
		if err != nil || !clock.Fresh || clock.Tick <= before[0].Second {
			t.Fatalf("%+v %v", clock, err)
		}
		publish(t, p, clock.Tick+1, checks(clock.Tick+1, 1, 20)) // before any group is there
		must(t, p.EnsureGroups(ctx, []string{"us"}))
		if report, err := p.Trim(ctx); err != nil || report.Removed > 0 {
			t.Fatalf("%+v %v", report, err)
		}
		must(t, c.Ack(ctx, idsOf(before))) // their rows became durable meanwhile
		got := gatherTwice(t, c)
		if len(got) != 20 || got[0].Second != clock.Tick+1 {
			t.Fatalf("%d of 20", len(got))
		}
		if trimmed, err := p.Trim(ctx); err != nil || trimmed.Removed > 0 {
			t.Fatalf("trimmed what us has not read: %+v %v", trimmed, err)
		}
	})
}

// A stale replica takes over: what was published since its last word is published
// again with the same ids, none goes back, and nobody runs one twice at a time.
//
// Promise: a failover of Redis never moves ids back
func TestFailoverToAStaleReplica(t *testing.T) {
	t.Parallel()
	r := open(t, testbackend.Redis(t))
	ctx, p := t.Context(), NewPublisher(r)
	c, first := delivered(t, r, 20)
	second := first[0].Second
	must(t, c.Ack(ctx, idsOf(first[:10])))
	replica := dump(t, r)
	publish(t, p, second+1, checks(second+1, 1, 20))
	working := readAll(t, c)
	must(t, c.Ack(ctx, idsOf(first[10:])))
	must(t, c.Ack(ctx, idsOf(working[:10])))
	publish(t, p, second+2, checks(second+2, 1, 20))
	promote(t, r, replica)

	if _, err := p.Publish(ctx, Chunk{Second: second + 3, Seq: 1, Last: true}); err == nil {
		t.Fatal("goes on as if nothing was lost")
	}
	clock, err := p.Clock(ctx)
	if err != nil || clock.Fresh || clock.Tick != second {
		t.Fatalf("%+v %v", clock, err)
	}
	publish(t, p, second+1, checks(second+1, 1, 20))
	publish(t, p, second+2, checks(second+2, 1, 20))
	again := readAll(t, c)
	ids := idsOf(again)
	// Ten it has settled, twenty are new to it; what it still works on it does not get.
	want := slices.Concat(idsOf(working[:10]), entryIDs(second+2, 1, 20))
	if diff := cmp.Diff(want, ids); diff != "" {
		t.Fatal(diff)
	}
	must(t, c.Ack(ctx, slices.Concat(ids, idsOf(working[10:]))))
	// What it settled after the replica's last word is pending in its name again.
	own, complete, err := c.Own(ctx, Room{100, 100})
	if err != nil || !complete || !slices.Equal(idsOf(own), idsOf(first[10:])) {
		t.Fatalf("%d %v %v", len(own), complete, err)
	}
	must(t, c.Ack(ctx, idsOf(own)))
	if n := pending(t, r, "eu"); n != 0 {
		t.Fatalf("%d left", n)
	}
	stream, err := r.commands.XRange(ctx, keyChecks, "-", "+").Result()
	must(t, err)
	if len(stream) != 60 {
		t.Fatalf("%d entries of 60 slots", len(stream))
	}
}

func dump(t *testing.T, r *Redis) map[string]string {
	t.Helper()
	keys, err := r.commands.Keys(t.Context(), "*").Result()
	must(t, err)
	out := make(map[string]string)
	for _, key := range keys {
		if out[key], err = r.commands.Dump(t.Context(), key).Result(); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func promote(t *testing.T, r *Redis, replica map[string]string) {
	t.Helper()
	_, err := r.commands.TxPipelined(t.Context(), func(pipe redis.Pipeliner) error {
		pipe.FlushDB(t.Context())
		for key, value := range replica {
			pipe.Restore(t.Context(), key, 0, value)
		}
		return nil
	})
	must(t, err)
}

// With real heartbeats, beaten and looked at as probers do: a prober that is killed
// loses its entries to another, and one that lives keeps them. (How soon: see onceDead.)
func TestDeadProberIsTakenOverInTime(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("make verify: the times pass; see TestSilentProbersAreTakenOver and TestBeatingProberIsNotDeadHoweverOldItLooks")
	}
	onBoth(t, func(t *testing.T, r *Redis) {
		ctx := t.Context()
		killed, entries := delivered(t, r, 40)
		kill := time.Now()
		heartbeat(t, killed, Heartbeat{})
		heir, clock := consumer(r, "eu", "heir")
		heartbeat(t, heir, Heartbeat{})
		clock.advance(2 * HeartbeatTTL) // it has been there for longer
		busy, _ := consumer(r, "eu", "busy")
		publish(t, NewPublisher(r), entries[0].Second+1, checks(entries[0].Second+1, 1, 40))
		if n := len(readAll(t, busy)); n != 40 {
			t.Fatal(n)
		}
		var got []Entry
		for deadline := kill.Add(2 * time.Minute); len(got) == 0 && time.Now().Before(deadline); {
			heartbeat(t, heir, Heartbeat{})
			heartbeat(t, busy, Heartbeat{})
			var err error
			got, err = heir.Reclaim(ctx, 45*time.Second, Room{100, 100})
			must(t, err)
			if len(got) == 0 {
				<-time.After(2 * time.Second)
			}
		}
		took := time.Since(kill)
		t.Logf("taken over after %v", took)
		if diff := cmp.Diff(idsOf(entries), idsOf(got)); diff != "" || took < HeartbeatTTL {
			t.Fatalf("after %v: %s", took, diff)
		}
	})
}
