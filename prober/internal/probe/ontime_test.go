package probe

import (
	"bufio"
	"crypto/tls"
	"io"
	"maps"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/lab"
	"github.com/probefleet/probefleet/internal/uptime"
)

// slack is how far from its timeout a visit may end, on a machine that is not busy.
const slack = 100 * time.Millisecond

// longest is the timeout with which a visit is not tried again.
const longest = 20 * time.Second

// Whatever a target does to be waited for, the visit ends at its timeout, and says what it waited
// for. Each is tried again, with twice the time, when a machine that was busy did not come so far.
// How late the end may be is looked at in long runs only: what postpones it does so every time.
//
// Promise: every check ends at its timeout, whatever the target does
func TestEveryVisitEndsAtItsTimeout(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	e := New(options(l))
	for name, c := range stalls(t, l) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check := c.check
			for check.Timeout = 400 * time.Millisecond; ; check.Timeout *= 2 {
				start := time.Now()
				o := e.Look(t.Context(), check)
				took := time.Since(start)
				if o.Status != uptime.StatusDown || took < check.Timeout {
					t.Fatalf("after %v: %+v", took, o)
				}
				if (took <= check.Timeout+slack || testing.Short()) && c.want.is(o) {
					return
				}
				if check.Timeout > longest {
					t.Fatalf("after %v of %v, the last time: %s %q, want %+v", took, check.Timeout, o.Failure, o.Message, c.want)
				}
			}
		})
	}
}

// stall is a visit that ends at its timeout, and in what.
type stall struct {
	check uptime.Check
	want  ending
}

// stalls are targets of all kinds that keep a visit waiting, at each point at which it waits.
func stalls(t *testing.T, l *lab.Lab) map[string]stall {
	t.Helper()
	late := func(doing string) ending { return ending{uptime.FailureTimeout, doing} }
	answer, headers, body := late("timed out waiting for an answer"), late("timed out reading the headers"), late("timed out reading the body")
	rest, greeting, message := late("timed out reading the answer"), late("timed out waiting for the greeting"), late("timed out waiting for a message")
	keys, syn := late("no TLS handshake within the timeout"), ending{uptime.FailureConnectTimeout, "no connection within the timeout"}
	all := map[string]stall{}
	for _, some := range []map[string]stall{
		webStalls(t, l, answer, headers, body, keys), talkStalls(t, l, answer, headers, rest, message, keys, syn), mailStalls(t, l, greeting, keys),
	} {
		maps.Copy(all, some)
	}
	return all
}

