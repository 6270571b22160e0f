package probe

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/quic-go/quic-go/http3"

	"github.com/probefleet/probefleet/internal/guard"
	"github.com/probefleet/probefleet/internal/lab"
	"github.com/probefleet/probefleet/internal/uptime"
)

// startHTTP3 serves over QUIC with the lab's certificate.
func startHTTP3(t *testing.T, l *lab.Lab, handler http.Handler) string {
	t.Helper()
	packets, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	certificate := certificateOf(t, l, "tls")
	server := &http3.Server{Handler: handler, TLSConfig: http3.ConfigureTLSConfig(&tls.Config{Certificates: []tls.Certificate{certificate}})}
	ended := make(chan struct{})
	go func() { defer close(ended); _ = server.Serve(packets) }()
	t.Cleanup(func() { _ = server.Close(); _ = packets.Close(); <-ended })
	return "https://" + packets.LocalAddr().String()
}

func TestHTTP3(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	mux := http.NewServeMux()
	mux.HandleFunc("/echo", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, _ = io.WriteString(w, r.Proto+" "+r.Method+" "+r.Header.Get("X-Mine")+" "+string(body))
	})
	mux.HandleFunc("/endless", func(w http.ResponseWriter, _ *http.Request) {
		for {
			if _, err := w.Write(make([]byte, 32<<10)); err != nil {
				return
			}
		}
	})
	mux.HandleFunc("/away", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/echo", http.StatusFound) })
	mux.HandleFunc("/packed-headers", func(w http.ResponseWriter, _ *http.Request) { w.Header()["X"] = make([]string, 2500) }) // 10 KB as sent
	url := startHTTP3(t, l, mux)
	for name, c := range map[string]struct {
		url  string
		want any
		code int
	}{
		"good":       {url + "/echo", nil, 200},
		"redirect":   {url + "/away", nil, 200},
		"endless":    {url + "/endless", nil, 200},
		"packed":     {url + "/packed-headers", uptime.FailureTooLarge, 0},
		"only HTTP1": {l.TLSURL() + "/ok", uptime.FailureConnectTimeout, 0},
		"blocked":    {"https://127.0.0.2:1/", uptime.ReasonBlockedAddress, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check := checkOf(c.url)
			check.Timeout = 2 * time.Second
			check.Spec = uptime.Spec{HTTP: &uptime.HTTPSpec{Version: uptime.HTTP3, Method: "POST", Body: "b", Headers: []uptime.Header{{Name: "X-Mine", Value: "yes"}}}}.Text()
			o := New(options(l)).Look(t.Context(), check)
			verify(t, o, c.want, c.code)
			if name == "good" && (o.Evidence.Body != "HTTP/3.0 POST yes b" || o.Seen.Protocol != "HTTP/3" || o.Seen.TLSVersion != tls.VersionTLS13 || o.Phases.TLS == 0 || o.CertNotAfter.IsZero()) {
				t.Errorf("%+v %+v", o, o.Evidence)
			}
			if o.TotalUS > 5_000_000 {
				t.Errorf("took %d µs", o.TotalUS)
			}
		})
	}
}

// onlyV4 is the socket of a machine that has no way to IPv6.
type onlyV4 struct{ net.PacketConn }

func (c onlyV4) WriteTo(p []byte, to net.Addr) (int, error) {
	if to.(*net.UDPAddr).IP.To4() == nil {
		return 0, &net.OpError{Op: "write", Net: "udp", Addr: to, Err: os.NewSyscallError("sendto", syscall.ENETUNREACH)}
	}
	return c.PacketConn.WriteTo(p, to)
}

// Of several addresses the one that works counts, or the error that says most of the target,
// whichever came last: that this machine has no way to IPv6 says nothing of it.
func TestHTTP3TriesAddressesInTurn(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	silent, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	good := startHTTP3(t, l, http.NewServeMux())
	untrusted := startHTTP3(t, startLab(t), http.NewServeMux())
	const v4, v6, inside = "127.0.0.1", "2001:db8::1", "127.0.0.2"
	for name, c := range map[string]struct {
		at    string
		addrs []string
		want  any
		code  int
	}{
		"good, unreachable":        {good, []string{v4, v6}, uptime.FailureStatusCode, 404},
		"unreachable, good":        {good, []string{v6, v4}, uptime.FailureStatusCode, 404},
		"silent, unreachable":      {"https://" + silent.LocalAddr().String(), []string{v4, v6}, uptime.FailureConnectTimeout, 0},
		"unreachable, silent":      {"https://" + silent.LocalAddr().String(), []string{v6, v4}, uptime.FailureConnectTimeout, 0},
		"untrusted, unreachable":   {untrusted, []string{v4, v6}, uptime.FailureTLSUntrusted, 0},
		"unreachable, untrusted":   {untrusted, []string{v6, v4}, uptime.FailureTLSUntrusted, 0},
		"unreachable":              {good, []string{v6, v6}, uptime.ReasonProbeBlind, 0},
		"inside, unreachable":      {good, []string{inside, v6}, uptime.ReasonBlockedAddress, 0},
		"unreachable, then inside": {good, []string{v6, inside}, uptime.ReasonBlockedAddress, 0},
		"silent, inside":           {"https://" + silent.LocalAddr().String(), []string{v4, inside}, uptime.ReasonBlockedAddress, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := New(options(l, func(o *Options) {
				o.Resolver = names{"two.test": c.addrs}
				o.Guard = guard.New([]netip.Prefix{netip.MustParsePrefix(v4 + "/32"), netip.MustParsePrefix(v6 + "/128")})
			}))
			check := checkOf("https://two.test" + c.at[strings.LastIndex(c.at, ":"):] + "/")
			check.Spec = uptime.Spec{HTTP: &uptime.HTTPSpec{Version: uptime.HTTP3}, TLS: &uptime.TLSSpec{ServerName: v4}}.Text()
			d := visitorOf(t, e, check).(*httpVisitor).dialer
			open := d.packets
			d.packets = func(ctx context.Context) (net.PacketConn, error) {
				socket, err := open(ctx)
				return onlyV4{socket}, err
			}
			o := e.Look(t.Context(), check)
			verify(t, o, c.want, c.code)
			if o.Status == uptime.StatusDown && o.Address != netip.MustParseAddr(v4) {
				t.Errorf("it is said of %v", o.Address)
			}
		})
	}
}
