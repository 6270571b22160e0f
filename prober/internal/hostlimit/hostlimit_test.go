package hostlimit

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

func hosts(perHost, waiting int) *Hosts {
	return New(Options{PerHost: perHost, Waiting: waiting, Metrics: prometheus.NewRegistry()})
}

// enter is an Enter that must not be refused.
func enter(t *testing.T, h *Hosts, url string) Turn {
	t.Helper()
	turn, err := h.Enter(url)
	if err != nil {
		t.Fatal(err)
	}
	return turn
}

func causeOf(err error) Cause {
	if refused, ok := errors.AsType[*Refused](err); ok {
		return refused.Cause
	}
	return ""
}

// known is how many hosts are remembered.
func (h *Hosts) known() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.byName)
}

func TestHostOfAURL(t *testing.T) {
	t.Parallel()
	opened := netip.MustParsePrefix("10.0.0.0/8")
	h := New(Options{PerHost: 1, Opened: opened.Contains, Metrics: prometheus.NewRegistry()})
	loopback := New(Options{PerHost: 1, Opened: netip.MustParsePrefix("127.0.0.0/8").Contains, Metrics: prometheus.NewRegistry()})
	for url, want := range map[string]bool{"http://localhost:8080/": false, "http://A.Localhost./": false, "http://127.0.0.2/": false, "http://localhost.example/": true, "http://[::1]/": true} {
		if _, limited := loopback.limited(url); limited != want {
			t.Errorf("%s with loopback opened: limited %v", url, limited)
		}
	}
	for url, want := range map[string]string{
		"http://Example.COM/a":             "example.com",
		"https://user:pw@example.com:8443": "example.com",
		"https://example.com.":             "example.com",
		"tcp://example.com:25":             "example.com",
		"https://bücher.example/":          "xn--bcher-kva.example",
		"https://_sip.example.com/":        "_sip.example.com",
		"http://[2001:DB8::1]:80/":         "2001:db8::1",
		"http://[fe80::1%25eth0]/":         "fe80::1",
		"http://[::ffff:192.0.2.1]/":       "192.0.2.1",
		"http://192.0.2.1:81/?host=b":      "192.0.2.1",
		"http://ten.example/":              "ten.example", // whatever it resolves to
		"dns://192.0.2.53/example.com":     "192.0.2.53",
		"http://localhost/":                "localhost",
		"http://10.1.2.3/":                 "",
		"http://[::ffff:10.1.2.3]/":        "",
		"dns:///example.com?type=MX":       "dns example.com",
		"dns:///a.B.example.co.uk.":        "dns example.co.uk",
		"dns:www.example.com":              "dns example.com",
		"dns:///co.uk":                     "dns co.uk",
		"dns:///printer":                   "dns printer",
		"dns:///.":                         "dns ",
		"http://%zz/":                      "",
	} {
		name, limited := h.limited(url)
		if want == "" && limited || want != "" && (name != want || !limited) {
			t.Errorf("%s: %q, limited %v", url, name, limited)
		}
	}
}

func TestPlacesGoInOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := hosts(2, 100)
		inside := []Turn{enter(t, h, "http://a.test/1"), enter(t, h, "https://A.test:8443/2")}
		var mu sync.Mutex
		var order []int
		for i := range 5 {
			turn := enter(t, h, "http://a.test/")
			if !turn.Waits() {
				t.Fatal("a third place")
			}
			go func() {
				if err := turn.Await(t.Context(), time.Minute); err != nil {
					t.Error(err)
				}
				mu.Lock()
				order = append(order, i)
				mu.Unlock()
				time.Sleep(time.Second)
				turn.Leave()
			}()
		}
		if h.Waiting() != 5 {
			t.Errorf("%d wait", h.Waiting())
		}
		if other := enter(t, h, "http://b.test/"); other.Waits() {
			t.Error("another host waits along")
		} else {
			other.Leave()
		}
		time.Sleep(10 * time.Second)
		inside[0].Leave() // one place is worked off after the other
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if !slices.Equal(order, []int{0, 1, 2, 3, 4}) || h.Waiting() != 0 {
			t.Errorf("%v, %d wait", order, h.Waiting())
		}
		inside[1].Leave()
		if h.known() != 0 {
			t.Errorf("%d hosts remembered", h.known())
		}
	})
}

func TestWaitingEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := hosts(1, 100)
		inside := enter(t, h, "http://a.test/")
		start := time.Now()
		if err := enter(t, h, "http://a.test/").Await(t.Context(), 40*time.Second); causeOf(err) != CauseExpired || time.Since(start) != 40*time.Second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := enter(t, h, "http://a.test/").Await(ctx, time.Minute); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		if h.Waiting() != 0 || h.queues != 0 {
			t.Errorf("%d wait in %d queues", h.Waiting(), h.queues)
		}
		inside.Leave() // to nobody
		if h.known() != 0 {
			t.Errorf("%d hosts remembered", h.known())
		}
	})
}

func TestHostIsLeftAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := hosts(1, 100)
		inside := enter(t, h, "http://a.test/")
		waiting := make(chan error, 1)
		turn := enter(t, h, "http://a.test/")
		go func() { waiting <- turn.Await(t.Context(), time.Minute) }()
		synctest.Wait()
		h.LeaveAlone("http://a.test/", "http://a.test/login", 30*time.Second)
		h.LeaveAlone("http://a.test/", "http://a.test/", 10*time.Second) // it does not get shorter
		if n := testutil.ToFloat64(h.metrics.pauses); n != 1 {
			t.Errorf("%v pauses", n)
		}
		if err := <-waiting; causeOf(err) != CauseLeftAlone {
			t.Errorf("one that waited: %v", err)
		}
		inside.Leave()
		time.Sleep(29 * time.Second)
		if _, err := h.Enter("http://a.test/other"); causeOf(err) != CauseLeftAlone {
			t.Errorf("one due meanwhile: %v", err)
		}
		enter(t, h, "http://b.test/").Leave()
		time.Sleep(2 * time.Second)
		enter(t, h, "http://a.test/").Leave()

		h.LeaveAlone("http://c.test/", "http://c.test/", 24*time.Hour)
		time.Sleep(MaxPause - time.Second)
		if _, err := h.Enter("http://c.test/"); causeOf(err) != CauseLeftAlone {
			t.Errorf("before the cap: %v", err)
		}
		time.Sleep(2 * time.Second)
		if h.known() != 0 {
			t.Errorf("%d hosts remembered", h.known())
		}
		h.LeaveAlone("http://c.test/", "http://d.test/", 0)
		h.LeaveAlone("", "", time.Hour)
		if h.known() != 0 {
			t.Errorf("%d hosts remembered", h.known())
		}
	})
}

// A redirect that leads to who wants to be left alone would lead there again.
func TestHostThatRedirectsThereIsLeftAloneToo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := hosts(1, 100)
		h.LeaveAlone("http://a.test/", "https://www.b.test/", 30*time.Second)
		for _, url := range []string{"http://a.test/other", "http://www.b.test/"} {
			if _, err := h.Enter(url); causeOf(err) != CauseLeftAlone {
				t.Errorf("%s: %v", url, err)
			}
		}
		time.Sleep(31 * time.Second)
		enter(t, h, "http://a.test/").Leave()
	})
}

// The end of a pause may come late, when the host was forgotten and met again.
func TestForgottenHostLeavesTheNextAlone(t *testing.T) {
	t.Parallel()
	h := hosts(1, 10)
	first := enter(t, h, "http://a.example/")
	first.Leave()
	second := enter(t, h, "http://a.example/")
	h.mu.Lock()
	h.forget(first.host)
	h.mu.Unlock()
	if third := enter(t, h, "http://a.example/"); !third.Waits() {
		t.Error("two visits of one host are under way")
	}
	second.Leave()
}

// Many checks of one host may fill all the room there is, and still those of others
// find some.
func TestSharesWhenManyWait(t *testing.T) {
	t.Parallel()
	h := hosts(1, 100)
	queue := func(url string, n int) (taken int) {
		for range n {
			if _, err := h.Enter(url); err == nil {
				taken++
			} else if causeOf(err) != CauseCrowded {
				t.Fatal(err)
			}
		}
		return taken
	}
	if n := queue("http://greedy.test/", 5000); n != 101 {
		t.Errorf("%d taken of the greedy host", n)
	}
	for i := range 50 {
		if n := queue(fmt.Sprintf("http://h%d.test/", i), 3); n < 2 { // one inside, one waiting
			t.Errorf("%d taken of a modest host", n)
		}
	}
	if n := queue("http://greedy.test/", 10); n != 0 {
		t.Errorf("%d more of the greedy host", n)
	}
	if h.Waiting() > 200 {
		t.Errorf("%d wait", h.Waiting())
	}
}

// Everything happens at once; what must hold are the limit, that nobody waits for ever,
// and that nothing stays behind.
func TestNoPlaceIsLostOrDoubled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := hosts(3, 1000)
		var mu sync.Mutex
		inside := map[string]int{}
		served, most := 0, 0
		var all sync.WaitGroup
		for i := range 2000 {
			name := fmt.Sprintf("http://h%d.test/", i%7)
			all.Go(func() {
				time.Sleep(time.Duration(i%97) * 10 * time.Millisecond)
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(1+i%5)*10*time.Second)
				defer cancel()
				turn, err := h.Enter(name)
				if err == nil {
					err = turn.Await(ctx, time.Duration(1+i%40)*time.Second)
				}
				if err != nil {
					return
				}
				mu.Lock()
				inside[name]++
				served++
				most = max(most, inside[name])
				mu.Unlock()
				time.Sleep(time.Duration(1+i%10) * 50 * time.Millisecond)
				mu.Lock()
				inside[name]--
				mu.Unlock()
				if i%501 == 500 {
					h.LeaveAlone(name, name, time.Second)
				}
				turn.Leave()
			})
		}
		all.Wait()
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if most != 3 || served < 500 || h.known() != 0 || h.waiting != 0 || h.queues != 0 {
			t.Errorf("at most %d inside, %d served; left: %d hosts, %d waiting in %d queues", most, served, h.known(), h.waiting, h.queues)
		}
	})
}
