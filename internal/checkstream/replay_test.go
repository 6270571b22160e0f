package checkstream

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// lapse makes the claim of a letter look older than it may become.
func lapse(t *testing.T, r *Redis, id string) {
	t.Helper()
	text, err := r.commands.HGet(t.Context(), keyLetters, id).Result()
	must(t, err)
	words := strings.Fields(text)
	words[2] = strconv.FormatInt((redisNow(t, r)-1)*1000, 10)
	must(t, r.commands.HSet(t.Context(), keyLetters, id, strings.Join(words, " ")).Err())
}

func TestReplayGoesToOneProberOfTheRegion(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, r *Redis) {
		ctx := t.Context()
		_, d, ids := buried(t, r, 300)
		abroad, _ := consumer(r, "us", "p1")
		if n, err := d.Ask(ctx, ids[:250]); err != nil || n != 250 {
			t.Fatal(n, err)
		}
		if n, err := d.Ask(ctx, slices.Concat(ids[240:260], []string{"1-1"})); err != nil || n != 20 {
			t.Fatal(n, err)
		}
		if letters, err := abroad.Replays(ctx, 10); err != nil || len(letters) > 0 {
			t.Fatalf("%d of another region, %v", len(letters), err)
		}
		var mu sync.Mutex
		took := make(map[string]int)
		var group sync.WaitGroup
		for i := range 4 {
			group.Go(func() {
				c, _ := consumer(r, "eu", fmt.Sprint("p", i))
				for {
					letters, err := c.Replays(ctx, 7)
					if err != nil || len(letters) == 0 {
						if err != nil {
							t.Error(err)
						}
						return
					}
					for _, l := range letters {
						mu.Lock()
						took[l.ID]++
						mu.Unlock()
						if l.Check == nil || l.TargetID == 0 || l.Replay != ReplayRunning || l.ReplayTries != 1 || l.ReplayAsked.IsZero() {
							t.Errorf("%+v", l)
						}
						if err := c.Replayed(ctx, l); err != nil {
							t.Error(err)
						}
					}
				}
			})
		}
		group.Wait()
		for id, n := range took {
			if n != 1 {
				t.Errorf("%s went to %d probers", id, n)
			}
		}
		totals, err := d.Totals(ctx)
		if left := letterIDs(t, d); err != nil || len(took) != 260 || len(left) != 40 || left[0] != ids[260] || totals != (LetterTotals{Replayed: 260}) {
			t.Fatalf("%d taken, %d left, %+v, %v", len(took), len(left), totals, err)
		}
	})
}

// A prober may die, or be slow, between taking a letter, recording its row and saying so.
func TestClaimsLapse(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, r *Redis) {
		ctx := t.Context()
		first, d, ids := buried(t, r, 2)
		second, _ := consumer(r, "eu", "p2")
		_, err := d.Ask(ctx, ids[:1])
		must(t, err)
		state := func(want ReplayState, tries int) {
			t.Helper()
			if l, err := d.Get(ctx, ids[0]); err != nil || l.Replay != want || l.ReplayTries != tries {
				t.Fatalf("%q %d, want %q %d, %v", l.Replay, l.ReplayTries, want, tries, err)
			}
		}
		take := func(c *Consumer, want int) []Letter {
			t.Helper()
			letters, err := c.Replays(ctx, 5)
			if err != nil || len(letters) != want {
				t.Fatalf("%d taken of %d, %v", len(letters), want, err)
			}
			return letters
		}
		state(ReplayAsked, 0)
		take(first, 0+1)
		state(ReplayRunning, 1)
		take(second, 0)
		if n, err := d.Ask(ctx, ids[:1]); err != nil || n != 1 { // asking again does not take it from the first
			t.Fatal(n, err)
		}
		take(second, 0)
		lapse(t, r, ids[0])
		state(ReplayAsked, 1)
		take(second, 1)
		lapse(t, r, ids[0])
		take(first, 1)
		lapse(t, r, ids[0])
		state(ReplayGivenUp, 3)
		take(first, 0)
		take(second, 0)
		// Asked again, it starts anew; two record it, one of them after its time.
		_, err = d.Ask(ctx, ids[:1])
		must(t, err)
		state(ReplayAsked, 0)
		slow := take(first, 1)
		lapse(t, r, ids[0])
		fast := take(second, 1)
		must(t, second.Replayed(ctx, fast[0]))
		must(t, first.Replayed(ctx, slow[0]))
		must(t, first.Replayed(ctx, slow[0]))
		totals, err := d.Totals(ctx)
		if left := letterIDs(t, d); err != nil || len(left) != 1 || left[0] != ids[1] || totals.Replayed != 1 {
			t.Fatalf("%v %+v %v", left, totals, err)
		}
		take(first, 0)
	})
}

