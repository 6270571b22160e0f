package verdict

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

// Policy says when a target is down and when people hear of it. The zero value of each
// field is its default, so a policy of an older version means what it meant.
type Policy struct {
	Quorum    Quorum   `json:"quorum,omitzero"`
	DownAfter int      `json:"down_after,omitempty" minimum:"1" maximum:"10" doc:"Failing results in a row before a region counts as failing. Default 1."`
	UpAfter   int      `json:"up_after,omitempty" minimum:"1" maximum:"10" doc:"Good results in a row before it counts as recovered. Default 1."`
	ForS      int      `json:"for_s,omitempty" minimum:"1" maximum:"86400" doc:"The target must have been down for so long before an incident opens. Default: it opens at once."`
	OpenOn    Severity `json:"open_on,omitempty" enum:"down,degraded" doc:"What opens an incident: down, or already degraded. Default down."`
	Degraded  Degraded `json:"degraded,omitzero"`
	Flapping  Flapping `json:"flapping,omitzero"`
}

// Quorum is how many of the regions that can judge (fresh and not blind) must fail.
type Quorum struct {
	Rule    QuorumRule `json:"rule,omitempty" enum:"majority,count,all" doc:"Default majority: more than half."`
	Count   int        `json:"count,omitempty" minimum:"1" maximum:"100" doc:"How many, of the rule count."`
	AtLeast int        `json:"at_least,omitempty" minimum:"1" maximum:"100" doc:"Never fewer while more can judge. Default 2."`
	Firm    bool       `json:"firm,omitempty" doc:"Not fewer either where fewer can judge: then nothing is down."`
}

// QuorumRule names a way to count.
type QuorumRule string

// Rules of a quorum.
const (
	QuorumMajority QuorumRule = "majority" // more than half; the default
	QuorumCount    QuorumRule = "count"
	QuorumAll      QuorumRule = "all"
)

// Degraded says what besides a degraded result makes a region, or the target, degraded.
type Degraded struct {
	LatencyMS       int  `json:"latency_ms,omitempty" minimum:"1" maximum:"60000" doc:"A good result slower than this. Default: none is."`
	CertificateDays int  `json:"certificate_days,omitempty" minimum:"1" maximum:"365" doc:"A certificate that ends in fewer days. Default: none is."`
	IgnoreMinority  bool `json:"ignore_minority,omitempty" doc:"Failing regions that are too few for down leave the target up."`
}

// Flapping damps notifications, and only them. Each opened incident adds 1 to a score,
// up to 2, which halves each half-life. From begin on nobody is told of each single
// change any more, until the score has sunk to end.
type Flapping struct {
	Off       bool    `json:"off,omitempty" doc:"People are told of each change."`
	HalfLifeS int     `json:"half_life_s,omitempty" minimum:"60" maximum:"2592000" doc:"Default 12 intervals, at least 10 minutes."`
	Begin     float64 `json:"begin,omitempty" doc:"More than 1 and less than 2. Default 1.5."`
	End       float64 `json:"end,omitempty" doc:"More than 0 and less than 1. Default 0.5."`
}

// Bounds of a policy.
const (
	MaxThreshold   = 10
	maxQuorum      = 100
	maxFor         = 24 * 3600
	maxLatency     = 60_000
	maxCertificate = 365
	maxHalfLife    = 30 * 24 * 3600
	scoreCap       = 2.0
	awaitSlack     = 5 * time.Second
	minHalfLife    = 10 * time.Minute
	halfLifeSlots  = 12
)

// Problem is a mistake in a policy.
type Problem struct {
	Pointer string // JSON pointer (RFC 6901) within the policy
	Code    string // stable, for programs
	Message string // what to do about it, for people
}

// Codes of problems.
const (
	CodeOutOfRange   = "out_of_range"
	CodeUnknownValue = "unknown_value"
	CodeConflict     = "conflict"
)

