package whatchanged

import (
	"strconv"

	"github.com/probefleet/probefleet/internal/uptime"
)

// grownBy is the least by which the time of a phase must grow, in µs, and it must double: less is chance.
const grownBy = 100_000

type phase struct {
	name string
	us   uint32
}

// phases are those of a check, in the order in which they come.
func phases(p uptime.Phases) [5]phase {
	return [5]phase{{"dns", p.DNS}, {"connect", p.Connect}, {"tls", p.TLS}, {"wait", p.Wait}, {"transfer", p.Transfer}}
}

// phase tells in which phase the check ended or, if it came to its end, whose time grew most.
func (c *comparison) phase() {
	before, after := phases(c.good.Phases), phases(c.bad.Phases)
	at, ended := endedIn(c.bad)
	if !ended {
		at = grown(before, after)
	}
	if at < 0 {
		return
	}
	c.found = append(c.found, Difference{What: Phase, Phase: after[at].name, Ended: ended, Before: us(before[at].us), After: us(after[at].us)})
}

func us(n uint32) string { return strconv.FormatUint(uint64(n), 10) }

func grown(before, after [5]phase) (at int) {
	at = -1
	var most uint32
	for i := range after {
		if after[i].us < before[i].us+grownBy || after[i].us/2 < before[i].us {
			continue
		}
		if by := after[i].us - before[i].us; by > most {
			at, most = i, by
		}
	}
	return at
}

// endedIn is the phase in which a check ended early; false: it saw the whole answer, and that
// was not as it should be.
func endedIn(r *uptime.Result) (at int, ended bool) {
	switch r.Failure {
	case uptime.FailureDNS:
		return 0, true
	case uptime.FailureConnectRefused, uptime.FailureConnectTimeout:
		return 1, true
	case uptime.FailureTLSExpired, uptime.FailureTLSName, uptime.FailureTLSUntrusted, uptime.FailureTLSOther:
		return 2, r.HTTPStatus == 0
	case uptime.FailureReset, uptime.FailureTimeout, uptime.FailureProtocol, uptime.FailureTooLarge:
	default:
		return 0, false
	}
	// The last phase that took any time, of the last hop if that is known.
	last := r.Phases
	if r.Evidence != nil && len(r.Evidence.Hops) > 0 {
		last = r.Evidence.Hops[len(r.Evidence.Hops)-1].Phases
	}
	for i, p := range phases(last) {
		if p.us > 0 {
			at, ended = i, true
		}
	}
	return at, ended
}
