package heartbeat

import (
	"errors"
	"math/bits"
	"strings"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/probefleet/probefleet/internal/availability"
	"github.com/probefleet/probefleet/internal/uptime"
)

// Limits of a schedule.
const (
	MinPeriod = 10 * time.Second
	MaxPeriod = 366 * 24 * time.Hour
	MinGrace  = time.Second
	MaxGrace  = 31 * 24 * time.Hour
	MaxCron   = 200 // bytes
)

var errNever = errors.New("it never comes")

// Schedule is a heartbeat's expectation over time.
type Schedule struct {
	Grace  time.Duration
	period time.Duration // 0: by cron
	cron   *cron.SpecSchedule
	zone   *time.Location
	real   bool // the hours follow real time
}

// New reads a spec that spec.Validate has accepted.
func New(s uptime.HeartbeatSpec) (*Schedule, error) {
	if s.Cron == "" && s.PeriodS <= 0 {
		return nil, errors.New("it says neither a period nor a cron expression")
	}
	if s.Cron == "" {
		return &Schedule{Grace: s.Grace(), period: time.Duration(s.PeriodS) * time.Second}, nil
	}
	zone, err := Zone(s.Zone)
	if err != nil {
		return nil, err
	}
	parsed, err := ParseCron(s.Cron)
	if err != nil {
		return nil, err
	}
	return &Schedule{Grace: s.Grace(), cron: parsed, zone: zone, real: strings.HasPrefix(strings.Fields(s.Cron)[1], "*")}, nil
}

// Zone finds a time zone by its IANA name; empty is UTC. The machine's own is not one, nor
// is what only some machines have.
func Zone(name string) (*time.Location, error) { return availability.Zone(name) }

// ParseCron reads five fields. An expression that never comes is an error.
func ParseCron(text string) (*cron.SpecSchedule, error) {
	if len(text) > MaxCron || len(strings.Fields(text)) != 5 || strings.Contains(text, "=") {
		return nil, errors.New("want five fields: minute, hour, day of the month, month, day of the week")
	}
	parsed, err := cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow).Parse(text)
	if err != nil {
		return nil, err
	}
	s, ok := parsed.(*cron.SpecSchedule)
	if !ok {
		return nil, errNever
	}
	s.Location = time.UTC
	if s.Next(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)).IsZero() {
		return nil, errNever
	}
	return s, nil
}

// After is the first expectation after t, which is when the last one ended.
func (s *Schedule) After(t time.Time) time.Time {
	if s.period > 0 {
		return t.Add(s.period).UTC()
	}
	return s.slot(t)
}

// slot is the first slot of the cron expression after t; zero when none is to come. It
// walks the stretches of one offset, within which clocks and instants go together.
func (s *Schedule) slot(t time.Time) time.Time {
	for at := t; ; {
		start, end := at.In(s.zone).ZoneBounds()
		wall := clock(at, s.zone)
		if !s.real && !start.IsZero() {
			// What the clocks showed before they were put back has had its turn.
			if shown := clock(start.Add(-time.Second), s.zone).Add(time.Second); wall.Before(shown) {
				wall = shown.Add(-time.Second)
			}
		}
		next := s.cron.Next(wall)
		if next.IsZero() {
			return time.Time{}
		}
		found := at.Add(next.Sub(clock(at, s.zone)))
		if end.IsZero() || found.Before(end) {
			return found.UTC()
		}
		// The clocks change before that. A slot between what they show before and after is
		// left out: it comes as they jump.
		before, after := clock(end.Add(-time.Second), s.zone).Add(time.Second), clock(end, s.zone)
		if !s.real && after.After(before) {
			if skipped := s.cron.Next(before.Add(-time.Second)); skipped.Before(after) {
				return end.UTC()
			}
		}
		if !s.cron.Next(after.Add(-time.Second)).After(after) && (s.real || !after.Before(before)) {
			return end.UTC()
		}
		at = end
	}
}

// clock is what clocks in a zone show, as if it were UTC.
func clock(t time.Time, zone *time.Location) time.Time {
	_, offset := t.In(zone).Zone()
	return t.UTC().Add(time.Duration(offset) * time.Second)
}

const (
	slotsLooked = 2000 // more than a day has
	daysLooked  = 400
)

// Longest is the longest time between two expected pings, for rules that need one: of a
// cron expression what the slots of a year or more show, at most MaxPeriod.
func (s *Schedule) Longest(from time.Time) time.Duration {
	if s.period > 0 {
		return s.period
	}
	longest, at := time.Duration(0), s.slot(from)
	look := func() bool {
		next := s.slot(at)
		if next.IsZero() {
			return false
		}
		longest, at = max(longest, next.Sub(at)), next
		return true
	}
	for n := 0; n < slotsLooked && look(); n++ {
	}
	for n := 0; n < daysLooked && look(); n++ { // from the last slot of a day to the first of another
		at = later(at, s.lastOfDay(at))
	}
	return min(max(longest, MinPeriod), MaxPeriod).Truncate(time.Second)
}

// lastOfDay is when clocks show the last hour and minute of the expression on the day of t.
func (s *Schedule) lastOfDay(t time.Time) time.Time {
	t = t.In(s.zone)
	last := func(set uint64, most int) int { return bits.Len64(set&(1<<most-1)) - 1 }
	return time.Date(t.Year(), t.Month(), t.Day(), last(s.cron.Hour, 24), last(s.cron.Minute, 60), 0, 0, s.zone)
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// earliest is how long before an expected instant a ping counts for it.
func (s *Schedule) earliest(expected time.Time) time.Duration {
	if s.period > 0 {
		return MaxPeriod // whenever it comes, the period starts anew
	}
	early := min(s.Grace, time.Minute)
	if next := s.slot(expected); !next.IsZero() {
		early = min(early, next.Sub(expected)/4)
	}
	return early
}
