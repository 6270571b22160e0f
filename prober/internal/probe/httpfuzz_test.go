package probe

import (
	"bytes"
	"compress/gzip"
	"io"
	"net"
	"net/http"
	"os"
	"reflect"
	runtimemetrics "runtime/metrics"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/probefleet/probefleet/internal/redact"
	"github.com/probefleet/probefleet/internal/seal"
	"github.com/probefleet/probefleet/internal/secret"
	"github.com/probefleet/probefleet/internal/uptime"
)

// mostAllocated is what reading one hostile answer may cost: windows of decoders that are
// one within the other, and buffers that grow.
const mostAllocated = 64 << 20

// allocated is how many bytes this process ever took from the heap.
func allocated() uint64 {
	sample := []runtimemetrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	runtimemetrics.Read(sample)
	return sample[0].Value.Uint64()
}

// scriptedServer says what it says, in pieces or at once, and counts what was
// taken of it.
type scriptedServer struct {
	net.Conn
	in    io.Reader
	taken int
}

func (c *scriptedServer) Read(p []byte) (int, error) {
	n, err := c.in.Read(p)
	c.taken += n
	return n, err
}

func (c *scriptedServer) Write(p []byte) (int, error) { return len(p), nil }

// endings are what a connection may end in.
func endings(i uint8) error {
	return [...]error{io.EOF, &net.OpError{Op: "read", Err: syscall.ECONNRESET}, os.ErrDeadlineExceeded}[i%3]
}

// fuzzTarget is a target with a secret in each place, whose answers are judged as a whole.
func fuzzTarget(f *testing.F, method string, bodyRule bool) (*plan, *httpVisitor) {
	f.Helper()
	box, err := seal.New(testKey)
	if err != nil {
		f.Fatal(err)
	}
	s := uptime.Spec{HTTP: &uptime.HTTPSpec{
		Method: method, Cookies: true, Compressed: true, Token: box.Seal(secret.New(canary)), Headers: []uptime.Header{{Name: "X-Mine", Value: "mine"}}, BodySecret: box.Seal(secret.New("pin=" + canary)), QuerySecret: box.Seal(secret.New("k=" + canary)),
	}}
	if bodyRule {
		s.Assertions = []uptime.Assertion{{Source: uptime.SourceBody, Op: uptime.OpContains, Value: "hello"}}
	}
	check := checkOf("http://a.test/x?y=z")
	check.Spec = s.Text()
	p := New(options(nil)).plans.of(&check)
	if !p.bad.none() {
		f.Fatal(p.bad)
	}
	return p, p.visitor.(*httpVisitor)
}

// answer is what reading came to, as far as it does not depend on time.
type answer struct {
	Status                 int
	Body                   string
	Size                   int64
	Cut                    bool
	Failure                uptime.Failure
	Message, Line, Address string
	Header                 http.Header
}

// readScripted takes an answer in, and judges it.
func readScripted(t *testing.T, p *plan, h *httpVisitor, server *scriptedServer) (answer, *http.Response) {
	t.Helper()
	var s sighting
	s.begin(p, time.Minute)
	w := newWire()
	w.conn = server
	mark := time.Now()
	response, bad := h.exchange(w, h.first, &s, s.hop(h.first.shown), &mark)
	s.end()
	most := maxHeaders
	if response != nil {
		most += int(h.limit) + framing
	}
	if server.taken > most {
		t.Fatalf("%d bytes were taken, at most %d may be", server.taken, most)
	}
	if len(s.Body) > s.keep || s.BodySize > h.limit || int64(len(s.Body)) > s.BodySize || s.wire > int64(server.taken) {
		t.Fatalf("%d bytes are kept of %d, %d on the wire, %d taken", len(s.Body), s.BodySize, s.wire, server.taken)
	}
	o := judged(p, &s, bad, true)
	verifyShown(t, o)
	if bad.reason != uptime.ReasonNone || bad.none() && (response == nil || s.Status < 100 || s.Status > 999) {
		t.Fatalf("%+v with the status %d", bad, s.Status)
	}
	return answer{s.Status, string(s.Body), s.BodySize, s.BodyCut, bad.failure, bad.message, s.statusLine, o.AnsweredBy, s.Header}, response
}

// verifyShown holds what must be true of all that is shown of a visit.
func verifyShown(t *testing.T, o Outcome) {
	t.Helper()
	e := o.Evidence
	if !o.Status.Measured() || e == nil || o.RetryAfter < 0 {
		t.Fatalf("%+v", o)
	}
	texts := []string{o.Message, e.StatusLine, e.Body, e.Command, o.AnsweredBy}
	lines := []string{o.Message, e.StatusLine, e.Command}
	for _, line := range e.Headers {
		texts, lines = append(texts, line.Name, line.Value), append(lines, line.Name, line.Value)
		if len(line.Name) > uptime.MaxEvidenceValue || len(line.Value) > uptime.MaxEvidenceValue || redact.Name(line.Name) && line.Value != redact.Secret {
			t.Fatalf("header %q: %q", line.Name, line.Value)
		}
	}
	texts, lines = append(texts, e.Cookies...), append(lines, e.Cookies...)
	for _, text := range texts {
		if strings.Contains(text, canary) || !utf8.ValidString(text) {
			t.Fatalf("%q is shown", text)
		}
	}
	for _, line := range lines {
		if strings.ContainsFunc(line, unicode.IsControl) {
			t.Fatalf("%q is no line", line)
		}
	}
	if len(o.Message) > maxMessage || len(e.Body) > uptime.MaxEvidenceBody || len(e.Headers) > uptime.MaxEvidenceHeaders || len(e.Cookies) > uptime.MaxEvidenceHeaders || len(e.StatusLine) > uptime.MaxEvidenceValue {
		t.Fatalf("%d bytes of message, %d of body, %d headers, %d cookies", len(o.Message), len(e.Body), len(e.Headers), len(e.Cookies))
	}
}

