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
		for i := range freeTriesAccount {
			if wait := throttle.Begin("ann", "192.0.2.1"); wait > 0 {
				t.Fatalf("try %d waits %v", i+1, wait)
			}
		}
		want := firstDelay
		for range 12 {
			wait := throttle.Begin("ann", "192.0.2.1")
			if wait != want {
				t.Fatalf("waits %v, want %v", wait, want)
			}
			if again := throttle.Begin("ann", "192.0.2.1"); again != wait {
				t.Fatalf("a refused try changed the wait to %v", again)
			}
			if other := throttle.Begin("ann", "198.51.100.7"); other > 0 && want == firstDelay {
				t.Fatalf("the account is locked from another address: %v", other)
			}
			time.Sleep(wait)
			if wait := throttle.Begin("ann", "192.0.2.1"); wait > 0 {
				t.Fatalf("waited, and still %v", wait)
			}
			want = min(longestDelay, 2*want)
		}
		throttle.Succeed("ann", "192.0.2.1")
		if wait := throttle.Begin("ann", "192.0.2.1"); wait > 0 {
			t.Fatalf("after a success still %v", wait)
		}
		time.Sleep(forgetAfter + longestDelay)
		if wait := throttle.Begin("ann", "192.0.2.1"); wait > 0 {
			t.Fatalf("after an hour still %v", wait)
		}
	})
}

func TestThrottleCountsAnAddressOverAllAccounts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		throttle := NewThrottle(time.Now)
		passed := 0
		for i := range 10 * freeTriesAddress {
			if throttle.Begin(fmt.Sprint("user", i), "192.0.2.1") == 0 {
				passed++
			}
		}
		if passed != freeTriesAddress {
			t.Fatalf("%d accounts tried from one address, want %d", passed, freeTriesAddress)
		}
		if wait := throttle.Begin("user1", "198.51.100.7"); wait > 0 {
			t.Fatalf("another address waits %v", wait)
		}
	})
}

func TestParallelGuessesAreCountedBeforeTheyAreJudged(t *testing.T) {
	t.Parallel()
	throttle := NewThrottle(time.Now)
	var passed atomic.Int32
	var group sync.WaitGroup
	for range 200 {
		group.Go(func() {
			if throttle.Begin("ann", "192.0.2.1") == 0 {
				passed.Add(1)
			}
		})
	}
	group.Wait()
	if got := passed.Load(); got != freeTriesAccount {
		t.Fatalf("%d guesses passed at once, want %d", got, freeTriesAccount)
	}
}

func TestThrottleMemoryIsBounded(t *testing.T) {
	t.Parallel()
	throttle := NewThrottle(time.Now)
	for i := range 2 * shardCount * generation {
		throttle.Begin(fmt.Sprint("user", i), fmt.Sprint("address", i))
	}
	for i := range throttle.shards {
		if n := len(throttle.shards[i].newer) + len(throttle.shards[i].older); n > 2*generation {
			t.Fatalf("shard %d holds %d entries", i, n)
		}
	}
}
