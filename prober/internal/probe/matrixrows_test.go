package probe

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

// waiting is a check with a timeout that no busy machine needs.
func waiting(kind uptime.Kind, url string, spec uptime.Spec) uptime.Check {
	check := checkOf(url)
	check.Kind, check.Spec, check.Timeout = kind, spec.Text(), 20*time.Second
	return check
}

const (
	noTLS     = "nothing is encrypted"
	noAnswer  = "there is no answer that has one"
	noFollow  = "redirects are not followed: they are a wrong status_code"
	heartbeat = "only the job behind a heartbeat says so, and nothing visits one"
)

// dialled are the failures that every kind over TCP has before it begins to talk. The URL has a
// %s for the server's address.
func (m *matrix) dialled(kind uptime.Kind, url string, spec uptime.Spec) row {
	at := func(addr string) uptime.Check { return waiting(kind, fmt.Sprintf(url, addr), spec) }
	return row{
		uptime.FailureDNS:            at("gone.test:1"),
		uptime.FailureConnectRefused: at(m.at("refused")),
		uptime.FailureConnectTimeout: at(m.at("full")),
	}
}

// secured are those, and the failures of TLS.
func (m *matrix) secured(kind uptime.Kind, url string, spec uptime.Spec) row {
	r := m.dialled(kind, url, spec)
	for failure, addr := range m.bad {
		r[failure] = waiting(kind, fmt.Sprintf(url, addr), spec)
	}
	return r
}

func (r row) with(more row) row {
	maps.Copy(r, more)
	return r
}

func (m *matrix) rows() map[string]row {
	all := map[string]row{
		"http": m.http(), "http/2": m.http2(), "http/3": m.http3(), "tcp": m.tcp(), "tls": m.tls(), "icmp": m.icmp(),
		"dns": m.dns(), "dns/tls": m.dnsOverTLS(), "dns/https": m.dnsOverHTTPS(), "grpc": m.grpc(), "websocket": m.websocket(),
	}
	for _, r := range all {
		r.never(heartbeat, uptime.FailureReported)
	}
	return all
}

// answers are failures of an answer that a version of HTTP brings whole.
func answers(base string, version uptime.HTTPVersion) row {
	at := func(path string, asserts ...string) uptime.Check {
		spec := wanting(asserts...)
		spec.HTTP = &uptime.HTTPSpec{Version: version}
		return waiting(uptime.KindHTTP, base+path, spec)
	}
	return row{
		uptime.FailureStatusCode:    at("/status/503"),
		uptime.FailureBody:          at("/text/hello", "body - contains world"),
		uptime.FailureHeader:        at("/ok", "header X-Version exists"),
		uptime.FailureLatency:       at("/slow/50ms", "phase wait lt 20"),
		uptime.FailureRedirectLimit: at("/redirect/6"),
		uptime.FailureTooLarge:      at("/headers/70000"),
		uptime.FailureProtocol:      at("/malformed"),
		uptime.FailureReset:         at("/reset"),
		uptime.FailureTimeout:       at("/hang"),
	}
}

func (m *matrix) http() row {
	return m.secured(uptime.KindHTTP, "https://%s/", uptime.Spec{}).with(answers(m.lab.URL(), uptime.HTTP1))
}

func (m *matrix) http2() row {
	spec := uptime.Spec{HTTP: &uptime.HTTPSpec{Version: uptime.HTTP2}}
	hostile := "https://" + m.at("h2-hostile")
	return m.secured(uptime.KindHTTP, "https://%s/", spec).with(answers("https://"+m.at("h2"), uptime.HTTP2)).with(row{
		uptime.FailureProtocol: waiting(uptime.KindHTTP, hostile+"/garbage", spec),
		uptime.FailureReset:    waiting(uptime.KindHTTP, hostile+"/rst", spec),
	})
}

func (m *matrix) http3() row {
	spec := uptime.Spec{HTTP: &uptime.HTTPSpec{Version: uptime.HTTP3}}
	at := func(url string) uptime.Check { return waiting(uptime.KindHTTP, url, spec) }
	mux := http.NewServeMux()
	mux.Handle("/", m.lab)
	mux.HandleFunc("/reset", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	silent, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() { _ = silent.Close() })
	good := certificateOf(m.t, m.lab, "tls")
	r := answers(startHTTP3(m.t, m.lab, mux), uptime.HTTP3).with(row{
		uptime.FailureDNS:            at("https://gone.test/"),
		uptime.FailureConnectTimeout: at("https://" + silent.LocalAddr().String()),
		uptime.FailureTLSOther:       at(serve3(m.t, good, "other", nil)),
		uptime.FailureProtocol:       at(serve3(m.t, good, "h3", func(a asked3) { _, _ = a.stream.Write(frame3(0, []byte("a body without headers"))) })),
	})
	for failure, name := range badCertificates {
		r[failure] = at(serve3(m.t, certificateOf(m.t, m.lab, name), "h3", nil))
	}
	return r.never("over UDP a closed port is as silent as a lost packet: connect_timeout", uptime.FailureConnectRefused)
}

