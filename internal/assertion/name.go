package assertion

import (
	"net/textproto"
	"slices"
	"strings"

	"github.com/probefleet/probefleet/internal/redact"
	"github.com/probefleet/probefleet/internal/uptime"
)

// Phases, as a Name.
const (
	phaseDNS      = "dns"
	phaseConnect  = "connect"
	phaseTLS      = "tls"
	phaseWait     = "wait"
	phaseTransfer = "transfer"
)

// recordTypes are the DNS records that may be asked for.
var recordTypes = [...]string{"A", "AAAA", "CAA", "CNAME", "DNSKEY", "DS", "HTTPS", "MX", "NAPTR", "NS", "PTR", "SOA", "SRV", "SVCB", "TLSA", "TXT"}

// nameTypes are those in which case and final dots say nothing.
var nameTypes = [...]string{"CNAME", "MX", "NS", "PTR", "SOA", "SRV"}

// name judges the Name of an assertion and keeps it in the form evaluation needs.
func (b *builder) name(c *check, rule uptime.AssertionRule, name string) {
	switch {
	case rule.Name == "" && name != "":
		b.problem(fieldName, CodeNotAllowed, "%s takes no name: leave it out", rule.Source)
		return
	case rule.Name == "":
		return
	case name == "":
		b.problem(fieldName, CodeRequired, "%s needs a name: %s", rule.Source, rule.Name)
		return
	}
	c.name = name
	switch rule.Source {
	case uptime.SourceHeader:
		b.headerName(c, name)
	case uptime.SourceJSON:
		b.path(c, name)
	case uptime.SourcePhase:
		switch name {
		case phaseDNS, phaseConnect, phaseTLS, phaseWait, phaseTransfer:
		default:
			b.problem(fieldName, CodeInvalidName, "a phase is dns, connect, tls, wait or transfer")
		}
	case uptime.SourceDNS:
		if c.name = strings.ToUpper(name); !slices.Contains(recordTypes[:], c.name) {
			b.problem(fieldName, CodeInvalidName, "a record type is one of: %s", strings.Join(recordTypes[:], ", "))
		}
	}
}

func (b *builder) headerName(c *check, name string) {
	switch {
	case len(name) > MaxName:
		b.problem(fieldName, CodeTooLong, "the name of a header has at most %d bytes", MaxName)
	case !isToken(name):
		b.problem(fieldName, CodeInvalidName, "the name of a header is letters, digits and hyphens, such as Content-Type")
	default:
		c.key = textproto.CanonicalMIMEHeaderKey(name)
		c.name = strings.ToLower(name)
		c.hidden = redact.Name(name)
		c.url = c.name == "location" || c.name == "content-location"
	}
}

// isToken says whether text may be a header's name (RFC 9110 §5.6.2).
func isToken(text string) bool {
	for _, b := range []byte(text) {
		if (b < '0' || b > '9') && (b|0x20 < 'a' || b|0x20 > 'z') && !strings.ContainsRune("!#$%&'*+-.^_`|~", rune(b)) {
			return false
		}
	}
	return text != ""
}

func (b *builder) path(c *check, name string) {
	if len(name) > MaxPath {
		b.problem(fieldName, CodeTooLong, "a JSONPath has at most %d bytes", MaxPath)
		return
	}
	parsed, err := parsePath(name)
	if err != nil {
		b.problem(fieldName, CodeInvalidPath, "this is not a JSONPath that can be used: %s", err)
		return
	}
	c.path = parsed
	c.hidden = parsed.namesSecret()
}
