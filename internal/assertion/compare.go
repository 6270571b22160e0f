package assertion

import (
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

const day = 24 * time.Hour

// negative says whether an op says what must not be.
func negative(op uptime.Op) bool {
	switch op {
	case uptime.OpNotEquals, uptime.OpNotContains, uptime.OpNotMatches, uptime.OpNotIn:
		return true
	}
	return false
}

// ordered compares what has an order.
func ordered(op uptime.Op, seen, want int64) bool {
	switch op {
	case uptime.OpEquals:
		return seen == want
	case uptime.OpNotEquals:
		return seen != want
	case uptime.OpLess:
		return seen < want
	case uptime.OpAtMost:
		return seen <= want
	case uptime.OpMore:
		return seen > want
	case uptime.OpAtLeast:
		return seen >= want
	}
	return false
}

func (c *check) status(code int) bool {
	if c.ranges == nil {
		return ordered(c.op, int64(code), c.number)
	}
	in := slices.ContainsFunc(c.ranges, func(r uptime.StatusRange) bool { return code >= r.From && code <= r.To })
	return in != negative(c.op)
}

// known compares a version, of which 0 means that there is none.
func (e *evaluation) known(c *check, version int64) outcome {
	return passedIf(version != 0 && ordered(c.op, version, c.number))
}

func (c *check) holds(addr netip.Addr) bool {
	addr = addr.Unmap().WithZone("")
	return slices.ContainsFunc(c.prefixes, func(p netip.Prefix) bool { return p.Contains(addr) })
}

// micros is the latency or the phase that the check asks for.
func (c *check) micros(o *Observation) uint32 {
	switch c.name {
	case phaseDNS:
		return o.Phases.DNS
	case phaseConnect:
		return o.Phases.Connect
	case phaseTLS:
		return o.Phases.TLS
	case phaseWait:
		return o.Phases.Wait
	case phaseTransfer:
		return o.Phases.Transfer
	}
	return o.TotalUS
}

// days is how many whole days the certificate has left; negative once it has expired.
func (o *Observation) days() int64 {
	left := o.CertNotAfter.Sub(o.At)
	n := int64(left / day)
	if left < 0 && left%day != 0 {
		n--
	}
	return n
}

// headerValue gives the value of the check's header, and whether it is there.
func (c *check) headerValue(o *Observation) (string, bool) {
	switch values := o.Header[c.key]; len(values) {
	case 0:
		return "", false
	case 1:
		return values[0], true
	default:
		return strings.Join(values, ", "), true
	}
}

// optional compares a text that may be missing.
func (c *check) optional(text string, there bool) bool {
	switch {
	case c.op == uptime.OpExists:
		return there
	case c.op == uptime.OpAbsent:
		return !there
	case !there:
		return negative(c.op)
	}
	return c.compare(text)
}

// compare compares a text as it is.
func (c *check) compare(text string) bool {
	switch c.op {
	case uptime.OpEquals, uptime.OpNotEquals:
		return (text == c.text) != negative(c.op)
	case uptime.OpContains, uptime.OpNotContains:
		return strings.Contains(text, c.text) != negative(c.op)
	case uptime.OpMatches, uptime.OpNotMatches:
		return c.pattern.MatchString(text) != negative(c.op)
	case uptime.OpIn, uptime.OpNotIn:
		return slices.Contains(c.list, text) != negative(c.op)
	}
	return isNumber(text) && ordered(c.op, int64(compareNumbers(text, c.text)), 0)
}

// records compares the DNS records of a type.
func (c *check) records(list []string) bool {
	switch c.op {
	case uptime.OpExists:
		return len(list) > 0
	case uptime.OpAbsent:
		return len(list) == 0
	case uptime.OpIn:
		return len(list) > 0 && !slices.ContainsFunc(list, func(r string) bool { return !c.record(r) })
	}
	return slices.ContainsFunc(list, c.record) != negative(c.op)
}

// record says whether one record is what the op, without its not_, speaks of.
func (c *check) record(text string) bool {
	if c.prefixes != nil {
		addr, err := netip.ParseAddr(text)
		return err == nil && c.holds(addr)
	}
	text = recordText(c.name, text)
	switch c.op {
	case uptime.OpEquals, uptime.OpNotEquals:
		return text == c.text
	case uptime.OpContains, uptime.OpNotContains:
		return strings.Contains(text, c.text)
	case uptime.OpMatches, uptime.OpNotMatches:
		return c.pattern.MatchString(text)
	}
	return slices.Contains(c.list, text)
}
