package notify

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/textproto"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/wneessen/go-mail"
	maillog "github.com/wneessen/go-mail/log"
)

// How a connection to a mail server is kept private.
const (
	startTLS = "starttls"
	fromTLS  = "tls"
	noTLS    = "none"
)

const (
	mostRecipients = 20
	smtpWithin     = 15 * time.Second
)

// Email is a mail server that takes messages from you.
type Email struct {
	Host       string   `json:"host" maxLength:"253" doc:"The server's name." example:"smtp.example.com"`
	Port       int      `json:"port,omitempty" minimum:"1" maximum:"65535" doc:"Default 587; 465 with tls, 25 with none."`
	Security   string   `json:"security,omitempty" enum:"starttls,tls,none" doc:"Default starttls, which is insisted on."`
	Username   string   `json:"username,omitempty" maxLength:"254"`
	Password   Secret   `json:"password,omitempty,omitzero" format:"password"`
	From       string   `json:"from" format:"email"`
	Recipients []string `json:"to" minItems:"1" maxItems:"20" nullable:"false"`
}

// To lists the recipients.
func (e *Email) To() string {
	if len(e.Recipients) > 2 {
		return fmt.Sprintf("%s and %d more", e.Recipients[0], len(e.Recipients)-1)
	}
	return strings.Join(e.Recipients, ", ")
}

func (e *Email) origin() string { return e.address() + " " + e.security() }

func (e *Email) security() string {
	if e.Security == "" {
		return startTLS
	}
	return e.Security
}

func (e *Email) address() string {
	port := e.Port
	if port == 0 {
		port = map[string]int{startTLS: 587, fromTLS: 465, noTLS: 25}[e.security()]
	}
	return net.JoinHostPort(e.Host, strconv.Itoa(port))
}

var hostName = regexp.MustCompile(`^[A-Za-z0-9]([-A-Za-z0-9.:]{0,251}[A-Za-z0-9])?$`)

func (e *Email) judge(j *judge) {
	if !hostName.MatchString(e.Host) {
		j.add("host", CodeInvalidText, "want the name or the address of a server")
	}
	if e.Port < 0 || e.Port > 65535 {
		j.add("port", CodeInvalidValue, "from 1 to 65535")
	}
	j.oneOf("security", e.security(), startTLS, fromTLS, noTLS)
	j.text("username", e.Username, 254, !e.Password.IsZero())
	j.secret("password", e.Password, e.Username != "")
	if e.security() == noTLS && !e.Password.IsZero() {
		j.add("security", CodeInvalidValue, "a password is not sent in clear: take starttls or tls")
	}
	j.address("from", e.From)
	if len(e.Recipients) == 0 || len(e.Recipients) > mostRecipients {
		j.add("to", CodeRequired, "want 1 to %d recipients", mostRecipients)
	}
	for i, to := range e.Recipients {
		j.address("to/"+strconv.Itoa(i), to)
	}
}

func (e *Email) send(c *call, m Message) error {
	msg, err := e.message(e.Recipients, m.title(), m.text(), m.Key+" "+m.link(), m.link())
	if err != nil {
		return &Failure{ForGood: true, Said: c.hide(err.Error(), maxExcerpt)}
	}
	return e.hand(c, msg, "Subject: "+m.title()+"\n\n"+m.text())
}

// hand hands a mail over, and notes what was said.
func (e *Email) hand(c *call, msg *mail.Msg, text string) error {
	heard := &conversation{}
	shown := Exchange{Request: "SMTP " + e.address(), Sent: c.hide(text, shownSent)}
	began := time.Now()
	err := e.deliver(c, msg, heard)
	shown.Took, shown.Status = time.Since(began), 250
	var failure *Failure
	if err != nil {
		failure = c.refused(err)
		shown.Status = failure.Status
	}
	shown.Answer = c.hide(heard.String(), shownSent)
	switch {
	case failure == nil:
		shown.Answer += "S: " + c.hide(msg.ServerResponse(), maxExcerpt)
	case shown.Answer == "":
		shown.Answer = failure.Said
	}
	c.log = append(c.log, shown)
	if failure != nil {
		return failure
	}
	return nil
}

