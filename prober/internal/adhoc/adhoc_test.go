package adhoc

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/guard"
	"github.com/probefleet/probefleet/internal/lab"
	"github.com/probefleet/probefleet/internal/seal"
	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/prober/internal/hostlimit"
	"github.com/probefleet/probefleet/prober/internal/probe"
	"github.com/probefleet/probefleet/prober/internal/resolve"
)

func TestMain(m *testing.M) { testbackend.Main(m) }

var errAway = errors.New("away")

// fakeLane hands out what is waiting.
type fakeLane struct {
	mu      sync.Mutex
	waiting []checkstream.VisitEntry
	left    []checkstream.VisitEntry // by others
	own     []bool                   // how Take was called
	settled []checkstream.VisitOutcome
	dropped int
	fails   int // calls of Settle that fail
	err     error
	panics  bool
	most    int // that were asked for at once
}

func (l *fakeLane) set(change func(*fakeLane)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change(l)
}

func (l *fakeLane) Read(ctx context.Context, max int, block time.Duration) ([]checkstream.VisitEntry, error) {
	for end := time.Now().Add(block); ; time.Sleep(10 * time.Millisecond) {
		l.mu.Lock()
		l.most = max
		if l.panics {
			l.panics = false
			l.mu.Unlock()
			panic("boom")
		}
		if n := min(max, len(l.waiting)); n > 0 || l.err != nil || time.Now().After(end) || ctx.Err() != nil {
			got := l.waiting[:n]
			l.waiting = l.waiting[n:]
			defer l.mu.Unlock()
			return got, l.err
		}
		l.mu.Unlock()
	}
}

func (l *fakeLane) Take(_ context.Context, _ int, own bool) ([]checkstream.VisitEntry, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.own = append(l.own, own)
	got := l.left
	l.left = nil
	return got, l.err
}

func (l *fakeLane) Settle(_ context.Context, e checkstream.VisitEntry, o checkstream.VisitOutcome) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fails > 0 {
		l.fails--
		return errAway
	}
	o.Job = e.Job
	l.settled = append(l.settled, o)
	return nil
}

func (l *fakeLane) Drop(context.Context, checkstream.VisitEntry) error {
	l.set(func(l *fakeLane) { l.dropped++ })
	return nil
}

func (l *fakeLane) done() int { return len(l.seen().settled) }

// seen is a copy of the lane as it is.
func (l *fakeLane) seen() *fakeLane {
	l.mu.Lock()
	defer l.mu.Unlock()
	return &fakeLane{own: slices.Clone(l.own), settled: slices.Clone(l.settled), dropped: l.dropped, most: l.most}
}

// fakeEngine takes a time for each visit.
type fakeEngine struct {
	takes      time.Duration
	panics     bool
	impossible bool
	busy       bool // answers 429

	mu      sync.Mutex
	now     int
	highest int
	all     int
}

func (e *fakeEngine) visits() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.all
}

func (e *fakeEngine) Look(ctx context.Context, _ uptime.Check) probe.Outcome {
	e.mu.Lock()
	e.now++
	e.all++
	e.highest = max(e.highest, e.now)
	e.mu.Unlock()
	defer func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.now--
	}()
	if e.panics {
		panic("boom")
	}
	wait(ctx, e.takes)
	if e.impossible {
		return probe.Outcome{Status: uptime.StatusUnknown, Reason: uptime.ReasonInternal}
	}
	if e.busy {
		return probe.Outcome{Status: uptime.StatusDown, Failure: uptime.FailureStatusCode, AnsweredBy: "http://b/", RetryAfter: time.Minute} // http://a/ leads there
	}
	return probe.Outcome{Status: uptime.StatusUp, Evidence: &uptime.Evidence{Body: "x"}}
}

func (e *fakeEngine) Impossible(uptime.Check) bool { return e.impossible }

func visits(n int) (list []checkstream.VisitEntry) {
	for i := range n {
		list = append(list, checkstream.VisitEntry{ID: string(rune('a' + i)), Visit: checkstream.Visit{Job: "j", Attempt: 1, Region: "eu", Kind: uptime.KindHTTP, URL: "http://a/", Timeout: time.Second}})
	}
	return list
}

type rig struct {
	loop   *Loop
	lane   *fakeLane
	hosts  *hostlimit.Hosts
	stop   func()
	mu     sync.Mutex
	health error
}

