package notify

import (
	"slices"
	"time"

	"github.com/probefleet/probefleet/internal/incidentstore"
)

const (
	dayMinutes = 24 * 60
	lookAhead  = 15 * dayMinutes // a week comes round within it, and the one after where the clocks skip it
)

// covers says whether any of the windows covers an instant, by the clock of a zone.
func covers(windows []incidentstore.Window, t time.Time, zone *time.Location) bool {
	t = t.In(zone)
	minute, today := t.Hour()*60+t.Minute(), t.Weekday()
	yesterday := (today + 6) % 7
	for _, w := range windows {
		on := func(day time.Weekday) bool { return len(w.Days) == 0 || slices.Contains(w.Days, day) }
		switch {
		case w.From < w.To:
			if on(today) && minute >= w.From && minute < w.To {
				return true
			}
		case on(today) && minute >= w.From, on(yesterday) && minute < w.To:
			return true
		}
	}
	return false
}

// speaks says whether a rule says something of this severity at an instant.
func speaks(t incidentstore.Terms, severity incidentstore.Severity, at time.Time, zone *time.Location) bool {
	if len(t.Schedule) > 0 && !covers(t.Schedule, at, zone) {
		return false
	}
	return slices.Contains(t.QuietLets, severity) || !covers(t.Quiet, at, zone)
}

// next is the first instant from one on at which a rule says something of this severity;
// false: there is none.
func next(t incidentstore.Terms, severity incidentstore.Severity, at time.Time) (time.Time, bool) {
	if len(t.Schedule)+len(t.Quiet) == 0 {
		return at, true
	}
	zone := zoneOf(t)
	if speaks(t, severity, at, zone) {
		return at, true
	}
	minute := at.Truncate(time.Minute)
	for last := minute.Add(lookAhead * time.Minute); ; {
		minute = edgeAfter(minute.In(zone), t)
		if minute.After(last) {
			return time.Time{}, false
		}
		if speaks(t, severity, minute, zone) {
			return minute.In(at.Location()), true
		}
	}
}

// edgeAfter is the first minute after one at which a window may begin or end, or a day. Where the
// clocks are put forward or back on the way to it, that is the first minute of the other time.
func edgeAfter(minute time.Time, t incidentstore.Terms) time.Time {
	today, edge := minute.Hour()*60+minute.Minute(), dayMinutes
	for _, windows := range [][]incidentstore.Window{t.Schedule, t.Quiet} {
		for _, w := range windows {
			for _, at := range [...]int{w.From, w.To} {
				if at > today {
					edge = min(edge, at)
				}
			}
		}
	}
	changed := minute.Add(time.Duration(edge-today) * time.Minute)
	if _, turned := minute.ZoneBounds(); !turned.IsZero() && turned.Before(changed) {
		return minute.Add((turned.Sub(minute) + time.Minute - 1).Truncate(time.Minute))
	}
	return changed
}

// zoneOf is the zone of a rule's windows; one that is not known any more is UTC.
func zoneOf(t incidentstore.Terms) *time.Location {
	if zone, err := time.LoadLocation(t.Zone); err == nil {
		return zone
	}
	return time.UTC
}

// due is when what happens at an instant is told: held says that it is because of the hour.
func due(t incidentstore.Terms, severity incidentstore.Severity, at time.Time) (when time.Time, held, ever bool) {
	when, ever = next(t, severity, at)
	if !ever {
		return when, false, false
	}
	held = when.After(at)
	if t.DigestMinutes == 0 {
		return when, held, true
	}
	every := time.Duration(t.DigestMinutes) * time.Minute
	if together := when.Truncate(every); together.Before(when) {
		when = together.Add(every)
	}
	when, ever = next(t, severity, when)
	return when, held, ever
}

// NeverSpeaks says whether rules of these terms would never say anything of some severity.
func NeverSpeaks(t incidentstore.Terms, now time.Time) bool {
	return slices.ContainsFunc(severitiesOf(t), func(s incidentstore.Severity) bool {
		_, ever := next(t, s, now)
		return !ever
	})
}

func severitiesOf(t incidentstore.Terms) []incidentstore.Severity {
	if len(t.Severities) > 0 {
		return t.Severities
	}
	return incidentstore.Severities()
}
