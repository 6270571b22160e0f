package verdict

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

// clock writes an instant for people.
func clock(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05") + " UTC" }

// why are the reasons for a verdict, and what they are in English.
func (r *Rules) why(v Verdict, t tally, c Conditions) ([]Clause, string) {
	clauses := r.clauses(v, t, c)
	return clauses, sentenceOf(clauses)
}

func (r *Rules) clauses(v Verdict, t tally, c Conditions) (all []Clause) {
	switch v.State {
	case StatePaused:
		return []Clause{{Is: FactPaused}}
	case StateMaintenance:
		all = append(all, Clause{Is: FactMaintenance})
	}
	switch v.Observed {
	case StateNoData:
		all = append(all, r.silence(v)...)
	case StateUp:
		if len(t.down)+len(t.unproven) == 0 {
			all = append(all, Clause{Is: FactUp, N: len(t.fresh)})
		}
	}
	if len(t.down) > 0 {
		all = append(all, Clause{Is: FactDown, N: len(t.down), Of: len(t.fresh), Seen: r.seen(t.down)})
	}
	if n := len(t.degraded) + len(t.unproven); n > 0 {
		all = append(all, Clause{Is: FactDegraded, N: n, Of: len(t.fresh), Seen: byRegion(append(r.seen(t.degraded), r.doubted(t.unproven)...))})
	}
	if doubted := r.doubted(t.fresh, t.unproven...); len(doubted) > 0 {
		all = append(all, Clause{Is: FactDoubted, Seen: doubted})
	}
	if len(v.SilentRegions) > 0 && v.Observed != StateNoData {
		all = append(all, Clause{Is: FactSilent, Names: v.SilentRegions})
	}
	if len(v.BlindRegions) > 0 {
		all = append(all, Clause{Is: FactBlind, Names: v.BlindRegions})
	}
	if c.Parent != nil && c.Parent.Until.IsZero() && v.Observed == StateDown {
		all = append(all, Clause{Is: FactDepends, Name: c.Parent.Name})
	}
	return all
}

// DependsOn says why nobody is told of what fails beside a target that it depends on.
func DependsOn(parent string) string { return "it depends on " + parent + ", which is down" }

func (r *Rules) silence(v Verdict) []Clause {
	switch {
	case len(r.Regions) == 0:
		return []Clause{{Is: FactUnchecked}}
	case v.LastResultAt.IsZero(), v.LastResultAt.Before(r.VisitedSince):
		return []Clause{{Is: FactUnheard, Names: r.Regions}}
	}
	all := []Clause{{Is: FactNoData, At: v.LastResultAt}}
	if len(v.SilentRegions) > 0 {
		all = append(all, Clause{Is: FactSilent, Names: v.SilentRegions})
	}
	return all
}

// doubted are failing results that are too few for their region to count as failing, but those of some.
func (r *Rules) doubted(fresh []*voice, but ...*voice) (all []Seen) {
	for _, one := range fresh {
		if !one.failing && one.newest.Status == uptime.StatusDown && !slices.Contains(but, one) {
			seen := failureSeen(one.newest)
			seen.N, seen.Of = one.streak, r.Policy.downAfter()
			all = append(all, seen)
		}
	}
	return byRegion(all)
}

// seen lists what regions saw.
func (r *Rules) seen(voices []*voice) (all []Seen) {
	for _, one := range voices {
		seen := failureSeen(one.newest)
		switch {
		case one.newest.Status == uptime.StatusDown:
		case one.failing:
			seen = Seen{Region: seen.Region, What: seenRecovering, N: one.streak, Of: r.Policy.upAfter()}
		default:
			seen.What = r.degraded(one.newest)
		}
		all = append(all, seen)
	}
	return byRegion(all)
}

func failureSeen(o *Observation) Seen {
	return Seen{Region: o.Region, What: string(o.Failure), HTTPStatus: o.HTTPStatus, Said: o.Said}
}

func byRegion(all []Seen) []Seen {
	slices.SortFunc(all, func(a, b Seen) int { return strings.Compare(a.Region, b.Region) })
	return all
}

func plural(n int) string {
	if n == 1 {
		return "region"
	}
	return "regions"
}

// cause is a failure in words that go on after a region's name.
func cause(o *Observation) string { seen := failureSeen(o); return seen.words() }

// words go on after the region's name.
func (s *Seen) words() string {
	text := s.plainly()
	if s.Of > 0 {
		text += fmt.Sprintf(" (%d of %d)", s.N, s.Of)
	}
	return text
}

func (s *Seen) plainly() string {
	switch s.What {
	case seenSlow:
		return "slower than allowed"
	case seenCertificate:
		return "certificate ends soon"
	}
	switch uptime.Failure(s.What) {
	case uptime.FailureDNS:
		return "finds no address"
	case uptime.FailureConnectRefused:
		return "connection refused"
	case uptime.FailureConnectTimeout:
		return "cannot connect"
	case uptime.FailureTLSExpired:
		return "certificate expired"
	case uptime.FailureTLSName:
		return "certificate of another name"
	case uptime.FailureTLSUntrusted:
		return "certificate not trusted"
	case uptime.FailureTLSOther:
		return "TLS failed"
	case uptime.FailureStatusCode:
		if s.Said != "" {
			return s.Said
		}
		return fmt.Sprintf("status %d", s.HTTPStatus)
	case uptime.FailureBody:
		return "body not as expected"
	case uptime.FailureHeader:
		return "header not as expected"
	case uptime.FailureLatency:
		return "too slow"
	case uptime.FailureRedirectLimit:
		return "too many redirects"
	case uptime.FailureTooLarge:
		return "answer too large"
	case uptime.FailureProtocol:
		return "answer not understood"
	case uptime.FailureReset:
		return "connection reset"
	case uptime.FailureTimeout:
		return "no answer in time"
	}
	return strings.ReplaceAll(s.What, "_", " ")
}