// Validate gives every mistake; none when the policy can be used.
func (p Policy) Validate() (found []Problem) {
	between := func(pointer string, value, low, high int, unit string) {
		if value != 0 && (value < low || value > high) {
			found = append(found, Problem{pointer, CodeOutOfRange, fmt.Sprintf("want %d to %d%s, or leave it out for the default", low, high, unit)})
		}
	}
	problem := func(pointer, code, message string) { found = append(found, Problem{pointer, code, message}) }
	switch q := p.Quorum; q.Rule {
	case "", QuorumMajority, QuorumAll:
		if q.Count != 0 {
			problem("/quorum/count", CodeConflict, "goes with the rule count only: set the rule, or leave the count out")
		}
	case QuorumCount:
		if q.Count < 1 || q.Count > maxQuorum {
			problem("/quorum/count", CodeOutOfRange, fmt.Sprintf("want 1 to %d regions", maxQuorum))
		}
		if q.AtLeast > q.Count {
			problem("/quorum/at_least", CodeConflict, "is more than the count: raise the count instead")
		}
	default:
		problem("/quorum/rule", CodeUnknownValue, "want majority, count or all")
	}
	between("/quorum/at_least", p.Quorum.AtLeast, 1, maxQuorum, " regions")
	between("/down_after", p.DownAfter, 1, MaxThreshold, " results")
	between("/up_after", p.UpAfter, 1, MaxThreshold, " results")
	between("/for_s", p.ForS, 1, maxFor, " seconds")
	if p.OpenOn != "" && p.OpenOn != SeverityDown && p.OpenOn != SeverityDegraded {
		problem("/open_on", CodeUnknownValue, "want down or degraded")
	}
	between("/degraded/latency_ms", p.Degraded.LatencyMS, 1, maxLatency, " ms")
	between("/degraded/certificate_days", p.Degraded.CertificateDays, 1, maxCertificate, " days")
	between("/flapping/half_life_s", p.Flapping.HalfLifeS, 60, maxHalfLife, " seconds")
	begin, end := p.Flapping.bounds()
	if !(begin > 1 && begin < scoreCap) { // one outage alone must not damp; the cap must be able to
		problem("/flapping/begin", CodeOutOfRange, "want more than 1 and less than 2, or leave it out for the default")
	}
	if !(end > 0 && end < 1) { // else it would end as soon as it begins
		problem("/flapping/end", CodeOutOfRange, "want more than 0 and less than 1, or leave it out for the default")
	}
	return found
}

// ParsePolicy reads a policy as JSON, refuses what it does not know, and validates.
func ParsePolicy(data []byte) (Policy, error) {
	var p Policy
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&p); err != nil {
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) && wrong.Field != "" {
			return Policy{}, fmt.Errorf("policy: /%s: want %s, not %s: %w", strings.ReplaceAll(wrong.Field, ".", "/"), wrong.Type, wrong.Value, err)
		}
		return Policy{}, fmt.Errorf("policy: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return Policy{}, errors.New("policy: something follows it")
	}
	var all []error
	for _, problem := range p.Validate() {
		all = append(all, fmt.Errorf("%s: %s", problem.Pointer, problem.Message))
	}
	if len(all) > 0 {
		return Policy{}, fmt.Errorf("policy: %w", errors.Join(all...))
	}
	return p, nil
}

// Text is the policy as it is stored; equal texts are equal policies.
func (p Policy) Text() uptime.PolicyText {
	data, err := json.Marshal(p)
	if err != nil || string(data) == "{}" { // only numbers that Validate refuses fail
		return ""
	}
	return uptime.PolicyText(data)
}

// Stored reads a policy that was validated when it was stored. One that is not known here
// comes from a newer release: until this one is replaced its target is judged by the default,
// so that people are told rather too often than not at all.
func Stored(text uptime.PolicyText) Policy {
	if text == "" {
		return Policy{}
	}
	p, err := ParsePolicy([]byte(text))
	if err != nil {
		return Policy{}
	}
	return p
}

// Counts says whether results in a row matter: then a region's newest one does not say how
// it stands.
func (p Policy) Counts() bool { return p.downAfter() > 1 || p.upAfter() > 1 }

func (p Policy) downAfter() int { return max(1, p.DownAfter) }
func (p Policy) upAfter() int   { return max(1, p.UpAfter) }

func (p Policy) openOn() Severity {
	if p.OpenOn == "" {
		return SeverityDown
	}
	return p.OpenOn
}

func (p Policy) duration() time.Duration { return time.Duration(p.ForS) * time.Second }

// need is how many of the regions that can judge must fail.
func (q Quorum) need(fresh int) int {
	n := fresh/2 + 1
	switch q.Rule {
	case QuorumCount:
		n = q.Count
	case QuorumAll:
		n = fresh
	}
	least := q.AtLeast
	if least == 0 {
		least = 2
		if q.Rule == QuorumCount {
			least = min(2, q.Count)
		}
	}
	n = max(1, n, least)
	if q.Firm {
		return n
	}
	return max(1, min(n, fresh))
}

// words tell the rule to people.
func (q Quorum) words(fresh int) string {
	n := q.need(fresh)
	switch {
	case n > fresh:
		return fmt.Sprintf("%d regions must fail, and only %d can judge", n, fresh)
	case fresh == 1:
		return "the only region that can judge must fail"
	}
	rule := map[QuorumRule]string{QuorumCount: "set number", QuorumAll: "all"}[q.Rule]
	if rule == "" {
		rule = "majority"
	}
	return fmt.Sprintf("%d of %d regions must fail (%s)", n, fresh, rule)
}

func (f Flapping) bounds() (begin, end float64) {
	begin, end = f.Begin, f.End
	if begin == 0 {
		begin = 1.5
	}
	if end == 0 {
		end = 0.5
	}
	return begin, end
}

func (f Flapping) halfLife(interval time.Duration) time.Duration {
	if f.HalfLifeS > 0 {
		return time.Duration(f.HalfLifeS) * time.Second
	}
	return max(halfLifeSlots*interval, minHalfLife)
}
