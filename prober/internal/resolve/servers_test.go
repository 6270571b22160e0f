package resolve

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
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

// TestRealServers asks the same names in each way that a server can be asked.
func TestRealServers(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	const sixteen = "9.9.0.0 9.9.0.1 9.9.0.2 9.9.0.3 9.9.0.4 9.9.0.5 9.9.0.6 9.9.0.7 9.9.0.8 9.9.0.9 9.9.0.10 9.9.0.11 9.9.0.12 9.9.0.13 9.9.0.14 9.9.0.15"
	for network, text := range map[string]string{"udp": s.plain, "tls": s.overTLS, "https": s.overHTTPS} {
		t.Run(network, func(t *testing.T) {
			t.Parallel()
			r := asking(t, s, text)
			if got := want(t, r, "a.example", Both, "2600::1 9.9.9.9"); got.Server != text || got.Name != "a.example" || got.TTL > time.Minute {
				t.Errorf("%+v", got)
			}
			want(t, r, "a.example", V4, "9.9.9.9")
			want(t, r, "long.example", V4, sixteen)
			want(t, r, "noedns.example", V4, "9.9.9.9")
			if got := want(t, r, "alias.example", V4, "9.9.9.9"); got.Name != "b.example" {
				t.Errorf("%+v", got)
			}
			for host, wanted := range map[string][2]string{
				"nx.example":       {"not found", "no such host name"},
				"nodata.example":   {"not found", "the host name has no address"},
				"servfail.example": {"broken", "its name servers do not answer (SERVFAIL)"},
				"refused.example":  {"trouble", "REFUSED"},
				"circle.example":   {"broken", "its aliases go round in a circle"},
				"huge.example":     {"broken", "its answer is larger than 4096 bytes"},
			} {
				if network == "udp" && host == "huge.example" {
					host = "longhuge.example" // so that it comes over TCP
				}
				if kind, what := fails(t, r, t.Context(), host, Both); kind != wanted[0] || what != wanted[1] {
					t.Errorf("%s: %s, %s", host, kind, what)
				}
			}
			if s.count(network+" a.example. A") != 1 || s.count(network+" a.example. AAAA") != 1 || !s.offered(network) {
				t.Errorf("asked %d and %d times, EDNS %v", s.count(network+" a.example. A"), s.count(network+" a.example. AAAA"), s.offered(network))
			}
			if network == "udp" && (s.count("tcp long.example. A") != 1 || s.count("tcp a.example. A") != 0) {
				t.Error("what was cut short was not asked for over TCP")
			}
			if state := r.State(); len(state) != 1 || state[0].Server != text || !state[0].OK {
				t.Errorf("%+v", state)
			}
		})
	}
}

// What is no answer is not taken for one, whatever else comes of it in the little time
// that this test gives.
func TestRealNonsense(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	for network, text := range map[string]string{"udp": s.plain, "tls": s.overTLS, "https": s.overHTTPS} {
		for _, host := range []string{"garbage.example", "wrongid.example", "silent.example"} {
			t.Run(network+" "+host, func(t *testing.T) {
				t.Parallel()
				r := asking(t, s, text)
				r.patience = 300 * time.Millisecond
				kind, what := fails(t, r, t.Context(), host, V4)
				switch kind + ": " + what {
				case "trouble: an answer that cannot be read":
					if host == "silent.example" {
						t.Error("silence was read")
					}
				case "trouble: no answer in time", "broken: its name servers do not answer in time":
				default:
					t.Errorf("%s, %s", kind, what)
				}
			})
		}
	}
	for _, host := range []string{"garbage.example", "wrongid.example"} {
		if kind, what := fails(t, asking(t, s, s.overHTTPS), t.Context(), host, V4); kind != "trouble" || what != "an answer that cannot be read" {
			t.Errorf("%s, %s", kind, what)
		}
	}
}

func TestForgeriesArePassedOver(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	r := asking(t, s, s.plain)
	want(t, r, "forged.example", V4, "9.9.9.9")
	if s.count("udp forged.example. A") != 1 {
		t.Error("asked more than once")
	}
}

func TestSlowFamily(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	r := asking(t, s, s.plain)
	want(t, r, "slow6.example", Both, "9.9.9.9")
	close(s.release)
	want(t, r, "slow6.example", V6, "2600::1") // the same question, still out
	want(t, r, "slow6.example", Both, "2600::1 9.9.9.9")
	if s.count("udp slow6.example. AAAA") != 1 {
		t.Error("asked more than once")
	}
}

func TestNobodyListens(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	gone, err := net.ListenPacket("udp", "127.0.0.2:0") // where nobody else may take the port
	if err != nil {
		t.Fatal(err)
	}
	address := gone.LocalAddr().String()
	_ = gone.Close()
	for _, text := range []string{address, "tls://" + address, "https://" + address + "/q"} {
		r := asking(t, s, text)
		if kind, what := fails(t, r, t.Context(), "a.example", V4); kind != "trouble" || what != "connection refused" {
			t.Errorf("%s: %s, %s", text, kind, what)
		}
		r = asking(t, s, text+","+s.plain)
		if got := want(t, r, "a.example", Both, "2600::1 9.9.9.9"); got.Server != s.plain {
			t.Errorf("%+v", got)
		}
	}
}

