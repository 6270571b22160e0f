package httpapi

import (
	"net/http"
	"testing"
	"time"

	"github.com/probefleet/probefleet/dashboard-api/internal/answercache"
	"github.com/probefleet/probefleet/internal/availability"
	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/internal/uptime"
)

// keeping is a bench whose API keeps answers; its feed was heard just now.
type keeping struct {
	*bench
	cache *answercache.Cache
	feed  *answercache.Source
}

func newKeeping(t *testing.T) keeping {
	t.Helper()
	k := keeping{}
	k.bench = newBenchOn(t, testbackend.SQLite(t), func(b *bench, o *Options) {
		b.now = testNow.Add(-answercache.Settle)
		k.cache = answercache.New(answercache.Options{Now: o.Now})
		o.Recent = k.cache
	})
	k.create(`{"url":"https://example.com/"}`)
	k.feed = k.cache.Source(4 * time.Second)
	k.feed.Beat()
	k.now = testNow
	hour := availability.Span{From: testNow.Add(-time.Hour), To: testNow}
	k.results.cells = []fakeCell{{1, "eu", availability.Cell{Span: hour, Counts: availability.Counts{Up: 10}}}, {1, "", availability.Cell{Span: hour, Counts: availability.Counts{Up: 10}}}}
	return k
}

// later lets time pass, in which the feed is heard.
func (k *keeping) later(d time.Duration) {
	for ; d > 0; d -= time.Second {
		k.now = k.now.Add(min(d, time.Second))
		k.feed.Beat()
	}
}

func (k *keeping) ask(path string, options ...option) reply {
	return k.do("GET", path, "", append(options, as(viewerKey))...)
}

// lastDay is how a page asks, by its own clock.
func lastDay(now time.Time) string {
	return "from=" + now.Add(-24*time.Hour).Format(time.RFC3339Nano) + "&to=" + now.Format(time.RFC3339Nano)
}

func TestAnswersAreKeptForAMoment(t *testing.T) {
	t.Parallel()
	k := newKeeping(t)
	for name, path := range map[string]func() string{
		"uptime": func() string { return "/api/v1/targets/1/uptime?by=day&" + lastDay(k.now.Add(-30*time.Millisecond)) },
		"series": func() string {
			return "/api/v1/targets/1/series?step_s=300&" + lastDay(k.now.Add(-30*time.Millisecond))
		},
		"report": func() string { return "/api/v1/reports/2026-03" },
		"matrix": func() string { return "/api/v1/targets/1/matrix?" + lastDay(k.now.Add(-30*time.Millisecond)) },
		"failures": func() string {
			return "/api/v1/targets/1/failures?region=eu&" + lastDay(k.now.Add(-30*time.Millisecond))
		},
		"histogram": func() string { return "/api/v1/targets/1/histogram?" + lastDay(k.now.Add(-30*time.Millisecond)) },
	} {
		first := k.ask(path())
		if h := first.Header(); first.Code != 200 || h.Get("Age") != "0" || h.Get("ETag") == "" || h.Get("Cache-Control") != "private, max-age=0, must-revalidate" || h.Get("Vary") != "Authorization, Cookie" {
			t.Errorf("%s: %d %v", name, first.Code, first.Header())
		}
		k.later(3 * time.Second)
		again := k.ask(path())
		if again.text != first.text || again.Header().Get("ETag") != first.Header().Get("ETag") || again.Header().Get("Age") != "3" || again.Header().Get("Content-Type") != "application/json" {
			t.Errorf("%s: again %v\n%s, was\n%s", name, again.Header(), again.text, first.text)
		}
		known := k.ask(path(), header("If-None-Match", `"other", W/`+first.Header().Get("ETag")))
		if h := known.Header(); known.Code != http.StatusNotModified || known.text != "" || len(h["Cache-Control"]) != 1 || h.Get("ETag") != first.Header().Get("ETag") || h.Get("Age") != "3" || h.Get("Vary") == "" {
			t.Errorf("%s: known %d %v %s", name, known.Code, known.Header(), known.text)
		}
		k.later(2 * time.Second)
		if late := k.ask(path()); late.Header().Get("Age") != "0" {
			t.Errorf("%s: after the time of an open range: %v", name, late.Header())
		}
	}
	closed := "/api/v1/reports/2026-01"
	k.ask(closed)
	k.later(10 * time.Minute)
	if h := k.ask(closed).Header(); h.Get("Age") != "600" || h.Get("Cache-Control") != "private, max-age=605" {
		t.Errorf("a closed month: %v", h)
	}
	if h := k.ask(closed + "?format=csv").Header(); h.Get("Age") != "" || h.Get("X-Content-Hash") == "" {
		t.Errorf("as csv: %v", h)
	}
}

