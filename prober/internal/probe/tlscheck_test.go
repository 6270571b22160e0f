package probe

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

// asserting is one assertion on a source without a name.
func asserting(source uptime.Source, op uptime.Op, value string) uptime.Spec {
	return uptime.Spec{Assertions: []uptime.Assertion{{Source: source, Op: op, Value: value}}}
}

func trusting(spec uptime.TLSSpec) uptime.Spec { return uptime.Spec{TLS: &spec} }

func TestTLSGolden(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	const nobody = "odd.test"
	e := New(options(l, func(o *Options) {
		o.Resolver = names{nobody: {"127.0.0.1"}, "inside.test": {"127.0.0.2"}}
	}))
	skip := trusting(uptime.TLSSpec{SkipVerify: true})
	cases := []struct {
		server  string
		spec    uptime.Spec
		brief   bool
		want    any
		message string
	}{
		{"tls", uptime.Spec{}, false, nil, ""},
		{"rsa", uptime.Spec{}, false, nil, ""},
		{"ecdsa", uptime.Spec{}, false, nil, ""},
		{"chain", uptime.Spec{}, false, nil, ""},
		{"long-chain", uptime.Spec{}, false, nil, ""},
		{"odd-subject", uptime.Spec{}, false, nil, ""},
		{"h2", uptime.Spec{}, false, nil, ""},
		{"black-hole-tls", uptime.Spec{}, false, nil, ""}, // half-open: it never reads what comes after
		{"tls12", asserting(uptime.SourceTLSVersion, uptime.OpAtLeast, "1.2"), false, nil, ""},
		{"tls12", asserting(uptime.SourceTLSVersion, uptime.OpAtLeast, "1.3"), false, uptime.FailureTLSOther, "TLS version is TLS 1.2, want it to be at least TLS 1.3"},
		{"tls13", asserting(uptime.SourceTLSVersion, uptime.OpEquals, "1.3"), false, nil, ""},
		{"expires-in-72h30m", asserting(uptime.SourceCertificate, uptime.OpAtLeast, "3"), false, nil, ""},
		{"expires-in-72h30m", asserting(uptime.SourceCertificate, uptime.OpAtLeast, "14"), false, uptime.FailureTLSOther, "certificate's time left is 3 days, want it to be at least 14 days"},
		{"any-name", trusting(uptime.TLSSpec{ServerName: "shop.test"}), false, nil, ""},
		{"wrong-name", trusting(uptime.TLSSpec{ServerName: "elsewhere.invalid"}), false, nil, ""},
		{"tls", trusting(uptime.TLSSpec{ServerName: "shop.test"}), false, uptime.FailureTLSName, "shop.test"},
		{"tls", trusting(uptime.TLSSpec{PostQuantum: true}), false, nil, ""},
		{"expired", skip, false, nil, ""},
		{"wrong-name", skip, false, nil, ""},
		{"self-signed", uptime.Spec{}, false, uptime.FailureTLSUntrusted, "unknown authority"},
		{"untrusted", skip, false, nil, ""},
		{"incomplete", uptime.Spec{}, false, uptime.FailureTLSUntrusted, "unknown authority"},
		{"not-yet-valid", uptime.Spec{}, false, uptime.FailureTLSExpired, "not yet valid"},
		{"tls10", uptime.Spec{}, false, uptime.FailureTLSOther, "version"},
		{"tls11", skip, false, uptime.FailureTLSOther, "version"},
		{"huge-chain", uptime.Spec{}, false, uptime.FailureTLSOther, "exceeds maximum"},
		{"tls-flood", uptime.Spec{}, false, uptime.FailureTLSOther, "exceeds maximum"},
		{"tls-alert", uptime.Spec{}, false, uptime.FailureTLSOther, "handshake failure"},
		{"tls-garbage", uptime.Spec{}, false, uptime.FailureTLSOther, "does not look like a TLS handshake"},
		{"tls-cut", uptime.Spec{}, false, uptime.FailureTLSOther, "closed during the TLS handshake"},
		{"tls-stall", uptime.Spec{}, true, uptime.FailureTimeout, "no TLS handshake within the timeout"},
		{"tls-drip", uptime.Spec{}, true, uptime.FailureTimeout, "no TLS handshake within the timeout"},
		{"black-hole", uptime.Spec{}, true, uptime.FailureTimeout, "no TLS handshake within the timeout"},
		{"tcp-banner", uptime.Spec{}, false, uptime.FailureTLSOther, "does not look like a TLS handshake"},
	}
	for _, c := range cases {
		name := c.server + " " + string(c.spec.Text())
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			addr, err := l.Addr(c.server)
			if err != nil {
				t.Fatal(err)
			}
			check := checkAt("tls://"+addr, c.spec)
			if c.brief {
				check = steady(check)
			}
			begin := time.Now()
			o := e.Look(t.Context(), check)
			verify(t, o, c.want, 0)
			if endsInTime(t, check, begin); !strings.Contains(o.Message, c.message) {
				t.Errorf("message %q", o.Message)
			}
			chain := o.Evidence.Certificates
			believed := c.want == nil
			rejected := o.Failure == uptime.FailureTLSExpired || o.Failure == uptime.FailureTLSName || o.Failure == uptime.FailureTLSUntrusted
			if (believed || rejected) && (o.Evidence.TLSVersion == "" || o.Evidence.TLSCipher == "" || o.Phases.TLS == 0 || o.Seen.TLSVersion == 0) {
				t.Errorf("%+v", o.Evidence)
			}
			if (believed || rejected) && (len(chain) == 0 || o.CertNotAfter.IsZero()) {
				t.Errorf("certificates %+v until %v", chain, o.CertNotAfter)
			}
		})
	}
	for url, want := range map[string]any{
		"tls://127.0.0.2":         uptime.ReasonBlockedAddress,
		"tls://169.254.169.254":   uptime.ReasonBlockedAddress,
		"tls://inside.test":       uptime.ReasonBlockedAddress,
		"tls://127.0.0.1:443/x":   uptime.ReasonInternal,
		"tls://127.0.0.1:x":       uptime.ReasonInternal,
		"tls:127.0.0.1":           uptime.ReasonInternal,
		"tls://a b":               uptime.ReasonInternal,
		"tls://127.0.0.1:70000":   uptime.ReasonInternal,
		"tls://[fe80::1%25lo]:25": uptime.ReasonBlockedAddress,
	} {
		verify(t, e.Look(t.Context(), checkAt(url, uptime.Spec{})), want, 0)
	}
	foreign := checkAt("tls://127.0.0.1", uptime.Spec{TCP: &uptime.TCPSpec{Send: "x"}})
	verify(t, e.Look(t.Context(), foreign), uptime.ReasonInternal, 0)
}