func TestUnreadableLetterIsNotReplayed(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, r *Redis) {
		ctx := t.Context()
		strange := addArgs(check(1000, 11))
		strange.Values = []any{"v", "7", "c", "?"}
		must(t, r.commands.XAdd(ctx, strange).Err())
		c, _ := consumer(r, "eu", "p1")
		must(t, c.EnsureGroup(ctx))
		_, err := c.Dead(ctx, readAll(t, c)[0], "unreadable")
		must(t, err)
		d := NewDeadLetters(r)
		ids := letterIDs(t, d)
		_, err = d.Ask(ctx, ids)
		must(t, err)
		for range replayTries {
			if letters, err := c.Replays(ctx, 5); err != nil || len(letters) > 0 {
				t.Fatal(letters, err)
			}
			lapse(t, r, ids[0])
		}
		if l, err := d.Get(ctx, ids[0]); err != nil || l.Replay != ReplayGivenUp {
			t.Fatalf("%+v %v", l, err)
		}
	})
}

// Everybody at once: every letter ends up in exactly one place.
func TestLettersAddUp(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, r *Redis) {
		total := int64(400)
		if testing.Short() {
			total = 120
		}
		ctx := t.Context()
		r.letters.count = 60
		c, entries := delivered(t, r, total)
		d := NewDeadLetters(r)
		var ended atomic.Bool
		var others, maker sync.WaitGroup
		until := func(step func() error) {
			others.Go(func() {
				for !ended.Load() {
					if err := step(); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		some := func() []string {
			letters, err := d.List(ctx, "", 60)
			if err != nil || len(letters) == 0 {
				return nil
			}
			return []string{letters[rand.N(len(letters))].ID, letters[0].ID}
		}
		until(func() error { _, err := d.Ask(ctx, some()); return err })
		until(func() error { _, err := d.Purge(ctx, some()); return err })
		for i := range 3 {
			prober, _ := consumer(r, "eu", fmt.Sprint("r", i))
			until(func() error {
				letters, err := prober.Replays(ctx, 3)
				for _, l := range letters {
					err = prober.Replayed(ctx, l)
				}
				return err
			})
		}
		maker.Go(func() {
			defer ended.Store(true)
			for _, e := range entries {
				if _, err := c.Dead(ctx, e, "killer"); err != nil {
					t.Error(err)
					return
				}
			}
		})
		maker.Wait()
		others.Wait()
		count, err := d.Count(ctx)
		must(t, err)
		totals, err := d.Totals(ctx)
		must(t, err)
		if sum := count + totals.Dropped + totals.Purged + totals.Replayed; sum != total {
			t.Fatalf("%d left and %+v are %d of %d", count, totals, sum, total)
		}
		t.Logf("%d left, %+v", count, totals)
		_, err = d.Purge(ctx, letterIDs(t, d))
		must(t, err)
		left, err := r.commands.HGetAll(ctx, keyLetters).Result()
		must(t, err)
		for field, value := range left {
			if strings.Contains(field, "-") || field == "bytes" && value != "0" {
				t.Errorf("left behind: %s = %s", field, value)
			}
		}
	})
}

func TestClaimsAreKeptByTheClockOfRedis(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, r *Redis) {
		ctx := t.Context()
		c, d, ids := buried(t, r, 1)
		_, err := d.Ask(ctx, ids)
		must(t, err)
		_, err = c.Replays(ctx, 1)
		must(t, err)
		text, err := r.commands.HGet(ctx, keyLetters, ids[0]).Result()
		must(t, err)
		var asked, until int64
		var tries int
		var region string
		if _, err := fmt.Sscan(text, &asked, &tries, &until, &region); err != nil || region != "eu" {
			t.Fatal(text, err)
		}
		now := redisNow(t, r) * 1000
		if claim := time.Duration(until-now) * time.Millisecond; claim < replayClaim-5*time.Second || claim > replayClaim+5*time.Second || asked > now+1000 || asked < now-5000 {
			t.Errorf("%s at %d", text, now)
		}
	})
}
