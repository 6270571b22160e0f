package uptime

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Spec is how a target is visited and what it must answer, besides its URL and
// timeout. The zero value is a plain visit that wants 200-399. Only the part of the
// target's own kind may be set (TLS also goes with kinds that can be secured).
// It holds no secret in clear: see Sealed.
type Spec struct {
	Expect     Expect         `json:"expect,omitzero"`
	Assertions []Assertion    `json:"assertions,omitempty"`
	Family     Family         `json:"family,omitempty"`
	HTTP       *HTTPSpec      `json:"http,omitempty"`
	TCP        *TCPSpec       `json:"tcp,omitempty"`
	TLS        *TLSSpec       `json:"tls,omitempty"`
	DNS        *DNSSpec       `json:"dns,omitempty"`
	WebSocket  *WebSocketSpec `json:"websocket,omitempty"`
	Heartbeat  *HeartbeatSpec `json:"heartbeat,omitempty"`

	// Unread is all of it as it was written, when this release cannot read it: nothing else is set then.
	// It is stored and passed on as it is, and a prober that cannot read it either says so.
	Unread SpecText `json:"-"`
}

// SpecText is a Spec as JSON, empty for the zero Spec. It is what the stream, the
// spool and the stores carry: whoever only passes a check on never looks inside, and
// equal texts are equal specs.
type SpecText string

// Text encodes the spec.
func (s Spec) Text() SpecText {
	if s.Unread != "" {
		return s.Unread
	}
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false) // bodies are often HTML, and room is short
	_ = encoder.Encode(s)        // it has no type that fails
	if text.String() == "{}\n" {
		return ""
	}
	return SpecText(strings.TrimSuffix(text.String(), "\n"))
}

// Spec decodes the text. A member it does not know is an error: it comes from a newer
// release, and to leave out what it demands would be to call up what may be down.
func (t SpecText) Spec() (Spec, error) {
	var s Spec
	if t == "" {
		return s, nil
	}
	decoder := json.NewDecoder(strings.NewReader(string(t)))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(&s)
	if err == nil {
		if _, behind := decoder.Token(); behind != io.EOF {
			err = errors.New("there is something behind it")
		}
	}
	if err != nil {
		return Spec{}, fmt.Errorf("decode spec: %w", err)
	}
	return s, nil
}

// Read is Spec for who passes it on: one that this release cannot read is Unread.
func (t SpecText) Read() Spec {
	s, err := t.Spec()
	if err != nil {
		return Spec{Unread: t}
	}
	return s
}

// Family restricts the addresses a visit may use. Empty means both, in the order the
// resolver gives.
type Family string

// Families.
const (
	FamilyAny Family = ""
	FamilyV4  Family = "4"
	FamilyV6  Family = "6"
)

// Sealed is a secret as it is stored and sent: encrypted by package seal, safe to
// print, useless without the installation's key.
type Sealed string

// Secrets are all that the spec holds.
func (s Spec) Secrets() (all []Sealed) {
	note := func(sealed ...Sealed) {
		for _, one := range sealed {
			if one != "" {
				all = append(all, one)
			}
		}
	}
	if s.HTTP != nil {
		note(s.HTTP.BodySecret, s.HTTP.QuerySecret, s.HTTP.Password, s.HTTP.Token)
		for _, h := range s.HTTP.Headers {
			note(h.Secret)
		}
	}
	if s.TCP != nil {
		note(s.TCP.SendSecret)
	}
	if s.WebSocket != nil {
		for _, h := range s.WebSocket.Headers {
			note(h.Secret)
		}
	}
	return all
}

