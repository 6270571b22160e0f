package resolve

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// nameServer is a real server whose behaviour is in the name that it is asked for. It
// speaks UDP and TCP on one port, and TLS and HTTPS on others.
type nameServer struct {
	plain, overTLS, overHTTPS string // as Parse takes them
	roots                     *x509.CertPool
	tlsConns                  *countingListener
	httpConns                 atomic.Int32
	httpVersion               atomic.Int32
	release                   chan struct{} // "held" names are answered once it is closed

	mu    sync.Mutex
	asked map[string]int // by "network name TYPE"
	edns  map[string]bool
}

type countingListener struct {
	net.Listener
	mu    sync.Mutex
	conns []net.Conn
}

func (l *countingListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err == nil {
		l.mu.Lock()
		l.conns = append(l.conns, conn)
		l.mu.Unlock()
	}
	return conn, err
}

func (l *countingListener) accepted() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.conns)
}

// hangUp closes what is open, as servers do with idle connections.
func (l *countingListener) hangUp() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, conn := range l.conns {
		_ = conn.Close()
	}
}

func startServer(t *testing.T) *nameServer {
	t.Helper()
	return startServerAt(t, "127.0.0.1")
}

// startServerAt listens for TLS at an address of its own, so that the port is nobody's
// once it is closed. Its certificate is for 127.0.0.1 and example.com.
func startServerAt(t *testing.T, tlsHost string) *nameServer {
	t.Helper()
	s := &nameServer{asked: map[string]int{}, edns: map[string]bool{}, release: make(chan struct{})}
	web := httptest.NewUnstartedServer(http.HandlerFunc(s.serveHTTP))
	web.EnableHTTP2 = true
	web.Config.ErrorLog = log.New(io.Discard, "", 0)
	web.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.httpConns.Add(1)
		}
	}
	web.StartTLS()
	t.Cleanup(web.Close)
	s.roots = x509.NewCertPool()
	s.roots.AddCert(web.Certificate())
	s.overHTTPS = web.URL + "/dns-query"

	packets, stream := samePort(t)
	s.plain = packets.LocalAddr().String()
	secure, err := net.Listen("tcp", tlsHost+":0")
	if err != nil {
		t.Fatal(err)
	}
	s.tlsConns = &countingListener{Listener: secure}
	s.overTLS = "tls://" + secure.Addr().String()
	certificate := &tls.Config{Certificates: web.TLS.Certificates}
	for network, server := range map[string]*dns.Server{
		"udp": {PacketConn: packets}, "tcp": {Listener: stream}, "tls": {Listener: tls.NewListener(s.tlsConns, certificate)},
	} {
		started := make(chan struct{})
		server.ReadTimeout, server.IdleTimeout = time.Minute, func() time.Duration { return time.Minute }
		server.NotifyStartedFunc = func() { close(started) }
		server.Handler = dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) { s.serve(network, w, q) })
		go func() { _ = server.ActivateAndServe() }()
		<-started
		t.Cleanup(func() { _ = server.Shutdown() })
	}
	return s
}

func (s *nameServer) count(key string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[key]
}

// offered says whether the last question over network offered EDNS as it should.
func (s *nameServer) offered(network string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.edns[network]
}

func (s *nameServer) note(network string, query *dns.Msg) (q dns.Question) {
	q = query.Question[0]
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked[network+" "+q.Name+" "+dns.TypeToString[q.Qtype]]++
	opt := query.IsEdns0()
	s.edns[network] = opt != nil && opt.UDPSize() == bufferSize && !opt.Do()
	return q
}

func (s *nameServer) serve(network string, w dns.ResponseWriter, query *dns.Msg) {
	q := s.note(network, query)
	m := s.behave(network, q, query)
	switch {
	case starts(q, "garbage"):
		_, _ = w.Write([]byte("\xde\xad\xbe\xef, this is no answer"))
		return
	case starts(q, "wrongid"):
		m.Id++
	case starts(q, "forged"): // somebody is quicker than the server
		forged := m.Copy()
		forged.Id++
		forged.Answer = records(q.Name + " 60 IN A 127.0.0.1")
		_ = w.WriteMsg(forged)
		forged.Id, forged.Question[0].Name = m.Id, "elsewhere.example."
		_ = w.WriteMsg(forged)
		_, _ = w.Write([]byte("x"))
	}
	if m != nil {
		_ = w.WriteMsg(m)
	}
}

