package canary

import (
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

func value(t *testing.T, c prometheus.Collector) float64 {
	t.Helper()
	return testutil.ToFloat64(c)
}

func in(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, test)
}

func wait(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// More than half must answer. One that is down or hangs suppresses nothing and is not
// waited for, however the others are.
//
// Promise: a prober without connectivity reports `unknown`, never down
func TestMajority(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		open, closed, hanging int
		good                  bool
		most                  time.Duration
	}{
		{open: 1, good: true},
		{open: 3, good: true},
		{open: 2, closed: 1, good: true},
		{open: 2, hanging: 1, good: true},
		{open: 3, closed: 1, hanging: 1, good: true},
		{open: 1, closed: 1},
		{open: 2, closed: 2},
		{open: 1, closed: 2},
		{open: 1, closed: 2, hanging: 1},
		{open: 1, hanging: 1, most: 2 * time.Second},
		{open: 2, closed: 1, hanging: 2, most: 2 * time.Second},
		{closed: 1},
		{hanging: 3, most: 2 * time.Second},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			in(t, func(t *testing.T) {
				var hanging []string
				for i := range c.hanging {
					hanging = append(hanging, fmt.Sprintf("hang%d.test:443", i))
				}
				r := start(t, c.open+c.closed, hanging...)
				for _, p := range r.ports[c.open:] {
					p.down()
				}
				wait(5 * time.Second)
				began := time.Now()
				doubt, took := r.ask(0)
				if (doubt == "") != c.good || took > 2*time.Second || took > c.most && c.good {
					t.Errorf("doubt %q after %v", doubt, took)
				}
				if c.good && !r.beganSince(began) {
					t.Error("an old round was believed")
				}
				if got := value(t, r.metrics.doubted); (got == 0) != c.good {
					t.Errorf("%v doubted", got)
				}
			})
		})
	}
}

// What was good before the check ended says nothing of how it is now.
func TestStaleGoodNewsIsNotBelieved(t *testing.T) {
	in(t, func(t *testing.T) {
		r := start(t, 3)
		wait(time.Second) // the round at 0 was good
		r.down()
		if doubt, took := r.ask(time.Second); doubt == "" || took > 0 {
			t.Errorf("a check that began before a good round: %q after %v", doubt, took)
		}
		r.up()
		wait(20 * time.Second)
		r.Failed(old, time.Now(), true) // a first look: a round begins, and is good
		wait(time.Millisecond)
		good, _ := r.rounds()
		r.down()
		doubt, took := r.ask(50 * time.Millisecond)
		if again, _ := r.rounds(); again != good || doubt == "" || took > quick {
			t.Errorf("a good round while the check was under way: %q after %v, %d good rounds more", doubt, took, again-good)
		}
	})
}

// What was under way when the check ended may be old too: its answers may have come before.
func TestRoundInFlightDoesNotAcquit(t *testing.T) {
	in(t, func(t *testing.T) {
		_, number, _ := net.SplitHostPort(newPort(t).addr)
		r := start(t, 0, "slow.test:"+number)
		wait(200 * time.Millisecond)
		ended := time.Now()
		doubt, took := r.ask(100 * time.Millisecond)
		if doubt != "" || took != 500*time.Millisecond || !r.beganSince(ended) {
			t.Errorf("%q after %v", doubt, took)
		}
	})
}

// A check that fails in the very instant in which a round begins, and is over, has its own.
func TestFailureInTheInstantOfARound(t *testing.T) {
	in(t, func(t *testing.T) {
		r := start(t, 1)
		synctest.Wait()
		if doubt, took := r.ask(0); doubt != "" || took != brisk().gap || value(t, r.metrics.good) != 2 {
			t.Errorf("%q after %v, of %v rounds", doubt, took, value(t, r.metrics.good))
		}
	})
}

// The network may be back since, and the check have failed while it was gone.
func TestBadNewsOfTheCheckOwnTimeIsNotForgiven(t *testing.T) {
	in(t, func(t *testing.T) {
		r := start(t, 3)
		wait(time.Second)
		r.down()
		r.Failed(old, time.Now(), true)
		wait(100 * time.Millisecond)
		r.up()
		wait(5 * time.Second)
		if r.Word() != "good" {
			t.Fatal("the canaries are not back")
		}
		if doubt, took := r.ask(5500 * time.Millisecond); !strings.Contains(doubt, "while the check was under way (") || !strings.Contains(doubt, ": connection refused") || took > 0 {
			t.Errorf("%q after %v", doubt, took)
		}
		if doubt, took := r.ask(2 * time.Second); doubt != "" || took > quick {
			t.Errorf("a check that began after the last bad round: %q after %v", doubt, took)
		}
	})
}

