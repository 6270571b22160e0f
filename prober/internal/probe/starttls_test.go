package probe

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

func TestStartTLSGolden(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	e := New(options(l))
	other := New(options(startLab(t))) // trusts another authority
	for fault, c := range map[string]struct {
		want    any
		message map[uptime.StartTLS]string
		heard   string // of the evidence
	}{
		"": {want: nil},
		"-busy": {uptime.FailureProtocol, map[uptime.StartTLS]string{
			"smtp": `the server does not take connections: "421 4.3.2 lab.test is busy"`, "imap": `that are to be secured: "* BYE lab.test is busy"`, "ftp": `"421 lab.test is busy"`,
		}, "busy"},
		"-babble": {uptime.FailureProtocol, same(`the server does not speak the protocol: "HTTP/1.1 400 Bad Request"`), "HTTP/1.1 400"},
		"-missing": {uptime.FailureProtocol, map[uptime.StartTLS]string{
			"smtp": "the server does not offer STARTTLS", "imap": "the server does not offer STARTTLS", "ftp": `the server does not offer AUTH TLS: "502 not here"`,
		}, "lab.test"},
		"-refusing": {uptime.FailureProtocol, map[uptime.StartTLS]string{
			"smtp": `the server refuses STARTTLS: "454 4.7.0 TLS not`, "imap": `the server refuses STARTTLS: "a2 NO not now"`, "ftp": `the server refuses AUTH TLS: "431 need some`,
		}, "lab.test"},
		"-endless":   {uptime.FailureTooLarge, same("more than 16 KiB or 200 lines before TLS"), "one more thing"},
		"-garbage":   {uptime.FailureTLSOther, same("does not look like a TLS handshake"), "lab.test"},
		"-stalling":  {uptime.FailureTimeout, same("no TLS handshake within the timeout"), "lab.test"},
		"-cutting":   {uptime.FailureTLSOther, same("connection closed during the TLS handshake"), "lab.test"},
		"-injecting": {uptime.FailureProtocol, same("says more in clear after it agreed to TLS"), "one more thing"},
		"-expired":   {uptime.FailureTLSExpired, same("expired"), "lab.test"},
	} {
		for _, protocol := range []uptime.StartTLS{uptime.StartTLSSMTP, uptime.StartTLSIMAP, uptime.StartTLSFTP} {
			t.Run(string(protocol)+fault, func(t *testing.T) {
				t.Parallel()
				check := tcpCheck(t, l, string(protocol)+fault, starts(protocol))
				if fault == "-stalling" {
					check = steady(check)
				}
				begin := time.Now()
				o := e.Look(t.Context(), check)
				verify(t, o, c.want, 0)
				endsInTime(t, check, begin)
				if !strings.Contains(o.Message, c.message[protocol]) {
					t.Errorf("message %q", o.Message)
				}
				if !strings.Contains(o.Evidence.Received, c.heard) || c.want == nil && o.Evidence.Received != "" {
					t.Errorf("evidence %.100q", o.Evidence.Received)
				}
				if secured := fault == "" || fault == "-expired"; secured != (len(o.Evidence.Certificates) > 0) || secured != !o.CertNotAfter.IsZero() {
					t.Errorf("certificates %+v", o.Evidence.Certificates)
				}
				if fault != "" {
					return
				}
				if o.Phases.Wait == 0 || o.Phases.Transfer == 0 || o.Phases.TLS == 0 || o.Evidence.TLSVersion != "1.3" || o.Seen.TLSVersion == 0 {
					t.Errorf("%+v, %+v", o.Phases, o.Evidence)
				}
				if o := other.Look(t.Context(), check); o.Failure != uptime.FailureTLSUntrusted {
					t.Errorf("untrusted: %+v", o)
				}
			})
		}
	}
}

func same(message string) map[uptime.StartTLS]string {
	return map[uptime.StartTLS]string{"smtp": message, "imap": message, "ftp": message}
}

// What is sent goes inside TLS, and what was said before counts for nothing.
func TestTalkAfterStartTLS(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	e := New(options(l))
	for protocol, c := range map[uptime.StartTLS][2]string{
		"smtp": {"EHLO x\r\n", "250 8BITMIME"}, "imap": {"b1 LOGOUT\r\n", "b1 OK done"}, "ftp": {"PBSZ 0\r\n", "200 done"},
	} {
		spec := starts(protocol)
		spec.TCP.Send, spec.Assertions = c[0], hears("contains", c[1], "not_contains", "lab.test ESMTP", "not_contains", "STARTTLS")
		o := e.Look(t.Context(), tcpCheck(t, l, string(protocol), spec))
		if verify(t, o, nil, 0); !strings.Contains(o.Evidence.Received, c[1]) {
			t.Errorf("%s: %q", protocol, o.Evidence.Received)
		}
	}
	spec := starts(uptime.StartTLSSMTP)
	spec.TLS = &uptime.TLSSpec{ServerName: "elsewhere.invalid"}
	verify(t, e.Look(t.Context(), tcpCheck(t, l, "smtp", spec)), uptime.FailureTLSName, 0)
	spec.TLS.SkipVerify = true
	verify(t, e.Look(t.Context(), tcpCheck(t, l, "smtp", spec)), nil, 0)
}

