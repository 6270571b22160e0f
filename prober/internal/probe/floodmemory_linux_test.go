package probe

import (
	"crypto/tls"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/lab"
	"github.com/probefleet/probefleet/internal/uptime"
)

// Many hostile answers at a time, over the versions of HTTP that others read for us and of the other
// kinds, make the process little larger each. A body is kept as far as it is read, which is a MiB, by
// who has a rule about it, and so is a message; of anything else nothing is.
func TestManyFloodsAtOnceTakeLittleMemory(t *testing.T) {
	if isBombed(t) {
		return
	}
	t.Parallel()
	if testing.Short() && racing == 1 {
		t.Skip("make test runs it without the race detector, where the bounds are narrow")
	}
	l := startLab(t)
	all := manyFloods(t, l)
	maps.Copy(all, talkFloods(t, l))
	for name, b := range all {
		b.Together, b.Check.Timeout, b.Fine.Timeout = 20-15*racing, time.Minute, time.Minute // the race detector is slow, too
		if b.Want[0] == uptime.FailureTimeout {
			b.Check.Timeout = 2 * time.Second
		}
		most := 1 << 10
		if spec := string(b.Check.Spec); strings.Contains(spec, "body") || strings.Contains(spec, "received") {
			most = 4 << 10
		}
		b.take(t, name, most)
	}
}

// manyFloods are hostile answers over HTTP/2 and HTTP/3, and to both kinds that speak HTTP/2.
func manyFloods(t *testing.T, l *lab.Lab) map[string]bombing {
	t.Helper()
	trusting := &uptime.TLSSpec{SkipVerify: true} // the authority is another process's
	web := func(version uptime.HTTPVersion, url string, rules ...string) uptime.Check {
		check, spec := checkOf(url), wanting(rules...)
		spec.HTTP, spec.TLS = &uptime.HTTPSpec{Version: version}, trusting
		check.Spec = spec.Text()
		return check
	}
	health := func(url string) uptime.Check { return grpcCheck(url, uptime.Spec{TLS: trusting}) }
	all := map[string]bombing{}
	two, three := urlOf(t, l, "h2"), startHTTP3(t, l, l)
	fine2, fine3 := web(uptime.HTTP2, two+"/ok"), web(uptime.HTTP3, three+"/ok")
	tooLarge := []uptime.Failure{uptime.FailureTooLarge}
	for _, path := range []string{"/bomb/gzip", "/bomb/br", "/bomb/zstd", "/bomb/endless", "/endless/chunked", "/headers/1000000"} {
		const whole = "body - not_contains never there"
		all["HTTP/2 "+path] = bombing{Check: web(uptime.HTTP2, two+path, whole), Fine: fine2, Want: tooLarge}
		all["HTTP/3 "+path] = bombing{Check: web(uptime.HTTP3, three+path, whole), Fine: fine3, Want: tooLarge}
	}
	stalled := []uptime.Failure{uptime.FailureTimeout}
	all["HTTP/2 /bomb/stalled"] = bombing{Check: web(uptime.HTTP2, two+"/bomb/stalled", "body - contains x"), Fine: fine2, Want: stalled}
	all["HTTP/3 /bomb/stalled"] = bombing{Check: web(uptime.HTTP3, three+"/bomb/stalled", "body - contains x"), Fine: fine3, Want: stalled}
	for path, want := range hostileFrames() {
		switch {
		case strings.HasSuffix(path, "-flood"), path == "/hpack-bomb", path == "/unfinished", path == "/overflow", path == "/empty-data", path == "/big-frame":
		default:
			continue
		}
		web := bombing{Check: web(uptime.HTTP2, urlOf(t, l, "h2-hostile")+path), Fine: fine2, Want: []uptime.Failure{want.http.failure}}
		if want.or != nil {
			web.Want = append(web.Want, want.or.failure)
		}
		all["HTTP/2 "+path] = web
		all["gRPC "+path] = bombing{Check: health("grpcs://" + labAt(t, l, "h2-hostile") + path), Fine: health("grpcs://" + labAt(t, l, "h2") + "/serving"), Want: []uptime.Failure{want.grpc.failure}}
	}
	for name, harm := range harms3() {
		if name == "goaways" || name == "empty data" { // they keep twenty readers busy for long, byte by byte
			continue
		}
		url := serve3(t, certificateOf(t, l, "tls"), "h3", harm.do)
		all["HTTP/3 "+name] = bombing{Check: web(uptime.HTTP3, url), Fine: fine3, Want: []uptime.Failure{harm.want.failure}}
	}
	return all
}