func hosts(perHost int) *hostlimit.Hosts {
	return hostlimit.New(hostlimit.Options{PerHost: perHost, Waiting: 100, Metrics: prometheus.NewRegistry()})
}

func run(t *testing.T, engine Engine, lane *fakeLane, settings ...func(*Options)) *rig {
	t.Helper()
	r := &rig{lane: lane}
	r.hosts = hosts(10)
	o := Options{Name: "p1", AtOnce: 10, Lane: lane, Engine: engine, Hosts: r.hosts, Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry(), Health: func(err error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.health = err
	}}
	for _, set := range settings {
		set(&o)
	}
	l := New(o)
	r.loop = l
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = l.Run(ctx) }()
	r.stop = func() { cancel(); <-ended }
	t.Cleanup(r.stop)
	return r
}

func (r *rig) says() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.health
}

// When a visit was made is told by the clock that everybody shares.
func TestVisitsAreOfTheSharedTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		lane, begun := &fakeLane{waiting: visits(1)}, time.Now()
		run(t, &fakeEngine{}, lane, func(o *Options) { o.Now = func() time.Time { return time.Now().Add(-time.Hour) } })
		time.Sleep(time.Second)
		if all := lane.seen().settled; len(all) != 1 || all[0].CheckedAt.After(begun.Add(-59*time.Minute)) {
			t.Errorf("%+v", all)
		}
	})
}

func TestTenAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		engine, lane := &fakeEngine{takes: 3 * time.Second}, &fakeLane{waiting: visits(25), left: visits(4)}
		run(t, engine, lane)
		time.Sleep(time.Minute)
		synctest.Wait()
		lane = lane.seen()
		if lane.done() != 29 || engine.highest != 10 || lane.most != 10 {
			t.Errorf("%d done, %d at once, asks for %d", lane.done(), engine.highest, lane.most)
		}
		for i, own := range lane.own {
			if own != (i == 0) {
				t.Errorf("take %d: own %v", i, own)
			}
		}
		if len(lane.own) < 9 || len(lane.own) > 13 {
			t.Errorf("looked for what others left %d times in a minute", len(lane.own))
		}
	})
}

// A prober that is to drain begins no visit and takes none over; what is under way ends, and
// it is busy for as long as that takes.
func TestPausedLaneBeginsNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		engine, lane := &fakeEngine{takes: 20 * time.Second}, &fakeLane{waiting: visits(3)}
		var paused atomic.Bool
		r := run(t, engine, lane, func(o *Options) { o.Paused = paused.Load })
		time.Sleep(time.Second)
		paused.Store(true)
		time.Sleep(3 * time.Second) // a read may wait for so long
		lane.set(func(l *fakeLane) { l.waiting, l.left = visits(2), visits(2) })
		time.Sleep(10 * time.Second)
		if !r.loop.Busy() {
			t.Error("idle while visits are under way")
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if r.loop.Busy() || engine.visits() != 3 || lane.seen().done() != 3 || r.says() != nil {
			t.Errorf("busy %v, %d visits, %d told, health %v", r.loop.Busy(), engine.visits(), lane.seen().done(), r.says())
		}
		paused.Store(false)
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := lane.seen().done(); n != 7 {
			t.Errorf("%d of 7 told after it went on", n)
		}
	})
}

// What confirms pages people: a blind prober confirms nothing, and evidence is not sent along.
func TestConfirmationsAreDoubted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for doubt, want := range map[string]uptime.Status{"": uptime.StatusDown, "no canary answers": uptime.StatusUnknown} {
			lane, began := &fakeLane{waiting: visits(1)}, time.Now()
			r := run(t, &fakeEngine{busy: true, takes: time.Second}, lane, func(o *Options) {
				o.Bare = true
				o.Believe = func(_ int64, at time.Time, then func(string)) {
					if !at.Equal(began) {
						t.Errorf("the visit began at %v, not %v", at, began)
					}
					time.AfterFunc(2*time.Second, func() { then(doubt) })
				}
			})
			time.Sleep(4 * time.Second)
			synctest.Wait()
			if got := lane.seen().settled; len(got) != 1 || got[0].Status != want || (got[0].Reason == uptime.ReasonProbeBlind) != (doubt != "") || !strings.HasSuffix(got[0].Message, doubt) {
				t.Errorf("doubt %q: %+v", doubt, got)
			}
			r.stop()

			good := &fakeLane{waiting: visits(1)}
			r = run(t, &fakeEngine{}, good, func(o *Options) {
				o.Bare = true
				o.Believe = func(int64, time.Time, func(string)) { t.Error("a good answer is doubted") }
			})
			synctest.Wait()
			if got := good.seen().settled; len(got) != 1 || got[0].Status != uptime.StatusUp || got[0].Evidence != nil {
				t.Errorf("%+v", got)
			}
			r.stop()
		}
	})
}

func TestTroubleEndsNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		engine, lane := &fakeEngine{}, &fakeLane{err: errAway, waiting: nil}
		r := run(t, engine, lane)
		time.Sleep(time.Minute)
		synctest.Wait()
		if !errors.Is(r.says(), errAway) {
			t.Errorf("health says %v", r.says())
		}
		lane.set(func(l *fakeLane) { l.err, l.waiting, l.fails = nil, visits(1), 2 })
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if lane.done() != 1 || r.says() != nil {
			t.Errorf("%d done, health says %v", lane.done(), r.says())
		}
		lane.set(func(l *fakeLane) { l.panics = true })
		time.Sleep(5 * time.Second)
		synctest.Wait()
		lane.set(func(l *fakeLane) { l.waiting = visits(30) })
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if lane.done() != 31 || r.says() != nil || lane.seen().most != 10 {
			t.Errorf("after a panic of a round: %d done, %d places, health says %v", lane.done(), lane.seen().most, r.says())
		}
		engine.panics = true
		lane.set(func(l *fakeLane) { l.waiting = visits(30) })
		time.Sleep(10 * time.Second)
		synctest.Wait()
		engine.panics = false
		lane.set(func(l *fakeLane) {
			l.waiting = append(visits(5), checkstream.VisitEntry{ID: "x", Err: errors.New("strange")})
		})
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if lane.done() != 36 || lane.seen().dropped != 1 || lane.seen().most != 10 {
			t.Errorf("after panics of visits: %d done, %d dropped, %d places", lane.done(), lane.seen().dropped, lane.seen().most)
		}
	})
}

func TestStopDrains(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		takes, stops time.Duration
		done         int
	}{"in time": {5 * time.Second, 4 * time.Second, 3}, "too long": {20 * time.Second, 10 * time.Second, 0}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				lane := &fakeLane{waiting: visits(3)}
				r := run(t, &fakeEngine{takes: c.takes}, lane)
				time.Sleep(time.Second)
				synctest.Wait()
				start := time.Now()
				r.stop()
				if took := time.Since(start); lane.done() != c.done || took < c.stops || took > c.stops+100*time.Millisecond {
					t.Errorf("%d done after %v", lane.done(), took)
				}
			})
		})
	}
}

// What hosts bear counts for all visits of a prober.
func TestHostsAreSpared(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		engine, lane := &fakeEngine{busy: true}, &fakeLane{}
		r := run(t, engine, lane)
		var turns []hostlimit.Turn // of scheduled checks
		for range 10 {
			turn, err := r.hosts.Enter("https://a/x")
			if err != nil {
				t.Fatal(err)
			}
			turns = append(turns, turn)
		}
		visit := func(want uptime.Reason, visited int) {
			t.Helper()
			before := lane.done()
			lane.set(func(l *fakeLane) { l.waiting = visits(1) })
			time.Sleep(hostPatience + time.Second)
			synctest.Wait()
			settled := lane.seen().settled
			if len(settled) != before+1 || settled[before].Reason != want || engine.visits() != visited {
				t.Errorf("%+v, %d visits", settled[before:], engine.visits())
			}
		}
		visit(uptime.ReasonHostBudget, 0) // all places are taken
		for _, turn := range turns {
			turn.Leave()
		}
		visit(uptime.ReasonNone, 1)       // it answers 429
		visit(uptime.ReasonHostBudget, 1) // and is left alone
		if _, err := r.hosts.Enter("http://a/"); err == nil {
			t.Error("scheduled checks do not leave it alone")
		}
	})
}

func TestImpossibleIsSaid(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		lane := &fakeLane{waiting: visits(1)}
		run(t, &fakeEngine{impossible: true}, lane)
		time.Sleep(time.Second)
		synctest.Wait()
		if lane.done() != 1 || !lane.seen().settled[0].Invalid {
			t.Errorf("%+v", lane.seen().settled)
		}
	})
}