// A greeting that never ends its line, and one that drips, end at their cap or timeout.
func TestStartTLSGreetingsWithoutEnd(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	e := New(options(l))
	for _, protocol := range []uptime.StartTLS{uptime.StartTLSSMTP, uptime.StartTLSIMAP, uptime.StartTLSFTP} {
		o := e.Look(t.Context(), tcpCheck(t, l, "tcp-flood", starts(protocol)))
		verify(t, o, uptime.FailureTooLarge, 0)
		check := steady(tcpCheck(t, l, "tcp-drip", starts(protocol)))
		begin := time.Now()
		o = e.Look(t.Context(), check)
		verify(t, o, uptime.FailureTimeout, 0)
		if endsInTime(t, check, begin); o.Message != "timed out waiting for the greeting" || !strings.HasPrefix(o.Evidence.Received, "x") {
			t.Errorf("%q, %q", o.Message, o.Evidence.Received)
		}
		o = e.Look(t.Context(), tcpCheck(t, l, "tcp-close", starts(protocol)))
		verify(t, o, uptime.FailureReset, 0)
	}
	if sent := l.SentTo("tcp-flood"); sent > 3<<20 { // what the kernels of both sides hold is among them
		t.Errorf("the flood sent %d bytes", sent)
	}
}

// script says its lines, whatever it is told.
type script struct {
	io.Reader
	told strings.Builder
}

func (s *script) Write(p []byte) (int, error) { return s.told.Write(p) }

func TestStartTLSReplies(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		protocol uptime.StartTLS
		says     string
		want     uptime.Failure
		message  string
	}{
		{"smtp", "220\r\n250-x\r\n250-starttls\r\n250 X\r\n220\r\n", "", ""},
		{"smtp", "220-a\n220 b\n250-x\n250 STARTTLS\n220 go\n", "", ""},
		{"smtp", "220 a\r\n250 STARTTLS\r\n", uptime.FailureProtocol, "does not offer"}, // the first line names the server
		{"smtp", "220-a\r\n250 b\r\n", uptime.FailureProtocol, "does not speak"},
		{"smtp", "220 a\r\n500 what?\r\n", uptime.FailureProtocol, `refuses EHLO: "500 what?"`},
		{"smtp", "554 no\r\n", uptime.FailureProtocol, `does not take connections: "554 no"`},
		{"smtp", "2200 a\r\n", uptime.FailureProtocol, "does not speak"},
		{"smtp", "999 a\r\n", uptime.FailureProtocol, "does not speak"},
		{"smtp", "\r\n", uptime.FailureProtocol, `does not speak the protocol: ""`},
		{"smtp", "220 a\r\n250-x\r\n250 STARTTLS\r\n220 go\r\n\x16", uptime.FailureProtocol, "more in clear"},
		{"smtp", "220 a", uptime.FailureReset, "closed waiting for the greeting"},
		{"smtp", "220 a\r\n250-", uptime.FailureReset, "closed waiting for the answer to EHLO"},
		{"smtp", "220 a\r\n250-x\r\n250 STARTTLS\r\n", uptime.FailureReset, "closed waiting for the answer to STARTTLS"},
		{"smtp", "220 \x1b[2J\x00 a\r\n421 \x1b[31m\xff\r\n", uptime.FailureProtocol, `refuses EHLO: "421  [31m?"`},
		{"smtp", strings.Repeat("220-\n", 201), uptime.FailureTooLarge, "200 lines"},
		{"smtp", "220-" + strings.Repeat("x", 17<<10), uptime.FailureTooLarge, "16 KiB"},

		{"ftp", "220-hello\r\n  220 indented\r\n500 no end\r\n220-\r\n\r\n220 end\r\n234 go\r\n", "", ""},
		{"ftp", "120 soon\r\n220 now\r\n234-a\r\nb\r\n234 c\r\n", "", ""},
		{"ftp", "220 a\r\n500 what?\r\n", uptime.FailureProtocol, `does not offer AUTH TLS: "500 what?"`},
		{"ftp", "220 a\r\n534 no\r\n", uptime.FailureProtocol, `refuses AUTH TLS: "534 no"`},
		{"ftp", "220 a\r\n", uptime.FailureReset, "closed waiting for the answer to AUTH TLS"},
		{"ftp", " 220 a\r\n", uptime.FailureProtocol, "does not speak"},

		{"imap", "* ok hi\r\n* capability imap4rev2 starttls\r\na1 ok x\r\na2 OK\r\n", "", ""},
		{"imap", "* OK hi\r\n* 3 EXISTS\r\n* CAPABILITY STARTTLS\r\na1 OK x\r\n* OK soon\r\na2 OK go\r\n", "", ""},
		{"imap", "* OK hi\r\n* CAPABILITY XSTARTTLS\r\na1 OK x\r\n", uptime.FailureProtocol, "does not offer"},
		{"imap", "* PREAUTH hi\r\n", uptime.FailureProtocol, "that are to be secured"},
		{"imap", "* NO hi\r\n", uptime.FailureProtocol, "does not speak"},
		{"imap", "* OK hi\r\na1 BAD no\r\n", uptime.FailureProtocol, `refuses CAPABILITY: "a1 BAD no"`},
		{"imap", "* OK hi\r\n* BYE now\r\n", uptime.FailureProtocol, `refuses CAPABILITY: "* BYE now"`},
		{"imap", "* OK hi\r\na9 OK x\r\n", uptime.FailureProtocol, "does not speak"},
		{"imap", "* OK hi\r\na1 WHAT\r\n", uptime.FailureProtocol, "does not speak"},
		{"imap", "* OK hi\r\n" + strings.Repeat("* 1 FETCH\r\n", 300), uptime.FailureTooLarge, "200 lines"},
	} {
		for name, slowly := range map[string]func(io.Reader) io.Reader{"at once": func(r io.Reader) io.Reader { return r }, "byte by byte": iotest.OneByteReader} {
			if name == "byte by byte" && strings.Contains(c.message, "in clear") {
				continue // it has not come when TLS begins, and fails there
			}
			s := &script{Reader: slowly(strings.NewReader(c.says))}
			talk := &clearTalk{conn: s, answered: func() {}}
			if bad := talk.upgrade(c.protocol); bad.failure != c.want || bad.reason != "" || !strings.Contains(bad.message, c.message) {
				t.Errorf("%s %.60q %s: %+v", c.protocol, c.says, name, bad)
			}
			for line := range strings.Lines(s.told.String()) {
				if !strings.HasSuffix(line, "\r\n") {
					t.Errorf("told %q", line)
				}
			}
		}
	}
}

