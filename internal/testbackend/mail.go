package testbackend

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
)

// MailServer is a local server that speaks SMTP with STARTTLS, or TLS from the start, and AUTH.
type MailServer struct {
	net.Listener
	mu       sync.Mutex
	sessions []string // what clients said in clear, and then after TLS, line by line
	mails    []string
	answers  map[string]string // to a command, instead of the usual
	tls      *tls.Config
	fromTLS  bool
}

// Mail starts a server of mail for a test. A nil secured speaks without TLS.
func Mail(t testing.TB, secured *tls.Config, fromTLS bool) *MailServer {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &MailServer{Listener: listener, answers: map[string]string{}, tls: secured, fromTLS: fromTLS}
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

func (s *MailServer) note(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sessions = append(s.sessions, line)
}

// Port is where it listens on 127.0.0.1.
func (s *MailServer) Port() int { return s.Addr().(*net.TCPAddr).Port }

// Says has it answer a command differently from now on; "": as usual again. The command
// "taken" is the end of a mail.
func (s *MailServer) Says(command, answer string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.answers[command] = answer; answer == "" {
		delete(s.answers, command)
	}
}

func (s *MailServer) answer(line, usual string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for command, answer := range s.answers {
		if strings.HasPrefix(line, command) {
			return answer
		}
	}
	return usual
}

func (s *MailServer) serve(conn net.Conn) {
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

// State is what was said so far, and the mails that were sent, taken or not.
func (s *MailServer) State() (sessions, mails []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.sessions...), append([]string(nil), s.mails...)
}
