package probe

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"os"
	runtimemetrics "runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/andybalholm/brotli"
	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

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
		Method: method, Cookies: true, Compressed: true, Token: box.Seal(secret.New(canary)), Headers: []uptime.Header{{Name: "X-Mine", Value: "mine"}}, BodySecret: box.Seal(secret.New("pin=" + canary)),
	}}
	if bodyRule {
		s.Assertions = []uptime.Assertion{{Source: uptime.SourceBody, Op: uptime.OpContains, Value: "hello"}}
	}
	check := checkOf("http://a.test/x?y=z")
	check.Spec = s.Text()
	p := New(options(nil)).plans.of(check)
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
	o := judge(p, &s, bad, true)
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
		if len(sent) > maxHeaders { // what was read ahead counts for the head or for the body
			return
		}
		slowly, _ := readScripted(t, at.plan, at.visitor, &scriptedServer{in: iotest.OneByteReader(io.MultiReader(bytes.NewReader(sent), end))})
		if diff := cmp.Diff(whole, slowly); diff != "" {
			t.Fatalf("byte by byte it is another answer: %s", diff)
		}
	})
}

// judgeRedirect follows an answer if it leads elsewhere, and holds what must be true of the
// request that is made then.
func judgeRedirect(t *testing.T, h *httpVisitor, response *http.Response) {
	t.Helper()
	next, bad := redirect(response, h.first.at.url)
	if next == nil || !bad.none() {
		return
	}
	r, bad := h.follow(h.first, next, response.StatusCode, nil)
	if !bad.none() {
		if bad.reason != uptime.ReasonNone && bad.reason != uptime.ReasonRedirectBlocked {
			t.Fatalf("%+v", bad)
		}
		return
	}
	judgeRequest(t, h, r)
}

// judgeRequest holds that a request is one request, to one host, with nothing in it that was
// meant for another.
func judgeRequest(t *testing.T, h *httpVisitor, r *request) {
	t.Helper()
	reader := bufio.NewReader(bytes.NewReader(r.bytes))
	read, err := http.ReadRequest(reader)
	if err != nil {
		t.Fatalf("%q is no request: %v", r.bytes, err)
	}
	body, err := io.ReadAll(read.Body)
	rest, _ := io.ReadAll(reader)
	if err != nil || len(rest) > 0 || string(body) != r.body {
		t.Fatalf("%q is a body of %q, and then %q, %v", r.bytes, body, rest, err)
	}
	head, _, _ := bytes.Cut(r.bytes, []byte("\r\n\r\n"))
	lines := len(r.lines) + 3 // the first one, Host, and Connection
	if r.body != "" || r.method == http.MethodPost || r.method == http.MethodPut || r.method == http.MethodPatch {
		lines++
	}
	if n := bytes.Count(head, []byte("\n")) + 1; n != lines || read.Host != r.at.header || read.Method != r.method || len(read.TransferEncoding) > 0 {
		t.Fatalf("%q has %d lines, should have %d, for %q", head, n, lines, r.at.header)
	}
	own := sameOrigin(r.at, h.first.at)
	if carries := read.Header.Get("X-Mine") != "" || read.Header.Get("Authorization") != "" || strings.Contains(r.body, canary); carries && !own || own != r.own {
		t.Fatalf("%q goes to %s, own: %v", r.bytes, r.at.url, r.own)
	}
	if r.at.port == 0 || r.at.host == "" || strings.ContainsAny(r.at.host, " \r\n\x00/?#@") || r.at.secure != (r.config != nil) {
		t.Fatalf("%+v", r.at)
	}
}

// FuzzRedirect follows redirects to anywhere, with cookies that were set on the way.
func FuzzRedirect(f *testing.F) {
	for _, location := range []string{
		"/next", "//b.test/", "https://a.test/x", "http://a.test:80/", "http://A.TEST/", "http://[::1%25eth0]:8080/a", "http://u:p@b.test/?q#f", "javascript:alert(1)", "file:///etc/passwd", "?", "#",
		"http://a.test\\@b.test/", "http:///x", "http://a.test:0/", "http://127.1/", "http://bücher.test/ü?ü", "http://b.test/%0d%0aX: y", "http://b.test/\r\nX: y", "gopher://b.test", "http:b.test", "http://a.test/ x", "?a b", "/y? HTTP/1.0",
	} {
		f.Add(location, "a=b; Path=/", uint16(302))
		f.Add(location, "sid=\"x y\"; Domain=b.test; Secure", uint16(308))
	}
	_, h := fuzzTarget(f, "POST", false)
	f.Fuzz(func(t *testing.T, location, cookie string, status uint16) {
		response := &http.Response{StatusCode: int(status), Header: http.Header{"Location": {location}}}
		next, bad := redirect(response, h.first.at.url)
		if next == nil || !bad.none() {
			return
		}
		if next.User != nil || next.Fragment != "" {
			t.Fatalf("%q leads to %s", location, next)
		}
		jar := newJar()
		for _, from := range []string{h.first.at.url.String(), next.String()} {
			if u, err := parseTarget(from); err == nil {
				jar.SetCookies(u, (&http.Response{Header: http.Header{"Set-Cookie": {cookie}}}).Cookies())
			}
		}
		r, bad := h.follow(h.first, next, response.StatusCode, jar)
		if !bad.none() {
			return
		}
		if scheme := r.at.url.Scheme; scheme != "http" && scheme != "https" {
			t.Fatalf("%q leads to a URL of %q", location, scheme)
		}
		if r.at.url.User != nil {
			t.Fatalf("%q leads to %s", location, r.at.url)
		}
		judgeRequest(t, h, r)
		further, bad := h.follow(r, h.first.at.url, 308, nil) // back again: what left the origin stays away
		if bad.none() && !r.own && (further.own || strings.Contains(string(further.bytes), canary)) {
			t.Fatalf("after %q the way back carries %q", location, further.bytes)
		}
	})
}

