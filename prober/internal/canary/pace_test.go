package canary

import (
	"strings"
	"testing"
	"time"
)

// Canaries are other people's machines: they are visited every ten seconds, every second
// while they are bad, and at most once a second however much fails that was down before.
func TestPace(t *testing.T) {
	in(t, func(t *testing.T) {
		r := start(t, 3)
		wait(60 * time.Second)
		if good, bad := r.rounds(); good != 7 || bad != 0 {
			t.Errorf("%d good and %d bad rounds in an idle minute", good, bad)
		}
		r.known()
		before, _ := r.rounds()
		for range 1000 {
			r.Believe(old, time.Now(), func(string) {})
			wait(10 * time.Millisecond)
		}
		if good, _ := r.rounds(); good < before+9 || good > before+11 {
			t.Errorf("%d rounds in ten seconds in which something failed all the time", good-before)
		}
		wait(25 * time.Second)
		good, _ := r.rounds()
		r.down()
		r.Failed(old, time.Now(), true)
		wait(10*time.Second + time.Millisecond)
		if again, bad := r.rounds(); again != good || bad != 11 {
			t.Errorf("%d good and %d bad rounds in ten bad seconds", again-good, bad)
		}
	})
}

// A first look that failed starts a round, unless one began since: the second look and the
// round go on beside each other.
func TestFailureStartsARound(t *testing.T) {
	in(t, func(t *testing.T) {
		r := start(t, 3)
		wait(5 * time.Second)
		began := time.Now()
		wait(time.Second)
		r.Failed(old, began, true)
		wait(time.Millisecond)
		if good, _ := r.rounds(); good != 2 {
			t.Errorf("%d rounds", good)
		}
		r.Failed(old, began, true)
		wait(2 * time.Second)
		if good, _ := r.rounds(); good != 2 {
			t.Errorf("%d rounds: one had begun since", good)
		}
	})
}

// What goes down is not kept waiting by what is down all the time, nor by the round that its own first look
// asked for; until it has answered again it is in no hurry any more.
func TestWhatWasNotDownDoesNotWait(t *testing.T) {
	in(t, func(t *testing.T) {
		r := start(t, 3)
		r.known()
		others := time.NewTicker(10 * time.Millisecond)
		defer others.Stop()
		over := make(chan struct{})
		defer close(over)
		go func() {
			for {
				select {
				case <-others.C:
					r.Believe(old, time.Now(), func(string) {})
				case <-over:
					return
				}
			}
		}()
		fails := func(target int64) time.Duration {
			t.Helper()
			r.Failed(target, time.Now(), true)
			wait(250 * time.Millisecond)
			ended := time.Now()
			doubt, took := r.askOf(target, 250*time.Millisecond)
			if doubt != "" || !r.beganSince(ended) {
				t.Errorf("%q after %v", doubt, took)
			}
			return took
		}
		for n := range int64(30) {
			wait(1900 * time.Millisecond)
			if took := fails(old + 1 + n); took > brisk().gap {
				t.Errorf("%d waited for %v", n, took)
			}
		}
		wait(300 * time.Millisecond)
		if took := fails(old + 1); took <= brisk().gap {
			t.Errorf("one that was down before waited for %v only", took)
		}
		wait(time.Second)
		r.Answered(old + 1)
		if took := fails(old + 1); took > brisk().gap {
			t.Errorf("one that had been up again waited for %v", took)
		}
	})
}

// However much goes down, its rounds are twenty in two seconds and two a second from then on.
func TestPaceOfWhatGoesDown(t *testing.T) {
	in(t, func(t *testing.T) {
		r := start(t, 3)
		wait(15 * time.Second)
		before, _ := r.rounds()
		count := func(seconds int) (rounds int) {
			t.Helper()
			for n := range seconds * 100 {
				r.Believe(int64(10_000*before+n), time.Now(), func(doubt string) {
					if doubt != "" {
						t.Error(doubt)
					}
				})
				wait(10 * time.Millisecond)
			}
			now, _ := r.rounds()
			rounds, before = now-before, now
			return rounds
		}
		if n := count(2); n < 15 || n > brisk().saved+1 {
			t.Errorf("%d rounds in the first two seconds", n)
		}
		count(2) // what is left
		if n := count(10); n < 19 || n > 21 {
			t.Errorf("%d rounds in ten seconds", n)
		}
	})
}

// Others hear of each change at once, of each bad round, and of good ones every ten seconds.
func TestRoundsAreAnnounced(t *testing.T) {
	in(t, func(t *testing.T) {
		r := start(t, 3)
		for range 600 {
			wait(100 * time.Millisecond)
			r.Failed(old, time.Now(), true) // rounds every second
		}
		if good, _ := r.rounds(); len(r.told()) < 6 || len(r.told()) > 7 || good < 50 {
			t.Fatalf("%d announced of %d", len(r.told()), good)
		}
		for _, round := range r.told() {
			if !round.Good || round.Said != "" || round.Decided.Before(round.Began) {
				t.Errorf("%+v", round)
			}
		}
		before := len(r.told())
		wait(5 * time.Second)
		r.down()
		r.Failed(old, time.Now(), true)
		wait(3*time.Second + time.Millisecond)
		told := r.told()[before:]
		if len(told) < 4 || told[len(told)-1].Good || !strings.Contains(told[len(told)-1].Said, ": connection refused") {
			t.Fatalf("%+v", told)
		}
		r.up()
		wait(time.Second)
		if last := r.told()[len(r.told())-1]; !last.Good || last.Said != "" {
			t.Errorf("not told that they are back: %+v", last)
		}
	})
}

func TestAnnouncementIsTriedAgain(t *testing.T) {
	in(t, func(t *testing.T) {
		r := start(t, 1)
		wait(time.Second)
		r.mu.Lock()
		r.refuse = true
		r.mu.Unlock()
		r.down()
		r.Failed(old, time.Now(), true)
		wait(time.Second)
		r.up()
		wait(15 * time.Second) // it is good again, and nobody has heard of it
		if got := len(r.told()); got != 1 {
			t.Fatalf("%d announced", got)
		}
		r.mu.Lock()
		r.refuse = false
		r.mu.Unlock()
		wait(1100 * time.Millisecond) // no other round is due
		if got := r.told(); len(got) != 2 || !got[1].Good {
			t.Errorf("%+v", got)
		}
	})
}

func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"one.one.one.one:443, 9.9.9.9:443": "one.one.one.one:443 9.9.9.9:443",
		"[2620:fe::fe]:443":                "[2620:fe::fe]:443",
		"Example.COM.:80":                  "example.com:80",
		"none":                             "",
		" none ":                           "",
	} {
		list, err := Parse(text)
		var have []string
		for _, c := range list {
			have = append(have, c.String())
		}
		if err != nil || strings.Join(have, " ") != want {
			t.Errorf("%q: %v, %v", text, have, err)
		}
	}
	for text, want := range map[string]string{
		"":                              "not host:port",
		"example.com":                   "not host:port",
		"none,example.com:1":            "single word none",
		"example.com:0":                 "0 is no port",
		"example.com:http":              "http is no port",
		"a b:80":                        "host name",
		"0.0.0.0:80":                    "nobody's address",
		"9.9.9.9:443,9.9.9.9:443":       "named twice",
		strings.Repeat("a.b:1,", 21):    "more than 20",
		"https://one.one.one.one:443/x": "host:port",
	} {
		if list, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v", text, list, err)
		}
	}
}
