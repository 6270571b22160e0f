// Package deadman lets somebody outside notice when the fleet dies: while all is well it
// calls a URL of theirs at regular times, and their silence alarm rings when it stops.
// What is wrong is sent to a second URL, if there is one.
//
// It stops for a publisher that does not publish, a region that nobody probes, verdicts
// that nobody folds, slots that nobody can explain, and when the node itself is gone: for
// whatever reason, there is no call without a look at each of them just before.
package deadman

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/probefleet/probefleet/internal/secret"
	"github.com/probefleet/probefleet/internal/service"
)

const (
	// Every is the time between two calls: an alarm outside that waits for two of them rings
	// within a minute.
	Every = 20 * time.Second

	// grace is how long who has just taken over may not know enough to complain.
	grace     = 15 * time.Second
	callBound = 10 * time.Second
	most      = 64 << 10 // of an answer
)

// Options of a Switch; all are required but FailURL and Transport.
type Options struct {
	// URL is called while all is well. It often is a secret: who knows it can keep the alarm
	// from ringing.
	URL secret.Text
	// FailURL is told what is wrong, as plain text, as long as it is.
	FailURL secret.Text
	// Leading says whether this node is the one to call.
	Leading func() bool
	// Wrong gives what is wrong now, a sentence each.
	Wrong     func(ctx context.Context) []string
	Health    Health
	Log       *slog.Logger
	Metrics   prometheus.Registerer
	Transport http.RoundTripper // nil: the default
}

// Health is where trouble is told.
type Health interface {
	Set(component string, level service.Level, reason string)
}

// Switch calls. Run it once.
type Switch struct {
	Options
	client *http.Client
	calls  *prometheus.CounterVec
	known  []string  // what was wrong the last time
	led    time.Time // since when this node leads; zero: it does not
}

// New makes a switch.
func New(o Options) *Switch {
	s := &Switch{Options: o, client: &http.Client{Transport: o.Transport, Timeout: callBound}}
	s.calls = prometheus.NewCounterVec(prometheus.CounterOpts{Name: "probefleet_deadman_calls_total", Help: "Calls to the outside by what was said (well, wrong, or nothing for want of a URL) and whether they were answered."}, []string{"said", "result"})
	if o.Metrics != nil {
		o.Metrics.MustRegister(s.calls)
	}
	return s
}

// Run calls until ctx ends.
func (s *Switch) Run(ctx context.Context) error {
	ticks := time.NewTicker(Every)
	defer ticks.Stop()
	for {
		s.once(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-ticks.C:
		}
	}
}

func (s *Switch) once(ctx context.Context) {
	if !s.Leading() {
		s.known, s.led = nil, time.Time{}
		s.Health.Set("deadman", service.OK, "")
		return
	}
	if s.led.IsZero() {
		s.led = time.Now()
	}
	wrong := s.Wrong(ctx)
	if ctx.Err() != nil || len(wrong) > 0 && time.Since(s.led) < grace {
		return
	}
	if !slices.Equal(wrong, s.known) {
		s.Log.Warn("what is wrong with the fleet has changed", "wrong", wrong)
		s.known = wrong
	}
	said, to := "well", s.URL
	if len(wrong) > 0 {
		said, to = "wrong", s.FailURL
	}
	if to.IsZero() {
		s.calls.WithLabelValues(said, "none").Inc()
		return
	}
	err := s.call(ctx, to, strings.Join(wrong, "\n"))
	switch {
	case ctx.Err() != nil:
	case err != nil:
		s.calls.WithLabelValues(said, "failed").Inc()
		s.Health.Set("deadman", service.Degraded, "the alarm outside does not hear of this fleet, and will ring: "+err.Error())
	default:
		s.calls.WithLabelValues(said, "answered").Inc()
		s.Health.Set("deadman", service.OK, "")
	}
}

// call posts a text; its error does not name the URL.
func (s *Switch) call(ctx context.Context, to secret.Text, text string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, to.Reveal(), strings.NewReader(text))
	if err != nil {
		return errors.New("its URL is not valid")
	}
	request.Header.Set("Content-Type", "text/plain; charset=utf-8")
	response, err := s.client.Do(request)
	if err != nil {
		return errors.Unwrap(err) // of *url.Error, which quotes the URL
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, most))
	if response.StatusCode/100 != 2 {
		return fmt.Errorf("it answered %s", response.Status)
	}
	return nil
}
