package httpapi

import (
	"time"

	"github.com/probefleet/probefleet/internal/availability"
)

// percentDigits is how exact percentages for people are.
const percentDigits = 3

// Figures are what slots came to. (Huma passes over embedded types that are not exported.)
type Figures struct {
	Up              uint64            `json:"up"`
	Degraded        uint64            `json:"degraded"`
	Down            uint64            `json:"down"`
	Unknown         uint64            `json:"unknown"`
	Missed          uint64            `json:"missed"`
	Planned         uint64            `json:"planned" doc:"slots that have a row: each due slot gets one, those in flight a little later"`
	Uptime          nullable[float64] `json:"uptime" doc:"(up + degraded) / (up + degraded + down); null when nothing was measured"`
	Coverage        nullable[float64] `json:"coverage" doc:"measured / planned; null when nothing was planned"`
	Low             nullable[float64] `json:"low" doc:"the uptime if everything that was not measured had been down"`
	High            nullable[float64] `json:"high" doc:"the uptime if everything that was not measured had been up"`
	UptimePercent   nullable[string]  `json:"uptime_percent" doc:"the uptime for people, rounded down: never 100.000 when anything was down, never at a target that was missed"`
	Checks          uint64            `json:"checks" doc:"slots that were measured"`
	Excluded        uint64            `json:"excluded" doc:"slots within maintenance, and of a region those while it was blind; none of the other figures has them"`
	DowntimeMinutes float64           `json:"downtime_minutes" doc:"each down slot stands for the time until the next: one interval of the target, and by a cron expression what lies between its slots (the mean of those of a quarter hour; of an hour, a day or the range where that changes very often)"`
	RevisedAt       nullable[instant] `json:"revised_at" doc:"when an hour of it was last corrected after it had closed; null when none was"`
}

func figuresOf(f availability.Figures, revised time.Time) Figures {
	body := Figures{
		Up: f.Up, Degraded: f.Degraded, Down: f.Down, Unknown: f.Unknown, Missed: f.Missed, Planned: f.Planned(),
		Uptime: ratio(f.Uptime()), Coverage: ratio(f.Coverage()), Low: ratio(f.Low()), High: ratio(f.High()),
		Checks: f.Measured(), Excluded: f.Excluded, DowntimeMinutes: f.DowntimeMinutes(), RevisedAt: maybeInstant(revised),
	}
	if shown := f.Uptime().Percent(percentDigits); shown != "" {
		body.UptimePercent = some(shown)
	}
	return body
}

func ratio(r availability.Ratio) nullable[float64] {
	if !r.Known() {
		return nullable[float64]{}
	}
	return some(r.Float())
}

// revisedAt is when an hour that touches a span was last corrected; zero: never.
// Region "" is the target as a whole.
func revisedAt(corrections []availability.Correction, region string, span availability.Span) (last time.Time) {
	for _, c := range corrections {
		if c.Region == region && span.Touches(availability.Span{From: c.Hour, To: c.Hour.Add(time.Hour)}) && c.RevisedAt.After(last) {
			last = c.RevisedAt
		}
	}
	return last
}

// wholeMilli is the first whole millisecond from t on: slots are never between two.
func wholeMilli(t time.Time) time.Time {
	whole := time.UnixMilli(t.UnixMilli()).UTC()
	if whole.Before(t) {
		whole = whole.Add(time.Millisecond)
	}
	return whole
}
