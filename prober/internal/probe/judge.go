package probe

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/probefleet/probefleet/internal/assertion"
	"github.com/probefleet/probefleet/internal/uptime"
)

// judge makes an outcome of a visit. Of a target that may not be visited nothing is
// kept, not even how long it took.
func judge(p *plan, s *sighting, bad trouble, show bool, o *Outcome) {
	if bad.reason != uptime.ReasonNone {
		o.unmeasured(bad.reason, bad.message)
		return
	}
	if len(s.hops) == 0 {
		o.unmeasured(uptime.ReasonInternal, "the visit made no connection")
		return
	}
	status, verdict := uptime.StatusUp, assertion.Verdict{}
	if bad.none() && p.expect != nil && !p.expect.Accepts(s.Status) {
		bad = unexpected(*p.expect, s.Status)
	}
	if bad.none() {
		if verdict = p.asserts.Evaluate(&s.Observation); verdict.Severity != "" {
			first := verdict.First()
			status, bad = verdict.Status(), failed(first.Failure, first.Message)
		}
	} else {
		status, bad.message = uptime.StatusDown, s.text(bad.message, maxMessage)
	}
	*o = Outcome{
		Status: status, Failure: bad.failure, HTTPStatus: s.Status, Phases: s.Phases, TotalUS: s.TotalUS, Message: bad.message,
		Address: s.Address.Unmap(), CertNotAfter: s.CertNotAfter, Issuer: s.issuer(), Seen: uptime.Seen{
			Protocol: s.Protocol, TLSVersion: s.TLSVersion, Hops: uint8(len(s.hops)),
			WireBytes: capped(s.wire), BodyBytes: capped(s.BodySize), DNSCached: s.dnsCached(),
		},
	}
	o.AnsweredBy, o.RetryAfter = askedToWait(s, bad, verdict)
	switch {
	case status != uptime.StatusUp || show:
		o.Evidence = s.evidence(p, verdict)
	default:
		o.Print = s.print(p)
	}
}

func capped(n int64) uint32 { return uint32(min(max(n, 0), 1<<32-1)) }

func unexpected(expect uptime.Expect, code int) trouble {
	text := strings.TrimSpace(fmt.Sprint(code, " ", http.StatusText(code)))
	wanted := make([]string, len(expect.Status))
	for i, r := range expect.Status {
		wanted[i] = r.String()
	}
	if len(wanted) == 0 {
		wanted = []string{"200-399"}
	}
	return failed(uptime.FailureStatusCode, "answered "+text+", expected "+strings.Join(wanted, ", "))
}
