package evaluator

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/probefleet/probefleet/dashboard-api/internal/live"
	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/lease"
	"github.com/probefleet/probefleet/internal/livefeed"
	"github.com/probefleet/probefleet/internal/maintenancestore"
	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/service"
	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/internal/verdictstore"
)

const (
	commitEvery = 500 * time.Millisecond
	rulesEvery  = 2 * time.Second
	latestEvery = time.Minute
	leaseLook   = 500 * time.Millisecond

	commitBound = 30 * time.Second // thousands of targets may fail at once
	loadBound   = 30 * time.Second
	rulesBound  = 2 * time.Second
	retryPause  = 2 * time.Second
	firstBound  = 5 * time.Second
	// lookBackBound is how long the stream is looked back through: for ten minutes of 5,000
	// results a second it takes a few.
	lookBackBound = 15 * time.Second
	// waiting is how many entries may lie between the reader and the fold.
	waiting = 256
)

// Options of an Evaluator; all are required but Now, and what may be nil.
type Options struct {
	Lease    Lease
	Follower Follower
	Targets  Targets
	Results  Results
	Store    Store
	// Maintenance are the windows there are; nil: none.
	Maintenance Maintenance
	// Confirm asks other regions about a first failure; nil: nobody is asked.
	Confirm Confirmer
	// NameServers says who answers for a host's zone, "" while nobody knows; nil: nobody does.
	NameServers func(host string) string
	Health      Health
	Log         *slog.Logger
	Metrics     prometheus.Registerer
	Now         func() time.Time
	// Told is called when something was committed that people may be told of.
	Told func()
}

// Lease says whether this node is the one to evaluate.
type Lease interface {
	Held() bool
	Yield(d time.Duration)
}

// Follower is the reading end of the stream of results and of what lies between them; pulse
// is called when all there was is read.
type Follower interface {
	Follow(ctx context.Context, fromID string, pulse func(), fn func(entry) error) error
}

// Targets are those there are, with the rules they are judged by.
type Targets interface{ Watched() []live.Watched }

// Results are the newest of every target and region.
type Results interface {
	LastMeasured(ctx context.Context, since time.Time) ([]uptime.Result, error)
}

// Maintenance knows the windows.
type Maintenance interface {
	Holding(ctx context.Context, since time.Time) ([]maintenancestore.Window, error)
}

// Store remembers.
type Store interface {
	Load(ctx context.Context) (verdictstore.Saved, error)
	Commit(ctx context.Context, c verdictstore.Commit) (turn int64, err error)
}

// Health is where trouble is told.
type Health interface {
	Set(component string, level service.Level, reason string)
}

var (
	_ Lease   = (*lease.Lease)(nil)
	_ Results = (*resultstore.Store)(nil)
	_ Store   = (*verdictstore.Store)(nil)
	_ Health  = (*service.Health)(nil)
	_ Targets = (*live.Hub)(nil)

	_ Maintenance = (*maintenancestore.Store)(nil)
)

// Feed makes a Follower of the stream's.
type Feed struct{ *livefeed.Follower }

// Follow reads on after an entry.
func (f Feed) Follow(ctx context.Context, fromID string, pulse func(), fn func(entry) error) error {
	rounds := func(id string, r livefeed.Round) error {
		return fn(entry{id: id, at: livefeed.Announced(id), round: &r})
	}
	outcomes := func(id string, o checkstream.VisitOutcome) error {
		return fn(entry{id: id, at: livefeed.Announced(id), outcome: &o})
	}
	return f.WithPulse(pulse).WithRounds(rounds).WithConfirmations(outcomes).Follow(ctx, fromID, func(id string, results []uptime.Result) error {
		return fn(entry{id: id, at: livefeed.Announced(id), results: results})
	})
}

// Evaluator evaluates while it holds the lease. Run it once.
type Evaluator struct {
	Options
	metrics *metrics
	judged  atomic.Int64 // ns since 1970
}

// JudgedUntil is how far results have been folded and committed by this node, by the clock
// of their announcements; zero before it evaluated for the first time.
func (e *Evaluator) JudgedUntil() time.Time {
	if ns := e.judged.Load(); ns != 0 {
		return time.Unix(0, ns).UTC()
	}
	return time.Time{}
}

// New makes an evaluator.
func New(o Options) *Evaluator {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Told == nil {
		o.Told = func() {}
	}
	return &Evaluator{Options: o, metrics: newMetrics(o.Metrics)}
}

