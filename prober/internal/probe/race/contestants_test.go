//go:build bench

package race

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"net/url"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/probefleet/probefleet/internal/guard"
	"github.com/probefleet/probefleet/internal/secret"
	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/prober/internal/lean"
	"github.com/probefleet/probefleet/prober/internal/probe"
	"github.com/probefleet/probefleet/prober/internal/racetrack"
	"github.com/probefleet/probefleet/prober/internal/resolve"
)

// score is what a contestant that runs in this binary did.
type score struct {
	Checks int64   `json:"checks"`
	Allocs float64 `json:"allocs"` // a check
	Bytes  float64 `json:"bytes"`  // allocated a check
	RSS    int64   `json:"rss"`    // KiB at most
}

// run is a process in which a contestant makes checks.
func run(who string) int {
	visit, err := visitorOf(who, os.Getenv("RACE_URL"))
	if err != nil {
		return racetrack.Fail(err)
	}
	runtime.GOMAXPROCS(1)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() { _ = lean.New(os.Getenv).Run(ctx) }() // as the prober does
	s, err := saturate(visit)
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(s)
	}
	if err != nil {
		return racetrack.Fail(err)
	}
	return 0
}

type failure struct{ error }

// saturate keeps so many visits going that the core never waits.
func saturate(visit func(context.Context, int) error) (score, error) {
	seconds, _ := strconv.ParseFloat(os.Getenv("RACE_SECONDS"), 64)
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(seconds*float64(time.Second)))
	defer cancel()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var checks atomic.Int64
	var wrong atomic.Pointer[failure]
	alive, stop := context.WithCancel(context.Background()) // checks can be called off, as those of a prober
	defer stop()
	var workers sync.WaitGroup
	for worker := range 64 {
		workers.Go(func() {
			for ctx.Err() == nil {
				if err := visit(alive, worker); err != nil {
					wrong.CompareAndSwap(nil, &failure{err})
					return
				}
				checks.Add(1)
			}
		})
	}
	workers.Wait()
	runtime.ReadMemStats(&after)
	if err := wrong.Load(); err != nil {
		return score{}, err.error
	}
	n := float64(checks.Load())
	var usage syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return score{Checks: checks.Load(), Allocs: float64(after.Mallocs-before.Mallocs) / n, Bytes: float64(after.TotalAlloc-before.TotalAlloc) / n, RSS: usage.Maxrss}, nil
}

func visitorOf(role, link string) (func(context.Context, int) error, error) {
	content, err := os.ReadFile(os.Getenv("RACE_ROOTS"))
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(content)
	switch role {
	case "engine":
		return engine(link, roots), nil
	case "net/http":
		return netHTTP(link, roots), nil
	case "bare sockets":
		return bare(link)
	}
	return nil, fmt.Errorf("nobody plays %q", role)
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
func engine(link string, roots *x509.CertPool) func(context.Context, int) error {
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
func netHTTP(link string, roots *x509.CertPool) func(context.Context, int) error {
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

// bare is the floor: connect, (handshake,) write, read to the end, close. It looks at nothing,
// not even at who vouches for a certificate; that its owner signed the handshake crypto/tls
// checks in any case.
func bare(link string) (func(context.Context, int) error, error) {
	u, err := url.Parse(link)
	if err != nil {
		return nil, err
	}
	request := []byte("GET / HTTP/1.1\r\nHost: " + u.Host + "\r\nConnection: close\r\n\r\n")
	config := &tls.Config{InsecureSkipVerify: true, SessionTicketsDisabled: true, CurvePreferences: []tls.CurveID{tls.X25519, tls.CurveP256}}
	var buffers sync.Pool
	buffers.New = func() any { return new([4096]byte) }
	return func(context.Context, int) error {
		conn, err := net.Dial("tcp", u.Host)
		if err != nil {
			return err
		}
		defer conn.Close()
		if u.Scheme == "https" {
			conn = tls.Client(conn, config)
		}
		if _, err := conn.Write(request); err != nil {
			return err
		}
		buffer := buffers.Get().(*[4096]byte)
		defer buffers.Put(buffer)
		for {
			if _, err := conn.Read(buffer[:]); errors.Is(err, io.EOF) {
				return nil
			} else if err != nil {
				return err
			}
		}
	}, nil
}
