package probe

import (
	"context"
	"crypto/x509"
	"fmt"
	"log/slog"
	"net/netip"
	"runtime/debug"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/probefleet/probefleet/internal/guard"
	"github.com/probefleet/probefleet/internal/secret"
	"github.com/probefleet/probefleet/internal/uptime"
)

// confirmPause lets a restart or a lost packet pass before a failure is looked at again.
const confirmPause = 250 * time.Millisecond

// Outcome is what a visit came to: the part of a uptime.Result that the target
// and the probe decide.
type Outcome struct {
	Status       uptime.Status
	Failure      uptime.Failure
	Reason       uptime.Reason
	HTTPStatus   int
	Phases       uptime.Phases
	TotalUS      uint32
	Message      string // one line, capped
	Address      netip.Addr
	CertNotAfter time.Time // of the certificate in any chain that expires first
	Issuer       string    // of the last server's own certificate
	Seen         uptime.Seen
	Attempts     uint8            // visits it took: 2 when a failure was looked at again
	Evidence     *uptime.Evidence // of visits that were not up
	Print        *uptime.Print    // of visits that were, if it differs from the last one's
	AnsweredBy   string           // URL of the request that was answered with a 429 that was not expected
	RetryAfter   time.Duration    // for which it asked to be left alone; 0: it did not say
}

// Options are what an engine needs.
type Options struct {
	Version   string                                   // named in the User-Agent
	Contact   string                                   // URL in the User-Agent, where the people of visited sites may ask; empty: none
	Guard     *guard.Guard                             // required
	Resolver  Resolver                                 // required
	Questions Questioner                               // asked by dns targets that name no server; nil: there can be none
	Roots     *x509.CertPool                           // nil: the system's
	Open      func(uptime.Sealed) (secret.Text, error) // opens the secrets of targets
	Log       *slog.Logger
	Metrics   prometheus.Registerer

	Failed func(target int64, began time.Time, down bool) // told when a look at one failed that began then: it is down, or the network around this prober is; nil: nobody
	Doubt  time.Duration                                  // how long the outcome of a failure waits after its visits, before it is a row
}

// Engine runs the visitor of each target and adds what all kinds share: judgement, a
// second look at failures, the freeze watch, and containment of panics.
type Engine struct {
	plans     *plans
	sightings sync.Pool // of *sighting
	errands   sync.Pool // of *errand
	underway  underway
	hanging   *hanging
	freeze    *freezeWatch
	strain    *strainWatch
	failed    func(target int64, began time.Time, down bool)
	doubt     time.Duration
	log       *slog.Logger
	metrics   *metrics
}

// New makes an engine. Run must be running for visits that never end to be left, and for
// frozen probes, and those of a busy process, to be noticed.
func New(o Options) *Engine {
	return newEngine(o, compilers(o))
}

func newEngine(o Options, compilers map[uptime.Kind]compiler) *Engine {
	e := &Engine{plans: newPlans(o, compilers), failed: o.Failed, doubt: o.Doubt, log: o.Log, underway: underway{all: map[*errand]struct{}{}}, hanging: newHanging()}
	if e.failed == nil {
		e.failed = func(int64, time.Time, bool) {}
	}
	e.metrics = newMetrics(o.Metrics, e.hanging)
	e.sightings.New = func() any { return &sighting{} }
	e.errands.New = func() any { return &errand{} }
	e.freeze = newFreezeWatch(func(gap time.Duration) {
		e.metrics.freezes.Inc()
		e.log.Warn("process was frozen", "gap_ms", gap.Milliseconds())
	})
	e.strain = newStrainWatch(e.freeze.base)
	return e
}

// Run watches for freezes, for strain and for visits that do not end, until ctx ends and no
// visit is under way.
func (e *Engine) Run(ctx context.Context) error {
	var watches sync.WaitGroup
	watches.Go(func() { e.strain.run(ctx) })
	watches.Go(func() { e.patience(ctx) })
	defer watches.Wait()
	return e.freeze.run(ctx)
}

