package probe

import (
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

// slack is how far from its timeout a visit may end, on a machine that is not busy.
const slack = 100 * time.Millisecond

// Whatever a target does to be waited for, the visit ends at its timeout. Each is tried up
// to five times: a machine that was busy at one of them is no defect of ours, and what
// postpones the end of a visit does so every time.
func TestEveryVisitEndsAtItsTimeout(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	e := New(options(l))
	at := func(server string) string { return labAt(t, l, server) }
	plain, secure, h2 := l.URL(), l.TLSURL(), "https://"+at("h2")
	two := uptime.Spec{HTTP: &uptime.HTTPSpec{Version: uptime.HTTP2}}
	web := func(url string, spec uptime.Spec) uptime.Check {
		check := checkOf(url)
		check.Spec = spec.Text()
		return check
	}
	silent, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	h3, three := startHTTP3(t, l, http.HandlerFunc(hangOrDrip)), uptime.Spec{HTTP: &uptime.HTTPSpec{Version: uptime.HTTP3}}
	none := uptime.Spec{}
	cases := map[string]uptime.Check{
		"no answer":                     web(plain+"/hang", none),
		"no answer over TLS":            web(secure+"/hang", none),
		"no answer over HTTP/2":         web(h2+"/hang", two),
		"no connection over HTTP/3":     web("https://"+silent.LocalAddr().String()+"/", three),
		"no answer over HTTP/3":         web(h3+"/hang", three),
		"a body in drops over HTTP/3":   web(h3+"/drip", three),
		"headers in drops":              web(plain+"/slow-headers/1000/30ms", none),
		"headers in drops over TLS":     web(secure+"/slow-headers/1000/30ms", none),
		"a body in drops":               web(plain+"/drip/1000/30ms", none),
		"a body in drops over TLS":      web(secure+"/drip/1000/30ms", none),
		"a body in drops over HTTP/2":   web(h2+"/drip/1000/30ms", two),
		"a body in drops, looked at":    web(plain+"/drip/1000/30ms", wanting("body - contains end")),
		"no answer after redirects":     web(plain+"/redirect-to?url=/redirect-to?url=/hang", none),
		"nobody reads":                  web("http://"+at("black-hole")+"/", none),
		"nobody reads after the keys":   web("https://"+at("black-hole-tls")+"/", none),
		"a request that nobody takes":   web("http://"+at("black-hole")+"/", uptime.Spec{HTTP: &uptime.HTTPSpec{Method: "POST", Body: strings.Repeat("x", 64<<10)}}),
		"a handshake without an answer": web("https://"+at("tls-silent")+"/", none),
		"a handshake that stalls":       web("https://"+at("tls-stall")+"/", none),
		"a handshake in drops":          web("https://"+at("tls-drip")+"/", none),
		"a chain in drops":              checkAt("tls://"+at("tls-drip"), none),
		"a connection that is not made": checkAt("tls://"+at("full"), none),
		"bytes in drops":                checkAt("tcp://"+at("tcp-drip"), uptime.Spec{Assertions: hears("contains", "never")}),
		"silence":                       checkAt("tcp://"+at("tcp-silent"), uptime.Spec{Assertions: hears("contains", "never")}),
		"STARTTLS without TLS":          checkAt("tcp://"+at("smtp-stalling"), starts(uptime.StartTLSSMTP)),
		"a question without an answer":  dnsCheck("dns://"+at("dns")+"/silent.lab.test", none),
		"the same over TCP":             dnsCheck("dns://"+at("dns")+"/silent.lab.test", over(uptime.DNSOverTCP)),
		"the same over HTTPS":           dnsCheck("dns://"+at("h2")+"/silent.lab.test", over(uptime.DNSOverHTTPS)),
		"a health check that hangs":     grpcCheck("grpc://"+at("h2c")+"/hang", none),
		"a websocket that is silent":    wsCheck("ws"+strings.TrimPrefix(plain, "http")+"/ws/silent", saying("hi", "received - equals hi")),
		"a websocket that is not one":   wsCheck("ws"+strings.TrimPrefix(plain, "http")+"/hang", none),
	}
	for name, check := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check.Timeout = 400 * time.Millisecond
			for try := 1; ; try++ {
				start := time.Now()
				o := e.Look(t.Context(), check)
				took := time.Since(start)
				if o.Status != uptime.StatusDown || took < check.Timeout {
					t.Fatalf("after %v: %+v", took, o)
				}
				if took <= check.Timeout+slack {
					return
				}
				if try == 5 {
					t.Fatalf("after %v, five times: %+v", took, o)
				}
			}
		})
	}
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