// talkFloods are hostile answers to the kinds that speak something else.
func talkFloods(t *testing.T, l *lab.Lab) map[string]bombing {
	t.Helper()
	trusting := &uptime.TLSSpec{SkipVerify: true} // the authority is another process's
	asked := func(server string, transport uptime.DNSTransport) uptime.Check {
		spec := over(transport)
		if transport != uptime.DNSOverTCP {
			spec.TLS = trusting
		}
		return dnsCheck("dns://"+server+"/lab.test", spec)
	}
	all := map[string]bombing{}
	tooLarge := []uptime.Failure{uptime.FailureTooLarge}
	for name, c := range map[string]struct {
		flood, fine string
		transport   uptime.DNSTransport
	}{
		"DNS over TCP":            {labAt(t, l, "tcp-flood"), labAt(t, l, "dns"), uptime.DNSOverTCP},
		"DNS over TLS":            {floodTLS(t, l, ""), labAt(t, l, "dot"), uptime.DNSOverTLS},
		"DNS over HTTPS/1.1":      {floodTLS(t, l, "HTTP/1.1 200 OK\r\nContent-Type: application/dns-message\r\n\r\n"), labAt(t, l, "tls"), uptime.DNSOverHTTPS},
		"DNS over HTTPS, headers": {floodTLS(t, l, "HTTP/1.1 200 OK\r\nX: "), labAt(t, l, "tls"), uptime.DNSOverHTTPS},
	} {
		all[name] = bombing{Check: asked(c.flood, c.transport), Fine: asked(c.fine, c.transport), Want: tooLarge}
	}
	// Over HTTP/2 what may come is said beforehand: a server that heeds that is asked for one byte too many.
	all["DNS over HTTPS"] = bombing{Check: asked(floodH2(t, l), uptime.DNSOverHTTPS), Fine: asked(labAt(t, l, "h2"), uptime.DNSOverHTTPS), Want: tooLarge}
	ws := "ws" + strings.TrimPrefix(l.URL(), "http") + "/ws/"
	for _, kind := range []string{"endless", "huge-frame"} {
		fine := wsCheck(ws+"echo", uptime.Spec{})
		all["websocket "+kind] = bombing{Check: wsCheck(ws+kind, uptime.Spec{}), Fine: fine, Want: tooLarge}
		all["websocket "+kind+", looked at"] = bombing{Check: wsCheck(ws+kind, saying("hi", "received - not_contains never there")), Fine: fine, Want: tooLarge}
	}
	all["websocket pings"] = bombing{Check: wsCheck(ws+"pings", uptime.Spec{}), Fine: wsCheck(ws+"echo", uptime.Spec{}), Want: []uptime.Failure{uptime.FailureProtocol}}
	for _, protocol := range []uptime.StartTLS{uptime.StartTLSSMTP, uptime.StartTLSIMAP, uptime.StartTLSFTP} {
		spec := starts(protocol)
		spec.TLS = trusting
		fine := tcpCheck(t, l, string(protocol), spec)
		all[string(protocol)+" lines"] = bombing{Check: tcpCheck(t, l, string(protocol)+"-endless", spec), Fine: fine, Want: tooLarge}
		all[string(protocol)+" line"] = bombing{Check: tcpCheck(t, l, "tcp-flood", spec), Fine: fine, Want: tooLarge}
	}
	return all
}

// floodTLS says what begins an answer over TLS, and then more without end.
func floodTLS(t *testing.T, l *lab.Lab, opening string) (addr string) {
	t.Helper()
	config := &tls.Config{Certificates: []tls.Certificate{certificateOf(t, l, "tls")}}
	more := strings.Repeat("x", 4<<10)
	return serve(t, func(c *net.TCPConn) {
		secure := tls.Server(c, config)
		if _, err := secure.Read(make([]byte, 4<<10)); err != nil {
			return
		}
		_, err := io.WriteString(secure, opening)
		for err == nil {
			_, err = io.WriteString(secure, more)
		}
	})
}

// floodH2 answers questions over HTTP/2 without end.
func floodH2(t *testing.T, l *lab.Lab) (addr string) {
	t.Helper()
	more := strings.Repeat("x", 4<<10)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/dns-message")
		for {
			if _, err := io.WriteString(w, more); err != nil {
				return
			}
		}
	}))
	server.EnableHTTP2, server.TLS = true, &tls.Config{Certificates: []tls.Certificate{certificateOf(t, l, "tls")}}
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	return server.Listener.Addr().String()
}