// FuzzHTTPAnswer reads answers over HTTP/1, whole and byte by byte: both must come to the
// same, within the bounds, and nothing that is shown of them may be secret or break a line.
func FuzzHTTPAnswer(f *testing.F) {
	for _, seed := range httpAnswers() {
		for ending := range uint8(3) {
			if len(seed) > maxHeaders && ending > 0 {
				break // large inputs are slow
			}
			f.Add([]byte(seed), ending, ending == 0, ending == 2)
		}
	}
	type target struct {
		plan    *plan
		visitor *httpVisitor
	}
	targets := map[[2]bool]target{}
	for _, head := range []bool{false, true} {
		for _, rule := range []bool{false, true} {
			method := map[bool]string{false: "POST", true: "HEAD"}[head]
			p, h := fuzzTarget(f, method, rule)
			targets[[2]bool{head, rule}] = target{p, h}
		}
	}
	f.Fuzz(func(t *testing.T, sent []byte, ending uint8, rule, head bool) {
		at := targets[[2]bool{head, rule}]
		end := iotest.ErrReader(endings(ending))
		before := allocated()
		whole, response := readScripted(t, at.plan, at.visitor, &scriptedServer{in: io.MultiReader(bytes.NewReader(sent), end)})
		if cost := allocated() - before; cost > mostAllocated {
			t.Fatalf("%d bytes were allocated for an answer of %d", cost, len(sent))
		}
		if response != nil {
			judgeRedirect(t, at.visitor, response)
		}
		if len(sent) > 4<<10 { // it would take long; and near the caps what was read ahead counts for the head or for the body
			return
		}
		slowly, _ := readScripted(t, at.plan, at.visitor, &scriptedServer{in: iotest.OneByteReader(io.MultiReader(bytes.NewReader(sent), end))})
		if whole.Header["Content-Encoding"] != nil && whole.Cut && slowly.Cut { // how much of what is damaged a decoder gives depends on its reads
			whole.Body, whole.Size, slowly.Body, slowly.Size = "", 0, "", 0
		}
		if !reflect.DeepEqual(whole, slowly) {
			t.Fatalf("byte by byte it is another answer: %s", cmp.Diff(whole, slowly))
		}
	})
}

// httpAnswers are the beginnings of what servers say.
func httpAnswers() []string {
	var zipped bytes.Buffer
	writer := gzip.NewWriter(&zipped)
	_, _ = writer.Write([]byte("hello " + canary))
	_ = writer.Close()
	return []string{
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nSet-Cookie: sid=" + canary + "\r\nX-Echo: pin=" + canary + "\r\n\r\nhello",
		"HTTP/1.0 200 OK\r\n\r\nhello until the end",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;ext=1\r\nhello\r\n0\r\nTrailer: x\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nhello",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, gzip\r\nContent-Length: 3\r\n\r\nabc",
		"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + zipped.String(),
		"HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: 4\r\n\r\n\x0b\x02\x80hello\x03",
		"HTTP/1.1 200 OK\r\nContent-Encoding: zstd, deflate, gzip\r\n\r\n\x28\xb5\x2f\xfd",
		"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n",
		strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", 7) + "HTTP/1.1 200 OK\r\n\r\n",
		"HTTP/1.1 302 Found\r\nLocation: https://b.test/?code=" + canary + "\r\n\r\n",
		"HTTP/1.1 308 Permanent Redirect\r\nLocation: //a.test:80/y\r\nSet-Cookie: a=b\r\n\r\n",
		"HTTP/1.1 429 Too Many Requests\r\nRetry-After: 7\r\n\r\nslow down",
		"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n\x00\x01",
		"HTTP/1.1 200\r\nX: " + strings.Repeat("x", 70<<10), "HTTP/1.1 200 OK\nA: b\n\nhello", "HTTP/1.1 099 OK\r\n\r\n", "HTTP/1.1 20 OK\r\n\r\n", "HTTP/2 200 OK\r\n\r\n", "220 mail.test ESMTP\r\n", "\x15\x03\x01\x00\x02\x02\x50", "",
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello", "HTTP/1.1 200 OK\r\nContent-Length: +5\r\n\r\nhello", "HTTP/1.1 200 OK\r\n folded: x\r\n\r\n", "HTTP/1.1 200 OK\r\nA\x00: b\r\n\r\n", "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n",
		"HTTP/1.1 200 " + canary + "\x1b[31m\r\nContent-Length: 9223372036854775807\r\n\r\nhello", "HTTP/1.1 200 OK\r\nBearer " + canary + "\r\n\r\n",
	}
}
