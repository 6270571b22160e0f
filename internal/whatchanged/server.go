package whatchanged

import (
	"strings"

	"github.com/probefleet/probefleet/internal/uptime"
)

// arrived says whether the bad check ended where it was sent in the end, and not on its way there.
func (c *comparison) arrived() bool {
	return c.answered() || c.bad.Seen.Hops >= c.good.Seen.Hops
}

// elsewhere says why what a server shows of itself cannot be compared: the visits ended at
// different ones. "": at the same one, as far as is known.
func (c *comparison) elsewhere() Why { return c.apart(origin) }

// otherHost is elsewhere for addresses: those of http and https are the same.
func (c *comparison) otherHost() Why {
	return c.apart(func(url string) string {
		_, host, _ := strings.Cut(origin(url), "://")
		if port := strings.LastIndexByte(host, ':'); port > strings.LastIndexByte(host, ']') {
			host = host[:port]
		}
		return host
	})
}

func (c *comparison) apart(of func(url string) string) Why {
	if c.kind != uptime.KindHTTP {
		return "" // no other follows redirects
	}
	same := c.good.Seen.Hops == c.bad.Seen.Hops // the best that is known without both URLs
	if c.was != nil && c.is != nil && c.was.URL != "" && c.is.URL != "" {
		same = of(c.was.URL) == of(c.is.URL)
	}
	switch {
	case same:
		return ""
	case c.arrived():
		return Elsewhere
	}
	return NotReached
}

// plain says whether both visits ended at the same server without TLS: what they saw of it was of a hop before.
func (c *comparison) plain() bool {
	return c.kind == uptime.KindHTTP && c.was != nil && c.is != nil && strings.HasPrefix(c.is.URL, "http://") && origin(c.was.URL) == origin(c.is.URL)
}

// origin is scheme, host and port of a URL that is shown.
func origin(url string) string {
	scheme, rest, _ := strings.Cut(url, "://")
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		rest = rest[:end]
	}
	return scheme + "://" + rest
}

// last is the bad check's last hop; nil: it is not known.
func (c *comparison) last() *uptime.Hop {
	if c.bad.Evidence == nil || len(c.bad.Evidence.Hops) == 0 {
		return nil
	}
	return &c.bad.Evidence.Hops[len(c.bad.Evidence.Hops)-1]
}

// A row has what the check saw last of each thing, at whichever hop: without an answer to the
// last request it may be that of the hop before.

// connected says whether the bad check's address is that of its last hop.
func (c *comparison) connected() bool {
	last := c.last()
	switch {
	case !c.bad.Address.IsValid():
		return false
	case c.answered():
		return true
	case last == nil:
		return c.bad.Seen.Hops <= 1
	}
	return last.Address.IsValid()
}

// secured says whether its version of TLS is.
func (c *comparison) secured() bool {
	last := c.last()
	return c.answered() || c.bad.Seen.Hops <= 1 || last != nil && last.Phases.TLS > 0 && last.Phases.Wait > 0
}

// sawCertificate says whether its certificates are: those that are not believed are seen, too.
func (c *comparison) sawCertificate() bool {
	switch c.bad.Failure {
	case uptime.FailureTLSExpired, uptime.FailureTLSName, uptime.FailureTLSUntrusted:
		last := c.last()
		return last == nil || last.Phases.TLS > 0
	}
	return c.secured()
}
