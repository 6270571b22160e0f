// Package whatchanged compares the last good result of a target in a region with the first bad
// one. It is pure: the same two results always give the same answer.
package whatchanged

import (
	"strconv"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

// What names a difference. The set is closed; programs rely on the words.
type What string

// Differences, in the order in which they are told.
const (
	Failure     What = "failure"
	HTTPStatus  What = "http_status"
	Phase       What = "phase"  // in which the check ended, or whose time grew most
	Target      What = "target" // was edited: the versions of what is checked
	Address     What = "address"
	Certificate What = "certificate" // SHA-256 of the server's own
	Issuer      What = "issuer"
	Expiry      What = "expiry"
	Redirect    What = "redirect" // where the last request went
	TLS         What = "tls"      // version
	Protocol    What = "protocol"
	Headers     What = "headers"
)

// Difference is one thing that was not as before. Before and After are as programs write them:
// times of phases in whole µs, instants in RFC 3339; "" is none.
type Difference struct {
	What    What
	Before  string
	After   string
	Phase   string        // of Phase: which
	Ended   bool          // of Phase: the check ended in it
	Headers []HeaderValue // of Headers, whose Before and After are hashes: those that differ
}

// HeaderValue is a header that differs. What it has more than once is joined.
type HeaderValue struct{ Name, Before, After string }

// Why names a reason for not knowing whether something changed. The set is closed.
type Why string

// Reasons, in the order in which they are looked for.
const (
	NoPrint    Why = "no_print"    // nothing is stored of what the good check saw
	Unsteady   Why = "unsteady"    // it changed so often that it is not stored
	NoEvidence Why = "no_evidence" // nothing is stored of what the bad check saw
	NotReached Why = "not_reached" // the bad check ended before it could see it
	Elsewhere  Why = "elsewhere"   // the bad check ended at another server, which the redirect tells
)

// Gap is something of which it is not known whether it changed.
type Gap struct {
	What What
	Why  Why
}

// Between gives what differs, and what cannot be known, each in its order. What a kind of
// check never sees is in neither. The good result has its print, or its evidence; the bad one its evidence.
func Between(kind uptime.Kind, good, bad *uptime.Result) ([]Difference, []Gap) {
	c := comparison{kind: kind, good: good, bad: bad, was: good.Print, is: bad.Evidence.Print()}
	if c.was == nil {
		c.was = good.Evidence.Print()
	}
	if c.was != nil && c.was.Certificate != nil && c.was.Certificate.NotAfter.Before(good.CertNotAfter) {
		c.was = nil // the good check saw one that ends later: the print is older, and the next was lost
	}
	c.differ(Failure, string(good.Failure), string(bad.Failure))
	if bad.HTTPStatus != 0 {
		c.differ(HTTPStatus, number(good.HTTPStatus), number(bad.HTTPStatus))
	}
	c.phase()
	if good.SpecVersion != 0 && bad.SpecVersion != 0 {
		c.differ(Target, strconv.FormatInt(good.SpecVersion, 10), strconv.FormatInt(bad.SpecVersion, 10))
	}
	c.address()
	c.certificate()
	c.redirect()
	if c.elsewhere() == "" && !c.plain() && c.secured() && (bad.Seen.TLSVersion != 0 || c.answered()) {
		c.differ(TLS, tlsName(good.Seen.TLSVersion), tlsName(bad.Seen.TLSVersion))
	}
	if bad.Seen.Protocol != "" && good.Seen.Protocol != "" {
		c.differ(Protocol, good.Seen.Protocol, bad.Seen.Protocol)
	}
	c.headers()
	return c.found, c.gaps
}

// comparison is one under way.
type comparison struct {
	kind      uptime.Kind
	good, bad *uptime.Result
	was, is   *uptime.Print // nil: not known
	found     []Difference
	gaps      []Gap
}

func (c *comparison) differ(what What, before, after string) {
	if before != after {
		c.found = append(c.found, Difference{What: what, Before: before, After: after})
	}
}

func (c *comparison) gap(what What, why Why) { c.gaps = append(c.gaps, Gap{what, why}) }

// answered says whether the bad check had an answer to its last request.
func (c *comparison) answered() bool { return c.bad.HTTPStatus != 0 }

func (c *comparison) address() {
	why := c.otherHost()
	if why == "" && !c.connected() {
		why = NotReached
	}
	switch {
	case !c.good.Address.IsValid():
	case why != "":
		c.gap(Address, why)
	default:
		c.differ(Address, c.good.Address.String(), c.bad.Address.String())
	}
}

// unknown says why something of the prints cannot be compared; "": it can, if both have it.
func (c *comparison) unknown(leftOut uptime.Unsteady) Why {
	switch {
	case c.was == nil:
		return NoPrint
	case c.was.Unsteady >= leftOut:
		return Unsteady
	case c.is == nil:
		return NoEvidence
	}
	return ""
}

func (c *comparison) certificate() {
	if c.good.Seen.TLSVersion == 0 && c.bad.Seen.TLSVersion == 0 && c.good.CertNotAfter.IsZero() && c.bad.CertNotAfter.IsZero() {
		return // there was never one
	}
	if c.plain() {
		return
	}
	why := c.unknown(uptime.UnsteadyAll)
	if at := c.elsewhere(); at != "" {
		why = at
	} else if why == "" && (!c.sawCertificate() || c.is.Certificate == nil && !c.answered()) {
		why = NotReached
	}
	if why == "" {
		was, is := orNone(c.was.Certificate), orNone(c.is.Certificate)
		c.differ(Certificate, was.SHA256, is.SHA256)
		c.differ(Issuer, was.Issuer, is.Issuer)
		c.differ(Expiry, instant(was.NotAfter), instant(is.NotAfter))
		return
	}
	c.gap(Certificate, why)
	// Rows have the first end in the chains of all hops.
	if why != Elsewhere && c.good.Seen.Hops == c.bad.Seen.Hops && c.sawCertificate() && !c.good.CertNotAfter.IsZero() && !c.bad.CertNotAfter.IsZero() {
		c.differ(Expiry, instant(c.good.CertNotAfter), instant(c.bad.CertNotAfter))
	}
}

func orNone(c *uptime.Certificate) uptime.Certificate {
	if c == nil {
		return uptime.Certificate{}
	}
	return *c
}

// redirect compares where the visits ended. The bad one may have ended on its way there: that is told by its failure.
func (c *comparison) redirect() {
	if c.kind != uptime.KindHTTP {
		return
	}
	why := c.unknown(uptime.UnsteadyURL)
	if why == "" && c.is.URL == "" {
		why = NoEvidence
	}
	switch {
	case why != "":
		c.gap(Redirect, why)
	case c.was.URL == c.is.URL:
	case c.arrived():
		c.differ(Redirect, c.was.URL, c.is.URL)
	default:
		c.gap(Redirect, NotReached)
	}
}

func number(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func instant(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// tlsName names a version as crypto/tls numbers it.
func tlsName(version uint16) string {
	if version < 0x0301 || version > 0x0304 {
		return ""
	}
	return "1." + strconv.Itoa(int(version)-0x0301)
}
