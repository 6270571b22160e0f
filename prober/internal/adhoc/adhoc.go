// Package adhoc makes the visits that somebody waits for, in the prober's own region: checks
// on demand, and, on a lane of their own, visits that confirm what another region saw.
//
// It stands beside the consumer and shares only the engine with it, and what hosts bear. A
// few visits are under way at once, so scheduled checks do not wait for them, nor they for
// those. A host that has no place for two seconds, or asked to be left alone, is not visited:
// unknown(host_budget). No result is recorded: an outcome goes back on the lane it came by,
// that of a check on demand always with its evidence.
//
// Whatever goes wrong here ends one visit, or is tried again: it never ends the prober.
// While Options.Paused nothing is begun, and what is asked for is left to others.
// While the lane cannot be read Options.Health says so. At a stop no visit is begun, and
// those under way have ten seconds; what is left another prober takes over.
package adhoc

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/prober/internal/hostlimit"
	"github.com/probefleet/probefleet/prober/internal/probe"
)

const (
	takeEvery  = 5 * time.Second
	callLimit  = 5 * time.Second
	firstPause = 250 * time.Millisecond
	longPause  = 5 * time.Second
	drainLimit = 10 * time.Second

	hostPatience = 2 * time.Second // for a place at a host; with it no visit takes so long that others take it over
)

// Lane is the prober's end of the lane.
type Lane interface {
	Read(ctx context.Context, max int, block time.Duration) ([]checkstream.VisitEntry, error)
	Take(ctx context.Context, max int, own bool) ([]checkstream.VisitEntry, error)
	Settle(ctx context.Context, e checkstream.VisitEntry, outcome checkstream.VisitOutcome) error
	Drop(ctx context.Context, e checkstream.VisitEntry) error
}

// Engine makes visits.
type Engine interface {
	Look(ctx context.Context, check uptime.Check) probe.Outcome
	Impossible(check uptime.Check) bool
}

// Options are what a loop needs.
type Options struct {
	Name   string // of the prober
	AtOnce int    // visits under way at most
	// Bare leaves evidence out of outcomes.
	Bare bool
	// Believe judges what failed: see consumer.Options. Nil: everything is believed. Who asked
	// on demand sees what was seen.
	Believe func(target int64, began time.Time, then func(doubt string))
	// Paused says that no visit may be begun, because this prober is to take nothing on. Nil: it always may.
	Paused func() bool
	Lane   Lane
	Engine Engine
	Now    func() time.Time // the shared time; nil: this machine's
	Hosts  *hostlimit.Hosts
	Health func(error) // whether the lane can be used
	Log    *slog.Logger

	Metrics prometheus.Registerer
}

// Loop is the work.
type Loop struct {
	o      Options
	places chan struct{} // one for each visit under way
	visits sync.WaitGroup
	done   *prometheus.CounterVec
}

// New makes a loop.
func New(o Options) *Loop {
	l := &Loop{o: o, places: make(chan struct{}, o.AtOnce), done: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "probefleet_prober_adhoc_visits_total", Help: "Visits outside the schedule by lane (adhoc: on demand; confirm: what another region saw failing) and by what they came to.",
	}, []string{"status"})}
	o.Metrics.MustRegister(l.done)
	if l.o.Now == nil {
		l.o.Now = time.Now
	}
	if l.o.Paused == nil {
		l.o.Paused = func() bool { return false }
	}
	return l
}

// Busy says whether visits are under way, or may be in a moment: a read is.
func (l *Loop) Busy() bool { return len(l.places) > 0 }

// Run works until ctx ends and then drains. It has no other error than ctx's.
func (l *Loop) Run(ctx context.Context) error {
	visiting, abort := context.WithCancel(context.WithoutCancel(ctx))
	defer abort()
	pause, took, own := firstPause, time.Time{}, true
	for ctx.Err() == nil {
		err := l.guarded(func() error {
			if l.o.Paused() {
				wait(ctx, firstPause)
				return nil
			}
			if time.Since(took) >= takeEvery {
				if err := l.take(ctx, visiting, own); err != nil {
					return err
				}
				took, own = time.Now(), false
			}
			return l.read(ctx, visiting)
		})
		if ctx.Err() != nil {
			break
		}
		l.o.Health(err)
		if err == nil {
			pause = firstPause
			continue
		}
		wait(ctx, pause)
		pause = min(2*pause, longPause)
	}
	l.drain(abort)
	return ctx.Err()
}

// guarded makes a panic an error of this round.
func (l *Loop) guarded(round func() error) (err error) {
	defer func() {
		if thrown := recover(); thrown != nil {
			l.o.Log.Error("visits on demand: a round panicked", "panic", fmt.Sprint(thrown), "stack", string(debug.Stack()))
			err = fmt.Errorf("a round panicked: %v", thrown)
		}
	}()
	return round()
}

// read waits for a free place, then for visits.
func (l *Loop) read(ctx, visiting context.Context) error {
	return l.fetch(ctx, visiting, func(free int) ([]checkstream.VisitEntry, error) {
		return l.o.Lane.Read(ctx, free, checkstream.MaxBlock)
	})
}

// take begins what other probers left and, the first time, this one's earlier life.
func (l *Loop) take(ctx, visiting context.Context, own bool) error {
	return l.fetch(ctx, visiting, func(free int) ([]checkstream.VisitEntry, error) {
		call, cancel := context.WithTimeout(ctx, callLimit)
		defer cancel()
		return l.o.Lane.Take(call, free, own)
	})
}

