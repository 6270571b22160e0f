package probe

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/probefleet/probefleet/internal/redact"
	"github.com/probefleet/probefleet/internal/uptime"
)

// Caps of what a server may say before TLS.
const (
	maxClearText  = 16 << 10 // bytes
	maxClearLines = 200
	maxQuoted     = 120 // bytes of a line in a message
)

// greetedAs is the name that mail servers are told (RFC 5321 §4.1.1.1).
const greetedAs = "probefleet.example"

var (
	errTalksOn = errors.New("the server says more than 16 KiB or 200 lines before TLS")
	errBabble  = errors.New("not the protocol")
)

// clearTalk is the talk that leads from a connection in clear to TLS. Nothing that is said
// in it is believed afterwards.
type clearTalk struct {
	conn     io.ReadWriter
	text     []byte // all that was received
	at       int    // what of it was taken
	lines    int
	last     string   // the line taken last
	secrets  []string // not to be quoted
	answered func()   // called at the first byte
}

// upgrade leads to where the handshake begins.
func (t *clearTalk) upgrade(protocol uptime.StartTLS) trouble {
	var bad trouble
	switch protocol {
	case uptime.StartTLSSMTP:
		bad = t.smtp()
	case uptime.StartTLSIMAP:
		bad = t.imap()
	default:
		bad = t.ftp()
	}
	if bad.none() && t.at < len(t.text) { // CVE-2011-0411
		return failed(uptime.FailureProtocol, "the server says more in clear after it agreed to TLS")
	}
	return bad
}

// smtp is RFC 3207.
func (t *clearTalk) smtp() trouble {
	if code, _, err := t.reply(false); err != nil || code != 220 {
		return t.trouble(err, "the greeting", "the server does not take connections")
	}
	code, lines, err := t.asks("EHLO "+greetedAs, false)
	if err != nil || code != 250 {
		return t.trouble(err, "the answer to EHLO", "the server refuses EHLO")
	}
	if !slices.ContainsFunc(lines[1:], func(line string) bool { return strings.EqualFold(strings.TrimSpace(line), "STARTTLS") }) {
		return failed(uptime.FailureProtocol, "the server does not offer STARTTLS")
	}
	if code, _, err := t.asks("STARTTLS", false); err != nil || code != 220 {
		return t.trouble(err, "the answer to STARTTLS", "the server refuses STARTTLS")
	}
	return trouble{}
}

// ftp is RFC 4217.
func (t *clearTalk) ftp() trouble {
	code, _, err := t.reply(true)
	if err == nil && code == 120 { // ready in a while (RFC 959 §5.4)
		code, _, err = t.reply(true)
	}
	if err != nil || code != 220 {
		return t.trouble(err, "the greeting", "the server does not take connections")
	}
	switch code, _, err := t.asks("AUTH TLS", true); {
	case err != nil:
		return t.trouble(err, "the answer to AUTH TLS", "")
	case code == 234:
		return trouble{}
	case code == 500, code == 502, code == 504:
		return t.trouble(nil, "", "the server does not offer AUTH TLS")
	}
	return t.trouble(nil, "", "the server refuses AUTH TLS")
}

// reply takes a reply of three digits, which may have several lines (RFC 5321 §4.2.1).
// Loose ones have any text between the first line and the last (RFC 959 §4.2).
func (t *clearTalk) reply(loose bool) (code int, lines []string, err error) {
	for {
		line, err := t.line()
		if err != nil {
			return 0, nil, err
		}
		number, text, more, good := replyLine(line)
		switch {
		case good && lines == nil:
			code = number
		case good && number == code:
		case loose && lines != nil:
			more = true
		default:
			return 0, nil, errBabble
		}
		if lines = append(lines, text); !more {
			return code, lines, nil
		}
	}
}

// replyLine takes a line of a reply apart.
func replyLine(line string) (code int, text string, more, good bool) {
	if len(line) < 3 {
		return 0, "", false, false
	}
	for i := range 3 {
		if line[i] < '0' || line[i] > '9' {
			return 0, "", false, false
		}
		code = 10*code + int(line[i]-'0')
	}
	if code < 100 || code > 599 || len(line) > 3 && line[3] != ' ' && line[3] != '-' {
		return 0, "", false, false
	}
	return code, line[min(len(line), 4):], len(line) > 3 && line[3] == '-', true
}

func (t *clearTalk) asks(question string, loose bool) (code int, lines []string, err error) {
	if err := t.say(question); err != nil {
		return 0, nil, err
	}
	return t.reply(loose)
}

func (t *clearTalk) say(line string) error {
	_, err := io.WriteString(t.conn, line+"\r\n")
	return err
}

// line takes the next line, without its end. It reads no more than the server sent.
func (t *clearTalk) line() (string, error) {
	for from := t.at; ; {
		if end := bytes.IndexByte(t.text[from:], '\n'); end >= 0 {
			line := t.text[t.at : from+end]
			t.at = from + end + 1
			if t.lines++; t.lines > maxClearLines {
				return "", errTalksOn
			}
			t.last = string(bytes.TrimSuffix(line, []byte{'\r'}))
			return t.last, nil
		}
		from = len(t.text)
		if from >= maxClearText {
			return "", errTalksOn
		}
		t.text = grow(t.text, maxClearText-from)
		n, err := t.conn.Read(t.text[from:min(cap(t.text), maxClearText)])
		if n > 0 && from == 0 {
			t.answered()
		}
		if t.text = t.text[:from+n]; n == 0 && err != nil {
			return "", err
		}
	}
}

// trouble reads an error of the talk, or says what the last line refuses.
func (t *clearTalk) trouble(err error, waiting, refuses string) trouble {
	quote := `: "` + redact.Text(t.last, t.secrets, maxQuoted) + `"`
	switch {
	case err == nil:
		return failed(uptime.FailureProtocol, refuses+quote)
	case errors.Is(err, errBabble):
		return failed(uptime.FailureProtocol, "the server does not speak the protocol"+quote)
	case errors.Is(err, errTalksOn):
		return failed(uptime.FailureTooLarge, errTalksOn.Error())
	}
	return answerTrouble(err, "waiting for "+waiting)
}