func (m *matrix) tcp() row {
	at := func(name string, spec uptime.Spec) uptime.Check { return tcpCheck(m.t, m.lab, name, spec) }
	smtp, other := starts(uptime.StartTLSSMTP), starts(uptime.StartTLSSMTP)
	other.TLS = &uptime.TLSSpec{ServerName: "elsewhere.invalid"}
	return m.dialled(uptime.KindTCP, "tcp://%s", uptime.Spec{}).with(row{
		uptime.FailureTLSExpired:   at("smtp-expired", smtp),
		uptime.FailureTLSName:      at("smtp", other),
		uptime.FailureTLSUntrusted: tcpCheck(m.t, startLab(m.t), "smtp", smtp),
		uptime.FailureTLSOther:     at("smtp-garbage", smtp),
		uptime.FailureBody:         at("tcp-banner", uptime.Spec{Assertions: hears("equals", "221 busy\r\n")}),
		uptime.FailureLatency:      at("tcp", sends("slow 50ms late\n", wanting("phase wait lt 20").Assertions...)),
		uptime.FailureTooLarge:     at("tcp-flood", uptime.Spec{Assertions: hears("contains", "y")}),
		uptime.FailureProtocol:     at("smtp-babble", smtp),
		uptime.FailureReset:        at("tcp", sends("reset\n")),
		uptime.FailureTimeout:      at("tcp", sends("silence\n")),
	}).never(noAnswer, uptime.FailureStatusCode, uptime.FailureHeader, uptime.FailureRedirectLimit)
}

func (m *matrix) tls() row {
	good := certificateOf(m.t, m.lab, "tls")
	slow := serve(m.t, func(c *net.TCPConn) {
		pause(m.t.Context(), 50*time.Millisecond)
		_ = tls.Server(c, &tls.Config{Certificates: []tls.Certificate{good}}).Handshake()
		_, _ = io.Copy(io.Discard, c)
	})
	at := func(addr string, asserts ...string) uptime.Check { return checkAt("tls://"+addr, wanting(asserts...)) }
	return m.secured(uptime.KindTLS, "tls://%s", uptime.Spec{}).with(row{
		uptime.FailureLatency: at(slow, "phase tls lt 20"),
		uptime.FailureReset:   at(m.at("tls-reset")),
		uptime.FailureTimeout: at(m.at("tls-silent")),
	}).never(noAnswer, uptime.FailureStatusCode, uptime.FailureBody, uptime.FailureHeader, uptime.FailureRedirectLimit).
		never("a handshake that is too large, or is none, has failed as such: tls_other", uptime.FailureTooLarge, uptime.FailureProtocol)
}

func (m *matrix) icmp() row {
	at := func(h *host, asserts ...string) ping {
		return ping{h, checkAt("icmp://127.0.0.1", wanting(asserts...))}
	}
	late := func(_ int, request []byte) [][]byte { return [][]byte{replyTo(m.t, request, nil)} }
	return row{
		uptime.FailureDNS:            checkAt("icmp://gone.test", uptime.Spec{}),
		uptime.FailureConnectRefused: at(&host{broken: syscall.ECONNREFUSED}), // firewalls that reject say that a port is closed
		uptime.FailureConnectTimeout: at(&host{broken: syscall.EHOSTUNREACH}),
		uptime.FailureLatency:        at(&host{answer: late, after: 50 * time.Millisecond}, "phase wait lt 20"),
		uptime.FailureTimeout:        at(&host{}),
	}.never(noTLS, uptime.FailureTLSExpired, uptime.FailureTLSName, uptime.FailureTLSUntrusted, uptime.FailureTLSOther).
		never(noAnswer, uptime.FailureStatusCode, uptime.FailureBody, uptime.FailureHeader, uptime.FailureRedirectLimit).
		never("what does not answer the request is passed over: timeout", uptime.FailureTooLarge, uptime.FailureProtocol).
		never("there is no connection", uptime.FailureReset)
}

// replies are failures of a server's answers over one of the ways to ask.
func replies(server string, spec uptime.Spec) row {
	at := func(name string, asserts ...string) uptime.Check {
		wants := wanting(asserts...)
		wants.DNS = spec.DNS
		return waiting(uptime.KindDNS, "dns://"+server+"/"+name, wants)
	}
	const many = "a-192-0-2-1.a-192-0-2-2.a-192-0-2-3.a-192-0-2-4.a-192-0-2-5.a-192-0-2-6.a-192-0-2-7.lab.test"
	return row{
		uptime.FailureDNS:      at("gone.lab.test"),
		uptime.FailureLatency:  at("slow-50ms.a-192-0-2-1.lab.test", "phase wait lt 20"),
		uptime.FailureProtocol: at("half." + many),
		uptime.FailureTimeout:  at("silent.lab.test"),
	}.never("what comes is records, and wrong ones are the failure dns", uptime.FailureBody, uptime.FailureHeader)
}

