package resultstore

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/go-cmp/cmp"
)

// planNow is the present of the tests of plans; what is kept is as it is by default.
var planNow = time.Date(2026, 3, 18, 11, 47, 13, 0, time.UTC)

func planKeeps() keeps {
	return keeps{raw: planNow.Add(-30 * day), hourly: planNow.Add(-730 * day), rolled: planNow.Add(-2*time.Hour - 40*time.Second)}
}

func TestSeriesPlans(t *testing.T) {
	t.Parallel()
	at := func(text string) time.Time {
		parsed, err := time.Parse("2006-01-02 15:04:05", text)
		if err != nil {
			t.Fatal(err)
		}
		return parsed
	}
	last := func(window time.Duration) SeriesQuery { return SeriesQuery{From: planNow.Add(-window), To: planNow} }
	with := func(q SeriesQuery, step time.Duration) SeriesQuery { q.Step = step; return q }
	for name, c := range map[string]struct {
		q     SeriesQuery
		tier  Tier
		step  time.Duration
		parts []seriesPart
	}{
		"an hour":                                {last(time.Hour), TierRaw, 30 * time.Second, []seriesPart{{TierRaw, planNow.Add(-time.Hour), planNow}}},
		"a day":                                  {last(day), TierRaw, 5 * time.Minute, []seriesPart{{TierRaw, planNow.Add(-day), planNow}}},
		"two days":                               {last(2 * day), TierRaw, 10 * time.Minute, []seriesPart{{TierRaw, planNow.Add(-2 * day), planNow}}},
		"a day, by the hour: as exact as can be": {with(last(day), time.Hour), TierRaw, time.Hour, []seriesPart{{TierRaw, planNow.Add(-day), planNow}}},
		"a week": {last(7 * day), TierHourly, time.Hour, []seriesPart{
			{TierHourly, at("2026-03-11 11:00:00"), at("2026-03-18 09:00:00")}, {TierRaw, at("2026-03-18 09:00:00"), at("2026-03-18 12:00:00")},
		}},
		"a week, by ten minutes": {with(last(7*day), 10*time.Minute), TierRaw, 10 * time.Minute, []seriesPart{{TierRaw, planNow.Add(-7 * day), planNow}}},
		"a month":                {last(30 * day), TierHourly, 4 * time.Hour, []seriesPart{{TierHourly, at("2026-02-16 11:00:00"), at("2026-03-18 09:00:00")}, {TierRaw, at("2026-03-18 09:00:00"), at("2026-03-18 12:00:00")}}},
		"90 days": {last(90 * day), TierDaily, day, []seriesPart{
			{TierDaily, at("2025-12-18 00:00:00"), at("2026-03-18 00:00:00")}, {TierRaw, at("2026-03-18 00:00:00"), at("2026-03-19 00:00:00")},
		}},
		"90 days, by six hours": {with(last(90*day), 6*time.Hour), TierHourly, 6 * time.Hour, []seriesPart{
			{TierHourly, at("2025-12-18 11:00:00"), at("2026-03-18 09:00:00")}, {TierRaw, at("2026-03-18 09:00:00"), at("2026-03-18 12:00:00")},
		}},
		"a day before results were kept":           {SeriesQuery{From: at("2026-01-03 12:30:00"), To: at("2026-01-04 12:30:00")}, TierHourly, time.Hour, []seriesPart{{TierHourly, at("2026-01-03 12:00:00"), at("2026-01-04 13:00:00")}}},
		"a day before hours were kept":             {SeriesQuery{From: at("2023-01-03 12:30:00"), To: at("2023-01-04 12:30:00")}, TierDaily, day, []seriesPart{{TierDaily, at("2023-01-03 00:00:00"), at("2023-01-05 00:00:00")}}},
		"all that is kept, asked for a moment ago": {with(last(30*day+time.Minute), 10*time.Minute), TierRaw, 10 * time.Minute, []seriesPart{{TierRaw, planNow.Add(-30*day - time.Minute), planNow}}},
		"five years": {last(5 * 365 * day), TierDaily, day, []seriesPart{
			{TierDaily, at("2021-03-19 00:00:00"), at("2026-03-18 00:00:00")}, {TierRaw, at("2026-03-18 00:00:00"), at("2026-03-19 00:00:00")},
		}},
	} {
		p, err := planSeries(c.q, planKeeps())
		if err != nil || p.tier != c.tier || p.step != c.step {
			t.Errorf("%s: %s by %v, %v", name, p.tier, p.step, err)
		}
		if diff := cmp.Diff(c.parts, p.parts, cmp.AllowUnexported(seriesPart{})); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	away := planKeeps() // nobody has rolled up for weeks: the results of the last day that was begun are gone in part
	away.rolled = ceilTo(away.raw, hour)
	p, err := planSeries(last(90*day), away)
	want := []seriesPart{
		{TierDaily, at("2025-12-18 00:00:00"), at("2026-02-16 00:00:00")}, {TierHourly, at("2026-02-16 00:00:00"), at("2026-02-16 12:00:00")},
		{TierRaw, at("2026-02-16 12:00:00"), at("2026-03-19 00:00:00")},
	}
	if diff := cmp.Diff(want, p.parts, cmp.AllowUnexported(seriesPart{})); err != nil || diff != "" {
		t.Errorf("%v, %s", err, diff)
	}
	for name, c := range map[string]struct {
		q    SeriesQuery
		says string
	}{
		"parts of seconds":                   {with(last(time.Hour), 1500*time.Millisecond), "whole seconds"},
		"negative":                           {with(last(time.Hour), -time.Second), "whole seconds"},
		"too many":                           {with(last(10*day), time.Minute), "at most 11000"},
		"minutes of which nothing is kept":   {with(last(40*day), 10*time.Minute), "results are kept since 2026-02-16T11:47:13Z"},
		"an hour and a half, likewise":       {with(last(40*day), 90*time.Minute), "whole hours"},
		"hours of which nothing is kept":     {SeriesQuery{From: at("2023-01-03 00:00:00"), To: at("2023-02-04 00:00:00"), Step: time.Hour}, "hours are kept since 2024-03-18T11:47:13Z"},
		"minutes of more than is worthwhile": {with(last(101*day), 15*time.Minute), "whole hours"},
	} {
		have := planKeeps()
		if strings.HasPrefix(name, "minutes of more") {
			have.raw = planNow.Add(-365 * day)
		}
		_, err := planSeries(c.q, have)
		if bound, ok := errors.AsType[*BoundError](err); !ok || bound.Field != "step" || !strings.Contains(bound.Problem, c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Whatever is asked and kept: the parts cover all of it once, each in whole buckets of its
// table, rollups only up to where they are good, and within what is kept.
func TestSeriesPlansCoverTheirWindow(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(11, 12))
	length := map[Tier]time.Duration{TierHourly: hour, TierDaily: day}
	seen, refused, divided := map[Tier]int{}, 0, 0
	for range 20_000 {
		have := keeps{raw: planNow.Add(-time.Duration(2+random.IntN(60)) * day), hourly: planNow.Add(-time.Duration(62+random.IntN(700)) * day)}
		have.rolled = later(ceilTo(have.raw, hour), planNow.Add(-time.Duration(random.Int64N(int64(40*day)))))
		q := SeriesQuery{From: planNow.Add(-time.Duration(random.Int64N(int64([]time.Duration{day, 10 * day, 100 * day, 1000 * day}[random.IntN(4)]))))}
		q.To = q.From.Add(1 + time.Duration(random.Int64N(int64([]time.Duration{day, 60 * day, 400 * day}[random.IntN(3)]))))
		q.Step = []time.Duration{0, 0, time.Minute, 20 * time.Minute, hour, 6 * hour, day, 7 * day}[random.IntN(8)]
		p, err := planSeries(q, have)
		if err != nil {
			if refused++; q.Step == 0 {
				t.Fatalf("%+v of %+v: %v", q, have, err)
			}
			continue
		}
		if p.from.After(q.From.Add(time.Millisecond)) || p.to.Before(q.To) || p.from.Before(q.From.Add(-day)) || p.to.After(q.To.Add(day)) {
			t.Fatalf("%+v: covers %v to %v", q, p.from, p.to)
		}
		at := p.from
		for i, part := range p.parts {
			seen[part.tier]++
			if !part.from.Equal(at) || !part.from.Before(part.to) {
				t.Fatalf("%+v: part %d of %+v", q, i, p.parts)
			}
			at = part.to
			if part.tier == TierRaw {
				if p.tier != TierRaw && part.from.Before(have.raw) {
					t.Fatalf("%+v of %+v: %+v", q, have, p.parts)
				}
				continue
			}
			if whole := aligned(length[part.tier]); !whole(part.from) || !whole(part.to) || part.to.After(have.rolled) || p.step%length[part.tier] != 0 {
				t.Fatalf("%+v by %v: asks %+v, rolled up to %v", q, p.step, part, have.rolled)
			}
		}
		if !at.Equal(p.to) {
			t.Fatalf("%+v: ends at %v: %+v", q, at, p.parts)
		}
		at = p.from
		for i, parts := range p.apart() { // the same, and no step is in two questions
			if step := p.step.Milliseconds(); i > 0 && at.UnixMilli()%step != 0 {
				t.Fatalf("%+v by %v: divided at %v", q, p.step, at)
			}
			for _, part := range parts {
				if !part.from.Equal(at) || !part.from.Before(part.to) {
					t.Fatalf("%+v: %+v of %+v", q, parts, p.parts)
				}
				at = part.to
			}
			divided += i
		}
		if !at.Equal(p.to) {
			t.Fatalf("%+v: ends at %v: %+v", q, at, p.apart())
		}
		if p.tier == TierRaw && p.from.Before(have.raw.Add(-keptSlack)) || p.tier == TierHourly && p.from.Before(have.hourly.Add(-hour)) {
			t.Fatalf("%+v of %+v: from the tier %s", q, have, p.tier)
		}
	}
	if len(seen) != 3 || refused == 0 || divided == 0 {
		t.Errorf("seen %v, %d refused, %d divided", seen, refused, divided)
	}
}

// Corrections are asked for only of hours that a run may have closed: never of those that are read
// from results because they are not, unless nobody said lately how far the runs are.
func TestCorrectionsThatAreAskedFor(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		run    time.Duration // the last one, from the present
		told   time.Duration // when that was said, likewise
		never  bool
		length time.Duration
		want   string
	}{
		"a day":                           {run: -time.Minute, length: day, want: "2026-03-17T11:47:13Z to 2026-03-18T11:00:00Z"},
		"the last hour":                   {run: -time.Minute, length: 40 * time.Minute, want: ""},
		"90 days, today from results":     {run: -time.Minute, length: 90 * day, want: "2026-03-18T00:00:00Z to 2026-03-18T11:00:00Z"},
		"30 days":                         {run: -time.Minute, length: 30 * day, want: ""},
		"30 days, after an old run":       {run: -4 * time.Minute, length: 30 * day, want: ""},
		"30 days, told long ago":          {run: -time.Minute, told: -4 * time.Minute, length: 30 * day, want: "2026-03-18T11:00:00Z to 2026-03-18T11:47:13Z"},
		"30 days, after one of tomorrow":  {run: day, length: 30 * day, want: "2026-03-18T11:00:00Z to 2026-03-18T11:47:13Z"},
		"30 days, and nobody said a word": {never: true, length: 30 * day, want: "2026-02-16T12:00:00Z to 2026-03-18T11:47:13Z"},
	} {
		now := planNow.Add(c.told)
		s := &Store{now: func() time.Time { return now }}
		if !c.never {
			s.RolledUp(planNow.Add(c.run))
		}
		now = planNow
		q := SeriesQuery{From: planNow.Add(-c.length), To: planNow}
		plan, err := planSeries(q, s.keeps())
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got := ""
		if _, revisions := plan.questions(q, false); revisions != nil {
			at := func(i int) string {
				return time.UnixMilli(revisions.args[i].(driver.NamedValue).Value.(int64)).UTC().Format(time.RFC3339)
			}
			got = at(3) + " to " + at(4)
		}
		if got != c.want {
			t.Errorf("%s: asked for %q, want %q", name, got, c.want)
		}
	}
}
