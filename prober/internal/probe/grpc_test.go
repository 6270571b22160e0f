package probe

import (
	"bytes"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"github.com/probefleet/probefleet/internal/uptime"
)

func grpcCheck(url string, spec uptime.Spec) uptime.Check {
	check := checkOf(url)
	check.Kind, check.Spec = uptime.KindGRPC, spec.Text()
	return check
}

func TestGRPC(t *testing.T) {
	t.Parallel()
	l, other := startLab(t), startLab(t) // signed by another authority
	e := New(options(l, func(o *Options) {
		o.Resolver = names{"lab.test": {"127.0.0.1"}, "inside.test": {"127.0.0.2"}}
	}))
	plain, secure := "grpc://"+labAt(t, l, "h2c"), "grpcs://"+labAt(t, l, "h2")
	at := func(name string) string { return labAt(t, l, name) }
	cases := []struct {
		name, url string
		spec      uptime.Spec
		want      any
		message   string // a part of it
		code      int
	}{
		{"the server", plain, uptime.Spec{}, nil, "", 200},
		{"the server over TLS", secure + "/", uptime.Spec{}, nil, "", 200},
		{"a service", plain + "/serving", uptime.Spec{}, nil, "", 200},
		{"by name", "grpc://lab.test" + plain[strings.LastIndex(plain, ":"):] + "/serving", uptime.Spec{}, nil, "", 200},
		{"slow", secure + "/slow-50ms", uptime.Spec{}, nil, "", 200},
		{"fast enough", secure, wanting("latency - lt 5000", "tls_version - equals 1.3", "certificate_days - gt 100", "address - in 127.0.0.0/8"), nil, "", 200},
		{"too slow", plain + "/slow-50ms", wanting("phase wait lt 20"), uptime.FailureLatency, "", 200},

		{"not serving", plain + "/not-serving", uptime.Spec{}, uptime.FailureStatusCode, "the service not-serving is NOT_SERVING, expected SERVING", 200},
		{"service unknown", plain + "/service-unknown", uptime.Spec{}, uptime.FailureStatusCode, "is SERVICE_UNKNOWN", 200},
		{"unknown", plain + "/unknown", uptime.Spec{}, uptime.FailureStatusCode, "is UNKNOWN", 200},
		{"no such service", plain + "/gone", uptime.Spec{}, uptime.FailureStatusCode, "grpc-status 5 (NOT_FOUND): the server does not know the health of the service gone: unknown service", 200},
		{"no health service", plain + "/status-12", uptime.Spec{}, uptime.FailureStatusCode, "grpc-status 12 (UNIMPLEMENTED): the server has no health service", 200},
		{"unavailable", secure + "/status-14", uptime.Spec{}, uptime.FailureStatusCode, "grpc-status 14 (UNAVAILABLE): as you asked", 200},
		{"unavailable in the trailers", plain + "/late-status-14", uptime.Spec{}, uptime.FailureStatusCode, "grpc-status 14 (UNAVAILABLE)", 200},
		{"a status nobody knows", plain + "/status-99", uptime.Spec{}, uptime.FailureStatusCode, "grpc-status 99", 200},
		{"a status that is none", plain + "/status-x", uptime.Spec{}, uptime.FailureProtocol, `the grpc-status is no number: "x"`, 200},
		{"no status", plain + "/no-status", uptime.Spec{}, uptime.FailureProtocol, "the answer has no grpc-status", 200},
		{"HTTP 503", plain + "/http-503", uptime.Spec{}, uptime.FailureStatusCode, "answered 503 Service Unavailable instead of a gRPC status", 503},
		{"another type", plain + "/wrong-type", uptime.Spec{}, uptime.FailureProtocol, `the answer is no gRPC: its type is "text/html"`, 200},
		{"garbage", plain + "/garbage", uptime.Spec{}, uptime.FailureProtocol, "it is no protobuf", 200},
		{"compressed", plain + "/compressed", uptime.Spec{}, uptime.FailureProtocol, "it is compressed", 200},
		{"two messages", plain + "/two", uptime.Spec{}, uptime.FailureProtocol, "more than one message", 200},
		{"no message", plain + "/empty", uptime.Spec{}, uptime.FailureProtocol, "the message is missing", 200},
		{"a huge message", plain + "/huge", uptime.Spec{}, uptime.FailureProtocol, "a message of 4294967295 bytes is announced, and 2 came", 200},
		{"cut", plain + "/cut", uptime.Spec{}, uptime.FailureReset, "the server reset the stream", 0},
		{"hang", plain + "/hang", uptime.Spec{}, uptime.FailureTimeout, "timed out waiting for an answer", 0},
		{"HTTP/1.1", "grpc" + strings.TrimPrefix(l.URL(), "http"), uptime.Spec{}, uptime.FailureProtocol, "the server does not speak HTTP/2", 0},
		{"HTTP/1.1 over TLS", "grpcs" + strings.TrimPrefix(l.TLSURL(), "https"), uptime.Spec{}, uptime.FailureTLSOther, "", 0},
		{"no ALPN", "grpcs://" + at("tls-plain"), uptime.Spec{}, uptime.FailureTLSOther, "", 0},
		{"plain to a TLS port", "grpc://" + at("h2"), uptime.Spec{}, uptime.FailureReset, "", 0},
		{"untrusted", "grpcs://" + labAt(t, other, "h2"), uptime.Spec{}, uptime.FailureTLSUntrusted, "", 0},
		{"whoever is believed", "grpcs://" + labAt(t, other, "h2"), uptime.Spec{TLS: &uptime.TLSSpec{SkipVerify: true}}, nil, "", 200},
		{"another name", secure, uptime.Spec{TLS: &uptime.TLSSpec{ServerName: "other.test"}}, uptime.FailureTLSName, "", 0},
		{"silent handshake", "grpcs://" + at("tls-silent"), uptime.Spec{}, uptime.FailureTimeout, "no TLS handshake", 0},
		{"reset", "grpc://" + at("tcp-reset"), uptime.Spec{}, uptime.FailureReset, "", 0},
		{"closed", "grpc://" + at("tcp-close"), uptime.Spec{}, uptime.FailureReset, "", 0},
		{"refused", "grpc://" + at("refused"), uptime.Spec{}, uptime.FailureConnectRefused, "", 0},
		{"a flood of bytes", "grpc://" + at("tcp-flood"), uptime.Spec{}, uptime.FailureProtocol, "the server does not speak HTTP/2", 0},
		{"a greeting", "grpc://" + at("tcp-banner"), uptime.Spec{}, uptime.FailureProtocol, "the server does not speak HTTP/2", 0},

		{"no such name", "grpc://gone.test:1", uptime.Spec{}, uptime.FailureDNS, "", 0},
		{"blocked", "grpc://127.0.0.2:1", uptime.Spec{}, uptime.ReasonBlockedAddress, "", 0},
		{"blocked name", "grpcs://inside.test", uptime.Spec{}, uptime.ReasonBlockedAddress, "", 0},
		{"metadata", "grpc://169.254.169.254:80", uptime.Spec{}, uptime.ReasonBlockedAddress, "", 0},
		{"no port", "grpc://lab.test/serving", uptime.Spec{}, uptime.ReasonInternal, "the port is missing", 0},
		{"another scheme", "http://lab.test:1/serving", uptime.Spec{}, uptime.ReasonInternal, "the scheme is not grpc or grpcs", 0},
		{"a long service", plain + "/" + strings.Repeat("x", 600), uptime.Spec{}, uptime.ReasonInternal, "too long", 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			check := grpcCheck(c.url, c.spec)
			failure, _ := c.want.(uptime.Failure)
			check.Timeout = timeoutFor(failure)
			o := e.Look(t.Context(), check)
			verify(t, o, c.want, c.code)
			inTime(t, o, check)
			if !strings.Contains(o.Message, c.message) {
				t.Errorf("%q, want %q", o.Message, c.message)
			}
			if word := uptime.GRPCWord(o.Message); c.want == uptime.FailureStatusCode && c.code == 200 && (word == uptime.GRPCWord("") || !strings.HasPrefix(word, "gRPC ")) {
				t.Errorf("%q is %q in a word", o.Message, word)
			}
		})
	}
}

