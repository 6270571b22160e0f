package availability

import (
	"fmt"
	"time"
)

// Period is a day or a month of a calendar, or what a window holds of it.
type Period struct {
	Name string // 2026-03-29, or 2026-03
	Span
	Partial bool // the window cuts some of it off
}

// By is how a window is divided.
type By string

// Divisions of a window.
const (
	ByNone  By = "none"
	ByDay   By = "day"
	ByMonth By = "month"
)

// Periods divides a window into the days or months of a zone, each as long as it
// really was there. Together they are the window; days that the zone skipped are left
// out. ByNone gives none.
func Periods(window Span, zone *time.Location, by By) []Period {
	if by != ByDay && by != ByMonth || window.Empty() {
		return nil
	}
	var periods []Period
	day := dateOf(window.From.In(zone)) // where a date comes back for an hour after midnight the next one has begun already: it is cut to nothing
	if by == ByMonth {
		day = day.plus(0, 1-time.Time(day).Day())
	}
	for {
		p := period(day, zone, by)
		if !p.From.Before(window.To) {
			return periods
		}
		if cut := p.Within(window); !cut.Empty() {
			p.Partial = cut != p.Span
			p.Span = cut
			periods = append(periods, p)
		}
		day = day.next(by)
	}
}

func (d date) next(by By) date {
	if by == ByMonth {
		return d.plus(1, 0)
	}
	return d.plus(0, 1)
}

func period(d date, zone *time.Location, by By) Period {
	layout := time.DateOnly
	if by == ByMonth {
		layout = monthLayout
	}
	return Period{Name: time.Time(d).Format(layout), Span: Span{d.begins(zone), d.next(by).begins(zone)}}
}

const monthLayout = "2006-01"

// Month reads the name of a month, such as 2026-03, and gives it as it was in a zone.
func Month(name string, zone *time.Location) (Period, error) {
	first, err := time.Parse(monthLayout, name)
	if err != nil {
		return Period{}, fmt.Errorf("month %q is not written as in 2026-03", name)
	}
	return period(date(first), zone, ByMonth), nil
}