// HTTPSpec is the request of an http target. The zero value is a GET over HTTP/1.1
// that follows five redirects.
type HTTPSpec struct {
	Method      string      `json:"method,omitempty"`  // empty: GET
	Headers     []Header    `json:"headers,omitempty"` // not sent to another origin after a redirect
	Body        string      `json:"body,omitempty"`    // at most one of Body and BodySecret
	BodySecret  Sealed      `json:"body_secret,omitempty"`
	QuerySecret Sealed      `json:"query_secret,omitempty"` // follows the query of the URL, not of those that redirects lead to
	Username    string      `json:"username,omitempty"`     // basic authentication (RFC 7617)
	Password    Sealed      `json:"password,omitempty"`
	Token       Sealed      `json:"token,omitempty"`      // bearer token (RFC 6750)
	Redirects   *int        `json:"redirects,omitempty"`  // how many are followed, 0 to 5; nil: 5
	Cookies     bool        `json:"cookies,omitempty"`    // those that are set on the way are sent along
	Compressed  bool        `json:"compressed,omitempty"` // asks for gzip, br and zstd; what comes compressed is decoded anyway
	Version     HTTPVersion `json:"version,omitempty"`
}

// Header is one line of a request. At most one of Value and Secret is set.
type Header struct {
	Name   string `json:"name"`
	Value  string `json:"value,omitempty"`
	Secret Sealed `json:"secret,omitempty"`
}

// HTTPVersion is the protocol an http target is visited with.
type HTTPVersion string

// HTTP versions. Others than the first take a slower path: see package probe.
const (
	HTTP1    HTTPVersion = ""     // HTTP/1.1
	HTTP2    HTTPVersion = "2"    // HTTP/2 or failure; over TLS only
	HTTP3    HTTPVersion = "3"    // HTTP/3 or failure; over TLS only
	HTTPBest HTTPVersion = "best" // HTTP/2 if the server takes it, else HTTP/1.1
)

// TCPSpec is the talk of a tcp target. What the server sends is judged by assertions
// on the source received.
type TCPSpec struct {
	Send       string   `json:"send,omitempty"` // after the connection (and STARTTLS) is there; at most one of Send and SendSecret
	SendSecret Sealed   `json:"send_secret,omitempty"`
	StartTLS   StartTLS `json:"starttls,omitempty"` // the protocol whose upgrade to TLS is made first
}

// StartTLS names a protocol that can be upgraded to TLS.
type StartTLS string

// Protocols with STARTTLS.
const (
	StartTLSNone StartTLS = ""
	StartTLSSMTP StartTLS = "smtp" // RFC 3207
	StartTLSIMAP StartTLS = "imap" // RFC 9051 §6.2.1
	StartTLSFTP  StartTLS = "ftp"  // RFC 4217
)

// TLSSpec is what a TLS handshake offers and demands. The zero value verifies the
// chain and the name of the URL's host.
type TLSSpec struct {
	ServerName  string `json:"server_name,omitempty"`  // asked for and verified instead of the URL's host
	SkipVerify  bool   `json:"skip_verify,omitempty"`  // whoever answers is believed
	PostQuantum bool   `json:"post_quantum,omitempty"` // also offers X25519MLKEM768, which costs more
}

// DNSSpec is how a dns target is asked; the question itself is in its URL (RFC 4501).
type DNSSpec struct {
	Transport DNSTransport `json:"transport,omitempty"`
}

// DNSTransport is how a DNS question travels.
type DNSTransport string

// DNS transports.
const (
	DNSOverUDP   DNSTransport = ""      // repeated over TCP when the answer was cut
	DNSOverTCP   DNSTransport = "tcp"   // RFC 7766
	DNSOverTLS   DNSTransport = "tls"   // RFC 7858
	DNSOverHTTPS DNSTransport = "https" // RFC 8484
)

// WebSocketSpec is the talk of a websocket target once it is open. Empty: it is opened,
// pinged and closed, and whatever it says by itself is passed over.
type WebSocketSpec struct {
	Send         string   `json:"send,omitempty"` // one text message; the first one that comes is what the source received holds. Without it there is nothing of that
	Headers      []Header `json:"headers,omitempty"`
	Subprotocols []string `json:"subprotocols,omitempty"`
}

// ReservedHeader says whether a request header may not be set, because it decides how
// the message itself is read or where it goes (RFC 9110 §7, RFC 9112 §6).
func ReservedHeader(name string) bool {
	lower := strings.ToLower(name)
	switch lower {
	case "host", "connection", "keep-alive", "transfer-encoding", "content-length", "te", "trailer", "upgrade", "expect":
		return true
	}
	return strings.HasPrefix(lower, "proxy-")
}
