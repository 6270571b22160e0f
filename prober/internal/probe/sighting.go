package probe

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/probefleet/probefleet/internal/assertion"
	"github.com/probefleet/probefleet/internal/uptime"
)

// sighting is what one visit sees: what assertions judge, and what people are shown of
// it. It is pooled with its buffers: nothing of it outlives the visit but copies.
type sighting struct {
	assertion.Observation
	deadline   time.Time
	again      doubt        // of a second look
	keep       int          // bytes of the body that are kept
	hops       []uptime.Hop // finished and present
	statusLine string       // of the last answer
	chain      []*x509.Certificate
	cipher     uint16
	agreed     string // protocol within TLS (RFC 7301)
	wire       int64  // bytes of the last body before it was decoded
	records    []uptime.Record
	body       []byte // the buffer behind Body
	one        [1]netip.Addr
	dialling   expiring
	quiet      time.Duration // waited at the end to see that no more comes: none of the target's time
}

// doubt is what the first look ended in; zero: there was none.
type doubt struct {
	failure uptime.Failure
	address netip.Addr // that was asked last, if any
}

// maxKeptBuffer is how large a buffer may be to be used again.
const maxKeptBuffer = 64 << 10

// begin forgets the last visit.
func (s *sighting) begin(p *plan, timeout time.Duration) {
	body := s.body[:0]
	if cap(body) > maxKeptBuffer {
		body = nil
	}
	clear(s.hops)
	*s = sighting{hops: s.hops[:0], records: s.records[:0], body: body, keep: p.keep()}
	s.At = time.Now()
	s.deadline = s.At.Add(timeout)
	s.Secrets = p.secrets
}

// within is a context that ends with the visit, for what has no other deadline.
func (s *sighting) within(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithDeadline(ctx, s.deadline)
}

// hop begins another request or connection. url is shown as it is.
func (s *sighting) hop(url string) *uptime.Hop {
	s.hops = append(s.hops, uptime.Hop{URL: url})
	return &s.hops[len(s.hops)-1]
}

// forgetAnswer makes room for another: an earlier hop's says nothing about this one, nor
// does what secured it. Only the end of life that comes first (CertNotAfter) stays.
func (s *sighting) forgetAnswer() {
	s.Status, s.statusLine, s.Protocol, s.Header = 0, "", "", nil
	s.TLSVersion, s.cipher, s.agreed, s.chain = 0, 0, "", nil
	s.body, s.BodySize, s.BodyCut, s.wire = s.body[:0], 0, false, 0
}

func (s *sighting) answered(response *http.Response) {
	s.Status, s.statusLine, s.Protocol, s.Header = response.StatusCode, response.Status, response.Proto, response.Header
}

// end sums the hops up.
func (s *sighting) end() {
	s.TotalUS = micros(time.Since(s.At) - s.quiet)
	for i := range s.hops {
		s.Phases = plus(s.Phases, s.hops[i].Phases)
	}
	s.Body = s.body
}

func plus(a, b uptime.Phases) uptime.Phases {
	return uptime.Phases{
		DNS: saturating(a.DNS, b.DNS), Connect: saturating(a.Connect, b.Connect), TLS: saturating(a.TLS, b.TLS),
		Wait: saturating(a.Wait, b.Wait), Transfer: saturating(a.Transfer, b.Transfer),
	}
}

func saturating(a, b uint32) uint32 {
	if sum := a + b; sum >= a {
		return sum
	}
	return ^uint32(0)
}

// dnsCached says whether no hop had to wait for a resolver although one was asked.
func (s *sighting) dnsCached() bool {
	cached := false
	for i := range s.hops {
		switch {
		case s.hops[i].DNSCached:
			cached = true
		case s.hops[i].Phases.DNS > 0:
			return false
		}
	}
	return cached
}

// sawTLS keeps what a handshake came to. The end of life that comes first in any
// hop's chain is the one that counts.
func (s *sighting) sawTLS(state *tls.ConnectionState) {
	s.TLSVersion, s.cipher, s.agreed = state.Version, state.CipherSuite, state.NegotiatedProtocol
	s.sawChain(state.PeerCertificates)
}

func (s *sighting) sawChain(chain []*x509.Certificate) {
	s.chain = chain
	for _, certificate := range chain {
		if s.CertNotAfter.IsZero() || certificate.NotAfter.Before(s.CertNotAfter) {
			s.CertNotAfter = certificate.NotAfter.UTC()
		}
	}
}

// issuer names who signed the last server's own certificate, for people and to tell what is
// signed by the same: the organization, and what it calls the key.
func (s *sighting) issuer() string {
	if len(s.chain) == 0 {
		return ""
	}
	issuer := s.chain[0].Issuer
	name := issuer.CommonName
	if len(issuer.Organization) > 0 && !strings.Contains(name, issuer.Organization[0]) {
		name = strings.TrimSpace(issuer.Organization[0] + " " + name)
	}
	return Message(name)
}