func TestCertificatesAreChecked(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	want(t, asking(t, s, s.overTLS+"#example.com"), "a.example", V4, "9.9.9.9")
	for _, text := range []string{s.overTLS + "#example.net", strings.Replace(s.overTLS, "127.0.0.1", "localhost", 1), strings.Replace(s.overHTTPS, "127.0.0.1", "localhost", 1)} {
		if kind, what := fails(t, asking(t, s, text), t.Context(), "a.example", V4); kind != "trouble" || !strings.Contains(what, "certificate") {
			t.Errorf("%s: %s, %s", text, kind, what)
		}
	}
	s.roots = nil
	for _, text := range []string{s.overTLS, s.overHTTPS} {
		if kind, what := fails(t, asking(t, s, text), t.Context(), "a.example", V4); kind != "trouble" || !strings.Contains(what, "certificate") {
			t.Errorf("%s: %s, %s", text, kind, what)
		}
	}
}

func TestConnectionsAreKept(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	overTLS, overHTTPS := asking(t, s, s.overTLS), asking(t, s, s.overHTTPS)
	for i := range 20 {
		want(t, overTLS, fmt.Sprintf("a%d.example", i), V4, "9.9.9.9")
		want(t, overHTTPS, fmt.Sprintf("a%d.example", i), V4, "9.9.9.9")
	}
	if n := s.tlsConns.accepted(); n != 1 {
		t.Errorf("%d connections over TLS", n)
	}
	if n := s.httpConns.Load(); n != 1 || s.httpVersion.Load() != 2 {
		t.Errorf("%d connections over HTTP/%d", n, s.httpVersion.Load())
	}
	s.tlsConns.hangUp()
	want(t, overTLS, "b.example", V4, "9.9.9.9")
	if n := s.tlsConns.accepted(); n != 2 {
		t.Errorf("%d connections after the server hung up", n)
	}
}

// A server that answers one question after another does not hold up the rest.
func TestSlowNameHoldsUpNobody(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	r := asking(t, s, s.overTLS)
	var slow sync.WaitGroup
	slow.Go(func() { want(t, r, "held.example", V4, "9.9.9.9") })
	for s.count("tls held.example. A") == 0 {
		time.Sleep(time.Millisecond)
	}
	want(t, r, "a.example", V4, "9.9.9.9")
	close(s.release)
	slow.Wait()
	if n := s.tlsConns.accepted(); n != 2 {
		t.Errorf("%d connections", n)
	}
}

func TestManyQuestionsOverOneConnection(t *testing.T) {
	t.Parallel()
	client, server := net.Pipe()
	s := newStream(client)
	defer s.close()
	var asking sync.WaitGroup
	for i := range 50 {
		asking.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			q := asked(fmt.Sprintf("a%d.example", i), dns.TypeA)
			query := newQuery(q, true)
			query.Id = uint16(i / 10) // taken already, mostly
			m, err := s.exchange(ctx, query)
			if err != nil || m.Question[0] != q {
				t.Errorf("%v, %v", m, err)
			}
		})
	}
	conn := &dns.Conn{Conn: server}
	var queries []*dns.Msg
	seen := map[uint16]bool{}
	for range 50 {
		m, err := conn.ReadMsg()
		if err != nil {
			t.Fatal(err)
		}
		if seen[m.Id] {
			t.Errorf("id %d is used twice", m.Id)
		}
		seen[m.Id] = true
		queries = append(queries, m)
	}
	for i := len(queries) - 1; i >= 0; i-- { // in another order
		m := address(queries[i].Question[0], "60")
		m.Id = queries[i].Id
		if err := conn.WriteMsg(m); err != nil {
			t.Fatal(err)
		}
	}
	asking.Wait()
}

// A connection over which nothing comes any more is given up; one that serves others is kept.
func TestSilentConnectionIsGivenUp(t *testing.T) {
	t.Parallel()
	for _, serves := range []bool{false, true} {
		client, server := net.Pipe()
		s := newStream(client)
		conn := &dns.Conn{Conn: server}
		var asking sync.WaitGroup
		ctx, cancel := context.WithCancel(t.Context())
		asking.Go(func() {
			if _, err := s.exchange(ctx, newQuery(asked("silent.example", dns.TypeA), true)); err == nil {
				t.Error("silence was an answer")
			}
		})
		if _, err := conn.ReadMsg(); err != nil {
			t.Fatal(err)
		}
		if serves {
			asking.Go(func() {
				if _, err := s.exchange(t.Context(), newQuery(asked("a.example", dns.TypeA), true)); err != nil {
					t.Error(err)
				}
				cancel()
			})
			q, err := conn.ReadMsg()
			if err != nil {
				t.Fatal(err)
			}
			m := address(q.Question[0], "60")
			m.Id = q.Id
			if err := conn.WriteMsg(m); err != nil {
				t.Fatal(err)
			}
		} else {
			cancel()
		}
		asking.Wait()
		if s.alive() != serves {
			t.Errorf("serves others: %v, kept: %v", serves, s.alive())
		}
		s.close()
	}
}

func TestWhatHTTPAdds(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	r := asking(t, s, s.overHTTPS)
	if got := want(t, r, "old.example", V4, "9.9.9.9"); got.TTL > 15*time.Second {
		t.Errorf("what an HTTP cache held counts as new: %+v", got)
	}
	for host, what := range map[string]string{"busy.example": "HTTP status 503", "moved.example": "HTTP status 307", "page.example": "an answer that cannot be read"} {
		if kind, got := fails(t, r, t.Context(), host, V4); kind != "trouble" || got != what {
			t.Errorf("%s: %s, %s", host, kind, got)
		}
	}
}

func TestServersThatDoNotExistAnyMore(t *testing.T) {
	t.Parallel()
	s := startServerAt(t, "127.0.0.3")
	r := asking(t, s, s.overTLS+"#example.com")
	want(t, r, "a.example", V4, "9.9.9.9")
	_ = s.tlsConns.Close()
	s.tlsConns.hangUp()
	if kind, what := fails(t, r, t.Context(), "b.example", V4); kind != "trouble" || what != "connection refused" {
		t.Errorf("%s, %s", kind, what)
	}
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
