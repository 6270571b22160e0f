package probe

import (
	"net"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

// trap is an address that may not be visited, where somebody listens all the same.
type trap struct {
	tcp    net.Listener
	udp    net.PacketConn
	caught atomic.Int64 // connections and datagrams
}

// setTrap listens on 127.0.0.2, over TCP and UDP at the same port. (Only Linux has that
// address without being asked.)
func setTrap(t *testing.T) *trap {
	t.Helper()
	for range 20 {
		tcp, err := net.Listen("tcp", "127.0.0.2:0")
		if err != nil {
			t.Fatal(err)
		}
		udp, err := net.ListenPacket("udp", tcp.Addr().String())
		if err != nil { // somebody has that port
			_ = tcp.Close()
			continue
		}
		caught := &trap{tcp: tcp, udp: udp}
		t.Cleanup(func() { _ = tcp.Close(); _ = udp.Close() })
		go func() {
			for {
				conn, err := tcp.Accept()
				if err != nil {
					return
				}
				caught.caught.Add(1)
				_ = conn.Close()
			}
		}()
		go func() {
			for buf := make([]byte, 1500); ; {
				if _, _, err := udp.ReadFrom(buf); err != nil {
					return
				}
				caught.caught.Add(1)
			}
		}()
		return caught
	}
	t.Fatal("no port is free for both")
	return nil
}

func (c *trap) port() string {
	_, port, _ := net.SplitHostPort(c.tcp.Addr().String())
	return port
}

// empty fails when the trap caught anything, and then shows that it would have: what
// is sent to it by this test comes after all that was sent before.
func (c *trap) empty(t *testing.T) {
	t.Helper()
	for _, network := range []string{"tcp", "udp"} {
		conn, err := net.Dial(network, c.tcp.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		_, _ = conn.Write([]byte("x"))
		_ = conn.Close()
	}
	limit := time.Now().Add(hang)
	for c.caught.Load() < 2 && time.Now().Before(limit) {
		pause(t.Context(), time.Millisecond)
	}
	if n := c.caught.Load(); n != 2 {
		t.Errorf("the trap caught %d, 2 of them this test's own", n)
	}
}

// No kind of check, however it is led there, sends anything to an address that may not be
// visited, and what it comes to is no failure of the target.
//
// Promise: no check of any kind sends a packet to a blocked address
func TestBlockedAddressesGetNoPacket(t *testing.T) {
	t.Parallel()
	l, caught := startLab(t), setTrap(t)
	port := caught.port()
	o := options(l)
	o.Resolver = own(t, labAt(t, l, "dns"), o)
	e := New(o)
	inside := "a-127-0-0-2.lab.test:" + port // allowed is 127.0.0.1 alone
	to := func(target string) string { return l.URL() + "/redirect-to?url=" + url.QueryEscape(target) }
	none := uptime.Spec{}
	for _, c := range []struct {
		check  uptime.Check
		reason uptime.Reason
	}{
		{checkOf("http://127.0.0.2:" + port + "/"), uptime.ReasonBlockedAddress},
		{checkOf("https://127.0.0.2:" + port + "/"), uptime.ReasonBlockedAddress},
		{checkOf("http://[::ffff:127.0.0.2]:" + port + "/"), uptime.ReasonBlockedAddress},
		{checkOf("http://" + inside + "/"), uptime.ReasonBlockedAddress},
		{checkOf("https://" + inside + "/"), uptime.ReasonBlockedAddress},
		{checkOf("http://cname-3." + inside + "/"), uptime.ReasonBlockedAddress},
		{checkOf(to("http://127.0.0.2:" + port + "/")), uptime.ReasonRedirectBlocked},
		{checkOf(to("https://" + inside + "/")), uptime.ReasonRedirectBlocked},
		{checkOf(to(to("http://" + inside + "/"))), uptime.ReasonRedirectBlocked},
		{checkOf(to("//127.0.0.2:" + port + "/")), uptime.ReasonRedirectBlocked},
		{checkOf(to("ftp://127.0.0.2:" + port + "/")), uptime.ReasonRedirectBlocked},
		{checkOf(to("gopher://127.0.0.2:" + port + "/")), uptime.ReasonRedirectBlocked},
		{overQUIC(checkOf("https://127.0.0.2:" + port + "/")), uptime.ReasonBlockedAddress},
		{overQUIC(checkOf("https://" + inside + "/")), uptime.ReasonBlockedAddress},
		{checkAt("tcp://127.0.0.2:"+port, none), uptime.ReasonBlockedAddress},
		{checkAt("tcp://"+inside, starts(uptime.StartTLSSMTP)), uptime.ReasonBlockedAddress},
		{checkAt("tls://127.0.0.2:"+port, none), uptime.ReasonBlockedAddress},
		{checkAt("tls://"+inside, none), uptime.ReasonBlockedAddress},
		{checkAt("icmp://127.0.0.2", none), uptime.ReasonBlockedAddress},
		{checkAt("icmp://a-127-0-0-2.lab.test", none), uptime.ReasonBlockedAddress},
		{dnsCheck("dns://127.0.0.2:"+port+"/lab.test", none), uptime.ReasonBlockedAddress},
		{dnsCheck("dns://"+inside+"/lab.test", none), uptime.ReasonBlockedAddress},
		{dnsCheck("dns://"+inside+"/lab.test", over(uptime.DNSOverTCP)), uptime.ReasonBlockedAddress},
		{dnsCheck("dns://"+inside+"/lab.test", over(uptime.DNSOverTLS)), uptime.ReasonBlockedAddress},
		{dnsCheck("dns://"+inside+"/lab.test", over(uptime.DNSOverHTTPS)), uptime.ReasonBlockedAddress},
		{grpcCheck("grpc://127.0.0.2:"+port, none), uptime.ReasonBlockedAddress},
		{grpcCheck("grpcs://"+inside, none), uptime.ReasonBlockedAddress},
		{wsCheck("ws://127.0.0.2:"+port+"/", none), uptime.ReasonBlockedAddress},
		{wsCheck("wss://"+inside+"/", none), uptime.ReasonBlockedAddress},
		{checkOf("http://169.254.169.254/latest/"), uptime.ReasonBlockedAddress},
		{checkOf("http://a-169-254-169-254.lab.test/latest/"), uptime.ReasonBlockedAddress},
		{checkOf(to("http://a-169-254-169-254.lab.test/latest/")), uptime.ReasonRedirectBlocked},
	} {
		c.check.Timeout = 10 * time.Second
		if o := checked(t.Context(), e, c.check); o.Status != uptime.StatusUnknown || o.Reason != c.reason || o.Evidence != nil || o.Address.IsValid() || o.TotalUS != 0 {
			t.Errorf("%s %s: %+v", c.check.Kind, c.check.URL, o)
		}
	}
	caught.empty(t)
}

func overQUIC(check uptime.Check) uptime.Check {
	check.Spec = uptime.Spec{HTTP: &uptime.HTTPSpec{Version: uptime.HTTP3}}.Text()
	return check
}

// A name that was public when it was saved, and leads inside from one look-up to the next,
// is visited where it is public and nowhere else.
//
// Promise: a name that leads inside later gets no packet
func TestRebindingNamesGetNoPacket(t *testing.T) {
	t.Parallel()
	l, caught := startLab(t), setTrap(t)
	public, err := net.Listen("tcp", "127.0.0.1:"+caught.port()) // at the same port: the URL stays as it is
	for try := 0; err != nil && try < 20; try++ {                // somebody has that one
		caught = setTrap(t)
		public, err = net.Listen("tcp", "127.0.0.1:"+caught.port())
	}
	if err != nil {
		t.Fatal(err)
	}
	var answered atomic.Int64
	t.Cleanup(func() { _ = public.Close() })
	go func() {
		for {
			conn, err := public.Accept()
			if err != nil {
				return
			}
			answered.Add(1)
			_, _ = conn.Write([]byte("HTTP/1.1 204 No Content\r\n\r\n"))
			_ = conn.(*net.TCPConn).CloseWrite()
		}
	}()
	o := options(l)
	o.Resolver = own(t, labAt(t, l, "dns"), o)
	e := New(o)
	for _, name := range []string{"rebind-127-0-0-1-127-0-0-2", "rebind-127-0-0-1-169-254-169-254"} {
		check := checkOf("http://x-" + strings.ReplaceAll(name, "-", "") + "." + name + ".lab.test:" + caught.port() + "/")
		if o := e.Look(t.Context(), check); o.Status != uptime.StatusUp {
			t.Errorf("%s while it is public: %+v", name, o)
		}
		before := answered.Load()
		limit := time.Now().Add(hang)
		for o := e.Look(t.Context(), check); o.Reason != uptime.ReasonBlockedAddress; o = e.Look(t.Context(), check) { // the first answer is held for a second
			if o.Status != uptime.StatusUp || time.Now().After(limit) {
				t.Fatalf("%s: %+v", name, o)
			}
			pause(t.Context(), 50*time.Millisecond)
		}
		if before == 0 {
			t.Errorf("%s was never visited", name)
		}
		// From now on it stays inside, also by way of a redirect.
		redirect := checkOf(l.URL() + "/redirect-to?url=" + url.QueryEscape(check.URL))
		if o := e.Look(t.Context(), redirect); o.Reason != uptime.ReasonRedirectBlocked {
			t.Errorf("%s after a redirect: %+v", name, o)
		}
	}
	// Of several addresses only those that may be visited are.
	both := checkOf("http://a-127-0-0-2.a-127-0-0-1.lab.test:" + caught.port() + "/")
	if o := e.Look(t.Context(), both); o.Status != uptime.StatusUp || o.Address.String() != "127.0.0.1" {
		t.Errorf("%+v", o)
	}
	caught.empty(t)
}

// A redirect to itself is followed five times, and not once more.
func TestRedirectsAreCounted(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	e := New(options(l))
	for path, want := range map[string]int64{"/redirect-loop": 6, "/redirect/9": 1} {
		o := e.Look(t.Context(), checkOf(l.URL()+path))
		if n := l.RequestsTo(path); o.Failure != uptime.FailureRedirectLimit || n != want || o.Seen.Hops != 6 {
			t.Errorf("%s: %d requests, %+v", path, n, o)
		}
	}
	if n := l.Requests(); n != 12 {
		t.Errorf("%d requests", n)
	}
}
