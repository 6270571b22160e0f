package probe

import (
	"context"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/assertion"
	"github.com/probefleet/probefleet/internal/lab"
	"github.com/probefleet/probefleet/internal/uptime"
)

// tcpCheck is a check of the tcp kind of one of the lab's servers.
func tcpCheck(tb testing.TB, l *lab.Lab, name string, spec uptime.Spec) uptime.Check {
	tb.Helper()
	addr, err := l.Addr(name)
	if err != nil {
		tb.Fatal(err)
	}
	return checkAt("tcp://"+addr, spec)
}

// checkAt is a check of the kind that a URL's scheme names.
func checkAt(url string, spec uptime.Spec) uptime.Check {
	check := checkOf(url)
	check.Kind = uptime.Kind(url[:strings.Index(url, ":")])
	check.Timeout = 20 * time.Second // also on a busy machine
	check.Spec = spec.Text()
	return check
}

func sends(text string, asserts ...uptime.Assertion) uptime.Spec {
	return uptime.Spec{TCP: &uptime.TCPSpec{Send: text}, Assertions: asserts}
}

func hears(pairs ...string) []uptime.Assertion {
	var list []uptime.Assertion
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, uptime.Assertion{Source: uptime.SourceReceived, Op: uptime.Op(pairs[i]), Value: pairs[i+1]})
	}
	return list
}

func starts(protocol uptime.StartTLS) uptime.Spec {
	return uptime.Spec{TCP: &uptime.TCPSpec{StartTLS: protocol}}
}

// serve is a server made by hand: it does this with every connection.
func serve(tb testing.TB, handle func(*net.TCPConn)) string {
	tb.Helper()
	at, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = at.Close() })
	go func() {
		for {
			conn, err := at.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				handle(conn.(*net.TCPConn))
			}()
		}
	}()
	return at.Addr().String()
}

