package probe

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/http/httpguts"

	"github.com/probefleet/probefleet/internal/assertion"
	"github.com/probefleet/probefleet/internal/redact"
	"github.com/probefleet/probefleet/internal/uptime"
)

// wsKind is what all visits of websocket targets share.
type wsKind struct {
	dialer *dialer
	agent  string
	wires  sync.Pool // of *wire
}

func newWSKind(d *dialer, agent string) *wsKind {
	return &wsKind{dialer: d, agent: agent, wires: sync.Pool{New: func() any { return newWire() }}}
}

// wsVisitor opens a websocket (RFC 6455), talks a little and closes it.
type wsVisitor struct {
	*wsKind
	spec       uptime.WebSocketSpec
	at         endpoint
	config     *tls.Config // nil: plain
	skipVerify bool
	shown      string
	head, tail []byte // of the request, before and after the key
	headers    []header
	limit      int // bytes that are received
}

func (k *wsKind) compile(b blueprint) (visitor, error) {
	shown, at, err := parseWebSocket(b.url)
	if err != nil {
		return nil, fmt.Errorf("this URL cannot be visited: %w", err)
	}
	v := &wsVisitor{
		wsKind: k, at: endpoint{host: at.host, ip: at.ip, port: at.port, family: b.spec.Family},
		skipVerify: b.spec.TLS != nil && b.spec.TLS.SkipVerify, limit: assertion.LeastBody,
	}
	if b.asserts.JudgesReceived() {
		if b.spec.WebSocket == nil || b.spec.WebSocket.Send == "" { // a pong is no message: that one lacks something would always hold
			return nil, errors.New("there is no answer to assert anything of: nothing is sent")
		}
		v.limit = assertion.MostBody
	}
	shown.Scheme = "ws"
	if at.secure {
		shown.Scheme = "wss"
		v.config = k.dialer.tlsOf(b.spec.TLS, at.host, "http/1.1")
	}
	v.shown = redact.URL(shown.String())
	if b.spec.WebSocket != nil {
		v.spec = *b.spec.WebSocket
	}
	return v, v.request(at, b.secrets)
}

// parseWebSocket reads ws and wss URLs (RFC 6455 §3), as what they are of HTTP.
func parseWebSocket(text string) (u *url.URL, at address, err error) {
	u, err = url.Parse(text)
	if err != nil {
		return nil, address{}, errors.New("it is malformed") // the error would quote the URL and any secret in it
	}
	switch {
	case u.Opaque != "":
		return nil, address{}, errHost
	case u.Scheme == "ws":
		u.Scheme = "http"
	case u.Scheme == "wss":
		u.Scheme = "https"
	default:
		return nil, address{}, errors.New("the scheme is not ws or wss")
	}
	u.Fragment = ""
	at, err = takeApart(u)
	return u, at, err
}

// request writes the opening handshake (RFC 6455 §4.1).
func (v *wsVisitor) request(at address, secrets *keyring) error {
	for _, line := range v.spec.Headers {
		value, err := secrets.header(line)
		if err != nil {
			return err
		}
		if !httpguts.ValidHeaderFieldName(line.Name) || !httpguts.ValidHeaderFieldValue(value) || uptime.ReservedHeader(line.Name) || hasPrefixFold(line.Name, "Sec-WebSocket-") {
			return fmt.Errorf("the header %.40q cannot be sent", line.Name)
		}
		v.headers = append(v.headers, header{line.Name, value})
	}
	for _, name := range v.spec.Subprotocols {
		if !httpguts.ValidHeaderFieldName(name) { // both are tokens
			return fmt.Errorf("the subprotocol %.40q cannot be asked for", name)
		}
	}
	text := "GET " + at.uri + " HTTP/1.1\r\nHost: " + at.header + "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13"
	if !slices.ContainsFunc(v.headers, func(h header) bool { return strings.EqualFold(h.name, "User-Agent") }) {
		text += "\r\nUser-Agent: " + v.agent
	}
	if len(v.spec.Subprotocols) > 0 {
		text += "\r\nSec-WebSocket-Protocol: " + strings.Join(v.spec.Subprotocols, ", ")
	}
	for _, line := range v.headers {
		text += "\r\n" + line.name + ": " + line.value
	}
	v.head, v.tail = []byte(text+"\r\nSec-WebSocket-Key: "), []byte("\r\n\r\n")
	return nil
}

func hasPrefixFold(text, prefix string) bool {
	return len(text) >= len(prefix) && strings.EqualFold(text[:len(prefix)], prefix)
}

// visit implements visitor.
func (v *wsVisitor) visit(ctx context.Context, s *sighting) trouble {
	hop := s.hop(v.shown)
	tcp, release, bad := v.dialer.dial(ctx, v.at, s, hop)
	if !bad.none() {
		return bad
	}
	defer tcp.Close()
	defer release()
	w := v.wires.Get().(*wire)
	defer v.wires.Put(w)
	mark := time.Now()
	w.conn = tcp
	if v.config != nil {
		secure, bad := handshake(tcp, v.config, s)
		lap(&hop.Phases.TLS, &mark)
		if !bad.none() {
			return bad
		}
		w.conn = secure
	}
	key := newWSKey()
	if bad := v.open(w, key, s, hop, &mark); !bad.none() {
		return bad
	}
	return v.talk(w, key, s, hop, &mark)
}

// command implements visitor.
func (v *wsVisitor) command() string {
	words := []string{"websocat"}
	if v.spec.Send != "" {
		words = []string{"printf", "%s", quoted(shownSend(v.spec.Send)), "|", "websocat", "-1"}
	}
	if v.skipVerify {
		words = append(words, "-k")
	}
	if len(v.spec.Subprotocols) > 0 {
		words = append(words, "--protocol", quoted(strings.Join(v.spec.Subprotocols, ", ")))
	}
	for i, line := range v.headers {
		value := line.value
		if redact.Name(line.name) || v.spec.Headers[i].Secret != "" {
			value = "…"
		}
		words = append(words, "-H="+quoted(line.name+": "+value))
	}
	return strings.Join(append(words, quoted(v.shown)), " ")
}

// answeredWith is the status of an answer, for people.
func answeredWith(code int) string {
	return strings.TrimSpace(fmt.Sprint("answered ", code, " ", http.StatusText(code)))
}
