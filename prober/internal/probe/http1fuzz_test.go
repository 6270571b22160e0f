package probe

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/lab"
	"github.com/probefleet/probefleet/internal/uptime"
)

// FuzzHTTP1Answer reads whatever a server may say, coded contents included: there is an
// outcome with a reason, within every cap, and no panic.
func FuzzHTTP1Answer(f *testing.F) {
	for _, seed := range []string{
		"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n",
		"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;a=b\r\nok\n\r\n0\r\nX: y\r\n\r\n",
		"HTTP/1.1 301 Moved\r\nLocation: //user:pw@[::1]:1/%zz\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Encoding: br, gzip\r\n\r\n\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff",
		"HTTP/1.1 200 OK\r\nContent-Encoding: zstd\r\n\r\n\x28\xb5\x2f\xfd\x04\x58",
		"HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\nContent-Length: 99\r\n\r\n\x78\x9c",
		"HTTP/1.1 429 Too Many\r\nRetry-After: 99999999999999999999\r\nSet-Cookie: a=b\r\n\r\n",
		"HTTP/1.0 200\r\n a: b\r\n\r\n",
	} {
		f.Add([]byte(seed), true)
		f.Add([]byte(seed), false)
	}
	e := New(options(nil))
	check := checkOf("http://127.0.0.1:1/")
	plain := e.plans.of(&check)
	check.Spec = wanting("body - contains x", "header Location contains y", "json $.a exists", "body_hash - equals "+strings.Repeat("0", 64)).Text()
	check.TargetID++
	looks := e.plans.of(&check)
	if !plain.bad.none() || !looks.bad.none() {
		f.Fatalf("%+v %+v", plain.bad, looks.bad)
	}
	f.Fuzz(func(t *testing.T, sent []byte, look bool) {
		p := plain
		if look {
			p = looks
		}
		h, s, w := p.visitor.(*httpVisitor), &sighting{}, newWire()
		s.begin(p, time.Minute)
		answer := bytes.NewReader(sent)
		w.conn = &scriptedConn{in: answer}
		mark := time.Now()
		response, bad := h.exchange(w, h.first, s, s.hop(h.first.shown), &mark)
		if bad.none() {
			if next, _ := redirect(response, h.first); next != nil {
				_, _ = h.follow(h.first, next, response.StatusCode, nil)
			}
		}
		s.end()
		o := judged(p, s, bad, true)
		if taken := len(sent) - answer.Len(); taken > maxHeaders+int(h.limit)+framing || s.BodySize > h.limit || int64(len(s.body)) > h.limit {
			t.Fatalf("%d bytes taken, a body of %d, %d kept", taken, s.BodySize, len(s.body))
		}
		switch {
		case o.Status != uptime.StatusUp && (o.Failure == uptime.FailureNone || o.Message == ""):
			t.Fatalf("no reason: %+v", o)
		case strings.ContainsAny(o.Message, "\r\n\x00\x1b"), len(o.Message) > maxMessage, o.Evidence == nil, len(o.Evidence.Body) > uptime.MaxEvidenceBody:
			t.Fatalf("%+v %+v", o, o.Evidence)
		}
	})
}

// Every answer of the lab that breaks a rule, or keeps to one that few know, has its line.
func TestOddAnswersAreAllGolden(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("testdata/odd.golden")
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	for line := range strings.Lines(string(content)) {
		listed = append(listed, strings.TrimPrefix(strings.Fields(line)[1], "/odd/"))
	}
	if slices.Sort(listed); !slices.Equal(listed, lab.Odd()) {
		t.Errorf("%q, the lab has %q", listed, lab.Odd())
	}
}
