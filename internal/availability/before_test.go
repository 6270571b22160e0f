package availability

import (
	"testing"
	"time"
)

func TestCorrectionsArePutBack(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	window := Span{From: noon.Add(-24 * time.Hour), To: noon.Add(90 * time.Minute)}
	hour := func(n int) Span {
		return Span{From: noon.Add(time.Duration(n) * time.Hour), To: noon.Add(time.Duration(n+1) * time.Hour)}
	}
	account := func(except ...Span) *Account {
		a := NewAccount(Terms{Window: window, Except: NewSpans(except...), Every: NewIntervals(Interval{From: window.From, Every: time.Minute})}, Periods(window, time.UTC, ByDay))
		a.Add(Cell{hour(-1), Counts{Up: 60}})
		a.Add(Cell{hour(0), Counts{Up: 50, Down: 10}})
		a.Add(Cell{Span{From: noon.Add(time.Hour), To: window.To}, Counts{Up: 30}})
		return a
	}
	fix := func(n int, minute int, old, is Counts) Correction {
		return Correction{Hour: hour(n).From, RevisedAt: noon.Add(time.Duration(minute) * time.Minute), Old: old, New: is}
	}
	missed, some, now := Counts{Missed: 60}, Counts{Up: 50, Missed: 10}, Counts{Up: 50, Down: 10}
	twice := []Correction{fix(0, 200, some, now), fix(0, 100, missed, some)} // the newest first
	for name, c := range map[string]struct {
		since  int
		fixes  []Correction
		except []Span
		want   Counts
		down   time.Duration
		whole  bool
	}{
		"after all of them":           {300, twice, nil, Counts{Up: 140, Down: 10}, 10 * time.Minute, true},
		"between two":                 {150, twice, nil, Counts{Up: 140, Missed: 10}, 0, true},
		"before both":                 {50, twice, nil, Counts{Up: 90, Missed: 60}, 0, true},
		"an hour the window cuts":     {50, []Correction{fix(1, 100, Counts{}, Counts{Up: 30})}, nil, Counts{Up: 140, Down: 10}, 10 * time.Minute, false},
		"an hour outside":             {50, []Correction{fix(-40, 100, missed, now)}, nil, Counts{Up: 140, Down: 10}, 10 * time.Minute, true},
		"an hour partly excepted":     {50, twice, []Span{{From: noon.Add(30 * time.Minute), To: noon.Add(40 * time.Minute)}}, Counts{Up: 90, Unknown: 60}, 0, false},
		"not what the figures are of": {50, []Correction{fix(0, 100, missed, Counts{Down: 60})}, nil, Counts{Up: 140, Down: 10}, 10 * time.Minute, false},
	} {
		a := account(c.except...)
		whole := a.PutBack(c.fixes, noon.Add(time.Duration(c.since)*time.Minute))
		if sum := a.ByPeriod[0].Add(a.ByPeriod[1]); whole != c.whole || a.Total.Counts != c.want || a.Total.Downtime != c.down || sum != a.Total {
			t.Errorf("%s: %v %+v, days %+v; want %v %+v, down %v", name, whole, a.Total, a.ByPeriod, c.whole, c.want, c.down)
		}
	}
}
