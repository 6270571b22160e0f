// Package verdict folds what the regions saw of a target into one state.
//
// It is pure: no clock, no I/O, the same inputs give the same verdict, so history
// can be replayed with the code that runs live. The rules:
//
//   - only measurements count: a missed or unknown slot is no evidence;
//   - a region's newest measurement counts until its slot + 2 × interval + timeout;
//     after that the region is silent;
//   - with no fresh region there is no data, never up;
//   - down needs a strict majority of the fresh regions; fewer failing regions,
//     or any degraded one, make the target degraded.
package verdict

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

// State is the folded status of a target.
type State string

// States a page can show.
const (
	StateUp       State = "up"
	StateDegraded State = "degraded"
	StateDown     State = "down"
	StateNoData   State = "no_data"
	StatePaused   State = "paused"
)

// Rules are what folding needs to know of a target.
type Rules struct {
	Interval, Timeout time.Duration
	Active            bool
	Regions           []string // that are to check it now
}

// Observation is a region's newest measurement.
type Observation struct {
	Region                 string
	Status                 uptime.Status
	Failure                uptime.Failure
	HTTPStatus             int
	Said                   string // what an answer said in place of an HTTP status; mostly empty
	ScheduledAt, CheckedAt time.Time
	TotalUS                uint32
}

// Verdict is the state with its explanation.
type Verdict struct {
	State         State
	Since         time.Time // first slot known to be in this state; zero when not known
	Why           string    // one sentence for people
	DownRegions   []string
	SilentRegions []string
	LastResultAt  time.Time // newest measured slot; zero when none
	FreshUntil    time.Time // when the newest evidence goes stale; zero when none
}

// FreshUntil is the instant after which a measurement is no longer evidence.
func (r Rules) FreshUntil(scheduledAt time.Time) time.Time {
	return scheduledAt.Add(2*r.Interval + r.Timeout)
}

// Fold gives the verdict at now. previous carries Since over while the state stays.
func Fold(rules Rules, observations []Observation, previous Verdict, now time.Time) Verdict {
	v := Verdict{}
	var fresh, down, degraded []Observation
	heard := map[string]bool{}
	for _, o := range observations {
		if o.ScheduledAt.After(v.LastResultAt) {
			v.LastResultAt = o.ScheduledAt
		}
		if rules.FreshUntil(o.ScheduledAt).Before(now) {
			continue
		}
		heard[o.Region] = true
		fresh = append(fresh, o)
		switch o.Status {
		case uptime.StatusDown:
			down = append(down, o)
			v.DownRegions = append(v.DownRegions, o.Region)
		case uptime.StatusDegraded:
			degraded = append(degraded, o)
		}
	}
	if !v.LastResultAt.IsZero() {
		v.FreshUntil = rules.FreshUntil(v.LastResultAt)
	}
	for _, region := range rules.Regions {
		if !heard[region] {
			v.SilentRegions = append(v.SilentRegions, region)
		}
	}
	slices.Sort(v.DownRegions)

	var deciding []Observation
	switch {
	case !rules.Active:
		v.State = StatePaused
	case len(fresh) == 0:
		v.State = StateNoData
	case 2*len(down) > len(fresh):
		v.State, deciding = StateDown, down
	case len(down)+len(degraded) > 0:
		v.State, deciding = StateDegraded, append(down, degraded...)
	default:
		v.State, deciding = StateUp, fresh
	}
	v.Since = since(v, deciding, previous)
	v.Why = why(v, rules, len(fresh), down, degraded)
	return v
}

func since(v Verdict, deciding []Observation, previous Verdict) time.Time {
	switch {
	case v.State == previous.State:
		return previous.Since
	case v.State == StateNoData:
		return v.FreshUntil
	case previous.State == "":
		return time.Time{} // no history at hand: the state may be older than the newest result
	}
	var first time.Time
	for _, o := range deciding {
		if first.IsZero() || o.ScheduledAt.Before(first) {
			first = o.ScheduledAt
		}
	}
	return first
}

func why(v Verdict, rules Rules, fresh int, down, degraded []Observation) string {
	var parts []string
	switch v.State {
	case StatePaused:
		return "Paused: not being checked."
	case StateNoData:
		switch {
		case len(rules.Regions) == 0:
			return "No data: no region is checking it."
		case v.LastResultAt.IsZero():
			return "No data yet from " + strings.Join(rules.Regions, ", ") + "."
		}
		return "No data: the last result is of " + v.LastResultAt.UTC().Format("2006-01-02 15:04:05") + " UTC; silent: " + strings.Join(v.SilentRegions, ", ") + "."
	case StateUp:
		parts = append(parts, fmt.Sprintf("Up in %d of %d %s", fresh, fresh, plural(fresh)))
	}
	if len(down) > 0 {
		parts = append(parts, fmt.Sprintf("Down in %d of %d %s: %s", len(down), fresh, plural(fresh), causes(down)))
	}
	if len(degraded) > 0 {
		parts = append(parts, fmt.Sprintf("Degraded in %d of %d %s: %s", len(degraded), fresh, plural(fresh), causes(degraded)))
	}
	if len(v.SilentRegions) > 0 {
		parts = append(parts, "silent: "+strings.Join(v.SilentRegions, ", "))
	}
	return strings.Join(parts, "; ") + "."
}

func plural(n int) string {
	if n == 1 {
		return "region"
	}
	return "regions"
}

// causes lists region and failure, in the order of the regions.
func causes(observations []Observation) string {
	var causes []string
	for _, o := range observations {
		causes = append(causes, o.Region+" "+cause(o))
	}
	slices.Sort(causes)
	return strings.Join(causes, ", ")
}

// cause is a failure in words that go on after a region's name.
func cause(o Observation) string {
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