// FuzzStartTLS lets servers say anything before TLS: the talk ends, within its caps, and
// leaves nothing unread when it agrees.
func FuzzStartTLS(f *testing.F) {
	for _, says := range []string{
		"220 a\r\n250-x\r\n250-STARTTLS\r\n250 y\r\n220 go\r\n", "220-a\r\n b\r\n220 c\r\n234 go\r\n",
		"* OK hi\r\n* CAPABILITY STARTTLS\r\na1 OK\r\na2 OK\r\n", "120 \n220 \n234 \n\x16\x03", "* PREAUTH\n", "220-\n220-\n22", "a1 OK {5}\r\n",
	} {
		f.Add(uint8(0), uint8(1), says)
		f.Add(uint8(1), uint8(0), says)
		f.Add(uint8(2), uint8(40), says)
	}
	f.Fuzz(func(t *testing.T, protocol, step uint8, says string) {
		protocols := []uptime.StartTLS{uptime.StartTLSSMTP, uptime.StartTLSIMAP, uptime.StartTLSFTP}
		s := &script{Reader: &stepping{strings.NewReader(says), int(step)}}
		first := 0
		talk := &clearTalk{conn: s, answered: func() { first++ }, secrets: []string{"hunter2"}}
		bad := talk.upgrade(protocols[int(protocol)%len(protocols)])
		switch {
		case len(talk.text) > maxClearText || cap(talk.text) > 2*maxClearText || talk.at > len(talk.text) || talk.lines > maxClearLines+1:
			t.Fatalf("%d bytes, %d lines", len(talk.text), talk.lines)
		case first > 1 || first == 0 && len(talk.text) > 0:
			t.Fatalf("%d first bytes of %d", first, len(talk.text))
		case !strings.HasPrefix(says, string(talk.text)):
			t.Fatalf("%q is not what was said", talk.text)
		case bad.none() && (talk.at != len(talk.text) || !strings.HasSuffix(string(talk.text), "\n") || !strings.Contains(s.told.String(), "TLS\r\n")):
			t.Fatalf("agreed at %d of %q, told %q", talk.at, talk.text, s.told.String())
		case !bad.none() && (bad.reason != "" || bad.message == "" || len(bad.message) > maxMessage || strings.ContainsAny(bad.message, "\r\n\x00\x1b") || strings.Contains(bad.message, "hunter2")):
			t.Fatalf("%+v", bad)
		case strings.Count(s.told.String(), "\n") > 2:
			t.Fatalf("told %q", s.told.String())
		}
	})
}

// stepping reads a few bytes at a time.
type stepping struct {
	from io.Reader
	step int
}

func (s *stepping) Read(p []byte) (int, error) {
	if s.step > 0 {
		p = p[:min(len(p), s.step)]
	}
	return s.from.Read(p)
}