func TestTCPGolden(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	e := New(options(l, func(o *Options) {
		o.Resolver = names{"inside.test": {"127.0.0.2"}, "both.test": {"127.0.0.2", "127.0.0.1"}}
	}))
	banner, _ := l.Addr("tcp-banner")
	_, port, _ := net.SplitHostPort(banner)
	finished := serve(t, func(c *net.TCPConn) {
		_, _ = io.WriteString(c, "bye")
		_ = c.CloseWrite()
		_, _ = io.Copy(io.Discard, c)
	})
	rude := serve(t, func(c *net.TCPConn) { // not while the client still connects
		_, _ = c.Read(make([]byte, 1))
		_, _ = io.WriteString(c, "bye")
		_ = c.SetLinger(0)
	})

	cases := []struct {
		name   string
		check  uptime.Check
		want   any
		heard  string // of the evidence
		reason string // part of the message
	}{
		{"connects", tcpCheck(t, l, "tcp-silent", uptime.Spec{}), nil, "", ""},
		{"connects to who never reads", tcpCheck(t, l, "black-hole", uptime.Spec{}), nil, "", ""},
		{"second address works", checkAt("tcp://both.test:"+port, uptime.Spec{}), nil, "", ""},
		{"blocked", checkAt("tcp://127.0.0.2:25", uptime.Spec{}), uptime.ReasonBlockedAddress, "", "not public"},
		{"blocked name", checkAt("tcp://inside.test:25", uptime.Spec{}), uptime.ReasonBlockedAddress, "", "not public"},
		{"blocked v6", checkAt("tcp://[::1]:25", uptime.Spec{}), uptime.ReasonBlockedAddress, "", "not public"},
		{"metadata", checkAt("tcp://169.254.169.254:80", uptime.Spec{}), uptime.ReasonBlockedAddress, "", "not public"},

		{"greets", tcpCheck(t, l, "tcp-banner", uptime.Spec{Assertions: hears("contains", "220")}), nil, "220 lab ready\r\n", ""},
		{"greets in pieces", tcpCheck(t, l, "tcp-split", uptime.Spec{Assertions: hears("equals", "220 lab ready\r\n")}), nil, "220 lab ready\r\n", ""},
		{"greets otherwise", steady(tcpCheck(t, l, "tcp-banner", uptime.Spec{Assertions: hears("contains", "250")})), uptime.FailureBody, "220 lab ready\r\n", `received text is "220 lab ready\r\n", want it to contain "250"`},
		{"is not equal", tcpCheck(t, l, "tcp-banner", uptime.Spec{Assertions: hears("equals", "221 x")}), uptime.FailureBody, "220 lab ready\r\n", "to equal"},
		{"binary", tcpCheck(t, l, "tcp-binary", uptime.Spec{Assertions: hears("contains", "<script>")}), nil, "220 \x00\x1b[2J\ufffd<script>\u202e\r\n", ""},
		{"echo", tcpCheck(t, l, "tcp", sends("echo hello\n", hears("equals", "hello\n")...)), nil, "hello\n", ""},
		{"any answer", tcpCheck(t, l, "tcp", sends("what?\n")), nil, "unknown\n", ""},
		{"lacks", tcpCheck(t, l, "tcp-banner", uptime.Spec{Assertions: hears("not_contains", "busy")}), nil, "220 lab ready\r\n", ""},
		{"lacks not", tcpCheck(t, l, "tcp-banner", uptime.Spec{Assertions: hears("not_contains", "ready")}), uptime.FailureBody, "220 lab ready\r\n", "not to contain"},
		{"silence is no answer", steady(tcpCheck(t, l, "tcp-silent", uptime.Spec{Assertions: hears("not_contains", "busy")})), uptime.FailureTimeout, "", "timed out waiting for an answer"},
		{"silence is wanted", steady(tcpCheck(t, l, "tcp-silent", uptime.Spec{Assertions: hears("absent", "")})), nil, "", ""},
		{"silence is broken", tcpCheck(t, l, "tcp-banner", uptime.Spec{Assertions: hears("absent", "")}), uptime.FailureBody, "220 lab ready\r\n", "to be absent"},
		{"closes in silence", tcpCheck(t, l, "tcp-close", uptime.Spec{Assertions: hears("absent", "")}), nil, "", ""},
		{"closes", tcpCheck(t, l, "tcp-close", uptime.Spec{Assertions: hears("exists", "")}), uptime.FailureReset, "", "connection closed waiting for an answer"},
		{"resets", tcpCheck(t, l, "tcp", sends("reset\n", hears("absent", "")...)), uptime.FailureReset, "", "connection reset waiting for an answer"},
		{"ends after its word", checkAt("tcp://"+finished, uptime.Spec{Assertions: hears("equals", "bye")}), nil, "bye", ""},
		{"ends before its word", checkAt("tcp://"+finished, uptime.Spec{Assertions: hears("contains", "bye now")}), uptime.FailureBody, "bye", "to contain"},
		{"resets after its word", checkAt("tcp://"+rude, sends("?", hears("equals", "bye")...)), nil, "bye", ""},
		{"resets before its word", checkAt("tcp://"+rude, sends("?", hears("contains", "bye now")...)), uptime.FailureReset, "bye", "connection reset receiving"},
		{"drips in time", tcpCheck(t, l, "tcp-drip", uptime.Spec{Assertions: hears("contains", "xx")}), nil, "xx", ""},
		{"drips", steady(tcpCheck(t, l, "tcp-drip", uptime.Spec{Assertions: hears("contains", "y")})), uptime.FailureBody, "", "to contain"},
		{"flood is cut", tcpCheck(t, l, "tcp-flood", uptime.Spec{Assertions: hears("contains", "y")}), uptime.FailureTooLarge, strings.Repeat("x", uptime.MaxEvidenceBody), "1048576 bytes"},
		{"flood may contain", tcpCheck(t, l, "tcp-flood", uptime.Spec{Assertions: hears("contains", "xxx")}), nil, "", ""},
		{"long and right", tcpCheck(t, l, "tcp", sends("send 700000\necho end\n", hears("contains", "end")...)), nil, "", ""},
		{"too slow", tcpCheck(t, l, "tcp", sends("slow 150ms late\n", uptime.Assertion{Source: uptime.SourcePhase, Name: "wait", Op: uptime.OpLess, Value: "100"})), uptime.FailureLatency, "late\n", "wait phase"},
		{"another address", tcpCheck(t, l, "tcp-silent", uptime.Spec{Assertions: []uptime.Assertion{{Source: uptime.SourceAddress, Op: uptime.OpEquals, Value: "127.0.0.9"}}}), uptime.FailureDNS, "", "127.0.0.1"},

		{"no port", checkAt("tcp://127.0.0.1", uptime.Spec{}), uptime.ReasonInternal, "", "the port is missing"},
		{"port 0", checkAt("tcp://127.0.0.1:0", uptime.Spec{}), uptime.ReasonInternal, "", "host"},
		{"no host", checkAt("tcp://:25", uptime.Spec{}), uptime.ReasonInternal, "", "host"},
		{"a path", checkAt("tcp://127.0.0.1:25/x", uptime.Spec{}), uptime.ReasonInternal, "", "more than a host and a port"},
		{"TLS at once", checkAt("tcp://127.0.0.1:25", uptime.Spec{TLS: &uptime.TLSSpec{}}), uptime.ReasonInternal, "", "that is the kind tls"},
		{"STARTTLS of nobody", checkAt("tcp://127.0.0.1:25", starts("nntp")), uptime.ReasonInternal, "", "no STARTTLS"},
		{"another kind's spec", checkAt("tcp://127.0.0.1:25", uptime.Spec{HTTP: &uptime.HTTPSpec{}}), uptime.ReasonInternal, "", "another kind"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			begin := time.Now()
			o := e.Look(t.Context(), c.check)
			verify(t, o, c.want, 0)
			endsInTime(t, c.check, begin)
			if !strings.Contains(o.Message, c.reason) {
				t.Errorf("message %q", o.Message)
			}
			if o.Evidence == nil {
				return
			}
			if c.heard != "" && o.Evidence.Received != c.heard {
				t.Errorf("evidence of what was received: %.100q", o.Evidence.Received)
			}
			if len(o.Evidence.Hops) != 1 || !strings.HasPrefix(o.Evidence.Hops[0].URL, "tcp://") || o.Evidence.Body != "" {
				t.Errorf("evidence %+v", o.Evidence)
			}
		})
	}
}

