package availability

import "time"

// PutBack undoes what closed hours were corrected by after an instant, as far as it is kept: each
// hour counts what it came to before its first correction since. Hours that only partly count, and
// what was corrected before their figures were there, stay as they are; whole is false then.
func (a *Account) PutBack(corrections []Correction, since time.Time) (whole bool) {
	first, last := map[time.Time]Correction{}, map[time.Time]Correction{}
	for _, c := range corrections {
		if !c.RevisedAt.After(since) {
			continue
		}
		if f, found := first[c.Hour]; !found || c.RevisedAt.Before(f.RevisedAt) {
			first[c.Hour] = c
		}
		if l, found := last[c.Hour]; !found || c.RevisedAt.After(l.RevisedAt) {
			last[c.Hour] = c
		}
	}
	whole = true
	for hour, f := range first {
		span := Span{From: hour, To: hour.Add(time.Hour)}
		if !a.terms.Window.Touches(span) {
			continue
		}
		is, was := a.terms.Of(Cell{span, last[hour].New}), a.terms.Of(Cell{span, f.Old})
		at := a.period(span)
		if at < 0 || is.Counts != last[hour].New || was.Counts != f.Old || !a.Total.holds(is) || !a.ByPeriod[at].holds(is) {
			whole = false
			continue
		}
		a.Total, a.ByPeriod[at] = a.Total.less(is).Add(was), a.ByPeriod[at].less(is).Add(was)
	}
	return whole
}

// period is that which a span lies in; -1: in none.
func (a *Account) period(s Span) int {
	for i, p := range a.periods {
		if p.Holds(s) {
			return i
		}
	}
	return -1
}

// holds says whether figures are among these.
func (f Figures) holds(o Figures) bool {
	return f.Up >= o.Up && f.Degraded >= o.Degraded && f.Down >= o.Down && f.Unknown >= o.Unknown && f.Missed >= o.Missed && f.Downtime >= o.Downtime
}

func (f Figures) less(o Figures) Figures {
	return Figures{Counts{f.Up - o.Up, f.Degraded - o.Degraded, f.Down - o.Down, f.Unknown - o.Unknown, f.Missed - o.Missed}, f.Excluded, f.Downtime - o.Downtime}
}
