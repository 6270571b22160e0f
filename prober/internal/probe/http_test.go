package probe

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/probefleet/probefleet/internal/guard"
	"github.com/probefleet/probefleet/internal/lab"
	"github.com/probefleet/probefleet/internal/seal"
	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/prober/internal/resolve"
)

func startLab(tb testing.TB) *lab.Lab {
	tb.Helper()
	l, err := lab.Start("127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = l.Close() })
	return l
}

func options(l *lab.Lab, change ...func(*Options)) Options {
	box, err := seal.New(testKey)
	if err != nil {
		panic(err)
	}
	o := Options{
		Version: "v1.2.3", Contact: "https://example.com/why", Guard: guard.New([]netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}),
		Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry(), Resolver: names{}, Open: box.Open,
	}
	if l != nil {
		o.Roots = l.CertPool()
	}
	for _, f := range change {
		f(&o)
	}
	return o
}

// checked waits for the outcome of a check.
func checked(ctx context.Context, e *Engine, check uptime.Check) Outcome {
	answer := make(chan Outcome, 1)
	go e.Check(ctx, &check, func(o Outcome) { answer <- o })
	return <-answer
}

func checkOf(url string) uptime.Check {
	return uptime.Check{TargetID: 1, Interval: 10 * time.Second, Kind: uptime.KindHTTP, URL: url, Timeout: 2 * time.Second}
}

// names resolves test names to addresses.
type names map[string][]string

func (n names) Lookup(_ context.Context, host string, _ resolve.Family) (resolve.Answer, error) {
	texts, known := n[host]
	if !known || len(texts) == 0 {
		return resolve.Answer{}, &resolve.NotFound{Host: host, What: "no such host name"}
	}
	var answer resolve.Answer
	for _, text := range texts {
		answer.Addrs = append(answer.Addrs, netip.MustParseAddr(text))
	}
	return answer, nil
}

func (n names) LookupAnew(ctx context.Context, host string, family resolve.Family) (resolve.Answer, error) {
	return n.Lookup(ctx, host, family)
}

func (n names) LookupElsewhere(ctx context.Context, host string, family resolve.Family) (resolve.Answer, error) {
	return n.Lookup(ctx, host, family)
}

// expecting changes what counts as up.
func expecting(ranges ...uptime.StatusRange) func(*uptime.Check) {
	return func(c *uptime.Check) { c.Spec = uptime.Spec{Expect: uptime.Expect{Status: ranges}}.Text() }
}

