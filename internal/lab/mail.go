package lab

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"strings"
)

// dialect is what one protocol says on the way to TLS.
type dialect struct {
	scheme   string
	greeting string
	more     string // a line of a greeting that goes on
	busy     string // a greeting that sends the client away
	// reply answers a line. upgrade is true where TLS is to begin after it.
	reply func(line string, secure, offered bool) (answer string, upgrade bool)
	// refusal is the answer to the request for TLS when it fails for now.
	refusal string
	// quits are the words that end the session.
	quits string
}

// mailFaults are what can be wrong with a server that offers STARTTLS.
func mailFaults() []string {
	return []string{"busy", "babble", "endless", "missing", "refusing", "garbage", "stalling", "cutting", "injecting", "expired"}
}

func mailSites() map[string]opener {
	all := map[string]opener{}
	for _, d := range []dialect{smtp(), imap(), ftp()} {
		all[d.scheme] = mailOpener(d, "")
		for _, fault := range mailFaults() {
			all[d.scheme+"-"+fault] = mailOpener(d, fault)
		}
	}
	return all
}

func mailOpener(d dialect, fault string) opener {
	return func(l *Lab, name string) (site, error) {
		kind := "tls"
		if fault == "expired" {
			kind = fault
		}
		certificate, err := l.certificate(kind)
		if err != nil {
			return site{}, err
		}
		s := &mailServer{dialect: d, fault: fault, config: &tls.Config{Certificates: []tls.Certificate{*certificate}}}
		return l.serveConns(name, d.scheme, s.greet)
	}
}

type mailServer struct {
	dialect
	fault  string
	config *tls.Config
}

func (s *mailServer) greet(c *conn) {
	first := s.greeting
	switch s.fault {
	case "busy":
		first = s.busy
	case "babble":
		first = "HTTP/1.1 400 Bad Request\r\n\r\n"
	case "endless":
		_ = c.SetWriteBuffer(32 << 10)
		for {
			if _, err := io.WriteString(c, s.more); err != nil {
				return
			}
		}
	}
	if _, err := io.WriteString(c, first); err != nil || s.fault == "busy" {
		return
	}
	if s.talk(c, false) {
		s.upgrade(c)
	}
}

// talk answers lines until the session ends, or until TLS is to begin.
func (s *mailServer) talk(c net.Conn, secure bool) (upgrade bool) {
	in := bufio.NewReaderSize(c, 1024)
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return false
		}
		text := strings.TrimRight(string(line), "\r\n")
		answer, upgrade := s.reply(text, secure, s.fault != "missing")
		if upgrade {
			switch s.fault {
			case "refusing":
				answer, upgrade = s.tagged(text, s.refusal), false
			case "injecting":
				answer += s.more
			}
			_, _ = in.Discard(in.Buffered()) // nothing said before counts after
		}
		if _, err := io.WriteString(c, answer); err != nil {
			return false
		}
		if upgrade || strings.Contains(strings.ToUpper(text), s.quits) {
			return upgrade
		}
	}
}

func (s *mailServer) upgrade(c *conn) {
	switch s.fault {
	case "garbage":
		insteadOfHandshake("this is not TLS, by no means\r\n")(nil, c)
	case "stalling":
		swallow(c)
	case "cutting":
	default:
		secure := tls.Server(c, s.config)
		if secure.Handshake() == nil {
			s.talk(secure, true)
			_ = secure.CloseWrite()
		}
	}
}

// tagged puts the tag of an IMAP command before an answer that wants one.
func (s *mailServer) tagged(line, answer string) string {
	tag, _, _ := strings.Cut(line, " ")
	return strings.ReplaceAll(answer, "TAG", tag)
}

// smtp is RFC 5321 with RFC 3207.
func smtp() dialect {
	return dialect{
		scheme: "smtp", quits: "QUIT", greeting: "220 lab.test ESMTP ready\r\n", more: "220-and one more thing\r\n",
		busy: "421 4.3.2 lab.test is busy\r\n", refusal: "454 4.7.0 TLS not available due to temporary reason\r\n",
		reply: func(line string, secure, offered bool) (string, bool) {
			word, argument, _ := strings.Cut(strings.ToUpper(line), " ")
			offered = offered && !secure
			switch {
			case word == "EHLO" && offered:
				return "250-lab.test\r\n250-SIZE 1000000\r\n250-STARTTLS\r\n250 8BITMIME\r\n", false
			case word == "EHLO":
				return "250-lab.test\r\n250-SIZE 1000000\r\n250 8BITMIME\r\n", false
			case word == "HELO", word == "NOOP", word == "RSET":
				return "250 lab.test\r\n", false
			case word == "QUIT":
				return "221 2.0.0 lab.test closes\r\n", false
			case word == "STARTTLS" && offered && argument != "":
				return "501 5.5.4 no parameters allowed\r\n", false
			case word == "STARTTLS" && offered:
				return "220 2.0.0 go ahead\r\n", true
			}
			return "502 5.5.1 not here\r\n", false
		},
	}
}

// imap is RFC 9051.
func imap() dialect {
	return dialect{
		scheme: "imap", quits: "LOGOUT", greeting: "* OK [CAPABILITY IMAP4rev1 STARTTLS LOGINDISABLED] lab.test ready\r\n",
		more: "* OK and one more thing\r\n", busy: "* BYE lab.test is busy\r\n", refusal: "TAG NO not now\r\n",
		reply: func(line string, secure, offered bool) (string, bool) {
			tag, rest, _ := strings.Cut(line, " ")
			offered = offered && !secure
			capability := "* CAPABILITY IMAP4rev1 AUTH=PLAIN\r\n"
			if offered {
				capability = "* CAPABILITY IMAP4rev1 STARTTLS LOGINDISABLED\r\n"
			}
			word := strings.ToUpper(rest)
			switch {
			case word == "CAPABILITY":
				return capability + tag + " OK done\r\n", false
			case word == "NOOP":
				return tag + " OK done\r\n", false
			case word == "LOGOUT":
				return "* BYE lab.test closes\r\n" + tag + " OK done\r\n", false
			case word == "STARTTLS" && offered:
				return tag + " OK begin\r\n", true
			}
			return tag + " BAD not here\r\n", false
		},
	}
}

// ftp is RFC 959 with RFC 4217.
func ftp() dialect {
	return dialect{
		scheme: "ftp", quits: "QUIT", greeting: "220 lab.test ready\r\n", more: "220-and one more thing\r\n",
		busy: "421 lab.test is busy\r\n", refusal: "431 need some unavailable resource\r\n",
		reply: func(line string, secure, offered bool) (string, bool) {
			features := "211-Features:\r\n UTF8\r\n"
			if offered {
				features += " AUTH TLS\r\n PBSZ\r\n PROT\r\n"
			}
			word, argument, _ := strings.Cut(strings.ToUpper(line), " ")
			switch {
			case word == "FEAT":
				return features + "211 End\r\n", false
			case word == "NOOP", secure && (word == "PBSZ" || word == "PROT"):
				return "200 done\r\n", false
			case word == "USER":
				return fmt.Sprintf("331 who is %s?\r\n", argument), false
			case word == "QUIT":
				return "221 lab.test closes\r\n", false
			case word == "AUTH" && argument == "TLS" && offered && !secure:
				return "234 go ahead\r\n", true
			}
			return "502 not here\r\n", false
		},
	}
}