// steady gives a check the time that a server takes to say something, and no more.
func steady(c uptime.Check) uptime.Check {
	c.Timeout = 1500 * time.Millisecond
	return c
}

// brief gives a check little time.
func brief(c uptime.Check) uptime.Check {
	short(&c)
	return c
}

// hang is longer than anything takes that ends.
const hang = 2 * time.Minute

// endsInTime fails when a visit goes on after its timeout. How soon it ends: see TestEveryVisitEndsAtItsTimeout.
func endsInTime(tb testing.TB, check uptime.Check, begin time.Time) {
	tb.Helper()
	if took := time.Since(begin); took > check.Timeout+hang {
		tb.Errorf("a visit of at most %v took %v", check.Timeout, took)
	}
}

// The pause that shows that no more comes is not the target's.
func TestPauseIsNoLatency(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	e := New(options(l))
	begin := time.Now()
	o := e.Look(t.Context(), tcpCheck(t, l, "tcp-banner", uptime.Spec{Assertions: hears("not_contains", "busy")}))
	took := time.Since(begin)
	if verify(t, o, nil, 0); took < leastQuiet || time.Duration(o.TotalUS)*time.Microsecond > took-leastQuiet {
		t.Errorf("%d µs of %v", o.TotalUS, took)
	}
	check := steady(tcpCheck(t, l, "tcp-silent", uptime.Spec{Assertions: hears("absent", "")}))
	begin, o = time.Now(), e.Look(t.Context(), check)
	if took = time.Since(begin); took < check.Timeout || time.Duration(o.TotalUS)*time.Microsecond > took-check.Timeout/2 {
		t.Errorf("silence: %d µs of %v", o.TotalUS, took)
	}
}

