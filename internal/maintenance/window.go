package maintenance

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/teambition/rrule-go"

	"github.com/probefleet/probefleet/internal/availability"
	"github.com/probefleet/probefleet/internal/spec"
	"github.com/probefleet/probefleet/internal/uptime"
)

// Scope is what a window is for: everything, targets with one of some tags, or a target; exactly
// one of them.
type Scope struct {
	Everything bool     `json:"everything,omitempty"`
	Tags       []string `json:"tags,omitempty"`
	TargetID   int64    `json:"target_id,omitempty"`
}

// Names says whether a target is in it whatever its tags are.
func (s Scope) Names(targetID int64) bool {
	return s.Everything || s.TargetID != 0 && s.TargetID == targetID
}

// Window is a maintenance window as people write it.
type Window struct {
	Scope
	StartsAt  string `json:"starts_at"` // on the wall, such as 2026-03-29T02:30:00
	Zone      string `json:"zone"`      // IANA name; "" is UTC
	DurationS int    `json:"duration_s"`
	RRule     string `json:"rrule,omitempty"` // RFC 5545, such as FREQ=WEEKLY;BYDAY=SU; "" is once
}

// Limits of a window.
const (
	MinDuration = time.Minute
	MaxDuration = 31 * 24 * time.Hour
	MaxRRule    = 300 // bytes
	MaxTags     = 20
	MaxInterval = 1000
	MaxCount    = 10_000
	lookAhead   = 10 * 366 * 24 * time.Hour // in which a rule must name a day, and Next looks
)

var ruleText = regexp.MustCompile(`^FREQ=(DAILY|WEEKLY|MONTHLY|YEARLY)(;[A-Z]+=[A-Z0-9,+-]+)*$`)

// parts of rules that are understood, besides FREQ.
func ruleParts() []string {
	return []string{"INTERVAL", "COUNT", "UNTIL", "WKST", "BYDAY", "BYMONTH", "BYMONTHDAY", "BYYEARDAY", "BYWEEKNO", "BYSETPOS"}
}

// Schedule is a window that can be asked.
type Schedule struct {
	Scope
	start time.Time // on the wall
	zone  *time.Location
	long  time.Duration
	rule  *rrule.ROption // nil: once
}

// New makes a window ready, or gives every mistake in it.
func New(w Window) (*Schedule, []spec.Problem) { return ready(w, false) }

// Stored makes a window ready that was accepted once, also by rules that were less strict: of a
// rule that names no day it is the start that is left.
func Stored(w Window) (*Schedule, []spec.Problem) { return ready(w, true) }

func ready(w Window, stored bool) (*Schedule, []spec.Problem) {
	var found []spec.Problem
	problem := func(pointer, code, format string, args ...any) {
		found = append(found, spec.Problem{Pointer: pointer, Code: code, Message: fmt.Sprintf(format, args...)})
	}
	s := &Schedule{Scope: w.Scope, long: time.Duration(w.DurationS) * time.Second}
	switch n := count(w.Everything, len(w.Tags) > 0, w.TargetID != 0); {
	case n == 0:
		problem("/everything", spec.CodeRequired, "say what it is for: everything, tags or a target")
	case n > 1:
		problem("/everything", spec.CodeConflict, "want one of everything, tags and target_id")
	}
	if len(w.Tags) > MaxTags {
		problem("/tags", spec.CodeTooLong, "want at most %d tags", MaxTags)
	}
	_, bad := uptime.ParseTags(w.Tags)
	for _, i := range bad {
		problem(fmt.Sprintf("/tags/%d", i), spec.CodeInvalidText, "%s", uptime.TagRule)
	}
	if w.TargetID < 0 {
		problem("/target_id", spec.CodeOutOfRange, "want the number of a target")
	}
	start, err := time.Parse(wallLayout, w.StartsAt)
	if err != nil || start.Year() < 1970 || start.Year() > 2200 {
		problem("/starts_at", spec.CodeInvalidText, "want the time on the wall from 1970 to 2200, without a zone, such as 2026-03-29T02:30:00")
	}
	s.start = start
	if s.zone, err = availability.Zone(w.Zone); err != nil {
		problem("/zone", spec.CodeUnknownValue, "want an IANA name such as Europe/Berlin, or nothing for UTC")
	}
	if w.DurationS < int(MinDuration/time.Second) || w.DurationS > int(MaxDuration/time.Second) {
		problem("/duration_s", spec.CodeOutOfRange, "want %d to %d seconds", int(MinDuration/time.Second), int(MaxDuration/time.Second))
	}
	if w.RRule != "" && len(found) == 0 {
		if why := s.recur(w.RRule, stored); why != "" {
			problem("/rrule", spec.CodeInvalidText, "%s", why)
		}
	}
	if len(found) == 0 && w.RRule == "" && s.span(s.start).empty() {
		problem("/starts_at", spec.CodeConflict, "the clocks skip this window: want a time that there is on that day")
	}
	if len(found) > 0 {
		return nil, found
	}
	return s, nil
}

