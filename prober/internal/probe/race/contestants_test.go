//go:build bench

package race

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"os"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/probefleet/probefleet/internal/guard"
	"github.com/probefleet/probefleet/internal/secret"
	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/prober/internal/probe"
	"github.com/probefleet/probefleet/prober/internal/racetrack"
	"github.com/probefleet/probefleet/prober/internal/resolve"
)

// visitors of those who verify: they trust the roots of the race.
func visitors(of func(link string, roots *x509.CertPool) racetrack.Visitor) func(link string) (racetrack.Visitor, error) {
	return func(link string) (racetrack.Visitor, error) {
		content, err := os.ReadFile(os.Getenv("RACE_ROOTS"))
		if err != nil {
			return nil, err
		}
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(content)
		return of(link, roots), nil
	}
}

// nobody is asked: addresses are in the URLs.
type nobody struct{}

func (nobody) Lookup(context.Context, string, resolve.Family) (resolve.Answer, error) {
	return resolve.Answer{}, errors.New("there are no names here")
}

func (n nobody) LookupAnew(ctx context.Context, host string, family resolve.Family) (resolve.Answer, error) {
	return n.Lookup(ctx, host, family)
}

func (n nobody) LookupElsewhere(ctx context.Context, host string, family resolve.Family) (resolve.Answer, error) {
	return n.Lookup(ctx, host, family)
}

// engine is ours with everything on: guard, caps, five phases, judgement, metrics, one
// target a worker.
func engine(link string, roots *x509.CertPool) racetrack.Visitor {
	e := newEngine(roots)
	return func(ctx context.Context, worker int) (err error) {
		check := checkOf(worker, link, 10*time.Second)
		e.Check(ctx, &check, func(o probe.Outcome) {
			if o.Status != uptime.StatusUp || o.TotalUS == 0 {
				err = fmt.Errorf("%v: %s", o.Status, o.Message)
			}
		})
		return err
	}
}

func newEngine(roots *x509.CertPool) *probe.Engine {
	e := probe.New(probe.Options{
		Version: "race", Guard: guard.New([]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}), Resolver: nobody{}, Roots: roots,
		Open: func(uptime.Sealed) (secret.Text, error) { return secret.Text{}, nil },
		Log:  slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry(),
	})
	go func() { _ = e.Run(context.Background()) }()
	return e
}

func checkOf(worker int, link string, timeout time.Duration) uptime.Check {
	return uptime.Check{TargetID: int64(worker + 1), Interval: time.Minute, Kind: uptime.KindHTTP, URL: link, Timeout: timeout, ScheduledAt: time.Now()}
}

// netHTTP is the way most checkers in Go are made: the standard client with a trace, a
// fresh connection each time, the certificate verified.
func netHTTP(link string, roots *x509.CertPool) racetrack.Visitor {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DisableCompression: true, TLSClientConfig: &tls.Config{RootCAs: roots}}}
	return func(ctx context.Context, _ int) error {
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		var marks [5]time.Time
		ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
			ConnectStart: func(string, string) { marks[0] = time.Now() }, ConnectDone: func(string, string, error) { marks[1] = time.Now() },
			TLSHandshakeStart: func() { marks[2] = time.Now() }, TLSHandshakeDone: func(tls.ConnectionState, error) { marks[3] = time.Now() },
			GotFirstResponseByte: func() { marks[4] = time.Now() },
		})
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, link, nil)
		if err != nil {
			return err
		}
		response, err := client.Do(request)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		_, err = io.Copy(io.Discard, response.Body)
		return err
	}
}
