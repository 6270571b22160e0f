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

func (r *Rules) why(v Verdict, t tally, c Conditions) string {
	var parts []string
	switch v.State {
	case StatePaused:
		return "Paused: not being checked."
	case StateMaintenance:
		parts = append(parts, "In maintenance")
	}
	switch v.Observed {
	case StateNoData:
		parts = append(parts, r.silence(v))
	case StateUp:
		if len(t.down) == 0 {
			parts = append(parts, fmt.Sprintf("Up in %d of %d %s", len(t.fresh), len(t.fresh), plural(len(t.fresh))))
		}
	}
	if len(t.down) > 0 {
		parts = append(parts, fmt.Sprintf("Down in %d of %d %s: %s", len(t.down), len(t.fresh), plural(len(t.fresh)), r.causes(t.down)))
	}
	if len(t.degraded) > 0 {
		parts = append(parts, fmt.Sprintf("Degraded in %d of %d %s: %s", len(t.degraded), len(t.fresh), plural(len(t.fresh)), r.causes(t.degraded)))
	}
	if doubted := r.doubted(t.fresh); doubted != "" {
		parts = append(parts, "not counted yet: "+doubted)
	}
	if len(v.SilentRegions) > 0 && v.Observed != StateNoData {
		parts = append(parts, "silent: "+strings.Join(v.SilentRegions, ", "))
	}
	if len(v.BlindRegions) > 0 {
		parts = append(parts, "blind, so not asked: "+strings.Join(v.BlindRegions, ", "))
	}
	if c.Parent != nil && c.Parent.Until.IsZero() && v.Observed == StateDown {
		parts = append(parts, DependsOn(c.Parent.Name))
	}
	return strings.Join(parts, "; ") + "."
}

// DependsOn says why nobody is told of what fails beside a target that it depends on.
func DependsOn(parent string) string { return "it depends on " + parent + ", which is down" }

func (r *Rules) silence(v Verdict) string {
	switch {
	case len(r.Regions) == 0:
		return "No data: no region is checking it"
	case v.LastResultAt.IsZero():
		return "No data yet from " + strings.Join(r.Regions, ", ")
	}
	text := "No data: the last result is of " + clock(v.LastResultAt)
	if len(v.SilentRegions) > 0 {
		text += "; silent: " + strings.Join(v.SilentRegions, ", ")
	}
	return text
}

// doubted are failing results that are too few for their region to count as failing.
func (r *Rules) doubted(fresh []*voice) string {
	var all []string
	for _, one := range fresh {
		if !one.failing && one.newest.Status == uptime.StatusDown {
			all = append(all, fmt.Sprintf("%s %s (%d of %d)", one.newest.Region, cause(one.newest), one.streak, r.Policy.downAfter()))
		}
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

func plural(n int) string {
	if n == 1 {
		return "region"
	}
	return "regions"
}

// causes lists region and failure, in the order of the regions.
func (r *Rules) causes(voices []*voice) string {
	var causes []string
	for _, one := range voices {
		text := r.degraded(one.newest)
		switch {
		case one.newest.Status == uptime.StatusDown:
			text = cause(one.newest)
		case one.failing:
			text = fmt.Sprintf("recovering (%d of %d)", one.streak, r.Policy.upAfter())
		}
		causes = append(causes, one.newest.Region+" "+text)
	}
	slices.Sort(causes)
	return strings.Join(causes, ", ")
}

// cause is a failure in words that go on after a region's name.
func cause(o *Observation) string {
	switch o.Failure {
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
		if o.Said != "" {
			return o.Said
		}
		return fmt.Sprintf("status %d", o.HTTPStatus)
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
	return strings.ReplaceAll(string(o.Failure), "_", " ")
}
