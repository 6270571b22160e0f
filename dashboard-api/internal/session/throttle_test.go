package session

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestThrottleGrowsPerAccountAndAddress(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		throttle := NewThrottle(time.Now)
		for i := range freeTries {
			if wait := throttle.Begin(At("ann", "192.0.2.1")); wait > 0 {
				t.Fatalf("try %d waits %v", i+1, wait)
			}
		}
		want := firstDelay
		for range 12 {
			wait := throttle.Begin(At("ann", "192.0.2.1"))
			if wait != want {
				t.Fatalf("waits %v, want %v", wait, want)
			}
			if again := throttle.Begin(At("ann", "192.0.2.1")); again != wait {
				t.Fatalf("a refused try changed the wait to %v", again)
			}
			if other := throttle.Begin(At("ann", "198.51.100.7")); other > 0 && want == firstDelay {
				t.Fatalf("the account is locked from another address: %v", other)
			}
			time.Sleep(wait)
			if wait := throttle.Begin(At("ann", "192.0.2.1")); wait > 0 {
				t.Fatalf("waited, and still %v", wait)
			}
			want = min(longestDelay, 2*want)
		}
		throttle.Succeed(At("ann", "192.0.2.1"))
		if wait := throttle.Begin(At("ann", "192.0.2.1")); wait > 0 {
			t.Fatalf("after a success still %v", wait)
		}
		time.Sleep(forgetAfter + longestDelay)
		if wait := throttle.Begin(At("ann", "192.0.2.1")); wait > 0 {
			t.Fatalf("after an hour still %v", wait)
		}
	})
}

// Many tries at once, then one after the other, at one pace however long it goes on: what is
// refused costs nothing, and neither does what a narrower bound refuses.
func TestCrowds(t *testing.T) {
	t.Parallel()
	for name, bound := range map[string]Bound{"of an address": From("192.0.2.1"), "at an account": Everywhere("ann")} {
		synctest.Test(t, func(t *testing.T) {
			throttle, passed := NewThrottle(time.Now), 0
			for i := range 10 * crowd {
				if throttle.Begin(bound, At(fmt.Sprint("user", i), "192.0.2.1")) == 0 {
					passed++
				}
			}
			if passed != crowd {
				t.Errorf("%s: %d tries at once, want %d", name, passed, crowd)
			}
			for range 3 * crowd {
				if wait := throttle.Begin(bound); wait != bound.every {
					t.Fatalf("%s: waits %v, want %v", name, wait, bound.every)
				}
				time.Sleep(bound.every)
				if wait := throttle.Begin(bound); wait > 0 {
					t.Fatalf("%s: waited, and still %v", name, wait)
				}
			}
			throttle.Succeed(bound)
			if wait := throttle.Begin(bound); wait > 0 {
				t.Errorf("%s: after a success %v", name, wait)
			}
			time.Sleep(time.Hour)
			for range crowd {
				throttle.Begin(At("ann", "x")) // so that it refuses
			}
			for range 3 * crowd {
				throttle.Begin(bound, At("ann", "x"))
			}
			if wait := throttle.Begin(bound); wait > 0 {
				t.Errorf("%s: what a narrower bound refused was counted: %v", name, wait)
			}
		})
	}
}

// Promise: parallel password guesses are throttled
func TestParallelGuessesAreCountedBeforeTheyAreJudged(t *testing.T) {
	t.Parallel()
	throttle := NewThrottle(time.Now)
	var passed atomic.Int32
	var group sync.WaitGroup
	for range 200 {
		group.Go(func() {
			if throttle.Begin(At("ann", "192.0.2.1")) == 0 {
				passed.Add(1)
			}
		})
	}
	group.Wait()
	if got := passed.Load(); got != freeTries {
		t.Fatalf("%d guesses passed at once, want %d", got, freeTries)
	}
}

func TestThrottleMemoryIsBounded(t *testing.T) {
	t.Parallel()
	throttle := NewThrottle(time.Now)
	for i := range 2 * shardCount * generation {
		throttle.Begin(From(fmt.Sprint("address", i)), At(fmt.Sprint("user", i), fmt.Sprint("address", i)))
	}
	for i := range throttle.shards {
		if n := len(throttle.shards[i].newer) + len(throttle.shards[i].older); n > 2*generation {
			t.Fatalf("shard %d holds %d entries", i, n)
		}
	}
}