// TestEveryWayToBeWrong visits real servers: one of each failure is in TestMatrix, here are the other
// ways to them, and those that come close.
//
// Promise: each way to fail has its own reason
func TestEveryWayToBeWrong(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	port := l.URL()[strings.LastIndex(l.URL(), ":"):]
	e := New(options(l, func(o *Options) {
		o.Resolver = names{"lab.test": {"127.0.0.1"}, "inside.test": {"127.0.0.2"}, "both.test": {"127.0.0.2", "127.0.0.1"}, "empty.test": nil}
	}))

	cases := []struct {
		name, url string
		change    func(*uptime.Check)
		want      any // uptime.Failure, uptime.Reason, or nil for up
		code      int
	}{
		{"ok", l.URL() + "/ok", nil, nil, 200},
		{"ok over TLS", l.TLSURL() + "/ok", nil, nil, 200},
		{"by name", "http://lab.test" + port + "/ok", nil, nil, 200},
		{"second address works", "http://both.test" + port + "/ok", nil, nil, 200},
		{"query and path survive", l.URL() + "/n/a%20b?x=%0d%0aX-Evil:1", nil, nil, 200},
		{"status expected", l.URL() + "/status/503", expecting(uptime.StatusRange{From: 500, To: 599}), nil, 503},
		{"status not expected", l.URL() + "/ok", expecting(uptime.StatusRange{From: 204, To: 204}), uptime.FailureStatusCode, 200},
		{"slow enough", l.URL() + "/slow/50ms", nil, nil, 200},
		{"too slow", l.URL() + "/slow/10s", short, uptime.FailureTimeout, 0},
		{"hang", l.TLSURL() + "/hang", short, uptime.FailureTimeout, 0},
		{"drip", l.URL() + "/drip/1000/50ms", short, uptime.FailureTimeout, 200},
		{"large body is cut", l.URL() + "/body/10000000", nil, nil, 200},
		{"bomb", l.URL() + "/gzip-bomb", nil, nil, 200},
		{"headers within the cap", l.URL() + "/headers/50000", nil, nil, 200},
		{"five redirects", l.URL() + "/redirect/5", nil, nil, 200},
		{"redirect expected", l.URL() + "/redirect/1", expecting(uptime.StatusRange{From: 301, To: 302}), nil, 302},
		{"redirect to TLS", l.URL() + "/redirect-to?url=" + l.TLSURL() + "/ok", nil, nil, 200},
		{"redirect inside", l.URL() + "/redirect-to?url=http://127.0.0.2/", nil, uptime.ReasonRedirectBlocked, 0},
		{"redirect to metadata", l.URL() + "/redirect-to?url=http://169.254.169.254/latest", nil, uptime.ReasonRedirectBlocked, 0},
		{"redirect to a name inside", l.URL() + "/redirect-to?url=http://inside.test/", nil, uptime.ReasonRedirectBlocked, 0},
		{"redirect to a file", l.URL() + "/redirect-to?url=file:///etc/passwd", nil, uptime.ReasonRedirectBlocked, 0},
		{"redirect to gopher", l.URL() + "/redirect-to?url=gopher://127.0.0.1:70/", nil, uptime.ReasonRedirectBlocked, 0},
		{"redirect to nowhere", l.URL() + "/redirect-to?url=http://gone.test/", nil, uptime.FailureDNS, 0},
		{"redirect malformed", l.URL() + "/redirect-to?url=http://%25zz/", nil, uptime.FailureProtocol, 302},
		{"redirect without location", l.URL() + "/status/302", nil, nil, 302},
		{"reset over TLS", l.TLSURL() + "/reset", nil, uptime.FailureReset, 0},
		{"close", l.URL() + "/close", nil, uptime.FailureReset, 0},
		{"cut", l.URL() + "/cut", nil, uptime.FailureReset, 200},
		{"name without address", "http://empty.test/", nil, uptime.FailureDNS, 0},
		{"plain to a TLS port", "http" + strings.TrimPrefix(l.TLSURL(), "https"), nil, uptime.FailureStatusCode, 400},
		{"blocked", "http://127.0.0.2/", nil, uptime.ReasonBlockedAddress, 0},
		{"blocked name", "https://inside.test/", nil, uptime.ReasonBlockedAddress, 0},
		{"blocked v6", "http://[::1]/", nil, uptime.ReasonBlockedAddress, 0},
		{"not a web scheme", "ftp://127.0.0.1/", nil, uptime.ReasonInternal, 0},
		{"not a URL", "http://a b/", nil, uptime.ReasonInternal, 0},
		{"no host", "http:///x", nil, uptime.ReasonInternal, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			check := checkOf(c.url)
			if c.change != nil {
				c.change(&check)
			}
			o := e.Look(t.Context(), check)
			verify(t, o, c.want, c.code)
		})
	}
}

func short(c *uptime.Check) { c.Timeout = time.Second }

func verify(t *testing.T, o Outcome, want any, code int) {
	t.Helper()
	wantStatus, wantFailure, wantReason := uptime.StatusUp, uptime.FailureNone, uptime.ReasonNone
	switch w := want.(type) {
	case uptime.Failure:
		wantStatus, wantFailure = uptime.StatusDown, w
	case uptime.Reason:
		wantStatus, wantReason = uptime.StatusUnknown, w
	}
	if o.Status != wantStatus || o.Failure != wantFailure || o.Reason != wantReason || o.HTTPStatus != code {
		t.Fatalf("got %v %q %q %d (%s)", o.Status, o.Failure, o.Reason, o.HTTPStatus, o.Message)
	}
	if wantReason != uptime.ReasonNone && (o.Address.IsValid() || o.TotalUS != 0 || o.Phases != (uptime.Phases{})) {
		t.Errorf("an unmeasured outcome tells about the target: %+v", o)
	}
	if wantStatus != uptime.StatusUp && (o.Message == "" || len(o.Message) > maxMessage || strings.ContainsAny(o.Message, "\r\n")) {
		t.Errorf("message %q", o.Message)
	}
	sum := uint64(o.Phases.DNS) + uint64(o.Phases.Connect) + uint64(o.Phases.TLS) + uint64(o.Phases.Wait) + uint64(o.Phases.Transfer)
	if o.Status == uptime.StatusUp && (o.TotalUS == 0 || sum > uint64(o.TotalUS)+20 || sum*2 < uint64(o.TotalUS) && o.TotalUS > 1_000_000) { // a busy machine may take half a second itself
		t.Errorf("phases %+v of %d µs", o.Phases, o.TotalUS)
	}
}