func webStalls(t *testing.T, l *lab.Lab, answer, headers, body, keys ending) map[string]stall {
	t.Helper()
	at := func(server string) string { return labAt(t, l, server) }
	web := func(url string, want ending, specs ...uptime.HTTPSpec) stall {
		check := checkOf(url)
		for i := range specs {
			check.Spec = uptime.Spec{HTTP: &specs[i]}.Text()
		}
		return stall{check, want}
	}
	looked := func(s stall) stall {
		spec, err := s.check.Spec.Spec()
		if err != nil {
			t.Fatal(err)
		}
		spec.Assertions = wanting("body - contains end").Assertions
		s.check.Spec = spec.Text()
		return s
	}
	silent, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = silent.Close() })
	plain, secure, h2, hostile := l.URL(), l.TLSURL(), "https://"+at("h2"), "https://"+at("h2-hostile")
	two, three := uptime.HTTPSpec{Version: uptime.HTTP2}, uptime.HTTPSpec{Version: uptime.HTTP3}
	h3, lab3 := startHTTP3(t, l, http.HandlerFunc(hangOrDrip)), startHTTP3(t, l, l)
	unfinished := serve3(t, certificateOf(t, l, "tls"), "h3", harms3()["headers that stall"].do)
	return map[string]stall{
		"no answer":                           web(plain+"/hang", answer),
		"no answer over TLS":                  web(secure+"/hang", answer),
		"no answer over HTTP/2":               web(h2+"/hang", answer, two),
		"no frame but settings over HTTP/2":   web(hostile+"/silent", answer, two),
		"an answer to another over HTTP/2":    web(hostile+"/other-stream", answer, two),
		"no connection over HTTP/3":           web("https://"+silent.LocalAddr().String()+"/", ending{uptime.FailureConnectTimeout, "no HTTP/3 connection within the timeout"}, three),
		"no answer over HTTP/3":               web(h3+"/hang", answer, three),
		"headers in drops":                    web(plain+"/slow-headers/1000/30ms", headers),
		"headers in drops over TLS":           web(secure+"/slow-headers/1000/30ms", headers),
		"headers in drops over HTTP/2":        web("https://"+drops(t, l, "h2", func(*bufio.Reader) string { return settings2 + "\x00\x10\x00\x01\x04\x00\x00\x00\x01\x88" }), answer, two),
		"headers without end over HTTP/2":     web(hostile+"/unfinished", answer, two),
		"headers that stall over HTTP/3":      web(unfinished, answer, three),
		"a body in drops":                     web(plain+"/drip/1000/30ms", body),
		"a body in drops over TLS":            web(secure+"/drip/1000/30ms", body),
		"a body in drops over HTTP/2":         web(h2+"/drip/1000/30ms", body, two),
		"a body in drops over HTTP/3":         web(h3+"/drip", body, three),
		"a body in drops, looked at":          looked(web(plain+"/drip/1000/30ms", body)),
		"a packed body that stalls":           looked(web(plain+"/bomb/stalled", body)),
		"a packed body that stalls over TLS":  looked(web(secure+"/bomb/stalled", body)),
		"a packed body that stalls by HTTP/2": looked(web(h2+"/bomb/stalled", body, two)),
		"a packed body that stalls by HTTP/3": looked(web(lab3+"/bomb/stalled", body, three)),
		"no answer after redirects":           web(plain+"/redirect-to?url=/redirect-to?url=/hang", answer),
		"slow redirects":                      web(plain+"/redirect-slow/5/300ms", answer),
		"slow redirects over TLS":             web(secure+"/redirect-slow/5/300ms", answer),
		"slow redirects over HTTP/2":          web(h2+"/redirect-slow/5/300ms", answer, two),
		"slow redirects over HTTP/3":          web(lab3+"/redirect-slow/5/300ms", answer, three),
		"nobody reads":                        web("http://"+at("black-hole")+"/", answer),
		"nobody reads after the keys":         web("https://"+at("black-hole-tls")+"/", answer),
		"a request that nobody takes":         web("http://"+at("black-hole")+"/", answer, uptime.HTTPSpec{Method: "POST", Body: strings.Repeat("x", 64<<10)}),
		"a handshake without an answer":       web("https://"+at("tls-silent")+"/", keys),
		"a handshake that stalls":             web("https://"+at("tls-stall")+"/", keys),
		"a handshake in drops":                web("https://"+at("tls-drip")+"/", keys),
	}
}