func (m *matrix) dns() row {
	tcp := over(uptime.DNSOverTCP)
	at := func(name string) uptime.Check {
		return waiting(uptime.KindDNS, "dns://"+m.at(name)+"/lab.test", tcp)
	}
	return m.dialled(uptime.KindDNS, "dns://%s/lab.test", tcp).with(replies(m.at("dns"), uptime.Spec{})).with(row{
		uptime.FailureTooLarge: at("tcp-flood"),
		uptime.FailureReset:    at("tcp-close"),
	}).never(noTLS, uptime.FailureTLSExpired, uptime.FailureTLSName, uptime.FailureTLSUntrusted, uptime.FailureTLSOther).
		never(noAnswer, uptime.FailureStatusCode, uptime.FailureRedirectLimit)
}

// spoken is a question to a server that says only that, over TLS.
func (m *matrix) spoken(text string, spec uptime.Spec) uptime.Check {
	return waiting(uptime.KindDNS, "dns://"+serveTLS(m.t, certificateOf(m.t, m.lab, "tls"), text)+"/lab.test", spec)
}

func (m *matrix) dnsOverTLS() row {
	spec := over(uptime.DNSOverTLS)
	return m.secured(uptime.KindDNS, "dns://%s/lab.test", spec).with(replies(m.at("dot"), spec)).with(row{
		uptime.FailureTooLarge: m.spoken(strings.Repeat("x", 200<<10), spec),
		uptime.FailureReset:    m.spoken("", spec),
	}).never(noAnswer, uptime.FailureStatusCode, uptime.FailureRedirectLimit)
}

func (m *matrix) dnsOverHTTPS() row {
	spec := over(uptime.DNSOverHTTPS)
	return m.secured(uptime.KindDNS, "dns://%s/lab.test", spec).with(replies(m.at("h2"), spec)).with(row{
		uptime.FailureStatusCode: m.spoken("HTTP/1.1 503 Service Unavailable\r\n\r\n", spec),
		uptime.FailureTooLarge:   m.spoken("HTTP/1.1 200 OK\r\n\r\n"+strings.Repeat("x", 100<<10), spec),
		uptime.FailureReset:      m.spoken("", spec),
	}).never(noFollow, uptime.FailureRedirectLimit)
}

func (m *matrix) grpc() row {
	at := func(service string, asserts ...string) uptime.Check {
		return waiting(uptime.KindGRPC, "grpc://"+m.at("h2c")+"/"+service, wanting(asserts...))
	}
	large := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, strings.Repeat("x", maxHealth+1))
	}))
	large.EnableHTTP2, large.TLS = true, &tls.Config{Certificates: []tls.Certificate{certificateOf(m.t, m.lab, "tls")}}
	large.StartTLS()
	m.t.Cleanup(large.Close)
	return m.secured(uptime.KindGRPC, "grpcs://%s", uptime.Spec{}).with(row{
		uptime.FailureStatusCode: at("not-serving"),
		uptime.FailureLatency:    at("slow-50ms", "phase wait lt 20"),
		uptime.FailureTooLarge:   waiting(uptime.KindGRPC, "grpcs"+strings.TrimPrefix(large.URL, "https"), uptime.Spec{}),
		uptime.FailureProtocol:   at("no-status"),
		uptime.FailureReset:      at("cut"),
		uptime.FailureTimeout:    at("hang"),
	}).never("what comes is a state of health, and a wrong one is a wrong status_code", uptime.FailureBody, uptime.FailureHeader).
		never(noFollow, uptime.FailureRedirectLimit)
}

func (m *matrix) websocket() row {
	at := func(kind string, spec uptime.Spec) uptime.Check {
		return waiting(uptime.KindWebSocket, "ws"+strings.TrimPrefix(m.lab.URL(), "http")+"/ws/"+kind, spec)
	}
	slow, _ := serveWS(m.t, func(in *bufio.Reader, out io.Writer) {
		_, payload := clientFrame(m.t, in)
		pause(m.t.Context(), 50*time.Millisecond)
		_, _ = io.WriteString(out, "\x8a"+string(rune(len(payload)))+payload)
		_, _ = io.Copy(io.Discard, in)
	})
	return m.secured(uptime.KindWebSocket, "wss://%s/", uptime.Spec{}).with(row{
		uptime.FailureStatusCode: at("refuse", uptime.Spec{}),
		uptime.FailureBody:       at("hello", saying("hi", "received - equals hi")),
		uptime.FailureLatency:    waiting(uptime.KindWebSocket, slow, wanting("phase wait lt 20")),
		uptime.FailureTooLarge:   at("huge-frame", uptime.Spec{}),
		uptime.FailureProtocol:   at("wrong-key", uptime.Spec{}),
		uptime.FailureReset:      at("close", uptime.Spec{}),
		uptime.FailureTimeout:    at("silent", uptime.Spec{}),
	}).never("no assertion looks at the headers of an upgrade", uptime.FailureHeader).never(noFollow, uptime.FailureRedirectLimit)
}