// message is a mail. It has the same Message-ID at every attempt, made of key; mails of one
// thread stand together.
func (e *Email) message(to []string, subject, text, key, thread string) (*mail.Msg, error) {
	msg := mail.NewMsg()
	if err := errors.Join(msg.From(e.From), msg.To(to...)); err != nil {
		return nil, err
	}
	_, domain, _ := strings.Cut(e.From, "@")
	name := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return hex.EncodeToString(sum[:16]) + "@" + domain
	}
	msg.Subject(subject)
	msg.SetDate()
	msg.SetMessageIDWithValue(name(key))
	msg.SetGenHeader("References", "<"+name(thread)+">")
	msg.SetGenHeader("Auto-Submitted", "auto-generated")
	msg.SetBodyString(mail.TypeTextPlain, text+"\n")
	return msg, nil
}

// deliver hands a mail over. Once the server has taken it, nothing that follows counts.
func (e *Email) deliver(c *call, msg *mail.Msg, heard *conversation) error {
	host, port, _ := net.SplitHostPort(e.address())
	number, _ := strconv.Atoi(port)
	private := c.d.tls.Clone()
	private.ServerName = host
	options := []mail.Option{
		mail.WithPort(number), mail.WithTimeout(smtpWithin), mail.WithTLSConfig(private), mail.WithTLSPolicy(mail.TLSMandatory), mail.WithoutNoop(), mail.WithoutRset(),
		mail.WithDialContextFunc(e.dial(c, private)), mail.WithDebugLog(), mail.WithLogger(heard),
	}
	switch e.security() {
	case fromTLS:
		// dial has secured it; the library, which sees that, need not ask for more, and would
		// with WithSSL take it for clear.
		options = append(options, mail.WithTLSPolicy(mail.TLSOpportunistic))
	case noTLS:
		options = append(options, mail.WithTLSPolicy(mail.NoTLS))
	}
	if e.Username != "" {
		options = append(options, mail.WithSMTPAuth(mail.SMTPAuthAutoDiscover), mail.WithUsername(e.Username), mail.WithPassword(e.Password.Reveal()))
	}
	client, err := mail.NewClient(host, options...)
	if err != nil {
		return err
	}
	session, err := client.DialToSMTPClientWithContext(c.ctx)
	if err != nil {
		return err
	}
	if err := client.SendWithSMTPClient(session, msg); err != nil {
		_ = session.Close()
		return err
	}
	_ = client.CloseWithSMTPClient(session)
	return nil
}

// dial connects through the guard. The connection ends with the attempt.
func (e *Email) dial(c *call, private *tls.Config) mail.DialContextFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := c.d.dialer.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		context.AfterFunc(c.ctx, func() { _ = conn.Close() })
		if e.security() != fromTLS {
			return conn, nil
		}
		secured := tls.Client(conn, private)
		if err := secured.HandshakeContext(ctx); err != nil {
			_ = conn.Close()
			return nil, err
		}
		return secured, nil
	}
}

// refused says why a mail was not taken. What concerns the mail itself is refused again; what
// may be put right, at the server or in the channel, is tried again.
func (c *call) refused(err error) *Failure {
	f := &Failure{Said: c.reason(err)}
	if said, ok := errors.AsType[*mail.SendError](err); ok {
		f.Status, f.ForGood = said.ErrorCode(), !said.IsTemp() && said.ErrorCode() >= 500
	}
	if said, ok := errors.AsType[*textproto.Error](err); ok {
		f.Status = said.Code
	}
	return f
}

// conversation keeps what was said, but for what signs in.
type conversation struct {
	mu  sync.Mutex
	out strings.Builder
}

func (c *conversation) add(l maillog.Log) {
	c.mu.Lock()
	defer c.mu.Unlock()
	who := "S: "
	if l.Direction == maillog.DirClientToServer {
		who = "C: "
	}
	if c.out.Len() < shownSent {
		c.out.WriteString(who + fmt.Sprintf(l.Format, l.Messages...) + "\n")
	}
}

func (c *conversation) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.out.String()
}

// Debugf is what the library says of a conversation; the others are the same to us.
func (c *conversation) Debugf(l maillog.Log) { c.add(l) }

// Infof is like Debugf.
func (c *conversation) Infof(l maillog.Log) { c.add(l) }

// Warnf is like Debugf.
func (c *conversation) Warnf(l maillog.Log) { c.add(l) }

// Errorf is like Debugf.
func (c *conversation) Errorf(l maillog.Log) { c.add(l) }
