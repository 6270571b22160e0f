package probe

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"

	"github.com/probefleet/probefleet/internal/lab"
	"github.com/probefleet/probefleet/internal/uptime"
)

// Extensions of a client's hello that go on with an old session, or ask for one to go on with
// (RFC 5077 §3.2, RFC 8446 §4.2).
var resuming = map[uint16]string{35: "session_ticket", 41: "pre_shared_key", 42: "early_data", 45: "psk_key_exchange_modes"}

// doorman secures what comes to it in one version of TLS, gives everybody who wants one a ticket,
// and notes of each handshake what was asked for, and whether an old session went on with it.
type doorman struct {
	hellos  chan []uint16
	resumed chan bool
	config  *tls.Config
}

func newDoorman(t *testing.T, l *lab.Lab, version uint16, protocols ...string) *doorman {
	t.Helper()
	d := &doorman{hellos: make(chan []uint16, 64), resumed: make(chan bool, 64)}
	d.config = &tls.Config{
		Certificates: []tls.Certificate{certificateOf(t, l, "tls")}, MinVersion: version, MaxVersion: version, NextProtos: protocols,
		GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
			d.hellos <- slices.Clone(hello.Extensions)
			return nil, nil
		},
		VerifyConnection: func(state tls.ConnectionState) error {
			d.resumed <- state.DidResume
			return nil
		},
	}
	return d
}

// before has each connection to a server that talks without TLS come by the doorman first, after a
// talk in clear if there is one.
func (d *doorman) before(t *testing.T, server string, talk ...string) (addr string) {
	t.Helper()
	return serve(t, func(c *net.TCPConn) {
		in := bufio.NewReader(c)
		for i, line := range talk {
			if _, err := io.WriteString(c, line); err != nil {
				return
			}
			if i < len(talk)-1 { // the last one agrees to TLS
				_, _ = in.ReadString('\n')
			}
		}
		secure := tls.Server(c, d.config)
		if secure.Handshake() != nil || server == "" {
			_, _ = io.Copy(io.Discard, c)
			return
		}
		back, err := net.Dial("tcp", server)
		if err != nil {
			t.Error(err)
			return
		}
		defer back.Close()
		go func() {
			_, _ = io.Copy(back, secure)
			_ = back.(*net.TCPConn).CloseWrite()
		}()
		_, _ = io.Copy(secure, back)
		_ = secure.CloseWrite()
	})
}

// noted gives what so many handshakes asked for, and how many of them went on with an old session.
func (d *doorman) noted(t *testing.T, handshakes int) (asked []string, resumed int) {
	t.Helper()
	if n := len(d.hellos); n != handshakes { // each was noted before the client knew of the server
		t.Fatalf("%d handshakes, want %d", n, handshakes)
	}
	for range handshakes {
		for _, extension := range <-d.hellos {
			if name, resumes := resuming[extension]; resumes {
				asked = append(asked, name)
			}
		}
		if <-d.resumed { // noted soon after
			resumed++
		}
	}
	return asked, resumed
}

// Whatever is spoken inside, each visit and each hop of it is a connection of its own, with a whole
// handshake: sessions are neither gone on with nor asked for, tickets or none.
func TestNothingIsResumedInside(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	e := New(options(l))
	plain, h2c, dnsAt, lines := labAt(t, l, "plain"), labAt(t, l, "h2c"), labAt(t, l, "dns"), labAt(t, l, "tcp")
	web := func(version uptime.HTTPVersion) func(addr string) uptime.Check {
		return func(addr string) uptime.Check {
			check := checkOf("https://" + addr + "/redirect/1")
			check.Spec = uptime.Spec{HTTP: &uptime.HTTPSpec{Version: version}}.Text()
			return check
		}
	}
	asks := func(transport uptime.DNSTransport) func(addr string) uptime.Check {
		return func(addr string) uptime.Check {
			return dnsCheck("dns://"+addr+"/a-192-0-2-1.lab.test", over(transport))
		}
	}
	upgrades := func(protocol uptime.StartTLS, spec uptime.Spec) func(addr string) uptime.Check {
		spec.TCP = &uptime.TCPSpec{StartTLS: protocol, Send: "echo hello\n"}
		return func(addr string) uptime.Check { return checkAt("tcp://"+addr, spec) }
	}
	heard := uptime.Spec{Assertions: hears("contains", "hello")}
	for name, c := range map[string]struct {
		protocol string   // that TLS agrees on
		server   string   // behind it
		talk     []string // in clear
		check    func(addr string) uptime.Check
		code     int
		hops     int
	}{
		"HTTP/1.1":                {"http/1.1", plain, nil, web(uptime.HTTP1), 200, 2},
		"HTTP/2":                  {"h2", h2c, nil, web(uptime.HTTP2), 200, 2},
		"HTTP/2, the best of two": {"h2", h2c, nil, web(uptime.HTTPBest), 200, 2},
		"DNS over TLS":            {"dot", dnsAt, nil, asks(uptime.DNSOverTLS), 0, 1},
		"DNS over HTTPS":          {"h2", h2c, nil, asks(uptime.DNSOverHTTPS), 0, 1},
		"DNS over HTTPS/1.1":      {"http/1.1", plain, nil, asks(uptime.DNSOverHTTPS), 0, 1},
		"gRPC": {"h2", h2c, nil, func(addr string) uptime.Check {
			return grpcCheck("grpcs://"+addr+"/serving", uptime.Spec{})
		}, 200, 1},
		"websocket": {"http/1.1", plain, nil, func(addr string) uptime.Check {
			return wsCheck("wss://"+addr+"/ws/echo", saying("hi", "received - equals hi"))
		}, 101, 1},
		"SMTP": {"", lines, []string{"220 a\r\n", "250-a\r\n250 STARTTLS\r\n", "220 go\r\n"}, upgrades(uptime.StartTLSSMTP, heard), 0, 1},
		"IMAP": {"", lines, []string{"* OK hi\r\n", "* CAPABILITY STARTTLS\r\na1 OK\r\n", "a2 OK\r\n"}, upgrades(uptime.StartTLSIMAP, heard), 0, 1},
		"FTP":  {"", lines, []string{"220 a\r\n", "234 go\r\n"}, upgrades(uptime.StartTLSFTP, heard), 0, 1},
		"TLS":  {"", "", nil, func(addr string) uptime.Check { return checkAt("tls://"+addr, uptime.Spec{}) }, 0, 1},
	} {
		for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
			t.Run(name+" "+tls.VersionName(version), func(t *testing.T) {
				t.Parallel()
				var protocols []string
				if c.protocol != "" {
					protocols = []string{c.protocol}
				}
				d := newDoorman(t, l, version, protocols...)
				check := c.check(d.before(t, c.server, c.talk...))
				visitTwice(t, e, d, check, c.code, c.hops)
				if name == "HTTP/1.1" { // who would go on with a session can, and is seen
					returning(t, d, &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: l.CertPool(), ClientSessionCache: tls.NewLRUClientSessionCache(1)}}, check.URL[:strings.LastIndex(check.URL, "/redirect")])
				}
			})
		}
	}
}

