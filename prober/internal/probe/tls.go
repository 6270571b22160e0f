package probe

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"net"
	"sync"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

// The key shares that are offered. The post-quantum one doubles the cost of a handshake
// whose traffic is not worth recording, so it is an option.
var (
	plainCurves   = []tls.CurveID{tls.X25519, tls.CurveP256}
	quantumCurves = []tls.CurveID{tls.X25519MLKEM768, tls.X25519, tls.CurveP256}
)

// tlsOf makes the configuration of all visits of a target: no session is ever resumed,
// so every visit makes the whole handshake. host is verified unless the spec names
// another.
func (d *dialer) tlsOf(spec *uptime.TLSSpec, host string, protocols ...string) *tls.Config {
	config := &tls.Config{
		ServerName: host, MinVersion: tls.VersionTLS12, CurvePreferences: plainCurves, NextProtos: protocols,
		SessionTicketsDisabled: true,
		// The chain is verified below, by the same rules, with what was verified before kept.
		InsecureSkipVerify: true, //nolint:gosec // see VerifyConnection
	}
	skip := false
	if spec != nil {
		if spec.ServerName != "" {
			config.ServerName = spec.ServerName
		}
		if spec.PostQuantum {
			config.CurvePreferences = quantumCurves
		}
		skip = spec.SkipVerify
	}
	if !skip {
		name := config.ServerName
		config.VerifyConnection = func(state tls.ConnectionState) error { return d.chains.verify(state.PeerCertificates, name) }
	}
	return config
}

// maxSecured is how many bytes of a secured connection are read, all that TLS adds included:
// padding may be a thousand times what it hides (RFC 8446 §5.4). No visit needs half of it.
const maxSecured = 4 << 20

// handshake secures a connection and notes what it saw, also when it fails.
func handshake(conn net.Conn, config *tls.Config, s *sighting) (*tls.Conn, trouble) {
	secure := tls.Client(&metered{Conn: conn, left: maxSecured, spent: errTooMuch}, config)
	err := secure.Handshake()
	if err != nil {
		if rejected, ok := asRejected(err); ok {
			state := secure.ConnectionState() // agreed on before the chain was looked at
			state.PeerCertificates = rejected.UnverifiedCertificates
			s.sawTLS(&state)
		}
		return nil, handshakeTrouble(err)
	}
	state := secure.ConnectionState()
	s.sawTLS(&state)
	return secure, trouble{}
}

// chains verifies certificate chains, and keeps for an hour which ones were found good:
// exactly that chain, for that name, under these roots. Ends of life are looked at every
// time. What was found bad is not kept. (The server's signature over the handshake, which
// proves that it holds the key, is checked by crypto/tls every time.)
type chains struct {
	roots *x509.CertPool // nil: the system's

	mu   sync.RWMutex
	good map[chainKey]validity
}

type chainKey [sha256.Size]byte

// validity is when a chain is good, by the clock of the day, and when that was found out,
// by the monotonic one: the clock of the day may be put right.
type validity struct {
	from, until, found time.Time
	// issuers are what vouches for the leaf. crypto/tls parses a certificate once for as
	// long as somebody has it; a few hundred of these sign most of the web, and while they
	// are kept here, only the leaf is parsed at each visit. (Not all of what a server sends:
	// that may be a hundred kilobytes of anything.)
	issuers []*x509.Certificate
}

const (
	chainTrust = time.Hour
	maxChains  = 20_000
)

func newChains(roots *x509.CertPool) *chains {
	return &chains{roots: roots, good: map[chainKey]validity{}}
}

// verify answers as crypto/tls does itself.
func (c *chains) verify(chain []*x509.Certificate, name string) error {
	now := time.Now()
	key := keyOf(chain, name)
	c.mu.RLock()
	known, found := c.good[key]
	c.mu.RUnlock()
	if found && !now.Before(known.from) && !now.After(known.until) && now.Sub(known.found) < chainTrust {
		return nil
	}
	options := x509.VerifyOptions{Roots: c.roots, DNSName: name, CurrentTime: now, Intermediates: x509.NewCertPool()}
	for _, certificate := range chain[1:] {
		options.Intermediates.AddCert(certificate)
	}
	verified, err := chain[0].Verify(options)
	if err != nil {
		return &tls.CertificateVerificationError{UnverifiedCertificates: chain, Err: err}
	}
	c.keep(key, validityOf(verified, now))
	return nil
}

func (c *chains) keep(key chainKey, v validity) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.good) >= maxChains {
		for old := range c.good { // any: it is verified again when it is met again
			delete(c.good, old)
			if len(c.good) < maxChains*9/10 {
				break
			}
		}
	}
	c.good[key] = v
}

// validityOf is when the chain that lasts longest is good.
func validityOf(verified [][]*x509.Certificate, now time.Time) validity {
	var best validity
	for _, chain := range verified {
		v := validity{until: chain[0].NotAfter, found: now, issuers: chain[1:]}
		for _, certificate := range chain {
			if certificate.NotAfter.Before(v.until) {
				v.until = certificate.NotAfter
			}
			if certificate.NotBefore.After(v.from) {
				v.from = certificate.NotBefore
			}
		}
		if v.until.After(best.until) {
			best = v
		}
	}
	return best
}

func keyOf(chain []*x509.Certificate, name string) chainKey {
	hash := sha256.New()
	_, _ = hash.Write([]byte(name))
	for _, certificate := range chain {
		_, _ = hash.Write([]byte{0, byte(len(certificate.Raw) >> 16), byte(len(certificate.Raw) >> 8), byte(len(certificate.Raw))})
		_, _ = hash.Write(certificate.Raw)
	}
	var key chainKey
	hash.Sum(key[:0])
	return key
}