func TestGRPCShows(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	e := New(options(l))
	url := "grpcs://" + labAt(t, l, "h2") + "/slow-60ms"
	o := e.Look(t.Context(), grpcCheck(url, uptime.Spec{}))
	if o.Phases.Connect == 0 || o.Phases.TLS == 0 || o.Phases.Wait < 60_000 || o.Phases.Transfer > 40_000 || o.Seen.Protocol != "HTTP/2" || o.CertNotAfter.IsZero() {
		t.Errorf("%+v", o)
	}
	ev := o.Evidence
	if ev.StatusLine != "HTTP/2 200 OK" || ev.Hops[0].URL != url || ev.Hops[0].Status != http.StatusOK || ev.Command != "grpc_health_probe -addr '"+labAt(t, l, "h2")+"' -service 'slow-60ms' -tls" {
		t.Errorf("%+v", ev)
	}
	var trailer bool
	for _, line := range ev.Headers {
		trailer = trailer || line.Name == "Grpc-Status" && line.Value == "0"
	}
	if !trailer {
		t.Errorf("%+v", ev.Headers)
	}
}

func TestCancelledGRPCVisitEndsAtOnce(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	cancelled(t, l, New(options(l)), grpcCheck("grpcs://"+labAt(t, l, "h2")+"/hang", uptime.Spec{}), healthPath)
}