// visitTwice wants as many whole handshakes as there are connections.
func visitTwice(t *testing.T, e *Engine, d *doorman, check uptime.Check, code, hops int) {
	t.Helper()
	check.Timeout = 20 * time.Second // also on a busy machine
	const visits = 2
	for range visits {
		o := e.Look(t.Context(), check)
		if verify(t, o, nil, code); int(o.Seen.Hops) != hops || o.Seen.TLSVersion != d.config.MinVersion {
			t.Errorf("%d hops, %s", o.Seen.Hops, tls.VersionName(o.Seen.TLSVersion))
		}
	}
	if asked, resumed := d.noted(t, visits*hops); len(asked) > 0 || resumed > 0 {
		t.Errorf("asked for %q, %d of %d handshakes went on with an old session", asked, resumed, visits*hops)
	}
}

// returning makes two visits of a client that keeps sessions, and wants the doorman to note it.
func returning(t *testing.T, d *doorman, transport http.RoundTripper, url string) {
	t.Helper()
	client := http.Client{Transport: transport}
	for range 2 {
		response, err := client.Get(url + "/ok")
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, response.Body)
		_ = response.Body.Close()
		client.CloseIdleConnections()
	}
	if asked, resumed := d.noted(t, 2); len(asked) == 0 || resumed != 1 {
		t.Errorf("a client that keeps sessions: asked for %q, %d went on with an old one", asked, resumed)
	}
}

// QUIC has tickets too, and a request may come with them before the handshake is over (RFC 9001 §4.6).
func TestNothingIsResumedOverHTTP3(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	d := newDoorman(t, l, tls.VersionTLS13, http3.NextProtoH3)
	packets, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http3.Server{TLSConfig: http3.ConfigureTLSConfig(d.config), QUICConfig: &quic.Config{Allow0RTT: true}, Handler: l}
	ended := make(chan struct{})
	go func() { defer close(ended); _ = server.Serve(packets) }()
	t.Cleanup(func() { _ = server.Close(); _ = packets.Close(); <-ended })
	url := "https://" + packets.LocalAddr().String()
	check := checkOf(url + "/redirect/1")
	check.Spec = uptime.Spec{HTTP: &uptime.HTTPSpec{Version: uptime.HTTP3}}.Text()
	visitTwice(t, New(options(l)), d, check, http.StatusOK, 2)
	returning(t, d, &keeping3{roots: l.CertPool(), sessions: tls.NewLRUClientSessionCache(1)}, url)
}

// keeping3 makes a connection over QUIC for each request, and keeps nothing but sessions.
type keeping3 struct {
	roots    *x509.CertPool
	sessions tls.ClientSessionCache
	last     *http3.Transport
}

// RoundTrip implements http.RoundTripper.
func (k *keeping3) RoundTrip(r *http.Request) (*http.Response, error) {
	k.last = &http3.Transport{TLSClientConfig: &tls.Config{RootCAs: k.roots, ClientSessionCache: k.sessions}}
	return k.last.RoundTrip(r)
}

// CloseIdleConnections is what http.Client calls: there is one connection.
func (k *keeping3) CloseIdleConnections() { _ = k.last.Close() }