func count(all ...bool) (n int) {
	for _, one := range all {
		if one {
			n++
		}
	}
	return n
}

// names says whether the rule, if it had no end, would name a day after the start within ten years.
func (s *Schedule) names() bool {
	endless, rule := *s, *s.rule
	endless.rule, rule.Count, rule.Until = &rule, 0, time.Time{}
	return len(endless.starts(s.start, s.start.Add(lookAhead), 2)) > 1
}

// recur takes the rule in, or says what is wrong with it.
func (s *Schedule) recur(text string, stored bool) (why string) {
	if len(text) > MaxRRule || !ruleText.MatchString(text) {
		return fmt.Sprintf("want at most %d bytes such as FREQ=WEEKLY;BYDAY=SU, with FREQ first: DAILY, WEEKLY, MONTHLY or YEARLY", MaxRRule)
	}
	seen := map[string]bool{}
	until := ""
	for _, part := range strings.Split(text, ";")[1:] {
		name, value, _ := strings.Cut(part, "=")
		if !slices.Contains(ruleParts(), name) {
			return "want no parts but " + strings.Join(ruleParts(), ", ") + "; the time of day is that of starts_at"
		}
		if seen[name] {
			return "want each part once"
		}
		if seen[name] = true; name == "UNTIL" {
			until = value
		}
		if values := strings.Split(value, ","); !stored && len(slices.Compact(slices.Sorted(slices.Values(values)))) < len(values) {
			return "want each value of a part once"
		}
	}
	if !stored && seen["BYSETPOS"] && strings.HasPrefix(text, "FREQ=DAILY") {
		return "BYSETPOS chooses among the days of a week, a month or a year: a day is one"
	}
	rule, err := rrule.StrToROption(text)
	if err != nil {
		return "want a rule of RFC 5545, such as FREQ=MONTHLY;BYDAY=1SU"
	}
	switch {
	case seen["INTERVAL"] && (rule.Interval < 1 || rule.Interval > MaxInterval):
		return fmt.Sprintf("want INTERVAL from 1 to %d", MaxInterval)
	case seen["COUNT"] && (rule.Count < 1 || rule.Count > MaxCount):
		return fmt.Sprintf("want COUNT from 1 to %d", MaxCount)
	case seen["COUNT"] && seen["UNTIL"]:
		return "want COUNT or UNTIL, not both"
	case seen["BYSETPOS"] && !seen["BYDAY"] && !seen["BYMONTH"] && !seen["BYMONTHDAY"] && !seen["BYYEARDAY"] && !seen["BYWEEKNO"]:
		return "BYSETPOS goes with another part that begins with BY"
	}
	rule.Dtstart = s.start
	switch {
	case strings.HasSuffix(until, "Z"): // an instant
		rule.Until = onWall(rule.Until, s.zone)
	case len(until) == len("20060102"): // that day too
		rule.Until = rule.Until.Add(24*time.Hour - time.Second)
	}
	if seen["UNTIL"] && rule.Until.Before(s.start) {
		return "want UNTIL after starts_at"
	}
	s.rule = rule
	if _, err := rrule.NewRRule(*rule); err != nil {
		return "want numbers that days, weeks and months have"
	}
	switch {
	case s.names():
	case stored: // it would be looked for as far as there are years, each time somebody asks
		s.rule = nil
	default:
		return "it names no day within ten years"
	}
	return ""
}