// timeoutFor is short when waiting for it is all there is to see.
func timeoutFor(want uptime.Failure) time.Duration {
	if want == uptime.FailureTimeout {
		return lossy
	}
	return 10 * time.Second
}

// askPath makes a request to a path of a server over HTTP/2 without TLS.
func askPath(t *testing.T, addr, path string, limit int, timeout time.Duration) (*httpReply, trouble) {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(timeout))
	request, err := h2Request(false, addr, path, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return askH2(conn, request, limit, func() {})
}

// Both readers of HTTP/2 find the same headers too large; a long body is cut by the one, and is no
// answer to the other.
func TestLargeAnswersOverHTTP2(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	e := New(options(l))
	addr := labAt(t, l, "h2c")
	for path, want := range map[string]struct{ http, grpc uptime.Failure }{
		"/ok": {}, "/headers/50000": {}, "/body/4096": {},
		"/headers/70000":      {uptime.FailureTooLarge, uptime.FailureTooLarge},
		"/headers/80000":      {uptime.FailureTooLarge, uptime.FailureTooLarge},
		"/headers/1000000":    {uptime.FailureTooLarge, uptime.FailureTooLarge},
		"/header-line/70000":  {uptime.FailureTooLarge, uptime.FailureTooLarge},
		"/header-line/200000": {uptime.FailureTooLarge, uptime.FailureTooLarge},
		"/many-headers/3000":  {uptime.FailureTooLarge, uptime.FailureTooLarge},
		"/body/4097":          {"", uptime.FailureTooLarge},
		"/endless/chunked":    {"", uptime.FailureTooLarge},
		"/hang":               {uptime.FailureTimeout, uptime.FailureTimeout},
		"/drip/1000/50ms":     {uptime.FailureTimeout, uptime.FailureTimeout},
	} {
		t.Run("grpc"+path, func(t *testing.T) {
			t.Parallel()
			if _, bad := askPath(t, addr, path, maxHealth, timeoutFor(want.grpc)); bad.failure != want.grpc {
				t.Errorf("%+v", bad)
			}
		})
		t.Run("http"+path, func(t *testing.T) {
			t.Parallel()
			check := checkOf(urlOf(t, l, "h2") + path)
			check.Spec, check.Timeout = uptime.Spec{HTTP: &uptime.HTTPSpec{Version: uptime.HTTP2}}.Text(), timeoutFor(want.http)
			o := e.Look(t.Context(), check)
			if o.Failure != want.http || o.Reason != "" {
				t.Errorf("%v %q %q: %s", o.Status, o.Failure, o.Reason, o.Message)
			}
			inTime(t, o, check)
		})
	}
}

// An answer of DNS may be as large as all that a server may send unasked. One that is larger is
// noticed when it comes, and not when the time is over, with which the server would wait, too.
func TestAnswersAsLargeAsTheWindow(t *testing.T) {
	t.Parallel()
	addr := labAt(t, startLab(t), "h2c")
	for path, want := range map[string]uptime.Failure{"/body/65535": "", "/body/65536": uptime.FailureTooLarge, "/body/200000": uptime.FailureTooLarge} {
		if _, bad := askPath(t, addr, path, h2Window, 10*time.Second); bad.failure != want {
			t.Errorf("%s: %+v", path, bad)
		}
	}
}

// What padding takes of the window is given back, or a server that pads would wait for ever.
func TestPaddingIsGivenBack(t *testing.T) {
	t.Parallel()
	const frames, update = 300, 9 + 4
	padded := h2Frames(func(w *http2.Framer) {
		_ = w.WriteHeaders(http2.HeadersFrameParam{StreamID: h2Stream, BlockFragment: []byte{0x88}, EndHeaders: true}) // :status 200
		for i := range frames {
			_ = w.WriteDataPadded(h2Stream, i == frames-1, make([]byte, 100), make([]byte, 255))
		}
	})
	quiet := &scriptedConn{in: bytes.NewReader(h2Frames(func(w *http2.Framer) {
		_ = w.WriteHeaders(http2.HeadersFrameParam{StreamID: h2Stream, BlockFragment: []byte{0x88}, EndHeaders: true, EndStream: true})
	}))}
	conn := &scriptedConn{in: bytes.NewReader(padded)}
	_, bad := askH2(quiet, nil, h2Window, func() {})
	reply, worse := askH2(conn, nil, h2Window, func() {})
	if !bad.none() || !worse.none() || len(reply.body) != 100*frames || conn.written-quiet.written != 2*update*(frames-1) {
		t.Errorf("%+v %+v: %d bytes of the body, %d written", bad, worse, len(reply.body), conn.written-quiet.written)
	}
}