func talkStalls(t *testing.T, l *lab.Lab, answer, headers, rest, message, keys, syn ending) map[string]stall {
	t.Helper()
	at := func(server string) string { return labAt(t, l, server) }
	asked := func(server, name string, transport uptime.DNSTransport, want ending) stall {
		return stall{dnsCheck("dns://"+server+"/"+name, over(transport)), want}
	}
	health := func(url string, want ending) stall { return stall{grpcCheck(url, uptime.Spec{}), want} }
	socket := func(url string, want ending) stall {
		return stall{wsCheck(url, saying("hi", "received - equals hi")), want}
	}
	says := func(opening string) func(*bufio.Reader) string { return func(*bufio.Reader) string { return opening } }
	upgraded := func(then string) func(*bufio.Reader) string {
		return func(in *bufio.Reader) string {
			r, err := http.ReadRequest(in)
			if err != nil {
				return ""
			}
			return "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: " + wsAccept(r.Header.Get("Sec-WebSocket-Key")) + "\r\n\r\n" + then
		}
	}
	none, ws := uptime.Spec{}, "ws"+strings.TrimPrefix(l.URL(), "http")
	half2 := settings2 + "\x00\x00\x01\x01\x04\x00\x00\x00\x01\x88\x00\x10\x00\x00\x00\x00\x00\x00\x01" // 200, and a body of 4 KiB begins
	const half1, silent = "HTTP/1.1 200 OK\r\nContent-Type: application/dns-message\r\nContent-Length: 1000\r\n\r\n", "silent.lab.test"
	const frame, fragment, ping = "\x81\x7d", "\x01\x01x\x00\x7d", "\x89\x7d" // of 125 bytes
	return map[string]stall{
		"a chain in drops":                         {checkAt("tls://"+at("tls-drip"), none), keys},
		"a connection that is not made":            {checkAt("tls://"+at("full"), none), syn},
		"bytes in drops":                           {checkAt("tcp://"+at("tcp-drip"), uptime.Spec{Assertions: hears("contains", "never")}), ending{uptime.FailureBody, `received text is "x`}},
		"bytes in drops after a question":          {checkAt("tcp://"+at("tcp"), sends("drip 1000 30ms\n", hears("contains", "never")...)), ending{uptime.FailureBody, `received text is "x`}},
		"silence":                                  {checkAt("tcp://"+at("tcp-silent"), uptime.Spec{Assertions: hears("contains", "never")}), answer},
		"silence after a question":                 {checkAt("tcp://"+at("tcp"), sends("silence\n")), answer},
		"a question without an answer":             asked(at("dns"), silent, uptime.DNSOverUDP, ending{uptime.FailureTimeout, "no answer within the timeout"}),
		"a question with an answer to another":     asked(at("dns"), "wrong-id.a-192-0-2-1.lab.test", uptime.DNSOverUDP, ending{uptime.FailureTimeout, "no answer within the timeout; of 1 messages that came none belongs to the question, the last because it had another id"}),
		"no answer over TCP":                       asked(at("dns"), silent, uptime.DNSOverTCP, answer),
		"no answer over TLS, DNS":                  asked(at("dot"), silent, uptime.DNSOverTLS, answer),
		"no answer over HTTPS":                     asked(at("h2"), silent, uptime.DNSOverHTTPS, answer),
		"no answer over HTTPS and HTTP/1.1":        asked(at("tls"), silent, uptime.DNSOverHTTPS, answer),
		"records in drops over TCP":                asked(at("tcp-drip"), silent, uptime.DNSOverTCP, answer),
		"records in drops over TLS":                asked(drops(t, l, "dot", says("\x10")), silent, uptime.DNSOverTLS, answer),
		"records in drops over HTTPS":              asked(drops(t, l, "h2", says(half2)), silent, uptime.DNSOverHTTPS, rest),
		"records in drops over HTTPS and HTTP/1.1": asked(drops(t, l, "http/1.1", says(half1)), silent, uptime.DNSOverHTTPS, rest),
		"headers in drops over HTTPS and HTTP/1.1": asked(drops(t, l, "http/1.1", says("HTTP/1.1 200 OK\r\nX: ")), silent, uptime.DNSOverHTTPS, headers),
		"DNS over TLS, a handshake that stalls":    asked(at("tls-stall"), silent, uptime.DNSOverTLS, keys),
		"DNS over TLS, a handshake in drops":       asked(at("tls-drip"), silent, uptime.DNSOverTLS, keys),
		"DNS over TLS, nobody takes connections":   asked(at("full"), silent, uptime.DNSOverTLS, syn),
		"DNS over HTTPS, a handshake that stalls":  asked(at("tls-stall"), silent, uptime.DNSOverHTTPS, keys),
		"DNS over HTTPS, a handshake in drops":     asked(at("tls-drip"), silent, uptime.DNSOverHTTPS, keys),
		"DNS over HTTPS, nobody takes connections": asked(at("full"), silent, uptime.DNSOverHTTPS, syn),
		"a health check that hangs":                health("grpc://"+at("h2c")+"/hang", answer),
		"a health check over TLS that hangs":       health("grpcs://"+at("h2")+"/hang", answer),
		"a health check that hears only settings":  health("grpcs://"+at("h2-hostile")+"/silent", answer),
		"a health check in drops":                  health("grpcs://"+drops(t, l, "h2", says(half2)), rest),
		"a health check with headers in drops":     health("grpcs://"+drops(t, l, "h2", says(settings2+"\x00\x10\x00\x01\x04\x00\x00\x00\x01\x88")), answer),
		"a health check, a handshake that stalls":  health("grpcs://"+at("tls-stall"), keys),
		"a websocket that is silent":               socket(ws+"/ws/silent", message),
		"a websocket over TLS that is silent":      socket("wss"+strings.TrimPrefix(l.TLSURL(), "https")+"/ws/silent", message),
		"a websocket whose pong does not come":     {wsCheck(ws+"/ws/silent", none), ending{uptime.FailureTimeout, "timed out waiting for the pong"}},
		"a websocket that is not one":              socket(ws+"/hang", answer),
		"a websocket with headers in drops":        socket(ws+"/slow-headers/1000/30ms", headers),
		"a websocket, a message in drops":          socket("wss://"+drops(t, l, "http/1.1", upgraded(frame)), message),
		"a websocket, a part in drops":             socket("wss://"+drops(t, l, "http/1.1", upgraded(fragment)), message),
		"a websocket, a ping in drops":             socket("wss://"+drops(t, l, "http/1.1", upgraded(ping)), message),
		"a websocket, a handshake that stalls":     socket("wss://"+at("tls-stall"), keys),
	}
}

