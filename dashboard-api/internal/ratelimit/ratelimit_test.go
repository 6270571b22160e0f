package ratelimit

import (
	"strconv"
	"testing"
	"testing/synctest"
	"time"
)

func TestBurstAndPause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := New(30, 2*time.Second)
		burst := func() {
			t.Helper()
			for range 30 {
				if wait := l.Allow("user:1"); wait != 0 {
					t.Fatal(wait)
				}
			}
		}
		burst()
		if wait := l.Allow("user:1"); wait != 2*time.Second {
			t.Errorf("wait %v", wait)
		}
		if wait := l.Allow("user:2"); wait != 0 {
			t.Errorf("another one waits %v", wait)
		}
		for who, want := range map[string]int{"user:1": 0, "user:2": 29, "user:3": 30} {
			if left, all := l.Left(who); left != want || all != time.Duration(30-want)*2*time.Second {
				t.Errorf("%s has %d left, and all after %v", who, left, all)
			}
		}
		time.Sleep(time.Second)
		if left, all := l.Left("user:1"); left != 0 || all != 59*time.Second {
			t.Errorf("%d left, and all after %v", left, all)
		}
		time.Sleep(time.Second)
		if l.Allow("user:1") != 0 || l.Allow("user:1") == 0 {
			t.Error("one more after the pause")
		}
		time.Sleep(time.Minute)
		burst()
	})
}

func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := New(1, time.Second)
		for i := range most {
			l.Allow(strconv.Itoa(i))
		}
		for range 2 {
			if wait := l.Allow("one more"); wait != 0 || len(l.full) != most {
				t.Errorf("who cannot be remembered waits %v; %d are", wait, len(l.full))
			}
		}
		if l.Allow("0") == 0 {
			t.Error("who is remembered waits")
		}
		time.Sleep(2 * time.Second)
		if l.Allow("one more") != 0 || l.Allow("one more") == 0 || len(l.full) != 1 {
			t.Errorf("%d are remembered of whom all but one have their burst again", len(l.full))
		}
	})
}
