package probe

import (
	"io"
	"log"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/lab"
	"github.com/probefleet/probefleet/internal/uptime"
)

// ending is what a visit comes to: up, if there is no failure. The message is the beginning of one.
type ending struct {
	failure uptime.Failure
	message string
}

func (e ending) is(o Outcome) bool {
	return o.Failure == e.failure && strings.HasPrefix(o.Message, e.message) && (o.Status == uptime.StatusUp) == (e == ending{}) && o.Reason == ""
}

// speakers are the kinds that speak HTTP/2: each has a reader of its own for what a server sends.
var speakers = map[string]func(t *testing.T, l *lab.Lab, path string) uptime.Check{
	"http": func(t *testing.T, l *lab.Lab, path string) uptime.Check {
		t.Helper()
		check := checkOf(urlOf(t, l, "h2-hostile") + path)
		check.Spec = uptime.Spec{HTTP: &uptime.HTTPSpec{Version: uptime.HTTP2}}.Text()
		return check
	},
	"grpcs": func(t *testing.T, l *lab.Lab, path string) uptime.Check {
		t.Helper()
		return grpcCheck("grpcs://"+labAt(t, l, "h2-hostile")+path, uptime.Spec{})
	},
	"grpc": func(t *testing.T, l *lab.Lab, path string) uptime.Check {
		t.Helper()
		return grpcCheck("grpc://"+labAt(t, l, "h2c-hostile")+path, uptime.Spec{})
	},
}

// endings2 are those of a visit to a server that sends frames of HTTP/2.
type endings2 struct {
	http, grpc ending
	or         *ending // of http: which of the two depends on who is faster
}

// hostileFrames are the paths of hostile servers of HTTP/2, and what comes of them.
func hostileFrames() map[string]endings2 {
	broken := ending{uptime.FailureProtocol, "broken HTTP/2 waiting for an answer"}
	nothing := ending{uptime.FailureTimeout, "timed out waiting for an answer"}
	flood := ending{uptime.FailureTooLarge, "more than 128 KiB came, and no body"}
	extra := ending{uptime.FailureProtocol, "the server sent more than 100 frames that are no part of an answer"}
	tooLarge := ending{uptime.FailureTooLarge, "the headers are larger than 64 KiB"}
	interim := ending{uptime.FailureProtocol, "too many interim answers"}
	return map[string]endings2{
		"/ok":                 {ending{}, ending{uptime.FailureProtocol, "the answer is no gRPC"}, nil},
		"/nowhere":            {ending{uptime.FailureStatusCode, "answered 404"}, ending{uptime.FailureStatusCode, "answered 404"}, nil},
		"/silent":             {nothing, nothing, nil},
		"/goaway":             {ending{uptime.FailureReset, "the server ended the connection with GOAWAY"}, ending{uptime.FailureReset, "the server ended the connection with GOAWAY: ENHANCE_YOUR_CALM"}, nil},
		"/rst":                {ending{uptime.FailureReset, "stream reset waiting for an answer (INTERNAL_ERROR)"}, ending{uptime.FailureReset, "the server reset the stream: INTERNAL_ERROR"}, nil},
		"/rst-body":           {ending{uptime.FailureReset, "stream reset reading the body (CANCEL)"}, ending{uptime.FailureReset, "the server reset the stream: CANCEL"}, nil},
		"/cut":                {ending{uptime.FailureReset, "connection closed reading the body"}, ending{uptime.FailureReset, "connection closed reading the answer"}, nil},
		"/rst-flood":          {ending{uptime.FailureReset, "stream reset waiting for an answer (CANCEL)"}, ending{uptime.FailureReset, "the server reset the stream: CANCEL"}, nil},
		"/ping-flood":         {flood, extra, nil},
		"/settings-flood":     {flood, extra, nil},
		"/window-flood":       {flood, extra, nil},
		"/priority-flood":     {flood, extra, nil},
		"/unknown-flood":      {flood, extra, nil},
		"/continuation-flood": {flood, tooLarge, nil},
		"/interim-flood":      {interim, interim, nil},
		"/empty-data":         {ending{}, ending{uptime.FailureProtocol, "the server sent more than 100 empty frames"}, &flood}, // a body without end is cut
		"/hpack-bomb":         {tooLarge, tooLarge, nil},
		"/unfinished":         {nothing, tooLarge, nil},
		"/overflow":           {ending{uptime.FailureProtocol, "broken HTTP/2 reading the body"}, ending{uptime.FailureTooLarge, "the answer is larger than 4096 bytes"}, &ending{}},
		"/window-overflow":    {broken, ending{uptime.FailureProtocol, "malformed HTTP/2: a window larger than 2^31-1"}, nil},
		"/push":               {broken, ending{uptime.FailureProtocol, "malformed HTTP/2: a push that was declined"}, nil},
		"/big-frame":          {broken, ending{uptime.FailureProtocol, "malformed HTTP/2: a frame is larger than 16 KiB"}, nil},
		"/no-status":          {broken, ending{uptime.FailureProtocol, "malformed HTTP/2: an answer without a status"}, nil},
		"/upper-case":         {broken, ending{uptime.FailureProtocol, "malformed HTTP/2: a header that may not be"}, nil},
		"/connection":         {ending{}, ending{uptime.FailureProtocol, "malformed HTTP/2: the header connection"}, nil},
		"/data-first":         {broken, ending{uptime.FailureProtocol, "malformed HTTP/2: a body without headers"}, nil},
		"/other-stream":       {nothing, ending{uptime.FailureProtocol, "malformed HTTP/2: headers of a stream that nobody opened"}, nil},
		"/garbage":            {broken, ending{uptime.FailureProtocol, "malformed HTTP/2"}, nil},
	}
}

// Whatever frames a server sends, a visit ends: as it should, after little of it was read.
func TestHostileHTTP2(t *testing.T) {
	t.Parallel()
	log.SetOutput(io.Discard)     // net/http notes there what odd frames it was sent
	labs := map[string]*lab.Lab{} // one each, for what it sends is counted
	for name := range speakers {
		labs[name] = startLab(t)
	}
	for path, want := range hostileFrames() {
		for name, checkAt := range speakers {
			t.Run(name+path, func(t *testing.T) {
				t.Parallel()
				l, wanted := labs[name], want.grpc
				if name == "http" {
					wanted = want.http
				}
				check := checkAt(t, l, path)
				check.Timeout = timeoutFor(wanted.failure)
				o := New(options(l)).Look(t.Context(), check)
				if !wanted.is(o) && (name != "http" || want.or == nil || !want.or.is(o)) {
					t.Errorf("%v %q %q: %s", o.Status, o.Failure, o.Reason, o.Message)
				}
				inTime(t, o, check)
				switch {
				case path == "/ok":
					if o.HTTPStatus != http.StatusOK || o.Evidence.Body != "ok\n" && name == "http" {
						t.Errorf("%+v", o.Evidence)
					}
				case strings.HasSuffix(path, "-flood"), path == "/empty-data", path == "/overflow", path == "/big-frame":
					for l.SentTo(path) == 0 { // counted once the write has returned
						pause(t.Context(), time.Millisecond)
					}
					if sent := l.SentTo(path); sent > 1<<20 {
						t.Errorf("%d bytes were taken", sent)
					}
				}
			})
		}
	}
}