// mailStalls are those of the protocols that begin in clear.
func mailStalls(t *testing.T, l *lab.Lab, greeting, keys ending) map[string]stall {
	t.Helper()
	all := map[string]stall{}
	for _, protocol := range []uptime.StartTLS{uptime.StartTLSSMTP, uptime.StartTLSIMAP, uptime.StartTLSFTP} {
		name := string(protocol)
		all[name+" without TLS"] = stall{tcpCheck(t, l, name+"-stalling", starts(protocol)), keys}
		all[name+" without a greeting"] = stall{tcpCheck(t, l, "tcp-silent", starts(protocol)), greeting}
		all[name+" with a greeting in drops"] = stall{tcpCheck(t, l, "tcp-drip", starts(protocol)), greeting}
	}
	return all
}

// settings2 is an empty frame of settings (RFC 9113 §6.5), with which HTTP/2 begins.
const settings2 = "\x00\x00\x00\x04\x00\x00\x00\x00\x00"

// drops is a server over TLS that says what opens an answer to what it is asked, and then a byte
// every 30 ms.
func drops(t *testing.T, l *lab.Lab, protocol string, opening func(*bufio.Reader) string) (addr string) {
	t.Helper()
	config := &tls.Config{Certificates: []tls.Certificate{certificateOf(t, l, "tls")}, NextProtos: []string{protocol}}
	return serve(t, func(c *net.TCPConn) {
		secure := tls.Server(c, config)
		in := bufio.NewReader(secure)
		if _, err := in.Peek(1); err != nil {
			return
		}
		for next := opening(in); ; next = "x" {
			if _, err := io.WriteString(secure, next); err != nil || !pause(t.Context(), 30*time.Millisecond) {
				return
			}
		}
	})
}

// hangOrDrip never answers, or answers a byte every 30 ms.
func hangOrDrip(w http.ResponseWriter, r *http.Request) {
	drops := time.NewTicker(30 * time.Millisecond)
	defer drops.Stop()
	for {
		select {
		case <-r.Context().Done():
			return
		case <-drops.C:
		}
		if r.URL.Path == "/drip" {
			_, _ = w.Write([]byte("x"))
			_ = http.NewResponseController(w).Flush()
		}
	}
}
