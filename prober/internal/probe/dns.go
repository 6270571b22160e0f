package probe

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/miekg/dns"

	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/prober/internal/resolve"
)

// Questioner asks the prober's own name servers one question of any type.
// *resolve.Resolver is one; its errors say whose fault it is.
type Questioner interface {
	Exchange(ctx context.Context, question dns.Question) (*dns.Msg, error)
}

// dnsKind is what all visits of dns targets share.
type dnsKind struct {
	dialer    *dialer
	questions Questioner
	agent     string
}

// dnsVisitor asks one question. A server that the URL names is dialled like any target;
// the prober's own servers are the operator's choice, and no guard judges them.
type dnsVisitor struct {
	*dnsKind
	target    dnsTarget
	transport uptime.DNSTransport
	family    uptime.Family
	config    *tls.Config // nil: plain
	queries   [2]dnsQuery // with EDNS (RFC 6891) and without
	records   bool        // assertions say what the records must be
	rcode     bool        // … and the code
}

func (k *dnsKind) compile(b blueprint) (visitor, error) {
	target, err := parseDNS(b.url)
	if err != nil {
		return nil, fmt.Errorf("this URL cannot be asked: %w", err)
	}
	v := &dnsVisitor{dnsKind: k, target: target, family: b.spec.Family}
	for _, a := range b.spec.Assertions {
		v.records = v.records || a.Source == uptime.SourceDNS
		v.rcode = v.rcode || a.Source == uptime.SourceRcode
	}
	if b.spec.DNS != nil {
		v.transport = b.spec.DNS.Transport
	}
	if target.server == "" {
		return v, v.checkOwn()
	}
	port := uint16(53)
	switch v.transport {
	case uptime.DNSOverUDP, uptime.DNSOverTCP:
	case uptime.DNSOverTLS:
		port, v.config = 853, k.dialer.tlsOf(b.spec.TLS, target.at.host)
	case uptime.DNSOverHTTPS:
		port, v.config = 443, k.dialer.tlsOf(b.spec.TLS, target.at.host, "h2", "http/1.1")
	default:
		return nil, fmt.Errorf("it knows no DNS over %.20q", v.transport)
	}
	if v.target.at.port == 0 {
		v.target.at.port = port
	}
	v.target.at.family = v.family
	return v, v.prepare()
}

// prepare writes what is sent.
func (v *dnsVisitor) prepare() error {
	for i, edns := range [...]bool{true, false} {
		packed, err := packQuestion(v.target.question, edns)
		if err != nil {
			return err
		}
		v.queries[i].message = packed
		if v.transport == uptime.DNSOverHTTPS {
			if v.queries[i].post, err = v.postOf(v.target.at, packed); err != nil {
				return err
			}
		}
	}
	return nil
}

func (v *dnsVisitor) checkOwn() error {
	switch {
	case v.questions == nil:
		return errors.New("it has no name servers of its own: the URL must name one")
	case v.transport != uptime.DNSOverUDP:
		return errors.New("how the prober's own name servers are asked is its operator's choice: the URL must name a server")
	}
	return nil
}

// dnsQuery is the question made ready, its id 0.
type dnsQuery struct {
	message []byte
	post    post // of DNS over HTTPS
}

// visit implements visitor.
func (v *dnsVisitor) visit(ctx context.Context, s *sighting) trouble {
	answer, bad := v.ask(ctx, s)
	if !bad.none() {
		return bad
	}
	s.sawAnswer(answer, v.target.question)
	if v.rcode {
		return trouble{}
	}
	if bad := v.uninformed(answer, s); v.records || !bad.none() {
		return bad
	}
	return v.expected(answer, s)
}

// ask gets the whole answer, over as many hops as that takes.
func (v *dnsVisitor) ask(ctx context.Context, s *sighting) (*dns.Msg, trouble) {
	if v.target.server == "" {
		return v.askOwn(ctx, s)
	}
	to, transport := v.target.at, v.transport
	query := &v.queries[0]
	answer, bad := v.exchange(ctx, s, to, transport, query)
	if bad.none() && resolve.KnowsNoEDNS(answer) {
		query = &v.queries[1]
		answer, bad = v.exchange(ctx, s, to, transport, query)
	}
	if bad.none() && answer.Truncated && transport == uptime.DNSOverUDP {
		to.ip, transport = s.Address, uptime.DNSOverTCP // of the same server (RFC 7766 §5)
		answer, bad = v.exchange(ctx, s, to, transport, query)
	}
	if bad.none() && answer.Truncated {
		return nil, failed(uptime.FailureProtocol, "the answer is marked as cut, although it came over "+s.Protocol)
	}
	return answer, bad
}

// uninformed judges an answer that says nothing of the name: that no record came proves
// nothing then.
func (v *dnsVisitor) uninformed(answer *dns.Msg, s *sighting) trouble {
	switch {
	case answer.Rcode == dns.RcodeNameError:
	case answer.Rcode != dns.RcodeSuccess:
		return failed(uptime.FailureDNS, "the server answered "+s.Rcode+resolve.ExtendedError(answer))
	case isReferral(answer):
		return failed(uptime.FailureDNS, "the server knows no "+v.target.kind+" record and refers to others: it does not resolve for this prober")
	}
	return trouble{}
}

// expected judges an answer that no assertion judges.
func (v *dnsVisitor) expected(answer *dns.Msg, s *sighting) trouble {
	switch {
	case answer.Rcode == dns.RcodeNameError:
		return failed(uptime.FailureDNS, "NXDOMAIN: there is no such name")
	case len(s.Records[v.target.kind]) > 0:
		return trouble{}
	case len(s.Records["CNAME"]) > 0:
		return failed(uptime.FailureDNS, "the name is an alias that leads to no "+v.target.kind+" record")
	}
	return failed(uptime.FailureDNS, "the name has no "+v.target.kind+" record")
}

// command implements visitor.
func (v *dnsVisitor) command() string {
	words := []string{"dig"}
	if v.family != uptime.FamilyAny {
		words = append(words, "-"+string(v.family))
	}
	if v.target.server != "" {
		words = append(words, quoted("@"+v.target.at.host), "-p", strconv.Itoa(int(v.target.at.port)))
	}
	switch v.transport {
	case uptime.DNSOverUDP:
	case uptime.DNSOverHTTPS:
		words = append(words, "+https="+dohPath)
	default:
		words = append(words, "+"+string(v.transport))
	}
	return strings.Join(append(words, "-t", v.target.kind, "-q", quoted(v.target.question.Name)), " ")
}