// What is sent to somebody who does not read, and is more than kernels hold, ends at the timeout.
func TestSendingWithoutReader(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	e := New(options(l))
	check := tcpCheck(t, l, "black-hole", sends("x"))
	v := visitorOf(t, e, check).(*tcpVisitor)
	v.send = make([]byte, 16<<20)
	s := &sighting{}
	s.begin(e.plans.of(&check), steady(check).Timeout)
	bad := v.visit(t.Context(), s)
	if s.end(); bad.failure != uptime.FailureTimeout || bad.message != "timed out sending" || s.TotalUS < 1_500_000 {
		t.Errorf("%+v after %d µs", bad, s.TotalUS)
	}
}

func TestTCPPhases(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	e := New(options(l))
	o := e.Look(t.Context(), tcpCheck(t, l, "tcp", sends("slow 120ms a\nslow 80ms b\n", hears("contains", "b")...)))
	if verify(t, o, nil, 0); o.Phases.Wait < 120_000 || o.Phases.Transfer == 0 || o.Phases.Wait+o.Phases.Transfer < 200_000 || o.Phases.Connect == 0 || o.Phases.TLS != 0 {
		t.Errorf("phases %+v", o.Phases)
	}
	if o = e.Look(t.Context(), tcpCheck(t, l, "tcp-silent", uptime.Spec{})); o.Phases.Wait != 0 || o.Phases.Transfer != 0 {
		t.Errorf("phases of a connection: %+v", o.Phases)
	}
}

func TestTCPVisitEndsWithItsContext(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	e := New(options(l))
	for name, spec := range map[string]uptime.Spec{
		"tcp-silent":    {Assertions: hears("exists", "")},
		"tcp-drip":      {Assertions: hears("not_contains", "y")}, // never pauses long enough
		"imap":          {TCP: &uptime.TCPSpec{StartTLS: uptime.StartTLSIMAP, Send: "a1 NOOP\r\n"}, Assertions: hears("contains", "y")},
		"smtp-stalling": starts(uptime.StartTLSSMTP),
	} {
		check := tcpCheck(t, l, name, spec)
		check.Timeout = 2 * hang
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); e.Look(ctx, check) }()
		for l.ConnectionsTo(name) == 0 || l.SentTo(name) == 0 && name != "tcp-silent" {
			pause(t.Context(), time.Millisecond)
		}
		cancel()
		select {
		case <-ended:
		case <-time.After(hang):
			t.Fatalf("%s: the visit outlived its context", name)
		}
	}
}

// A server that talks byte by byte costs no more than a few looks at the whole.
func TestManyPiecesCostFewLooks(t *testing.T) {
	t.Parallel()
	at := serve(t, func(c *net.TCPConn) {
		_ = c.SetNoDelay(true)
		for range 20_000 {
			if _, err := io.WriteString(c, "x"); err != nil {
				return
			}
		}
		_, _ = io.WriteString(c, strings.Repeat("x", 900<<10)+"end\n")
		_, _ = io.Copy(io.Discard, c)
	})
	v := visitorOf(t, New(options(nil)), checkAt("tcp://"+at, uptime.Spec{Assertions: hears("matches", `e[n]d\n`)})).(*tcpVisitor)
	conn, err := net.Dial("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	s := &sighting{deadline: time.Now().Add(hang)}
	mark := time.Now()
	r := &listener{tcpVisitor: v, conn: conn, s: s, hop: s.hop(""), mark: &mark}
	if bad := r.listen(t.Context()); !bad.none() || !strings.HasSuffix(string(s.Received), "end\n") {
		t.Fatalf("%+v, %d bytes", bad, len(s.Received))
	}
	if r.state != assertion.Settled || r.idly > patientOnes || r.spent > eagerLooks+2*maxReceived+r.idly {
		t.Errorf("state %d after a look at %d bytes of %d, %d of them in pauses", r.state, r.spent, len(s.Received), r.idly)
	}
}

func visitorOf(tb testing.TB, e *Engine, check uptime.Check) visitor {
	tb.Helper()
	p := e.plans.of(&check)
	if !p.bad.none() {
		tb.Fatalf("%+v", p.bad)
	}
	return p.visitor
}