func TestWhatIsMadeOfAnAnswerEndsIt(t *testing.T) {
	t.Parallel()
	slot := func(at time.Time) []answercache.Write {
		return answercache.Slots([]uptime.Result{{TargetID: 1, ScheduledAt: at}})
	}
	open := func(now time.Time) string { return "/api/v1/targets/1/uptime?" + lastDay(now) }
	closed := func(time.Time) string {
		return "/api/v1/targets/1/uptime?from=2026-02-01T00:00:00Z&to=2026-02-02T00:00:00Z"
	}
	wholeDays := func(time.Time) string {
		return "/api/v1/targets/1/series?step_s=86400&from=2026-02-01T00:00:00Z&to=2026-03-01T03:00:00Z"
	}
	for name, c := range map[string]struct {
		path    func(time.Time) string
		happens func(k *keeping)
		kept    bool
	}{
		"nothing":                     {open, func(*keeping) {}, true},
		"a result of a matrix":        {func(now time.Time) string { return "/api/v1/targets/1/matrix?" + lastDay(now) }, func(k *keeping) { k.cache.Arriving(slot(k.now)...) }, false},
		"one of failures":             {func(now time.Time) string { return "/api/v1/targets/1/failures?" + lastDay(now) }, func(k *keeping) { k.cache.Arriving(slot(k.now)...) }, false},
		"one of a histogram":          {func(now time.Time) string { return "/api/v1/targets/1/histogram?" + lastDay(now) }, func(k *keeping) { k.cache.Arriving(slot(k.now)...) }, false},
		"a result is announced":       {open, func(k *keeping) { k.cache.Arriving(slot(k.now)...) }, false},
		"one that comes a bit later":  {open, func(k *keeping) { k.cache.Arriving(slot(k.now.Add(2 * time.Second))...) }, false},
		"one of the time that closed": {closed, func(k *keeping) { k.cache.Arriving(slot(testNow)...) }, true},
		"a late one":                  {closed, func(k *keeping) { k.cache.Arriving(slot(time.Date(2026, 2, 1, 5, 0, 0, 0, time.UTC))...) }, false},
		"one of the day it ends in":   {wholeDays, func(k *keeping) { k.cache.Arriving(slot(testNow)...) }, false},
		"one of a day before it":      {wholeDays, func(k *keeping) { k.cache.Arriving(slot(testNow.AddDate(0, -2, 0))...) }, true},
		"the target is edited":        {closed, func(k *keeping) { k.do("PATCH", "/api/v1/targets/1", `{"name":"new"}`, as(editorKey)) }, false},
		"one is received": {open, func(k *keeping) {
			if got := k.do("POST", "/api/v1/targets/1/results", `{"items":[{"at":"2026-03-01T11:59:00Z","region":"ext-a","status":"down","failure":"timeout"}]}`, as(editorKey)); got.Code != 200 {
				k.Error(got.Code, got.text)
			}
		}, false},
		"maintenance is entered": {closed, func(k *keeping) {
			k.past.maintenance = map[int64]availability.Spans{1: availability.NewSpans(availability.Span{From: testNow.Add(-999 * time.Hour), To: testNow.Add(-998 * time.Hour)})}
		}, false},
		"the feed is silent": {closed, func(k *keeping) { k.now = k.now.Add(5 * time.Second) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newKeeping(t)
			k.ask(c.path(k.now))
			k.later(time.Second)
			c.happens(&k)
			if again := k.ask(c.path(k.now)); again.Code != 200 || (again.Header().Get("Age") != "0") != c.kept {
				t.Errorf("%d %v %s", again.Code, again.Header(), again.text)
			}
			k.fleet.down.Store(true)
			k.now = k.now.Add(time.Minute)
			if copied := k.ask(c.path(k.now)); copied.Code != 200 || copied.Header().Get(staleHeader) == "" || copied.Header().Get("ETag") != "" || copied.Header().Get("Cache-Control") != "private, no-cache" {
				t.Errorf("while ClickHouse is away: %d %v", copied.Code, copied.Header())
			}
			k.do("DELETE", "/api/v1/targets/1", "", as(editorKey))
			if gone := k.ask(c.path(k.now)); gone.Code != http.StatusNotFound {
				t.Errorf("once it is deleted: %d", gone.Code)
			}
		})
	}
}

// What may say that something is up now ends with the evidence for it.
func TestAnswersEndWithTheirEvidence(t *testing.T) {
	t.Parallel()
	span := availability.Span{From: testNow.Add(-time.Hour), To: testNow}
	for until, want := range map[time.Duration]time.Duration{0: 5 * time.Second, 2 * time.Second: 2 * time.Second, time.Minute: 5 * time.Second} {
		of := about{span: span}
		if until > 0 {
			of.until = testNow.Add(until)
		}
		if got := of.keepUntil(testNow).Sub(testNow); got != want {
			t.Errorf("evidence for %v: kept for %v, want %v", until, got, want)
		}
	}
}

// Ranges that mean the same are one question, others are not.
func TestQuestionsAreTheSame(t *testing.T) {
	t.Parallel()
	named := func(from, to time.Duration) string {
		return about{question: "q", span: availability.Span{From: testNow.Add(from), To: testNow.Add(to)}}.named(testNow).Key
	}
	day := named(-24*time.Hour, 0)
	for _, c := range []struct {
		from, to time.Duration
		same     bool
	}{
		{-24*time.Hour - 300*time.Millisecond, -300 * time.Millisecond, true},
		{-24*time.Hour - 2*time.Second, -2 * time.Second, true},
		{-24*time.Hour + 100*time.Millisecond, 100 * time.Millisecond, true},
		{-24*time.Hour + time.Minute, 0, false},
		{-24*time.Hour - 6*time.Second, -6 * time.Second, false},
		{-24 * time.Hour, time.Hour, false},
		{-24*time.Hour + 48*time.Hour, 48 * time.Hour, false},
	} {
		if same := named(c.from, c.to) == day; same != c.same {
			t.Errorf("from %v to %v: the same is %v", c.from, c.to, same)
		}
	}
}