// names has none: the lab is visited by its address.
type names struct{}

func (names) Lookup(_ context.Context, host string, _ resolve.Family) (resolve.Answer, error) {
	return resolve.Answer{}, &resolve.NotFound{Host: host, What: "no such host name"}
}

func (n names) LookupAnew(ctx context.Context, host string, family resolve.Family) (resolve.Answer, error) {
	return n.Lookup(ctx, host, family)
}

func (n names) LookupElsewhere(ctx context.Context, host string, family resolve.Family) (resolve.Answer, error) {
	return n.Lookup(ctx, host, family)
}

// TestLookThroughRedis: the real engine, lane and targets.
func TestLookThroughRedis(t *testing.T) {
	t.Parallel()
	l, err := lab.Start("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	redis, err := checkstream.Open(testbackend.Redis(t))
	if err != nil {
		t.Fatal(err)
	}
	defer redis.Close()
	box, err := seal.New(strings.Repeat("k", 32))
	if err != nil {
		t.Fatal(err)
	}
	engine := probe.New(probe.Options{
		Guard: guard.New([]netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}), Resolver: names{}, Open: box.Open, Roots: l.CertPool(),
		Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry(),
	})
	lane := checkstream.NewAdhoc(redis)
	_, at, err := lane.Outcomes(t.Context(), "", 0)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	loop := New(Options{Name: "p1", AtOnce: 10, Lane: checkstream.NewAdhocConsumer(redis, "eu", "p1"), Engine: engine, Hosts: hosts(10), Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry(), Health: func(error) {}})
	ended := make(chan struct{})
	go func() { defer close(ended); _ = loop.Run(ctx) }()
	defer func() { cancel(); _ = redis.Close(); <-ended }()

	wanted := map[string]struct {
		url, kind string
		spec      uptime.SpecText
		holds     func(uptime.Look) bool
	}{
		"up": {l.TLSURL() + "/cookie/set/crumb/yum", "http", "", func(o uptime.Look) bool {
			return o.Status == uptime.StatusUp && len(o.Evidence.Certificates) > 0 && o.Evidence.Cookies[0] == "crumb"
		}},
		"down": {l.URL() + "/status/503", "http", "", func(o uptime.Look) bool { return o.Failure == uptime.FailureStatusCode && o.Evidence != nil }},
		"lost": {"http://no.example/", "http", "", func(o uptime.Look) bool { return o.Failure == uptime.FailureDNS }},
		"shut": {"http://127.0.0.2/", "http", "", func(o uptime.Look) bool {
			return o.Reason == uptime.ReasonBlockedAddress && o.Evidence == nil && !o.Invalid
		}},
		"newer": {l.URL(), "http", `{"newer":1}`, func(o uptime.Look) bool { return o.Reason == uptime.ReasonInternal && o.Invalid }},
		"kind":  {l.URL(), "smoke", "", func(o uptime.Look) bool { return o.Reason == uptime.ReasonInternal && o.Invalid }},
	}
	for job, w := range wanted {
		v := checkstream.Visit{Job: job, Attempt: 1, Region: "eu", Kind: uptime.Kind(w.kind), URL: w.url, Timeout: 5 * time.Second, Spec: w.spec}
		if err := lane.Add(t.Context(), []checkstream.Visit{v}); err != nil {
			t.Fatal(err)
		}
	}
	for deadline := time.Now().Add(2 * time.Minute); len(wanted) > 0; {
		outcomes, next, err := lane.Outcomes(t.Context(), at, time.Second)
		if err != nil || time.Now().After(deadline) {
			t.Fatalf("%d outcomes are missing: %v", len(wanted), err)
		}
		at = next
		for _, o := range outcomes {
			if w, known := wanted[o.Job]; !known || !w.holds(o.Look) || o.Prober != "p1" || o.Region != "eu" || o.CheckedAt.IsZero() {
				t.Errorf("%s: %+v", o.Job, o.Look)
			}
			if strings.Contains(o.Job+o.Message, "yum") {
				t.Error("the value of a cookie is told")
			}
			delete(wanted, o.Job)
		}
	}
	if open, err := lane.Open(t.Context()); err != nil || open != 0 {
		t.Errorf("%d open, %v", open, err)
	}
}