// A round whose answers fail slowly is decided after a later one that was good at once: who failed while it was
// under way is not believed all the same.
func TestBadNewsThatComesLateIsNotForgiven(t *testing.T) {
	in(t, func(t *testing.T) {
		_, number, _ := net.SplitHostPort(newPort(t).addr)
		r := start(t, 0, "flip.test:"+number)
		wait(5 * time.Second)
		r.names.silent.Store(true)
		began := time.Now()
		r.Failed(old, began, true) // its round hangs for two seconds
		wait(1500 * time.Millisecond)
		r.names.silent.Store(false)
		r.Failed(old+1, time.Now(), true) // a round of another's, good at once
		wait(550 * time.Millisecond)
		if _, bad := r.rounds(); bad != 1 || r.Word() != "good" {
			t.Fatalf("%d bad rounds, and it is %s", bad, r.Word())
		}
		if doubt, _ := r.ask(time.Since(began)); !strings.Contains(doubt, "while the check was under way") {
			t.Errorf("believed: %q", doubt)
		}
	})
}

func TestCanariesThatAreBackAcquit(t *testing.T) {
	in(t, func(t *testing.T) {
		r := start(t, 3)
		wait(time.Second)
		r.down()
		if doubt, _ := r.ask(0); !strings.Contains(doubt, ": connection refused; 127.0.0.1:") {
			t.Errorf("%q", doubt)
		}
		if r.Word() != "bad" || r.State().Good || !strings.Contains(r.said(), "connection refused") {
			t.Errorf("%s, %+v, %s", r.Word(), r.State(), r.said())
		}
		r.up()
		wait(1100 * time.Millisecond)
		if doubt, _ := r.ask(50 * time.Millisecond); doubt != "" || r.Word() != "good" || r.said() != "" {
			t.Errorf("%q, %s", doubt, r.Word())
		}
	})
}

// Waiting ends after two seconds, also when the round that would judge began late.
//
// Promise: a failure waits two seconds at most for the connectivity check
func TestNobodyWaitsLongerThanTwoSeconds(t *testing.T) {
	in(t, func(t *testing.T) {
		_, number, _ := net.SplitHostPort(newPort(t).addr)
		r := start(t, 0, "flip.test:"+number)
		wait(500 * time.Millisecond) // a good round was over at once
		if doubt, took := r.ask(0); doubt != "" || took != 0 {
			t.Errorf("%q after %v", doubt, took)
		}
		r.names.silent.Store(true) // the next, of a second after that, takes two seconds
		began := time.Now()
		answers := make(chan time.Duration, 200)
		for range 200 {
			r.Believe(old, began, func(doubt string) {
				if doubt != "" {
					answers <- time.Since(began)
				}
			})
		}
		wait(2 * time.Second)
		if len(answers) != 200 {
			t.Fatalf("%d of 200 are answered", len(answers))
		}
		for range 200 {
			if took := <-answers; took != 2*time.Second {
				t.Errorf("answered after %v", took)
			}
		}
		if r.State().Waiting != 0 {
			t.Error("somebody is kept")
		}
	})
}

// A stop answers who waits: a drain must not hang on it.
func TestStopAnswersWhoWaits(t *testing.T) {
	in(t, func(t *testing.T) {
		r := start(t, 0, "hang1.test:443")
		answers := make(chan string, 2)
		r.Believe(old, time.Now(), func(doubt string) { answers <- doubt })
		synctest.Wait()
		r.stop()
		r.Believe(old, time.Now(), func(doubt string) { answers <- doubt })
		if len(answers) != 2 || <-answers != stopped || <-answers != stopped {
			t.Error("somebody still waits, or is believed")
		}
	})
}

// A resolver that lies leads all names to one machine, which answers.
func TestNamesThatAllLeadToOneMachine(t *testing.T) {
	in(t, func(t *testing.T) {
		_, number, _ := net.SplitHostPort(newPort(t).addr)
		r := start(t, 1, "a.test:"+number, "b.test:"+number, "c.test:"+number)
		wait(1500 * time.Millisecond)
		if doubt, _ := r.ask(0); !strings.Contains(doubt, "lead to the same address") {
			t.Errorf("%q", doubt)
		}
		one := start(t, 1, "a.test:"+number)
		wait(time.Second)
		if doubt, _ := one.ask(0); doubt != "" {
			t.Errorf("a name and an address: %q", doubt)
		}
	})
}

func TestNoneBelievesEverything(t *testing.T) {
	in(t, func(t *testing.T) {
		w := New(Options{Metrics: prometheus.NewRegistry()})
		if err := w.Run(t.Context()); err != nil || w.On() || w.Word() != "off" || w.State().On {
			t.Errorf("%v, %s", err, w.Word())
		}
		w.Failed(old, time.Now(), true)
		believed := false
		w.Believe(old, time.Now(), func(doubt string) { believed = doubt == "" })
		if !believed {
			t.Error("not believed at once")
		}
	})
}
