package probe

import (
	"crypto/ecdsa"
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

// leafServer answers https for leaf.test, with that version of TLS, and keeps connections open.
// It notes what its visitors offered, and where they came from.
type leafServer struct {
	url    string
	engine *Engine

	mu      sync.Mutex
	key     *ecdsa.PrivateKey
	offered [][]tls.CurveID
	resumed int
	from    map[string]bool
}

func startLeaf(t *testing.T, version uint16) *leafServer {
	t.Helper()
	chain, roots, key := keyedLeaf(t, time.Now().AddDate(1, 0, 0))
	l := &leafServer{key: key, from: map[string]bool{}}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.from[r.RemoteAddr] = true
		if r.TLS.DidResume {
			l.resumed++
		}
	}))
	server.TLS = &tls.Config{MinVersion: version, MaxVersion: version, GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.offered = append(l.offered, hello.SupportedCurves)
		return &tls.Certificate{Certificate: [][]byte{chain[0].Raw}, PrivateKey: l.key}, nil
	}}
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	l.url = "https://leaf.test:" + port
	l.engine = New(options(nil, func(o *Options) { o.Roots, o.Resolver = roots, names{"leaf.test": {"127.0.0.1"}} }))
	return l
}

// Every visit is a fresh connection with a whole handshake, also where a server offers to go on
// with an old one: so a certificate that was changed is seen, and the phases mean the same each time.
func TestNothingIsResumed(t *testing.T) {
	t.Parallel()
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		t.Run(tls.VersionName(version), func(t *testing.T) {
			t.Parallel()
			l := startLeaf(t, version)
			const visits = 3
			for range visits {
				verify(t, l.engine.Look(t.Context(), checkOf(l.url)), nil, http.StatusOK)
			}
			if len(l.from) != visits || l.resumed != 0 {
				t.Errorf("%d connections, %d of them resumed", len(l.from), l.resumed)
			}
		})
	}
}

// A chain that was found good is not enough: the server proves each time that it holds the key.
func TestKeptChainNeedsItsKey(t *testing.T) {
	t.Parallel()
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		t.Run(tls.VersionName(version), func(t *testing.T) {
			t.Parallel()
			l := startLeaf(t, version)
			verify(t, l.engine.Look(t.Context(), checkOf(l.url)), nil, http.StatusOK)
			l.mu.Lock()
			l.key = newKey(t)
			l.mu.Unlock()
			o := l.engine.Look(t.Context(), checkOf(l.url))
			if verify(t, o, uptime.FailureTLSOther, 0); !strings.Contains(o.Message, "signature") {
				t.Errorf("message %q", o.Message)
			}
		})
	}
}

// The post-quantum key share is offered only where a target asks for it.
func TestKeyShares(t *testing.T) {
	t.Parallel()
	l := startLeaf(t, tls.VersionTLS13)
	for _, quantum := range []bool{false, true} {
		check := checkOf(l.url)
		check.Spec = trusting(uptime.TLSSpec{PostQuantum: quantum}).Text()
		verify(t, l.engine.Look(t.Context(), check), nil, http.StatusOK)
	}
	want := [][]tls.CurveID{{tls.X25519, tls.CurveP256}, {tls.X25519MLKEM768, tls.X25519, tls.CurveP256}}
	if !slices.EqualFunc(l.offered, want, slices.Equal) {
		t.Errorf("offered %v, want %v", l.offered, want)
	}
}
