package recorder

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sony/gobreaker/v2"

	"github.com/probefleet/probefleet/internal/resultstore"
)

const (
	window      = 10 * time.Second
	bucket      = time.Second
	slowFailure = 5 * time.Second // a call that hung this long opens at once: three would take a minute
	trialPause  = 2 * time.Second // from an opening or a failed trial to the next trial
	trialJitter = 250 * time.Millisecond
	flapWindow  = time.Minute // holds at most two openings
)

// errNotAsked says that the breaker did not let a call through.
var errNotAsked = errors.New("breaker is open")

// breaker keeps calls from a store that fails. It opens on three failures in a row, on
// two in ten seconds that are at least 40 % of the calls (a store that fails half of
// the time hovers around one half), and on one that hung. While it is open one trial
// goes through every two seconds, and the first that works closes it. The second
// opening within a minute holds its trial until that minute is over, so a store that
// fails half of the time does not make it flap.
type breaker struct {
	calls  *gobreaker.CircuitBreaker[struct{}]
	trips  bool
	hung   atomic.Bool
	log    *slog.Logger
	count  func(to gobreaker.State)
	random func(below time.Duration) time.Duration

	mu     sync.Mutex
	state  gobreaker.State
	opened time.Time // last opening
	trial  time.Time // none before it
}

// newBreaker makes a closed breaker. One that does not trip is for recorders that have
// nowhere else to go.
func newBreaker(trips bool, log *slog.Logger, count func(to gobreaker.State)) *breaker {
	b := &breaker{trips: trips, log: log, count: count, random: rand.N[time.Duration]}
	b.calls = gobreaker.NewCircuitBreaker[struct{}](gobreaker.Settings{
		Interval: window, BucketPeriod: bucket, MaxRequests: 1,
		Timeout:       trialPause,
		ReadyToTrip:   b.trip,
		OnStateChange: b.changed,
		IsSuccessful:  func(err error) bool { return err == nil || resultstore.IsPermanent(err) }, // it has answered
		IsExcluded:    func(err error) bool { return errors.Is(err, errCutOff) || errors.Is(err, errOfItself) },
	})
	return b
}

// errCutOff marks a call that ended because we stopped waiting.
var errCutOff = errors.New("call was cut off")

// errOfItself marks a failure that tells more of what was sent than of the store.
var errOfItself = errors.New("call fails by itself")

// do makes a call, or answers errNotAsked.
func (b *breaker) do(ctx context.Context, call func() error) error { return b.ask(ctx, false, call) }

// ask is do. A failure of what has failed again and again while the store took other things
// does not count against the store.
func (b *breaker) ask(ctx context.Context, known bool, call func() error) error {
	if b.wait() > 0 {
		return errNotAsked
	}
	var answer error
	_, err := b.calls.Execute(func() (struct{}, error) {
		start := time.Now()
		answer = call()
		switch {
		case answer != nil && ctx.Err() != nil:
			return struct{}{}, errCutOff
		case known && resultstore.IsTransient(answer):
			return struct{}{}, errOfItself
		case resultstore.IsTransient(answer) && time.Since(start) >= slowFailure:
			b.hung.Store(true)
		}
		return struct{}{}, answer
	})
	if errors.Is(err, gobreaker.ErrOpenState) || errors.Is(err, gobreaker.ErrTooManyRequests) {
		return errNotAsked
	}
	return answer
}

func (b *breaker) trip(c gobreaker.Counts) bool {
	known := c.TotalFailures + c.TotalSuccesses
	often := known >= 3 && c.TotalFailures >= 2 && 5*c.TotalFailures >= 2*known
	return b.trips && (b.hung.Swap(false) || c.ConsecutiveFailures >= 3 || often)
}

func (b *breaker) changed(_ string, from, to gobreaker.State) {
	b.hung.Store(false) // of a trial, which needs no telling
	b.mu.Lock()
	b.state = to
	now := time.Now()
	if to == gobreaker.StateOpen {
		b.trial = now.Add(trialPause + time.Millisecond + b.random(trialJitter))
	}
	if from == gobreaker.StateClosed {
		if held := b.opened.Add(flapWindow); !b.opened.IsZero() && held.After(b.trial) {
			b.trial = held
		}
		b.opened = now
	}
	trial := b.trial
	b.mu.Unlock()
	b.count(to)
	switch {
	case from == gobreaker.StateClosed:
		b.log.Warn("breaker opened: rows go to the spool", "next_trial", trial)
	case to == gobreaker.StateClosed:
		b.log.Info("breaker closed: the store works again")
	}
}

func (b *breaker) closed() bool { return b.now() == gobreaker.StateClosed }

func (b *breaker) now() gobreaker.State {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.state
}

// wait says how long nothing will be let through; 0 when a call or a trial may be made.
func (b *breaker) wait() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.state != gobreaker.StateOpen {
		return 0
	}
	return max(0, time.Until(b.trial))
}

func (b *breaker) name() string { return stateName(b.now()) }

// stateName is for metrics and health pages.
func stateName(s gobreaker.State) string {
	return [...]string{gobreaker.StateClosed: "closed", gobreaker.StateHalfOpen: "half_open", gobreaker.StateOpen: "open"}[s]
}
