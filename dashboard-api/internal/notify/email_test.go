package notify

import (
	"bufio"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"net"
	"net/mail"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"github.com/probefleet/probefleet/internal/guard"
	"github.com/probefleet/probefleet/internal/incidentstore"
)

// mailServer is a local server that speaks SMTP with STARTTLS, or TLS from the start, and AUTH.
type mailServer struct {
	net.Listener
	mu       sync.Mutex
	sessions []string // what clients said in clear, and then after TLS, line by line
	mails    []string
	answers  map[string]string // to a command, instead of the usual
	tls      *tls.Config
	fromTLS  bool
}

func newMailServer(t *testing.T, p *provider, fromTLS bool) *mailServer {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &mailServer{Listener: listener, answers: map[string]string{}, tls: &tls.Config{Certificates: p.TLS.Certificates}, fromTLS: fromTLS}
	var open sync.WaitGroup
	open.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			open.Go(func() { s.serve(conn) })
		}
	})
	t.Cleanup(func() { listener.Close(); open.Wait() })
	return s
}

func (s *mailServer) note(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sessions = append(s.sessions, line)
}

func (s *mailServer) says(command, answer string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers[command] = answer
}

func (s *mailServer) answer(line, usual string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for command, answer := range s.answers {
		if strings.HasPrefix(line, command) {
			return answer
		}
	}
	return usual
}

func (s *mailServer) serve(conn net.Conn) {
	defer func() { conn.Close() }()
	secured := s.fromTLS
	if secured {
		conn = tls.Server(conn, s.tls)
	}
	in := bufio.NewReader(conn)
	say := func(text string) { fmt.Fprintf(conn, "%s\r\n", text) }
	say("220 mail.test ESMTP")
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		line = strings.TrimRight(line, "\r\n")
		s.note(fmt.Sprintf("%v %s", secured, line))
		command, _, _ := strings.Cut(line, " ")
		switch command {
		case "EHLO":
			if secured {
				say("250-mail.test\r\n250-AUTH PLAIN\r\n250 8BITMIME")
			} else {
				say("250-mail.test\r\n250 STARTTLS")
			}
		case "STARTTLS":
			say("220 go on")
			conn, secured = tls.Server(conn, s.tls), true
			in = bufio.NewReader(conn)
		case "AUTH":
			say(s.answer(line, "235 welcome"))
		case "DATA":
			say(s.answer(line, "354 go on"))
			if s.answer(line, "") != "" {
				continue
			}
			var body strings.Builder
			for {
				text, err := in.ReadString('\n')
				if err != nil {
					return
				}
				if text == ".\r\n" {
					break
				}
				body.WriteString(text)
			}
			s.mu.Lock()
			s.mails = append(s.mails, body.String())
			s.mu.Unlock()
			say(s.answer("taken", "250 taken as 4711"))
		case "QUIT":
			say(s.answer(line, "221 bye"))
			return
		default:
			say(s.answer(line, "250 fine"))
		}
	}
}

func (s *mailServer) state() (sessions, mails []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.sessions...), append([]string(nil), s.mails...)
}

func (s *mailServer) config(security string) *Email {
	return &Email{Host: "127.0.0.1", Port: s.Addr().(*net.TCPAddr).Port, Security: security, Username: "ops", Password: NewSecret("canary-of-email"), From: "probefleet@example.com", Recipients: []string{"ops@example.com", "boss@example.com"}}
}

