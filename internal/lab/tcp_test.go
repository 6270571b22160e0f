package lab

import (
	"bufio"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestTCP(t *testing.T) {
	t.Parallel()
	l, _ := start(t)
	for said, want := range map[string]string{
		"echo hello  you\r\nwhat?\nclose\n":        "hello  you\nunknown\n",
		"send 3\ndrip 3 1ms\necho\nclose\n":        "\x00\x00\x00xxx\n",
		"slow 1ms late\nclose\n":                   "late\n",
		"slow soon\n":                              "",
		"drip 3 soon\n":                            "",
		"echo " + strings.Repeat("x", 5000) + "\n": "",
	} {
		if answer, err := ask(dial(t, l, "tcp"), said); err != nil || answer != want {
			t.Errorf("%.100q: %q, %v", said, answer, err)
		}
	}
	for name, want := range map[string]string{"tcp-banner": greeting, "tcp-split": greeting, "tcp-binary": "220 \x00\x1b[2J\xff\xfe<script>\u202e\r\n"} {
		if answer, err := ask(dial(t, l, name), "echo x\nclose\n"); err != nil || answer != want+"x\n" {
			t.Errorf("%s: %q, %v", name, answer, err)
		}
	}
	if answer, err := ask(dial(t, l, "tcp-close"), ""); err != nil || answer != "" {
		t.Errorf("close: %q, %v", answer, err)
	}
	if answer, err := ask(dial(t, l, "tcp"), "reset\n"); !errors.Is(err, syscall.ECONNRESET) || answer != "" {
		t.Errorf("reset: %q, %v", answer, err)
	}
	addr, err := l.Addr("tcp-reset")
	if err != nil {
		t.Fatal(err)
	}
	c, err := net.Dial("tcp", addr)
	if err == nil { // the reset may come while connecting
		_, err = ask(c, "")
	}
	if !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("reset at once: %v", err)
	}
}

func TestTCPWithoutEnd(t *testing.T) {
	t.Parallel()
	l, _ := start(t)
	for name, says := range map[string]string{"tcp-flood": "", "tcp": "flood\n"} {
		c := dial(t, l, name)
		_, _ = io.WriteString(c, says)
		if n, err := io.CopyN(io.Discard, c, 1<<20); err != nil {
			t.Errorf("%s: %d bytes, %v", name, n, err)
		}
		_ = c.Close()
		if sent := sentAtLeast(t, l, name, 1<<20); sent > 2<<20 {
			t.Errorf("%s: %d bytes", name, sent)
		}
	}
	begin := time.Now()
	if n, err := io.CopyN(io.Discard, dial(t, l, "tcp-drip"), 3); err != nil || time.Since(begin) < 200*time.Millisecond {
		t.Errorf("drip: %d bytes after %v, %v", n, time.Since(begin), err)
	}
	for name, says := range map[string]string{"tcp-silent": "hello\n", "tcp": "silence\necho x\n"} {
		c := dial(t, l, name)
		_ = c.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
		if answer, err := ask(c, says); answer != "" || err == nil {
			t.Errorf("%s: %q, %v", name, answer, err)
		}
	}
}

// speaks are the lines of one protocol: what asks for TLS, what agrees, and what
// shows that the session goes on.
func speaks(scheme string) (starttls, agrees, noop, done, quit string) {
	switch scheme {
	case "smtp":
		return "STARTTLS\r\n", "220 ", "NOOP\r\n", "250 ", "QUIT\r\n"
	case "imap":
		return "a1 STARTTLS\r\n", "a1 OK", "a2 NOOP\r\n", "a2 OK", "a3 LOGOUT\r\n"
	}
	return "AUTH TLS\r\n", "234 ", "NOOP\r\n", "200 ", "QUIT\r\n"
}

// session reads lines and says some.
type session struct {
	t *testing.T
	net.Conn
	in *bufio.Reader
}

func (s *session) line() string {
	s.t.Helper()
	line, err := s.in.ReadString('\n')
	if err != nil {
		s.t.Fatalf("%q, then %v", line, err)
	}
	return line
}

func (s *session) says(text string) string {
	s.t.Helper()
	if _, err := io.WriteString(s, text); err != nil {
		s.t.Fatal(err)
	}
	return s.line()
}