// fetch gets at most as many visits as there are free places and begins them.
func (l *Loop) fetch(ctx, visiting context.Context, get func(free int) ([]checkstream.VisitEntry, error)) (err error) {
	free := l.reserve(ctx)
	if free == 0 {
		return nil
	}
	if l.o.Paused() { // now that Busy says so: who asked it before will ask again
		l.begin(visiting, nil, free)
		return nil
	}
	var entries []checkstream.VisitEntry
	defer func() { l.begin(visiting, entries, free) }() // also gives back what is not needed
	entries, err = get(free)
	return err
}

// reserve takes all free places: one or more, none when ctx ended first.
func (l *Loop) reserve(ctx context.Context) (places int) {
	select {
	case l.places <- struct{}{}:
		places = 1
	case <-ctx.Done():
		return 0
	}
	for places < l.o.AtOnce {
		select {
		case l.places <- struct{}{}:
			places++
		default:
			return places
		}
	}
	return places
}

func (l *Loop) leave() { <-l.places }

// begin starts the visits on reserved places and gives the others back.
func (l *Loop) begin(ctx context.Context, entries []checkstream.VisitEntry, reserved int) {
	for _, e := range entries {
		l.visits.Go(func() {
			defer l.leave()
			if err := l.guarded(func() error { return l.visit(ctx, e) }); err != nil && ctx.Err() == nil {
				l.o.Log.Warn("visit on demand not settled", "job", e.Job, "attempt", e.Attempt, "error", err)
			}
		})
	}
	for range reserved - len(entries) {
		l.leave()
	}
}

func (l *Loop) visit(ctx context.Context, e checkstream.VisitEntry) error {
	if e.Err != nil { // its outcome has no address
		l.o.Log.Warn("visit on demand cannot be read", "entry", e.ID, "error", e.Err)
		return l.settle(ctx, func(ctx context.Context) error { return l.o.Lane.Drop(ctx, e) })
	}
	// No target has the id 0.
	check := uptime.Check{Regions: []string{e.Region}, Kind: e.Kind, URL: e.URL, Timeout: e.Timeout, Spec: e.Spec}
	at, began := l.o.Now().UTC(), time.Now()
	outcome := l.look(ctx, check)
	if ctx.Err() != nil { // cut off by us: this outcome says nothing
		return nil
	}
	if doubt := l.doubt(began, outcome); doubt != "" {
		outcome = probe.Outcome{Status: uptime.StatusUnknown, Reason: uptime.ReasonProbeBlind, Message: probe.Message(string(outcome.Failure) + ": " + outcome.Message + "; not believed: " + doubt)}
	}
	l.done.WithLabelValues(outcome.Status.String()).Inc()
	look := uptime.Look{
		Prober: l.o.Name, CheckedAt: at, Status: outcome.Status, Failure: outcome.Failure, Reason: outcome.Reason, HTTPStatus: outcome.HTTPStatus,
		Phases: outcome.Phases, TotalUS: outcome.TotalUS, Message: outcome.Message, Address: outcome.Address, CertNotAfter: outcome.CertNotAfter,
		Seen: outcome.Seen, Evidence: outcome.Evidence,
		Invalid: outcome.Reason == uptime.ReasonInternal && l.o.Engine.Impossible(check),
	}
	if l.o.Bare {
		look.Evidence = nil
	}
	return l.settle(ctx, func(ctx context.Context) error {
		return l.o.Lane.Settle(ctx, e, checkstream.VisitOutcome{Look: look})
	})
}

// look makes the visit, once its host has a place for it.
func (l *Loop) look(ctx context.Context, check uptime.Check) probe.Outcome {
	turn, err := l.o.Hosts.Enter(check.URL)
	if err == nil {
		err = turn.Await(ctx, hostPatience)
	}
	if err != nil {
		return probe.Outcome{Status: uptime.StatusUnknown, Reason: uptime.ReasonHostBudget, Message: err.Error()}
	}
	defer turn.Leave()
	outcome := l.o.Engine.Look(ctx, check)
	l.o.Hosts.LeaveAlone(check.URL, outcome.AnsweredBy, outcome.RetryAfter)
	return outcome
}

// doubt waits for why a failure is not to be believed; empty: it is, or it is none.
func (l *Loop) doubt(began time.Time, outcome probe.Outcome) string {
	if l.o.Believe == nil || outcome.Status != uptime.StatusDown {
		return ""
	}
	said := make(chan string, 1)
	l.o.Believe(0, began, func(doubt string) { said <- doubt })
	return <-said
}

// settle tries a few times: who waits for the visit would wait for a minute else.
func (l *Loop) settle(ctx context.Context, call func(context.Context) error) (err error) {
	for pause := firstPause; pause <= longPause; pause *= 2 {
		limited, cancel := context.WithTimeout(ctx, callLimit)
		err = call(limited)
		cancel()
		if err == nil || !wait(ctx, pause) {
			return err
		}
	}
	return err
}

// drain lets the visits under way end, and aborts what takes too long.
func (l *Loop) drain(abort func()) {
	limit := time.AfterFunc(drainLimit, abort)
	defer limit.Stop()
	l.visits.Wait()
}

// wait says whether ctx still lives.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