// FuzzDecoder undoes codings: what was encoded comes back, and anything else costs no more
// than a check may.
func FuzzDecoder(f *testing.F) {
	for i, coding := range codings {
		packed := encoded(f, coding, []byte(strings.Repeat("hello ", 100)))
		f.Add(packed, uint8(i), false)
		f.Add([]byte("hello"), uint8(i)|0x20, true)
		f.Add(packed[:len(packed)/2], uint8(i), false)
		f.Add(encoded(f, coding, encoded(f, coding, make([]byte, 1<<20))), uint8(i)|0x10, false)
	}
	f.Add([]byte("\x28\xb5\x2f\xfd\x00\x98\x05\x00\x00x"), uint8(3), false) // a window of 512 MiB
	f.Add([]byte("\x11\x1e\x0b\x02\x80hello\x03"), uint8(2), false)         // a large window
	f.Fuzz(func(t *testing.T, data []byte, which uint8, honest bool) {
		coding := codings[int(which&0xf)%len(codings)]
		header := http.Header{"Content-Encoding": {coding}}
		if which&0x10 != 0 {
			header["Content-Encoding"] = []string{coding, coding}
		}
		if which&0x20 != 0 {
			if _, _, err := decoder(http.Header{"Content-Encoding": {coding + "," + coding, coding}}, nil); err == nil {
				t.Fatalf("%s is undone three times", coding)
			}
		}
		const limit = 256 << 10
		plain := data
		if honest {
			for range len(header["Content-Encoding"]) {
				data = encoded(t, coding, data)
			}
		}
		before := allocated()
		reader, release, err := decoder(header, iotest.HalfReader(bytes.NewReader(data)))
		if err != nil {
			t.Fatalf("%v: %v", header, err)
		}
		defer release()
		out, err := io.ReadAll(io.LimitReader(reader, limit+1))
		if cost := allocated() - before; cost > mostAllocated {
			t.Fatalf("%s of %d bytes took %d", coding, len(data), cost)
		}
		if honest && (!bytes.Equal(out, plain[:min(len(plain), limit+1)]) || err != nil) {
			t.Fatalf("%s of %d bytes gives %d bytes: %v", coding, len(plain), len(out), err)
		}
		if err != nil && errors.Is(err, io.EOF) {
			t.Fatalf("%s ends in %v", coding, err)
		}
	})
}

var codings = [...]string{"gzip", "deflate", "br", "zstd", "identity"}

// FuzzSetCookie shows cookies by their names alone.
func FuzzSetCookie(f *testing.F) {
	for _, line := range []string{"sid=" + canary, "a=b; Path=/; HttpOnly", "=x", "a", "\"a\"=b", "a=\x00", strings.Repeat("n", 600) + "=v", canary + "=x", "é=1"} {
		f.Add(line, "b=c")
	}
	f.Fuzz(func(t *testing.T, one, two string) {
		var s sighting
		s.Header, s.Secrets = http.Header{"Set-Cookie": {one, two, one}}, []string{canary}
		names := s.shownCookies()
		if len(names) > 2 {
			t.Fatalf("%q", names)
		}
		for i, name := range names {
			if name == "" || len(name) > uptime.MaxEvidenceValue || strings.Contains(name, canary) || strings.ContainsAny(name, "=;\r\n\x00") || slices.Contains(names[:i], name) {
				t.Fatalf("%q", names)
			}
		}
	})
}

// FuzzRetryAfter never gives a time that has passed, and reads back what servers write.
func FuzzRetryAfter(f *testing.F) {
	for _, value := range []string{"120", " 5 ", "-1", "+1", "1e3", "99999999999999999999", "Fri, 31 Dec 1999 23:59:59 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Fri, 31 Dec 9999 23:59:59 GMT", "0x10", "٣"} {
		f.Add(value, int64(1_700_000_000))
	}
	f.Fuzz(func(t *testing.T, value string, unix int64) {
		now := time.Unix(unix%(1<<36), 0).UTC()
		got := retryAfter(value, now)
		if got < 0 {
			t.Fatalf("%q is %v", value, got)
		}
		if seconds := int64(got / time.Second); got%time.Second == 0 && seconds < 1<<31 {
			if again := retryAfter(" "+strconv.FormatInt(seconds, 10), now); again != got {
				t.Fatalf("%d s are read as %v", seconds, again)
			}
		}
		if at := now.Add(got); got > 0 && got < 100*365*24*time.Hour && at.Year() > 1 && at.Year() <= 9999 && now.Year() > 1 {
			if again := retryAfter(at.Format(http.TimeFormat), now); again != got.Truncate(time.Second) && again != got {
				t.Fatalf("%v is %v, not %v", at, again, got)
			}
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

func newJar() *cookiejar.Jar {
	jar, _ := cookiejar.New(nil) // never an error
	return jar
}

// encoded is a text in a content coding.
func encoded(tb testing.TB, coding string, text []byte) []byte {
	tb.Helper()
	var out bytes.Buffer
	var to io.WriteCloser
	var err error
	switch coding {
	case "gzip":
		to = gzip.NewWriter(&out)
	case "deflate":
		to = zlib.NewWriter(&out)
	case "br":
		to = brotli.NewWriterLevel(&out, 1)
	case "zstd":
		to, err = zstd.NewWriter(&out, zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true))
	default:
		return text
	}
	if err == nil {
		_, err = to.Write(text)
	}
	if err == nil {
		err = to.Close()
	}
	if err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}
