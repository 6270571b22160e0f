package maintenance

import "time"

// wallLayout is how a time on the wall is written.
const wallLayout = "2006-01-02T15:04:05"

// furthest is more than any zone was ever away from UTC.
const furthest = 36 * time.Hour

// onWall is what the clock on the wall shows at an instant, held as if it were UTC.
func onWall(t time.Time, zone *time.Location) time.Time {
	_, offset := t.In(zone).Zone()
	return t.UTC().Add(time.Duration(offset) * time.Second)
}

// instants gives the first and the last instant at which the clock on the wall shows a
// time; both are the instant of the change when the change skips it.
func instants(wall time.Time, zone *time.Location) (first, last time.Time) {
	for t := wall.Add(-furthest).In(zone); ; {
		_, offset := t.Zone()
		start, end := t.ZoneBounds()
		shown := wall.Add(-time.Duration(offset) * time.Second)
		switch {
		case !start.IsZero() && shown.Before(start):
			if first.IsZero() {
				return start.UTC(), start.UTC()
			}
			return first, last
		case end.IsZero() || shown.Before(end):
			if last = shown.UTC(); first.IsZero() {
				first = last
			}
		}
		if end.IsZero() || end.After(wall.Add(furthest)) {
			return first, last
		}
		t = end
	}
}