func TestMail(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	for security, fromTLS := range map[string]bool{"": false, "starttls": false, "tls": true} {
		s := newMailServer(t, p, fromTLS)
		for range 2 {
			sent := send(t, newDeliverer(t, p), "email", s.config(security), some(incidentstore.Resolved))
			if sent.Failure != nil {
				t.Fatalf("%q: %v", security, sent.Failure)
			}
			if shown := fmt.Sprintf("%+v", sent); strings.Contains(shown, "canary") || strings.Contains(shown, base64.StdEncoding.EncodeToString([]byte("\x00ops\x00canary-of-email"))) ||
				!strings.Contains(shown, "RCPT TO:<boss@example.com>") || !strings.Contains(shown, "taken as 4711") || !strings.Contains(shown, "Resolved: shop") || sent.Status() != 250 {
				t.Errorf("transcript: %s", shown)
			}
		}
		sessions, mails := s.state()
		signedIn := base64.StdEncoding.EncodeToString([]byte("\x00ops\x00canary-of-email"))
		for _, line := range sessions {
			if !fromTLS && strings.HasPrefix(line, "false ") && !strings.HasPrefix(line, "false EHLO") && line != "false STARTTLS" {
				t.Errorf("%q: in clear: %s", security, line)
			}
		}
		if all := strings.Join(sessions, "\n"); strings.Count(all, "AUTH PLAIN "+signedIn) != 2 || len(mails) != 2 {
			t.Fatalf("%q: %d mails, %s", security, len(mails), all)
		}
		first, second := readMail(t, mails[0]), readMail(t, mails[1])
		if id := first.Header.Get("Message-ID"); id == "" || id != second.Header.Get("Message-ID") || !strings.HasSuffix(id, "@example.com>") {
			t.Errorf("Message-ID %q and %q", id, second.Header.Get("Message-ID"))
		}
		if first.Header.Get("Subject") != "Resolved: shop" || first.Header.Get("From") != "<probefleet@example.com>" || first.Header.Get("Auto-Submitted") != "auto-generated" || first.Header.Get("References") == "" ||
			!strings.Contains(mails[0], "Lasted: 1 h 5 min") {
			t.Errorf("%+v\n%s", first.Header, mails[0])
		}
	}
}

func readMail(t *testing.T, text string) *mail.Message {
	t.Helper()
	m, err := mail.ReadMessage(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestRefusedMail(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	for answer, want := range map[string]Failure{
		"AUTH: 535 no canary-of-email here":     {Status: 535},
		"RCPT: 550 nobody of that name":         {Status: 550, ForGood: true},
		"RCPT: 450 come back later":             {Status: 450},
		"MAIL: 451 not now":                     {Status: 451},
		"DATA: 554 no":                          {Status: 554, ForGood: true},
		"taken: 452 the disk is full":           {Status: 452},
		"taken: 552 too much, canary-of-email!": {Status: 552, ForGood: true},
	} {
		s := newMailServer(t, p, false)
		command, text, _ := strings.Cut(answer, ": ")
		s.says(command, text)
		sent := send(t, newDeliverer(t, p), "email", s.config(""), some(incidentstore.Opened))
		if f := sent.Failure; f == nil || f.Status != want.Status || f.ForGood != want.ForGood || strings.Contains(fmt.Sprintf("%+v", sent), "canary") {
			t.Errorf("%s: %+v", answer, sent)
		}
	}
	s := newMailServer(t, p, false)
	s.says("QUIT", "500 what") // after it was taken
	if sent := send(t, newDeliverer(t, p), "email", s.config(""), some(incidentstore.Opened)); sent.Failure != nil {
		t.Errorf("refused after it was taken: %v", sent.Failure)
	}
}

// Mail is not sent in clear where it was asked not to be, nor to another server, nor inside.
func TestMailIsPrivate(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	s := newMailServer(t, p, false)
	strangers := NewDeliverer(DelivererOptions{Box: newBox(t), Guard: allowed()})
	if sent := send(t, strangers, "email", s.config(""), some(incidentstore.Opened)); sent.Failure == nil || !strings.Contains(sent.Failure.Said, "certificate") {
		t.Errorf("an unknown certificate: %+v", sent.Failure)
	}
	for name, judge := range map[string]*guard.Guard{"loopback": guard.New(nil), "metadata": guard.New([]netip.Prefix{netip.MustParsePrefix("0.0.0.0/0")})} {
		config := s.config("")
		if name == "metadata" {
			config.Host = "169.254.169.254"
		}
		d := NewDeliverer(DelivererOptions{Box: newBox(t), Guard: judge, Roots: pool(p)})
		if sent := send(t, d, "email", config, some(incidentstore.Opened)); sent.Failure == nil || sent.Failure.Said != "the address is not public, and API_ALLOW_CIDRS does not open it" {
			t.Errorf("%s: %+v", name, sent.Failure)
		}
	}
}
