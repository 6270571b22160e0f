package probe

import (
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/lab"
	"github.com/probefleet/probefleet/internal/uptime"
)

// tallied counts what is read off a connection, below TLS.
type tallied struct {
	net.Conn
	read atomic.Int64
}

func (c *tallied) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.read.Add(int64(n))
	return n, err
}

func judged(p *plan, s *sighting, bad trouble, show bool) (o Outcome) {
	judge(p, s, bad, show, &o)
	return o
}

// reading makes the visit of an http check over a connection that is counted.
func reading(t *testing.T, e *Engine, check uptime.Check) (o Outcome, read int64) {
	t.Helper()
	h, p := visitorOf(t, e, check).(*httpVisitor), e.plans.of(&check)
	s, w := &sighting{}, newWire()
	s.begin(p, check.Timeout)
	at := strings.Split(check.URL, "/")[2]
	conn, err := net.Dial("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(s.deadline)
	below, hop, mark := &tallied{Conn: conn}, s.hop(check.URL), time.Now()
	if h.first.config == nil {
		w.conn = below
		_, bad := h.exchange(w, h.first, s, hop, &mark)
		s.end()
		return judged(p, s, bad, true), below.read.Load()
	}
	m, bad := h.secured(below, w, h.first, s)
	if bad.none() {
		_, bad = h.exchange2(t.Context(), m, w, h.first, s, hop, &mark)
	}
	s.end()
	return judged(p, s, bad, true), below.read.Load()
}

const (
	shortBody, longBody = 256 << 10, 1 << 20 // bytes of a body that are read: without and with a rule about it
	around              = 20 << 10           // one buffer of what comes with the headers, and what chunks add
)

// However much a target sends, no more is taken off the wire than the caps say, no more is
// decoded, and no more is kept to be shown.
//
// Promise: answers are read within their caps
func TestAnswersAreReadWithinTheirCaps(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	e := New(options(l))
	looks := wanting("body - not_contains never there")
	two, twoLooks := uptime.Spec{HTTP: &uptime.HTTPSpec{Version: uptime.HTTP2}}, looks
	twoLooks.HTTP = two.HTTP
	const secured = 64 << 10 // what a handshake and the records of TLS add
	for _, c := range []struct {
		server, path string
		spec         uptime.Spec
		wire, body   int64 // at most
	}{
		{"plain", "/endless/chunked", uptime.Spec{}, shortBody + around, shortBody},
		{"plain", "/endless/length", uptime.Spec{}, shortBody + around, shortBody}, // says that it is 10 GB
		{"plain", "/endless/close", uptime.Spec{}, shortBody + around, shortBody},
		{"plain", "/body/100000000", uptime.Spec{}, shortBody + around, shortBody},
		{"plain", "/endless/chunked", looks, longBody + around, longBody},
		{"plain", "/endless/length", looks, longBody + around, longBody},
		{"plain", "/endless/close", looks, longBody + around, longBody},
		{"plain", "/endless-chunk", looks, longBody + around, longBody},
		{"plain", "/endless-trailers", looks, longBody + around, longBody},
		{"plain", "/bomb/gzip", uptime.Spec{}, shortBody, shortBody},
		{"plain", "/bomb/gzip", looks, shortBody, longBody},
		{"plain", "/bomb/br", looks, shortBody, longBody},
		{"plain", "/bomb/zstd", looks, shortBody, longBody},
		{"plain", "/bomb/deflate", looks, shortBody, longBody},
		{"plain", "/bomb/zstd-window", looks, shortBody, longBody},
		{"plain", "/bomb/endless", looks, longBody + around, longBody},
		{"plain", "/encoded/gzip-twice/hello", looks, shortBody, longBody},
		{"plain", "/headers/70000", uptime.Spec{}, maxHeaders, 0},
		{"plain", "/header-line/10000000", uptime.Spec{}, maxHeaders, 0},
		{"plain", "/many-headers/100000", uptime.Spec{}, maxHeaders, 0},
		{"plain", "/endless-header", uptime.Spec{}, maxHeaders, 0},
		{"plain", "/endless-headers", uptime.Spec{}, maxHeaders, 0},
		{"plain", "/endless-interim", uptime.Spec{}, maxHeaders, 0},
		{"h2", "/endless/chunked", two, shortBody + 2*framing + secured, shortBody},
		{"h2", "/endless/chunked", twoLooks, longBody + 2*framing + secured, longBody},
		{"h2", "/bomb/br", twoLooks, shortBody + secured, longBody},
		{"h2", "/headers/1000000", two, maxHeaders + window + framing + secured, 0},
		{"h2-hostile", "/hpack-bomb", two, maxHeaders + window + framing + secured, 0},
		{"h2-hostile", "/continuation-flood", two, maxHeaders + window + framing + secured, 0},
		{"h2-hostile", "/ping-flood", two, maxHeaders + window + framing + secured, 0},
		{"h2-hostile", "/settings-flood", two, maxHeaders + window + framing + secured, 0},
	} {
		t.Run(c.server+c.path+" "+string(c.spec.Text()), func(t *testing.T) {
			t.Parallel()
			check := checkOf(urlIn(t, l, c.server) + c.path)
			check.Spec, check.Timeout = c.spec.Text(), 20*time.Second
			o, read := reading(t, e, check)
			if o.Failure == uptime.FailureTimeout || read == 0 || read > c.wire || int64(o.Seen.BodyBytes) > c.body || o.Evidence == nil || len(o.Evidence.Body) > uptime.MaxEvidenceBody {
				t.Errorf("%d bytes off the wire, %d decoded: %+v", read, o.Seen.BodyBytes, o)
			}
		})
	}
}

// Chunks of one byte are five parts framing: they are read as far as a body may take on the
// wire, whatever comes out of it.
func TestTinyChunksAreReadWithinTheCap(t *testing.T) {
	t.Parallel()
	at := serve(t, func(c *net.TCPConn) {
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
		for chunks := []byte(strings.Repeat("1\r\nx\r\n", 1000)); ; {
			if _, err := c.Write(chunks); err != nil {
				return
			}
		}
	})
	check := checkOf("http://" + at + "/")
	check.Timeout = 20 * time.Second
	o, read := reading(t, New(options(nil)), check)
	if o.Status != uptime.StatusUp || read > shortBody+around || o.Seen.BodyBytes < shortBody/8 || o.Seen.BodyBytes > shortBody/4 {
		t.Errorf("%d bytes off the wire, %d decoded: %+v", read, o.Seen.BodyBytes, o)
	}
}

// urlIn is the URL of a server of the lab.
func urlIn(t *testing.T, l *lab.Lab, server string) string {
	t.Helper()
	if server == "plain" {
		return l.URL()
	}
	return urlOf(t, l, server)
}
