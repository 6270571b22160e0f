package resolve

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"
)

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