// Check visits the target, and visits it again when it failed and the slot has
// time for it: a failure is reported only if the second look fails too. A host that answers
// 429 is not looked at again: it wants to be left alone. The second look keeps away from what failed: see
// dialer.lookup.
//
// It calls done once, in the end: here, or from a goroutine of its own while this one is held
// by a visit that hangs. The check must not change from then on either.
func (e *Engine) Check(ctx context.Context, check *uptime.Check, done func(Outcome)) {
	growStack(check)
	start := time.Now()
	var outcome Outcome
	if !e.attempt(ctx, check, 1, false, &outcome, done) {
		return
	}
	if outcome.failing() {
		e.failed(check.TargetID, start, outcome.Status == uptime.StatusDown)
	}
	if outcome.Status == uptime.StatusDown && outcome.AnsweredBy == "" && e.timeToConfirm(check, start) && pause(ctx, confirmPause) {
		first := outcome.Failure
		outcome = Outcome{Failure: first, Address: outcome.Address} // what the second look keeps away from
		if !e.attempt(ctx, check, 2, false, &outcome, done) {
			return
		}
		e.metrics.confirmed(outcome.Status)
		if outcome.Status == uptime.StatusUp {
			outcome.Message = "up at the second look; the first ended in " + string(first)
		}
	}
	done(outcome)
}

// timeToConfirm says whether a second look fits into the interval, and the row that comes
// of it before the check's expiry.
func (e *Engine) timeToConfirm(check *uptime.Check, start time.Time) bool {
	over := time.Since(start) + confirmPause + check.Timeout
	return over <= check.Interval && over+e.doubt <= uptime.Expiry(check.Interval)
}

// failing says whether the target failed, or the network around this prober.
func (o *Outcome) failing() bool {
	return o.Status == uptime.StatusDown || o.Reason == uptime.ReasonProbeDNS || o.Reason == uptime.ReasonProbeBlind
}

// Look visits the target once, for somebody who waits for it: the outcome has its
// evidence whatever it is.
func (e *Engine) Look(ctx context.Context, check uptime.Check) Outcome {
	answer := make(chan Outcome, 1)
	go func() {
		growStack(&check)
		done := func(o Outcome) { answer <- o }
		var outcome Outcome
		if e.attempt(ctx, &check, 1, true, &outcome, done) {
			done(outcome)
		}
	}()
	return <-answer
}

// attempt makes one visit, and says whether somebody still waits for its outcome.
//
// Here and below an outcome is written where it is wanted: the stacks of a check that waits
// for an answer are most of its memory, and copies on the way would double them.
func (e *Engine) attempt(ctx context.Context, check *uptime.Check, number uint8, show bool, outcome *Outcome, done func(Outcome)) bool {
	if !e.bounded(ctx, check, number, show, outcome, done) {
		return false
	}
	outcome.Attempts = number
	if outcome.Status.Measured() {
		e.metrics.observe(outcome)
	}
	return true
}

// visit makes one visit, for as long as the visitor takes.
func (e *Engine) visit(ctx context.Context, check *uptime.Check, begun int64, show bool, outcome *Outcome) {
	var p *plan
	defer func() {
		if thrown := recover(); thrown != nil {
			e.panicked(check, thrown, outcome)
		}
		switch {
		case !outcome.Status.Measured():
		case e.freeze.frozenSince(begun):
			p.printed.forget() // if it was to be stored, it is not
			outcome.unmeasured(uptime.ReasonFrozen, "the prober was frozen for more than a second while probing")
		case e.strain.since(begun):
			outcome.Seen.Saturated = true
		}
	}()
	p = e.plans.of(check)
	if !p.bad.none() {
		outcome.unmeasured(p.bad.reason, p.bad.message)
		return
	}
	s := e.sightings.Get().(*sighting)
	defer e.sightings.Put(s)
	s.begin(p, check.Timeout)
	s.again = doubt{outcome.Failure, outcome.Address}
	bad := p.visitor.visit(ctx, s)
	s.end()
	judge(p, s, bad, show, outcome)
}

// panicked is for the goroutine that did.
func (e *Engine) panicked(check *uptime.Check, thrown any, outcome *Outcome) {
	e.metrics.panics.Inc()
	e.log.Error("checker panicked", "kind", string(check.Kind), "target_id", check.TargetID, "panic", fmt.Sprint(thrown), "stack", string(debug.Stack()))
	outcome.unmeasured(uptime.ReasonInternal, "the prober failed on this check")
}

// unmeasured is the outcome of a visit that taught us nothing about the target. (Inlined,
// it would put an outcome into the frame of each of its callers.)
//
//go:noinline
func (o *Outcome) unmeasured(reason uptime.Reason, message string) {
	*o = Outcome{Status: uptime.StatusUnknown, Reason: reason, Message: message}
}

// pause waits, and says whether ctx still lives.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