func TestMailUpgrades(t *testing.T) {
	t.Parallel()
	l, _ := start(t)
	for _, scheme := range []string{"smtp", "imap", "ftp"} {
		starttls, agrees, noop, done, quit := speaks(scheme)
		for _, fault := range []string{"", "-expired", "-injecting"} {
			c := dial(t, l, scheme+fault)
			s := &session{t, c, bufio.NewReader(c)}
			if first := s.line(); !strings.HasPrefix(first, "220 lab.test") && !strings.HasPrefix(first, "* OK [CAPABILITY IMAP4rev1 STARTTLS") {
				t.Errorf("%s%s greets with %q", scheme, fault, first)
			}
			if answer := s.says(noop); !strings.HasPrefix(answer, done) {
				t.Errorf("%s%s: %q", scheme, fault, answer)
			}
			if answer := s.says(starttls); !strings.HasPrefix(answer, agrees) {
				t.Errorf("%s%s: %q", scheme, fault, answer)
			}
			if fault == "-injecting" {
				if injected := s.line(); !strings.Contains(injected, "one more thing") {
					t.Errorf("%s%s: %q", scheme, fault, injected)
				}
			}
			secure := tls.Client(c, &tls.Config{RootCAs: l.CertPool(), ServerName: "127.0.0.1"})
			err := secure.Handshake()
			if fault == "-expired" {
				if err == nil || !strings.Contains(err.Error(), "expired") {
					t.Errorf("%s%s: %v", scheme, fault, err)
				}
				continue
			}
			if err != nil {
				t.Fatalf("%s%s: %v", scheme, fault, err)
			}
			s = &session{t, secure, bufio.NewReader(secure)}
			if answer := s.says(noop); !strings.HasPrefix(answer, done) {
				t.Errorf("%s%s inside TLS: %q", scheme, fault, answer)
			}
			if answer := s.says(starttls); strings.HasPrefix(answer, agrees) {
				t.Errorf("%s%s: TLS inside TLS: %q", scheme, fault, answer)
			}
			if rest, err := ask(secure, quit); err != nil || !strings.Contains(rest, "closes") {
				t.Errorf("%s%s ends with %q, %v", scheme, fault, rest, err)
			}
		}
	}
}

func TestMailFaults(t *testing.T) {
	t.Parallel()
	l, _ := start(t)
	for _, scheme := range []string{"smtp", "imap", "ftp"} {
		starttls, agrees, _, _, _ := speaks(scheme)
		for fault, want := range map[string][]string{ // in the answer to STARTTLS
			"missing": {"502 ", "a1 BAD"}, "refusing": {"454 ", "a1 NO", "431 "},
			"garbage": {agrees}, "stalling": {agrees}, "cutting": {agrees},
		} {
			c := dial(t, l, scheme+"-"+fault)
			s := &session{t, c, bufio.NewReader(c)}
			s.line()
			answer := s.says(starttls)
			good := false
			for _, prefix := range want {
				good = good || strings.HasPrefix(answer, prefix)
			}
			if !good {
				t.Errorf("%s-%s: %q", scheme, fault, answer)
			}
			switch fault {
			case "garbage":
				if more := s.says("hello, as it were\n"); !strings.HasPrefix(more, "this is not TLS") {
					t.Errorf("%s-%s: %q", scheme, fault, more)
				}
			case "cutting":
				if rest, err := io.ReadAll(s.in); err != nil || len(rest) > 0 {
					t.Errorf("%s-%s: %q, %v", scheme, fault, rest, err)
				}
			case "stalling":
				_ = c.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
				if more, err := s.in.ReadByte(); err == nil || errors.Is(err, io.EOF) {
					t.Errorf("%s-%s: %q, %v", scheme, fault, more, err)
				}
			}
		}
		for fault, prefix := range map[string]string{"busy": "421 ", "babble": "HTTP/1.1 400 ", "endless": "220-"} {
			c := dial(t, l, scheme+"-"+fault)
			in := bufio.NewReader(c)
			line, err := in.ReadString('\n')
			if scheme == "imap" {
				prefix = map[string]string{"busy": "* BYE", "babble": prefix, "endless": "* OK and"}[fault]
			}
			if err != nil || !strings.HasPrefix(line, prefix) {
				t.Errorf("%s-%s greets with %q, %v", scheme, fault, line, err)
			}
			switch fault {
			case "busy":
				if rest, err := io.ReadAll(in); err != nil || len(rest) > 0 {
					t.Errorf("%s-%s: %q, %v", scheme, fault, rest, err)
				}
			case "endless":
				if n, err := io.CopyN(io.Discard, in, 256<<10); err != nil {
					t.Errorf("%s-%s: ends after %d bytes: %v", scheme, fault, n, err)
				}
			}
		}
	}
}

func TestMailOffers(t *testing.T) {
	t.Parallel()
	l, _ := start(t)
	for name, c := range map[string]struct {
		asks   string
		offers bool
	}{
		"smtp": {"EHLO me\r\n", true}, "smtp-refusing": {"EHLO me\r\n", true}, "smtp-missing": {"EHLO me\r\n", false},
		"imap": {"a CAPABILITY\r\n", true}, "imap-missing": {"a CAPABILITY\r\n", false},
		"ftp": {"FEAT\r\n", true}, "ftp-missing": {"FEAT\r\n", false},
	} {
		scheme, _, _ := strings.Cut(name, "-")
		_, _, _, _, quit := speaks(scheme)
		conn := dial(t, l, name)
		s := &session{t, conn, bufio.NewReader(conn)}
		s.line() // the greeting, which may tell as well
		if _, err := io.WriteString(s, c.asks+quit); err != nil {
			t.Fatal(err)
		}
		answer, err := io.ReadAll(s.in)
		if got := strings.Contains(string(answer), "STARTTLS") || strings.Contains(string(answer), "AUTH TLS"); err != nil || got != c.offers {
			t.Errorf("%s: %q, %v", name, answer, err)
		}
	}
	conn := dial(t, l, "smtp")
	s := &session{t, conn, bufio.NewReader(conn)}
	s.line()
	if answer := s.says("STARTTLS now\r\n"); !strings.HasPrefix(answer, "501 ") {
		t.Errorf("STARTTLS with a parameter: %q", answer)
	}
}
