package notify

import (
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"net/mail"
	"net/netip"
	"strings"
	"testing"

	"github.com/probefleet/probefleet/internal/guard"
	"github.com/probefleet/probefleet/internal/incidentstore"
	"github.com/probefleet/probefleet/internal/testbackend"
)

// mailServer is a local server of mail, and how it is reached.
type mailServer struct{ *testbackend.MailServer }

func newMailServer(t *testing.T, p *provider, fromTLS bool) *mailServer {
	t.Helper()
	return &mailServer{testbackend.Mail(t, &tls.Config{Certificates: p.TLS.Certificates}, fromTLS)}
}

func (s *mailServer) config(security string) *Email {
	return &Email{Host: "127.0.0.1", Port: s.Port(), Security: security, Username: "ops", Password: NewSecret("canary-of-email"), From: "probefleet@example.com", Recipients: []string{"ops@example.com", "boss@example.com"}}
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
		sessions, mails := s.State()
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
		s.Says(command, text)
		sent := send(t, newDeliverer(t, p), "email", s.config(""), some(incidentstore.Opened))
		if f := sent.Failure; f == nil || f.Status != want.Status || f.ForGood != want.ForGood || strings.Contains(fmt.Sprintf("%+v", sent), "canary") {
			t.Errorf("%s: %+v", answer, sent)
		}
	}
	s := newMailServer(t, p, false)
	s.Says("QUIT", "500 what") // after it was taken
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
