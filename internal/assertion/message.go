package assertion

import (
	"crypto/tls"
	"strconv"
	"strings"
	"time"

	"github.com/probefleet/probefleet/internal/redact"
	"github.com/probefleet/probefleet/internal/uptime"
)

// message says in one line what was seen and what was wanted.
func (e *evaluation) message(c *check, result outcome) string {
	subject, want := e.subject(c), e.wanted(c)
	switch {
	case e.cut && result == undecided:
		return subject + " is undecided, as no more than " + strconv.FormatInt(e.read(c), 10) + " bytes were read; want it " + want
	case e.why != "" && result == undecided:
		return subject + " is undecided, as " + e.why + "; want it " + want
	case e.why != "":
		return subject + " cannot be told, as " + e.why + "; want it " + want
	}
	return subject + " is " + e.seen(c) + ", want it " + want
}

// read is how much there was to decide with.
func (e *evaluation) read(c *check) int64 {
	if c.source == uptime.SourceReceived {
		return int64(len(e.observation.Received))
	}
	return max(e.observation.BodySize, int64(len(e.observation.Body)))
}

func (e *evaluation) subject(c *check) string {
	name := redact.Text(c.name, e.observation.Secrets, maxShownName)
	switch c.source {
	case uptime.SourceHeader:
		return "header " + name
	case uptime.SourceJSON:
		return "json " + name
	case uptime.SourceBodySize:
		return "body size"
	case uptime.SourceBodyHash:
		return "body hash"
	case uptime.SourcePhase:
		return name + " phase"
	case uptime.SourceCertificate:
		return "certificate's time left"
	case uptime.SourceRedirect:
		return "redirect target"
	case uptime.SourceTLSVersion:
		return "TLS version"
	case uptime.SourceDNS:
		return "DNS " + name
	case uptime.SourceRcode:
		return "response code"
	case uptime.SourceReceived:
		return "received text"
	}
	return string(c.source)
}

// seen is the observed value.
func (e *evaluation) seen(c *check) string {
	o := e.observation
	switch c.source {
	case uptime.SourceStatus:
		return strconv.Itoa(o.Status)
	case uptime.SourceHeader:
		text, there := c.headerValue(o)
		return e.quote(c, text, there)
	case uptime.SourceBody:
		return e.quoteBytes(o.Body, o.BodyCut)
	case uptime.SourceReceived:
		return e.quoteBytes(o.Received, true) // reading ends as soon as the outcome is known
	case uptime.SourceJSON:
		return e.nodeSeen(c)
	case uptime.SourceBodySize:
		size := strconv.FormatInt(max(o.BodySize, int64(len(o.Body))), 10) + " bytes"
		if o.BodyCut {
			return "more than " + size
		}
		return size
	case uptime.SourceBodyHash:
		return hashOf(o)
	case uptime.SourceLatency, uptime.SourcePhase:
		return millis(int64(c.micros(o)))
	case uptime.SourceCertificate:
		if o.CertNotAfter.IsZero() {
			return "unknown without TLS"
		}
		return days(o.days())
	case uptime.SourceRedirect:
		return e.quote(c, o.Redirect, o.Redirect != "")
	case uptime.SourceProtocol:
		return e.quote(c, o.Protocol, o.Protocol != "")
	case uptime.SourceTLSVersion:
		if o.TLSVersion == 0 {
			return "absent without TLS"
		}
		return tls.VersionName(o.TLSVersion)
	case uptime.SourceDNS:
		records := o.Records[c.name]
		return e.quote(c, strings.Join(records, ", "), len(records) > 0)
	case uptime.SourceRcode:
		return e.quote(c, o.Rcode, o.Rcode != "")
	case uptime.SourceAddress:
		if !o.Address.IsValid() {
			return "unknown"
		}
		return redact.Text(o.Address.Unmap().String(), o.Secrets, maxShown)
	}
	return "unknown"
}

func (e *evaluation) nodeSeen(c *check) string {
	switch {
	case e.node == nil:
		return "absent"
	case c.hidden || e.node[0] == '"':
		return e.quote(c, nodeText(e.node), true)
	}
	return redact.Text(nodeText(e.node), e.observation.Secrets, maxShown)
}

func (e *evaluation) quoteBytes(text []byte, cut bool) string {
	switch {
	case len(text) == 0:
		return "empty"
	case cut:
		return `"` + redact.TextCut(text, e.observation.Secrets, maxShown) + `"`
	}
	return `"` + redact.Text(text, e.observation.Secrets, maxShown) + `"`
}

func (e *evaluation) quote(c *check, text string, there bool) string {
	switch {
	case !there:
		return "absent"
	case c.hidden && c.op == uptime.OpAbsent:
		return "there"
	case c.hidden:
		return "not shown"
	case c.url:
		text = redact.URL(redact.Hide(text, e.observation.Secrets))
	}
	return `"` + redact.Text(text, e.observation.Secrets, maxShown) + `"`
}

// wanted is the op and value as words after "want it".
func (e *evaluation) wanted(c *check) string {
	words := opWords(c.op)
	switch {
	case c.op == uptime.OpExists || c.op == uptime.OpAbsent:
		return words
	case c.hidden:
		return words + " what is not shown"
	}
	value := redact.Text(c.want, e.observation.Secrets, maxShownWant)
	switch c.source {
	case uptime.SourceLatency, uptime.SourcePhase:
		return words + " " + value + " ms"
	case uptime.SourceCertificate:
		return words + " " + days(c.number)
	case uptime.SourceBodySize:
		return words + " " + value + " bytes"
	case uptime.SourceTLSVersion:
		return words + " " + tls.VersionName(uint16(c.number))
	case uptime.SourceHeader, uptime.SourceJSON:
		if ordering(c.op) {
			return words + " " + value
		}
	case uptime.SourceStatus, uptime.SourceAddress, uptime.SourceBodyHash:
		return words + " " + value
	}
	return words + ` "` + value + `"`
}

func ordering(op uptime.Op) bool {
	return op == uptime.OpLess || op == uptime.OpAtMost || op == uptime.OpMore || op == uptime.OpAtLeast
}

func opWords(op uptime.Op) string {
	switch op {
	case uptime.OpEquals:
		return "to equal"
	case uptime.OpNotEquals:
		return "not to equal"
	case uptime.OpContains:
		return "to contain"
	case uptime.OpNotContains:
		return "not to contain"
	case uptime.OpMatches:
		return "to match"
	case uptime.OpNotMatches:
		return "not to match"
	case uptime.OpExists:
		return "to be there"
	case uptime.OpAbsent:
		return "to be absent"
	case uptime.OpIn:
		return "to be in"
	case uptime.OpNotIn:
		return "not to be in"
	case uptime.OpLess:
		return "to be less than"
	case uptime.OpAtMost:
		return "to be at most"
	case uptime.OpMore:
		return "to be more than"
	}
	return "to be at least"
}

func days(n int64) string {
	if n == 1 {
		return "1 day"
	}
	return strconv.FormatInt(n, 10) + " days"
}

// millis writes microseconds as milliseconds, with all digits that matter.
func millis(us int64) string {
	return strconv.FormatFloat(float64(us)/float64(time.Millisecond/time.Microsecond), 'f', -1, 64) + " ms"
}