// behave gives nil for silence.
func (s *nameServer) behave(network string, q dns.Question, query *dns.Msg) *dns.Msg {
	m := address(q, "60")
	switch {
	case q.Qtype == dns.TypeNS:
		m = root(q)
	case starts(q, "nx"):
		m = withSOA(answerTo(q, dns.RcodeNameError), soa)
	case starts(q, "nodata"):
		m = withSOA(answerTo(q, 0), soa)
	case starts(q, "servfail"):
		m = answerTo(q, dns.RcodeServerFailure)
	case starts(q, "refused"):
		m = answerTo(q, dns.RcodeRefused)
	case starts(q, "silent"):
		return nil
	case starts(q, "held"):
		<-s.release
	case starts(q, "slow6") && q.Qtype == dns.TypeAAAA:
		<-s.release
	case starts(q, "long") && network == "udp":
		m = answerTo(q, 0)
		m.Truncated = true
	case starts(q, "long"), starts(q, "huge"):
		n := 100
		if strings.Contains(q.Name, "huge") {
			n = 1000
		}
		m = answerTo(q, 0)
		for i := range n {
			m.Answer = append(m.Answer, &dns.A{Hdr: dns.RR_Header{Name: q.Name, Rrtype: dns.TypeA, Class: dns.ClassINET, Ttl: 60}, A: net.IPv4(9, 9, byte(i>>8), byte(i))})
		}
		m.Compress = true
	case starts(q, "noedns") && query.IsEdns0() != nil:
		m = &dns.Msg{}
		m.Response, m.Rcode = true, dns.RcodeFormatError
	case starts(q, "circle"):
		m = answerTo(q, 0, q.Name+" 60 IN CNAME b.example.", "b.example. 60 IN CNAME "+q.Name)
	case starts(q, "alias"):
		m = answerTo(q, 0, q.Name+" 60 IN CNAME b.example.", "b.example. 60 IN A 9.9.9.9")
	}
	m.Id = query.Id
	return m
}

func (s *nameServer) serveHTTP(w http.ResponseWriter, request *http.Request) {
	raw, err := io.ReadAll(request.Body)
	query := new(dns.Msg)
	if err != nil || query.Unpack(raw) != nil || request.Method != http.MethodPost || request.URL.Path != "/dns-query" || request.Header.Get("Content-Type") != "application/dns-message" || query.Id != 0 {
		http.Error(w, "no", http.StatusBadRequest)
		return
	}
	s.httpVersion.Store(int32(request.ProtoMajor))
	q := s.note("https", query)
	switch {
	case starts(q, "garbage"):
		w.Header().Set("Content-Type", mediaType)
		_, _ = w.Write([]byte("this is no answer"))
		return
	case starts(q, "page"):
		_, _ = w.Write([]byte("<html>"))
		return
	case starts(q, "busy"):
		http.Error(w, "busy", http.StatusServiceUnavailable)
		return
	case starts(q, "moved"):
		http.Redirect(w, request, "/elsewhere", http.StatusTemporaryRedirect)
		return
	case starts(q, "old"):
		w.Header().Set("Age", "45")
	}
	m := s.behave("https", q, query)
	if m == nil {
		<-request.Context().Done()
		return
	}
	if starts(q, "wrongid") {
		m.Id++
	}
	packed, err := m.Pack()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", mediaType)
	_, _ = w.Write(packed)
}

// asking makes a resolver of the servers in text, one that gives a busy machine time.
func asking(t *testing.T, s *nameServer, text string) *Resolver {
	t.Helper()
	c, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	o := options()
	o.Roots = s.roots
	const unhurried = 30 * time.Second
	r := build(c, o, func(to Server) transport { return newTransport(to, o.Roots, unhurried) })
	r.patience = unhurried
	r.reachable = func(netip.Addr) bool { return true }
	t.Cleanup(r.Close)
	return r
}

// samePort listens on one port for both; a port that is free for UDP may not be for TCP.
func samePort(t testing.TB) (net.PacketConn, net.Listener) {
	t.Helper()
	for range 100 {
		packets, err := net.ListenPacket("udp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		stream, err := net.Listen("tcp", packets.LocalAddr().String())
		if err == nil {
			return packets, stream
		}
		_ = packets.Close()
	}
	t.Fatal("no port is free for both UDP and TCP")
	return nil, nil
}