func TestTLSSeesNamesAndChain(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	e := New(options(l, func(o *Options) { o.Resolver = names{"shop.test": {"127.0.0.1"}} }))
	addr, err := l.Addr("any-name")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(addr)
	o := e.Look(t.Context(), checkAt("tls://shop.test:"+port, uptime.Spec{}))
	if verify(t, o, nil, 0); len(o.Evidence.Certificates) != 1 || strings.Join(o.Evidence.Certificates[0].Names, " ") != "shop.test" {
		t.Errorf("%+v", o.Evidence.Certificates)
	}
	if hop := o.Evidence.Hops[0]; hop.URL != "tls://shop.test:"+port || hop.Address.String() != "127.0.0.1" {
		t.Errorf("%+v", hop)
	}
	if addr, err = l.Addr("chain"); err != nil {
		t.Fatal(err)
	}
	if o = e.Look(t.Context(), checkAt("tls://"+addr, uptime.Spec{})); len(o.Evidence.Certificates) != 2 {
		t.Errorf("%+v", o.Evidence.Certificates)
	}
	v := visitorOf(t, e, checkAt("tls://shop.test", uptime.Spec{})).(*tlsVisitor)
	if v.to.port != 443 || v.shown != "tls://shop.test:443" {
		t.Errorf("%+v", v.to)
	}
}

// Servers that never stop cost no more than is read of them.
func TestFloodsTakeLittleMemory(t *testing.T) { // not parallel: it counts what the process allocates
	l := startLab(t)
	e := New(options(l))
	tlsFlood, err := l.Addr("tls-flood")
	if err != nil {
		t.Fatal(err)
	}
	for _, check := range []uptime.Check{
		checkAt("tls://"+tlsFlood, uptime.Spec{}),
		tcpCheck(t, l, "tcp-flood", uptime.Spec{Assertions: hears("contains", "y")}),
		tcpCheck(t, l, "tcp-flood", sends("x\n")),
		tcpCheck(t, l, "smtp-endless", starts(uptime.StartTLSSMTP)),
		tcpCheck(t, l, "imap-endless", starts(uptime.StartTLSIMAP)),
		tcpCheck(t, l, "ftp-endless", starts(uptime.StartTLSFTP)),
	} {
		e.Look(t.Context(), check)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		e.Look(t.Context(), check)
		if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > 4<<20 { // the lab's side is among it
			t.Errorf("%s: %d bytes", check.URL, after.TotalAlloc-before.TotalAlloc)
		}
	}
}

func TestTLSVisitEndsWithItsContext(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	e := New(options(l))
	addr, err := l.Addr("tls-stall")
	if err != nil {
		t.Fatal(err)
	}
	check := checkAt("tls://"+addr, uptime.Spec{})
	check.Timeout = 2 * hang
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); e.Look(ctx, check) }()
	for l.ConnectionsTo("tls-stall") == 0 {
		pause(t.Context(), time.Millisecond)
	}
	cancel()
	select {
	case <-ended:
	case <-time.After(hang):
		t.Fatal("the visit outlived its context")
	}
}

// A TLS connection whose read was given up for a pause goes on afterwards.
func TestPauseInsideTLS(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	certificate, err := l.ClientCertificate()
	if err != nil {
		t.Fatal(err)
	}
	at := serve(t, func(c *net.TCPConn) {
		in := make([]byte, 512)
		for _, say := range []string{"* OK hi\r\n", "* CAPABILITY STARTTLS\r\na1 OK\r\n", "a2 OK\r\n"} {
			_, _ = c.Write([]byte(say))
			if strings.HasPrefix(say, "a2") {
				break
			}
			_, _ = c.Read(in)
		}
		secure := tls.Server(c, &tls.Config{Certificates: []tls.Certificate{certificate}})
		if secure.Handshake() == nil {
			_, _ = secure.Write(make([]byte, 600<<10))
			pause(context.Background(), 2*leastQuiet) // to be looked at, in vain
			_, _ = secure.Write([]byte("end"))
			_, _ = io.Copy(io.Discard, c)
		}
	})
	spec := uptime.Spec{TCP: &uptime.TCPSpec{StartTLS: uptime.StartTLSIMAP}, TLS: &uptime.TLSSpec{SkipVerify: true}}
	spec.Assertions = hears("contains", "end")
	check := checkAt("tcp://"+at, spec)
	check.Timeout = 20 * time.Second
	o := New(options(l)).Look(t.Context(), check)
	if o.Status != uptime.StatusUp || o.Attempts != 1 || time.Duration(o.TotalUS)*time.Microsecond > 10*time.Second {
		t.Errorf("%+v", o)
	}
}
