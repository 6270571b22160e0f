package probe

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

// tooLarge is an answer that goes beyond a cap.
type tooLarge string

func (e tooLarge) Error() string { return string(e) }

const errHeadersTooLarge = tooLarge("the headers are larger than 64 KiB")

// framing is what chunks may add to a body on the wire before it counts as cut.
const framing = 16 << 10

// wire is the connection of one hop, read through buffers that are used again.
type wire struct {
	conn    net.Conn // TLS included
	budget  int64    // bytes that may still be read off it
	spent   error    // what running out of budget means
	broken  error    // what reading ended in, the end of the answer included
	reader  *bufio.Reader
	cork    corked   // below TLS
	raw     counting // the body, before it is decoded
	scratch []byte   // see spare
}

// readAhead is what most heads fit into. A visit that waits for an answer has a buffer of
// it, so it is most of what such a visit needs besides its stacks.
const readAhead = 2 << 10 // bytes

func newWire() *wire {
	w := &wire{}
	w.reader = bufio.NewReaderSize(w, readAhead)
	return w
}

// spare is room for what is counted and not kept. A visit that still waits has none.
func (w *wire) spare() []byte {
	if w.scratch == nil {
		w.scratch = make([]byte, 4<<10)
	}
	return w.scratch
}

// Read counts what comes off the wire, so that no answer costs more than its cap.
func (w *wire) Read(p []byte) (int, error) {
	if w.budget <= 0 {
		w.broken = w.spent
		return 0, w.spent
	}
	n, err := w.conn.Read(p[:min(int64(len(p)), w.budget)])
	w.budget -= int64(n)
	w.broken = err
	return n, err
}

// limiter is what bounds the reading of a body.
type limiter interface {
	exhausted() bool
	trouble(err error) trouble // what ended it early
}

func (w *wire) exhausted() bool { return w.budget <= 0 }

func (w *wire) trouble(err error) trouble { return answerTrouble(err, "reading the body") }

// hop makes one request.
func (h *httpVisitor) hop(ctx context.Context, w *wire, r *request, s *sighting) (*http.Response, trouble) {
	s.forgetAnswer()
	hop := s.hop(r.shown)
	if h.spec.Version == uptime.HTTP3 && r.at.secure {
		return h.hop3(ctx, w, r, s, hop)
	}
	conn, release, bad := h.dialer.dial(ctx, endpoint{host: r.at.host, ip: r.at.ip, port: r.at.port, family: h.family}, s, hop)
	if !bad.none() {
		return nil, bad
	}
	defer conn.Close()
	defer release()
	mark := time.Now()
	w.conn = conn
	if r.config != nil {
		m, bad := h.secured(conn, w, r, s)
		lap(&hop.Phases.TLS, &mark)
		if !bad.none() {
			return nil, bad
		}
		if m != nil && s.agreed == protocolH2 {
			return h.exchange2(ctx, m, w, r, s, hop, &mark)
		}
	}
	return h.exchange(w, r, s, hop, &mark)
}

// secured puts TLS between the connection and w, and a meter where another version than
// HTTP/1.1 may be agreed on: somebody else talks over the connection then.
func (h *httpVisitor) secured(conn net.Conn, w *wire, r *request, s *sighting) (m *meter, bad trouble) {
	if h.spec.Version == uptime.HTTP1 {
		w.cork = corked{Conn: conn, held: w.cork.held[:0]}
		if w.conn, bad = handshake(&w.cork, r.config, s); !bad.none() {
			_ = w.cork.flush() // tells the server why
		}
		return nil, bad
	}
	m = &meter{Conn: conn}
	w.conn, bad = handshake(m, r.config, s)
	if bad.none() && h.spec.Version == uptime.HTTP2 && s.agreed != protocolH2 {
		bad = failed(uptime.FailureProtocol, "the server does not speak HTTP/2")
	}
	return m, bad
}

// exchange sends the request and waits for the answer.
func (h *httpVisitor) exchange(w *wire, r *request, s *sighting, hop *uptime.Hop, mark *time.Time) (*http.Response, trouble) {
	w.budget, w.spent, w.broken = maxHeaders, errHeadersTooLarge, nil
	w.reader.Reset(w)
	_, err := w.conn.Write(r.bytes)
	if err == nil || isReset(err) { // a server may answer before it has read all, and close
		_, err = w.reader.Peek(1)
	}
	lap(&hop.Phases.Wait, mark)
	if err != nil {
		return nil, answerTrouble(err, "waiting for an answer")
	}
	return h.receive(w, r, s, hop, mark)
}

