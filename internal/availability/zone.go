package availability

import (
	"fmt"
	"strings"
	"time"
)

// maxZoneName is longer than any name of a zone.
const maxZoneName = 64

// Zone finds a time zone by its IANA name; "" is UTC. Names that mean something else
// on each machine, or count leap seconds, are refused.
func Zone(name string) (*time.Location, error) {
	top, _, _ := strings.Cut(name, "/")
	switch top {
	case "Local", "localtime", "posixrules", "posix", "right":
		return nil, fmt.Errorf("time zone %q is not an IANA name", name)
	}
	if len(name) > maxZoneName {
		return nil, fmt.Errorf("a name of a time zone has at most %d characters", maxZoneName)
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("time zone %q is not known here", name)
	}
	return zone, nil
}

// date is a day of the calendar, held as its midnight in UTC.
type date time.Time

func dateOf(t time.Time) date {
	return date(time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC))
}

func (d date) plus(months, days int) date { return date(time.Time(d).AddDate(0, months, days)) }

// furthest is more than any zone was ever away from UTC.
const furthest = 36 * time.Hour

// begins is the first instant in zone that bears this date or a later one. Where
// midnight is skipped that is the end of the gap, and where it comes twice the first
// one. A date that the zone skips begins where the next one does.
func (d date) begins(zone *time.Location) time.Time {
	midnight := time.Time(d)
	for t := midnight.Add(-furthest).In(zone); ; {
		_, offset := t.Zone()
		start, end := t.ZoneBounds()
		begins := midnight.Add(-time.Duration(offset) * time.Second)
		switch {
		case !end.IsZero() && !begins.Before(end):
			t = end // it comes after the clocks change
		case begins.Before(start):
			return start.UTC() // the change of the clocks skipped it
		default:
			return begins
		}
	}
}
