package assertion

import (
	"slices"

	"github.com/probefleet/probefleet/internal/uptime"
)

// outcome is what an assertion came to.
type outcome uint8

const (
	failed outcome = iota
	passed
	undecided
)

func passedIf(ok bool) outcome {
	if ok {
		return passed
	}
	return failed
}

// Evaluate looks at an observation.
func (s *Set) Evaluate(o *Observation) Verdict {
	var verdict Verdict
	e := evaluation{observation: o}
	for i := range s.checks {
		c := &s.checks[i]
		e.node, e.why, e.cut = nil, "", false
		result := e.judge(c)
		if result == passed {
			continue
		}
		verdict.Failed = append(verdict.Failed, Failed{
			Index: c.index, Severity: c.severity, Failure: e.failure(c), Undecided: result == undecided, Message: e.message(c, result),
		})
		if verdict.Severity != uptime.SeverityFail {
			verdict.Severity = c.severity
		}
	}
	return verdict
}

// evaluation is the state of one Evaluate.
type evaluation struct {
	observation *Observation
	json        *jsonBody // opened by the first check that needs it

	// of the present check, for its message:
	node []byte // the JSON node that failed
	why  string // nothing could be compared
	cut  bool   // the outcome is undecided because a text was cut
}

func (e *evaluation) judge(c *check) outcome {
	o := e.observation
	switch c.source {
	case uptime.SourceStatus:
		return passedIf(c.status(o.Status))
	case uptime.SourceHeader:
		return e.header(c)
	case uptime.SourceBody:
		return e.bytes(c, o.Body, o.BodyCut)
	case uptime.SourceReceived:
		return e.received(c)
	case uptime.SourceJSON:
		return e.judgeJSON(c)
	case uptime.SourceBodySize:
		return e.size(c)
	case uptime.SourceBodyHash:
		return e.hash(c)
	case uptime.SourceLatency, uptime.SourcePhase:
		return passedIf(ordered(c.op, int64(c.micros(o)), c.number))
	case uptime.SourceCertificate:
		return e.certificate(c)
	case uptime.SourceRedirect:
		return passedIf(c.optional(o.Redirect, o.Redirect != ""))
	case uptime.SourceProtocol:
		return e.known(c, protocolNumber(o.Protocol))
	case uptime.SourceTLSVersion:
		return e.known(c, int64(o.TLSVersion))
	case uptime.SourceDNS:
		return passedIf(c.records(o.Records[c.name]))
	case uptime.SourceRcode:
		return passedIf(o.Rcode != "" && slices.Contains(c.list, o.Rcode) != negative(c.op))
	case uptime.SourceAddress:
		return passedIf(o.Address.IsValid() && c.holds(o.Address) != negative(c.op))
	}
	return failed
}

func (e *evaluation) certificate(c *check) outcome {
	if e.observation.CertNotAfter.IsZero() {
		return failed
	}
	return passedIf(ordered(c.op, e.observation.days(), c.number))
}

func (e *evaluation) header(c *check) outcome {
	return passedIf(c.optional(c.headerValue(e.observation)))
}

// failure is what the check's failure is called.
func (e *evaluation) failure(c *check) uptime.Failure {
	o := e.observation
	switch {
	case e.cut:
		return uptime.FailureTooLarge
	case c.source == uptime.SourceCertificate && !o.CertNotAfter.IsZero() && o.At.After(o.CertNotAfter):
		return uptime.FailureTLSExpired
	}
	switch c.source {
	case uptime.SourceStatus:
		return uptime.FailureStatusCode
	case uptime.SourceHeader, uptime.SourceRedirect:
		return uptime.FailureHeader
	case uptime.SourceLatency, uptime.SourcePhase:
		return uptime.FailureLatency
	case uptime.SourceCertificate, uptime.SourceTLSVersion:
		return uptime.FailureTLSOther
	case uptime.SourceProtocol:
		return uptime.FailureProtocol
	case uptime.SourceDNS, uptime.SourceRcode, uptime.SourceAddress:
		return uptime.FailureDNS
	}
	return uptime.FailureBody
}