// receive reads the answer, which has begun.
func (h *httpVisitor) receive(w *wire, r *request, s *sighting, hop *uptime.Hop, mark *time.Time) (*http.Response, trouble) {
	defer lap(&hop.Phases.Transfer, mark)
	response, err := w.response(r.asked) // its body is not closed: the connection is, as a whole
	if err != nil {
		return nil, answerTrouble(err, "reading the headers")
	}
	s.answered(response)
	hop.Status, hop.Protocol = response.StatusCode, response.Proto
	if h.redirects >= 0 && isRedirect(response) {
		return response, trouble{} // its body is nobody's concern
	}
	w.budget, w.spent = h.limit+framing, errCut
	return response, h.read(w, w, response, s)
}

// response reads the head of the answer, past interim ones.
func (w *wire) response(asked *http.Request) (*http.Response, error) {
	for range maxInterim + 1 {
		response, err := http.ReadResponse(w.reader, asked)
		if err != nil && w.broken != nil { // half a line is not the target's idea of one
			err = w.broken
		}
		if err != nil || response.StatusCode >= 200 || response.StatusCode == http.StatusSwitchingProtocols {
			return response, err
		}
	}
	return nil, errors.New("too many interim answers")
}

// errCut ends a body that is longer than is read.
var errCut = errors.New("the body is larger than is read")

// read takes in the body, decoded, up to the limit. What is beyond is nobody's failure:
// assertions know that it was cut.
func (h *httpVisitor) read(w *wire, limit limiter, response *http.Response, s *sighting) trouble {
	w.raw = counting{from: response.Body, most: h.limit + framing}
	raw := &w.raw
	body, release, err := decoder(response.Header, raw, h.limit+framing)
	if err != nil {
		return h.undecodable(err, s)
	}
	defer release()
	for s.BodySize <= h.limit {
		var into []byte
		if room := s.keep - len(s.body); room > 0 {
			s.body = grow(s.body, room)
			into = s.body[len(s.body):min(cap(s.body), s.keep)]
		} else {
			into = w.spare()
		}
		n, err := body.Read(into[:min(int64(len(into)), h.limit+1-s.BodySize)])
		s.BodySize += int64(n)
		if room := s.keep - len(s.body); room > 0 {
			s.body = s.body[:len(s.body)+n]
		}
		if err == nil {
			continue
		}
		s.wire = raw.n
		switch {
		case errors.Is(err, io.EOF):
			return trouble{}
		case errors.Is(err, errCut), limit.exhausted() && errors.Is(err, io.ErrUnexpectedEOF):
			s.BodyCut = true
			return trouble{}
		case raw.err == nil: // the wire was well
			return h.undecodable(err, s)
		}
		return limit.trouble(err)
	}
	s.wire, s.BodySize, s.BodyCut = raw.n, h.limit, true
	s.body = s.body[:min(int64(len(s.body)), h.limit)]
	return trouble{}
}

// undecodable is a failure only if somebody wants to look at the body.
func (h *httpVisitor) undecodable(err error, s *sighting) trouble {
	s.BodyCut = true
	if !h.bodyRule {
		return trouble{}
	}
	return failed(uptime.FailureProtocol, "the body cannot be decoded: "+rootCause(err))
}

// grow makes room for a little more, in steps that are few for large bodies: of one too large for
// its buffer to be used again the last step is the whole room, so that it is in memory once, and not
// also in the step before.
func grow(b []byte, room int) []byte {
	if cap(b)-len(b) > 0 {
		return b
	}
	more := min(max(2<<10, 3*len(b)), room)
	if len(b) > maxKeptBuffer {
		more = room
	}
	larger := make([]byte, len(b), len(b)+more)
	copy(larger, b)
	return larger
}

// counting counts what a body is before it is decoded, and ends it in errCut beyond the most
// that is read.
type counting struct {
	from    io.Reader
	most, n int64
	err     error // that reading ended in, other than the end
}

func (c *counting) Read(p []byte) (int, error) {
	if c.n >= c.most {
		c.err = errCut
		return 0, errCut
	}
	n, err := c.from.Read(p[:min(int64(len(p)), c.most-c.n)])
	c.n += int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		c.err = err
	}
	return n, err
}