// Promise: a check measures its five phases and the certificate
func TestPhasesAndCertificate(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	e := New(options(l))
	o := e.Look(t.Context(), checkOf(l.TLSURL()+"/slow/120ms"))
	if o.Phases.DNS != 0 || o.Phases.Connect == 0 || o.Phases.TLS == 0 || o.Phases.Wait < 120_000 {
		t.Errorf("phases %+v", o.Phases)
	}
	if time.Until(o.CertNotAfter) < 300*24*time.Hour || o.Address != netip.MustParseAddr("127.0.0.1") {
		t.Errorf("certificate until %v, address %v", o.CertNotAfter, o.Address)
	}
	if o.Issuer != "Probefleet lab authority" {
		t.Errorf("issuer %q", o.Issuer)
	}
	if o = e.Look(t.Context(), checkOf(l.ExpiredURL())); time.Until(o.CertNotAfter) > 0 || o.CertNotAfter.IsZero() || o.Issuer != "Probefleet lab authority" {
		t.Errorf("expired certificate until %v, issuer %q", o.CertNotAfter, o.Issuer)
	}
}

func TestRequestOnTheWire(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	seen := make(chan string, 1)
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		buf := make([]byte, 4096)
		n, _ := conn.Read(buf)
		seen <- string(buf[:n])
		_, _ = io.WriteString(conn, "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n")
	}()
	e := New(options(nil, func(o *Options) { o.Resolver = names{"xn--bcher-kva.test": {"127.0.0.1"}} }))
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	o := e.Look(t.Context(), checkOf("http://user:secret@bücher.test:"+port+"/p?q=1#frag"))
	want := fmt.Sprintf("GET /p?q=1 HTTP/1.1\r\nHost: xn--bcher-kva.test:%s\r\nUser-Agent: Probefleet/1.2.3 (+https://example.com/why)\r\nAccept: */*\r\nAccept-Encoding: identity\r\nConnection: close\r\n\r\n", port)
	if got := <-seen; got != want {
		t.Errorf("sent\n%q\nwant\n%q", got, want)
	}
	verify(t, o, nil, 204)
}

type mute struct{}

func (mute) Lookup(context.Context, string, resolve.Family) (resolve.Answer, error) {
	return resolve.Answer{}, &resolve.Trouble{What: "no server answered"}
}

func (m mute) LookupAnew(ctx context.Context, host string, family resolve.Family) (resolve.Answer, error) {
	return m.Lookup(ctx, host, family)
}

func (m mute) LookupElsewhere(ctx context.Context, host string, family resolve.Family) (resolve.Answer, error) {
	return m.Lookup(ctx, host, family)
}

func TestResolverSilenceIsOurs(t *testing.T) {
	t.Parallel()
	o := New(options(nil, func(o *Options) { o.Resolver = mute{} })).Look(t.Context(), checkOf("http://example.com/"))
	verify(t, o, uptime.ReasonProbeDNS, 0)
}

func TestCancelledVisitEndsAtOnce(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	e := New(options(l))
	ctx, cancel := context.WithCancel(t.Context())
	check := checkOf(l.URL() + "/hang")
	check.Timeout = 2 * hang
	ended := make(chan struct{})
	go func() { defer close(ended); e.Look(ctx, check) }()
	for l.RequestsTo("/hang") == 0 {
		pause(t.Context(), time.Millisecond)
	}
	cancel()
	select {
	case <-ended:
	case <-time.After(hang):
		t.Fatal("the visit outlived its context")
	}
}

const testKey = "the key of the tests"
