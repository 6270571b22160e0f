package probe

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/http2"

	"github.com/probefleet/probefleet/internal/uptime"
)

// Over HTTP/2 the exchange is net/http's: our own connection, dialled, secured and
// counted as for HTTP/1.1, is handed to it. It costs several times as much, so a target
// has to ask for it.

const (
	protocolH2 = "h2"
	window     = 64 << 10  // bytes of a body that may come before they are asked for
	unpacked   = 256 << 10 // bytes of headers that are unpacked: what net/http refuses is "broken" to it, and what is too large should be called so
	errFlood   = tooLarge("more than 128 KiB came, and no body")
)

// protocolsOf is what TLS offers (RFC 7301) for a version.
func protocolsOf(v uptime.HTTPVersion) []string {
	switch v {
	case uptime.HTTP2:
		return []string{protocolH2}
	case uptime.HTTPBest:
		return []string{protocolH2, "http/1.1"}
	}
	return []string{"http/1.1"} // over HTTP/3 the one of QUIC is put in its place
}

// exchange2 makes the request over a connection that agreed on HTTP/2.
func (h *httpVisitor) exchange2(ctx context.Context, m *meter, w *wire, r *request, s *sighting, hop *uptime.Hop, mark *time.Time) (*http.Response, trouble) {
	ctx, cancel := s.within(ctx)
	defer cancel()
	m.allow(maxHeaders+window+framing, errFlood)
	client, err := clientOf(ctx, w.conn, r)
	if err != nil {
		return nil, trouble2(err, m, "waiting for an answer")
	}
	defer client.Close()
	asked, err := h.request2(ctx, r)
	if err != nil {
		return nil, unknown(uptime.ReasonInternal, "the request cannot be sent over HTTP/2")
	}
	response, err := client.RoundTrip(asked)
	lap(&hop.Phases.Wait, mark)
	if err != nil {
		return nil, trouble2(err, m, "waiting for an answer")
	}
	defer lap(&hop.Phases.Transfer, mark)
	defer response.Body.Close()
	if sizeOf(response.Header) > maxHeaders {
		return nil, failed(uptime.FailureTooLarge, errHeadersTooLarge.Error())
	}
	s.answered(response)
	s.Protocol = "HTTP/2" // as assertions and people call it
	hop.Status, hop.Protocol = response.StatusCode, s.Protocol
	if h.redirects >= 0 && isRedirect(response) {
		return response, trouble{}
	}
	m.allow(h.limit+2*framing, errCut)
	return response, h.read(w, m, response, s)
}

// sizeOf counts headers as they are unpacked, as h2Block does.
func sizeOf(headers http.Header) (size int) {
	for name, values := range headers {
		for _, value := range values {
			size += len(name) + len(value) + 32
		}
	}
	return size
}

// clientOf gives the connection to net/http, for this one request.
func clientOf(ctx context.Context, conn net.Conn, r *request) (*http.ClientConn, error) {
	var protocols http.Protocols
	protocols.SetHTTP2(true)
	transport := &http.Transport{
		DialTLSContext: func(context.Context, string, string) (net.Conn, error) { return conn, nil },
		Protocols:      &protocols, DisableCompression: true, MaxResponseHeaderBytes: unpacked,
		HTTP2: &http.HTTP2Config{MaxReceiveBufferPerStream: window, MaxReceiveBufferPerConnection: window},
	}
	return transport.NewClientConn(ctx, "https", r.at.header)
}

// request2 says to net/http what requestTo wrote for HTTP/1.1.
func (h *httpVisitor) request2(ctx context.Context, r *request) (*http.Request, error) {
	var body io.Reader
	if r.body != "" {
		body = strings.NewReader(r.body)
	}
	asked, err := http.NewRequestWithContext(ctx, r.method, r.url, body)
	if err != nil {
		return nil, err
	}
	asked.Host, asked.URL.User = r.at.header, nil
	for _, line := range h.lines(r) {
		asked.Header.Add(line.name, line.value)
	}
	return asked, nil
}

// trouble2 reads an error of net/http's; what the wire said is more precise, unless the answer
// was what ended it: reading may have gone on until we went.
func trouble2(err error, m *meter, doing string) trouble {
	stream, isStream := errors.AsType[http2.StreamError](err)
	switch text := err.Error(); {
	case isStream && stream.Cause != nil && stream.Cause.Error() == "received from peer":
		return failed(uptime.FailureReset, "stream reset "+doing+" ("+stream.Code.String()+")")
	case strings.Contains(text, "GOAWAY"):
		return failed(uptime.FailureReset, "the server ended the connection with GOAWAY "+doing)
	case strings.Contains(text, "response header list larger"):
		return failed(uptime.FailureTooLarge, errHeadersTooLarge.Error())
	case strings.Contains(text, "header list too large"): // of interim answers, all told
		return failed(uptime.FailureProtocol, "too many interim answers")
	}
	if broken := m.why(); broken != nil {
		err = broken
	}
	bad := answerTrouble(err, doing)
	if bad.failure == uptime.FailureProtocol { // its texts may quote what was sent
		return failed(uptime.FailureProtocol, "broken HTTP/2 "+doing)
	}
	return bad
}

// meter bounds what is read of a connection that somebody else reads. It lets everything
// pass until it is told what to allow.
type meter struct {
	net.Conn

	mu      sync.Mutex
	bounded bool
	left    int64
	spent   error // what running out means
	broken  error // what reading ended in
}

func (m *meter) allow(n int64, spent error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.bounded, m.left, m.spent = true, n, spent
}

func (m *meter) why() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.broken
}

func (m *meter) exhausted() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.bounded && m.left <= 0
}

func (m *meter) trouble(err error) trouble { return trouble2(err, m, "reading the body") }

// Read implements net.Conn.
func (m *meter) Read(p []byte) (int, error) {
	m.mu.Lock()
	if m.bounded && m.left <= 0 {
		m.broken = m.spent
		m.mu.Unlock()
		return 0, m.spent
	}
	if m.bounded {
		p = p[:min(int64(len(p)), m.left)]
	}
	m.mu.Unlock()
	n, err := m.Conn.Read(p)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.left -= int64(n)
	if err != nil && !errors.Is(err, net.ErrClosed) { // that is us, after the deadline
		m.broken = err
	}
	return n, err
}