// Run evaluates until ctx ends.
func (e *Evaluator) Run(ctx context.Context) error {
	look := time.NewTicker(leaseLook)
	defer look.Stop()
	for {
		if e.Lease.Held() {
			err := e.lead(ctx)
			e.metrics.leading.Set(0)
			switch {
			case ctx.Err() != nil:
				return nil
			case errors.Is(err, verdictstore.ErrOvertaken):
				e.Log.Warn("another node evaluates: leaving it to that one")
				e.Lease.Yield(retryPause)
			case err != nil:
				e.Log.Warn("verdicts are not evaluated", "error", err)
				e.Health.Set("evaluator", service.Degraded, "incidents are neither opened nor resolved by this node: "+err.Error())
				e.Lease.Yield(retryPause)
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-look.C:
		}
	}
}

// entry is one of the stream.
type entry struct {
	id      string
	results []uptime.Result
	round   *livefeed.Round           // of canaries
	outcome *checkstream.VisitOutcome // of a visit that confirms
	at      time.Time                 // when it was announced
}

// lead evaluates from what was committed last until the lease is lost.
func (e *Evaluator) lead(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	began := e.Now()
	load, cancel := context.WithTimeout(ctx, loadBound)
	saved, err := e.Store.Load(load)
	cancel()
	if err != nil {
		return err
	}
	f := newFold(saved)
	f.nameServers = e.NameServers
	if err := e.judge(ctx, f, loadBound); err != nil { // without the windows, what is maintained would be told as down
		return err
	}
	e.lookBack(ctx, f, saved, began)
	first, cancel := context.WithTimeout(ctx, firstBound)
	results, err := e.latest(first, f.longest())
	cancel()
	if err != nil {
		e.Log.Warn("the newest results are not known: what the stream did not bring is folded later", "error", err)
	}
	f.catchUp(results)
	entries, pulses, ended := e.follow(ctx, saved.Entry, began)
	e.Log.Info("evaluating", "from", saved.Entry, "states", len(saved.States), "folded_anew", len(saved.Unread))
	if len(saved.Alone) > 0 {
		e.Log.Error("outages that cannot be read are told alone", "target_ids", saved.Alone)
	}
	e.metrics.leading.Set(1)
	e.Health.Set("evaluator", service.OK, "")

	visits := make(chan []checkstream.Visit, asksWaiting)
	if e.Confirm != nil {
		go e.asking(ctx, visits)
	}

	commit, rules, newest := time.NewTicker(commitEvery), time.NewTicker(rulesEvery), time.NewTicker(latestEvery)
	defer commit.Stop()
	defer rules.Stop()
	defer newest.Stop()
	found, asking := make(chan []uptime.Result, 1), false
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-ended:
			return err
		case one := <-entries:
			f.take(one)
			f.ask(visits, e.Now())
		case at := <-pulses:
			if len(entries) == 0 { // all that was there before the pulse was folded in
				f.pass(at.UTC())
			}
		case <-rules.C:
			if err := e.judge(ctx, f, rulesBound); err != nil && ctx.Err() == nil {
				e.Log.Warn("maintenance windows stay as they were", "error", err)
			}
		case <-newest.C:
			if longest := f.longest(); !asking { // while a store is slow the stream goes on
				asking = true
				go func() {
					results, err := e.latest(ctx, longest)
					if err != nil && ctx.Err() == nil {
						e.Log.Warn("the newest results are not known", "error", err)
					}
					found <- results
				}()
			}
		case results := <-found:
			asking = false
			f.catchUp(results)
		case <-commit.C:
			if !e.Lease.Held() {
				return nil
			}
			if err := e.commit(ctx, f); err != nil {
				return err
			}
			if !f.now.IsZero() {
				e.judged.Store(f.now.UnixNano())
			}
		}
	}
}

// follow reads the stream on from an entry, or as far back as it is kept.
func (e *Evaluator) follow(ctx context.Context, from string, now time.Time) (entries chan entry, pulses chan time.Time, ended chan error) {
	if oldest := now.Add(-livefeed.Keep); livefeed.Announced(from).Before(oldest) {
		from = strconv.FormatInt(oldest.UnixMilli(), 10) + "-0"
	}
	entries, pulses, ended = make(chan entry, waiting), make(chan time.Time, 1), make(chan error, 1)
	pulse := func() {
		select {
		case pulses <- e.Now():
		default:
		}
	}
	go func() {
		ended <- e.Follower.Follow(ctx, from, pulse, func(one entry) error {
			select {
			case entries <- one:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	}()
	return entries, pulses, ended
}

// judge takes in which targets there are, and how each is judged now. With an error the windows are
// as they were; it waits no longer for them than said.
func (e *Evaluator) judge(ctx context.Context, f *fold, patience time.Duration) (err error) {
	windows := f.windows
	if e.Maintenance != nil {
		var found []maintenancestore.Window
		ctx, cancel := context.WithTimeout(ctx, patience)
		if found, err = e.Maintenance.Holding(ctx, e.Now().Add(-2*laidOut)); err == nil {
			windows = found
		}
		cancel()
	}
	f.judge(e.Targets.Watched(), windows, e.Now())
	return err
}

// latest reads the newest of every series, for what the stream did not bring.
func (e *Evaluator) latest(ctx context.Context, longest time.Duration) ([]uptime.Result, error) {
	ctx, cancel := context.WithTimeout(ctx, loadBound)
	defer cancel()
	return e.Results.LastMeasured(ctx, e.Now().Add(-longest))
}

// commit writes what was folded since the last time.
func (e *Evaluator) commit(ctx context.Context, f *fold) error {
	c, some := f.pending(e.Now())
	if !some {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, commitBound)
	defer cancel()
	turn, err := e.Store.Commit(ctx, c)
	if err != nil {
		return err
	}
	f.committed(turn)
	e.metrics.commits.Inc()
	for _, d := range c.Decisions {
		switch {
		case d.Group != nil:
			e.Log.Info("outages with one cause", "kind", d.Group.Kind, "value", d.Group.Value.Value, "slot", d.Group.Slot, "targets", len(d.Group.Members))
			continue
		case d.Tell:
			continue
		}
		e.metrics.decisions.WithLabelValues(string(d.Kind)).Inc()
		e.Log.Info("verdict", "decision", d.Kind, "target_id", d.TargetID, "slot", d.Slot, "severity", d.Severity, "why", d.Why)
	}
	if len(c.Decisions) > 0 {
		e.Told()
	}
	return nil
}
