package httpapi

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/probefleet/probefleet/internal/ledger"
	"github.com/probefleet/probefleet/internal/uptime"
)

// pastRoutes ask about the past, each as a page asks: "the last day" as of now.
func pastRoutes(now time.Time) map[string]string {
	last := "from=" + now.Add(-24*time.Hour).Format(time.RFC3339) + "&to=" + now.Format(time.RFC3339)
	return map[string]string{
		"results": "/api/v1/targets/1/results?limit=30",
		"series":  "/api/v1/targets/1/series?step_s=60&" + last,
		"uptime":  "/api/v1/targets/1/uptime?" + last,
		"figures": "/api/v1/targets:figures?ids=2,1",
		"latest":  "/api/v1/results/latest?ids=2,1&n=90",
		"current": "/api/v1/results/current",
		"matrix":  "/api/v1/targets/1/matrix?" + last,
		"wrong":   "/api/v1/targets/1/failures?" + last,
		"shape":   "/api/v1/targets/1/histogram?region=eu&" + last,
		"by day":  "/api/v1/targets/1/uptime?by=day&zone=Asia/Kathmandu&" + last,
		"report":  "/api/v1/reports/2026-02?ids=2",
		"ledger":  "/api/v1/ledger?" + last,
	}
}

func TestHistoryIsAnsweredWithMarkedCopies(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.create(`{"url":"https://example.com/"}`)
	b.create(`{"url":"https://example.org/"}`)
	b.results.rows = []uptime.Result{{TargetID: 1, Region: "eu", ScheduledAt: testNow.Add(-time.Minute), Status: uptime.StatusUp}}
	b.ledger.lines = []ledger.Line{{Region: "eu", Planned: 1, Up: 1}}
	fresh := map[string]string{}
	for name, path := range pastRoutes(testNow) {
		got := b.do("GET", path, "", as(viewerKey))
		if fresh[name] = got.text; got.Code != http.StatusOK || got.Header().Get(staleHeader) != "" || got.Header().Get("Age") != "" || strings.Contains(got.text, "stale_since") {
			t.Errorf("%s: %d %v %s", name, got.Code, got.Header(), got.text)
		}
	}
	for what, breakIt := range map[string]func(){
		"it fails":         func() { b.results.err, b.ledger.err = errors.New("dial secret-host"), errors.New("dial secret-host") },
		"it is too slow":   func() { b.results.err, b.ledger.err = context.DeadlineExceeded, context.DeadlineExceeded },
		"it is known down": func() { b.results.err, b.ledger.err = nil, nil; b.fleet.down.Store(true) },
	} {
		breakIt()
		b.now = testNow.Add(5*time.Minute + 10*time.Second)
		for name, path := range pastRoutes(b.now) {
			got := b.do("GET", path, "", as(viewerKey))
			want := `{"stale_since":"2026-03-01T12:00:00.000Z",` + fresh[name][1:]
			if got.Code != http.StatusOK || got.text != want || got.Header().Get(staleHeader) != "since=2026-03-01T12:00:00Z" || got.Header().Get("Age") != "310" {
				t.Errorf("%s, %s: %d %v\n%s, want\n%s", what, name, got.Code, got.Header(), got.text, want)
			}
		}
		for _, path := range []string{
			"/api/v1/targets/1/results?limit=31", "/api/v1/targets/2/uptime", "/api/v1/targets/2/failures", "/api/v1/targets/1/histogram", "/api/v1/targets/1/matrix?step_s=60", "/api/v1/targets/1/series?folded=true", "/api/v1/results/current?limit=1", "/api/v1/targets/1/series?step_s=60&from=2026-02-01T00:00:00Z&to=2026-02-02T00:00:00Z", "/api/v1/results/latest?ids=1", "/api/v1/ledger?from=2026-03-01T11:00:00Z",
			"/api/v1/reports/2026-02?ids=1", "/api/v1/reports/2026-02?ids=2&zone=Europe/Berlin", "/api/v1/reports/2026-02?ids=2&format=csv",
		} { // questions nobody has asked before
			if got := b.do("GET", path, "", as(viewerKey)); got.Code != http.StatusServiceUnavailable || got.Header().Get("Retry-After") == "" || got.problem(t).Code != codeUnavailable {
				t.Errorf("%s, %s: %d %s", what, path, got.Code, got.text)
			}
		}
	}
	if got := b.do("DELETE", "/api/v1/targets/1", "", as(editorKey)); got.Code != http.StatusNoContent {
		t.Fatalf("delete: %d %s", got.Code, got.text)
	}
	for name, want := range map[string]int{"results": 404, "series": 404, "uptime": 404, "matrix": 404, "wrong": 404, "shape": 404, "current": 503, "latest": 503} {
		if got := b.do("GET", pastRoutes(b.now)[name], "", as(viewerKey)); got.Code != want {
			t.Errorf("%s of a deleted target: %d %s", name, got.Code, got.text)
		}
	}
	b.results.err, b.results.rows = nil, nil
	b.fleet.down.Store(false)
	if got := b.do("GET", "/api/v1/results/latest?ids=2&n=90", "", as(viewerKey)); got.Code != http.StatusOK || strings.Contains(got.text, "stale") {
		t.Errorf("once it is back: %d %s", got.Code, got.text)
	}
}

func TestCallersMistakesAndDeparturesGetNoCopy(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.create(`{"url":"https://example.com/"}`)
	b.do("GET", "/api/v1/targets/1/results", "", as(viewerKey))
	b.results.err = context.Canceled
	if got := b.do("GET", "/api/v1/targets/1/results", "", as(viewerKey)); got.Code != 499 {
		t.Errorf("a caller that went away: %d %s", got.Code, got.text)
	}
	b.fleet.down.Store(true)
	if got := b.do("GET", "/api/v1/targets/1/results?limit=0", "", as(viewerKey)); got.Code != http.StatusUnprocessableEntity {
		t.Errorf("a mistake: %d %s", got.Code, got.text)
	}
}

// freezing is a fleet whose ClickHouse stops answering in the middle of a question.
type freezing struct {
	fakeFleet
	frozen atomic.Bool
}

func (f *freezing) HistoryOK() bool { return !f.frozen.Load() }

func TestNobodyWaitsForAStoreThatFroze(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fleet := &freezing{}
		a := &api{Options: Options{Fleet: fleet, Now: time.Now, Copies: NewCopies()}, metrics: newMetrics(prometheus.NewRegistry())}
		body, freeze := uptimeBody{Figures: Figures{Up: 7}}, time.Duration(0)
		ask := func(ctx context.Context) (uptimeBody, error) {
			if freeze > 0 {
				time.Sleep(freeze)
				fleet.frozen.Store(true)
				<-ctx.Done()
				return body, down(clickHouse, ctx.Err())
			}
			return body, nil
		}
		ctx, cancel := context.WithTimeout(t.Context(), answerWithin)
		defer cancel()
		if _, err := past(ctx, a, "kept", ask); err != nil {
			t.Fatal(err)
		}
		freeze = 3 * time.Second
		for question, kept := range map[string]bool{"kept": true, "new": false} {
			fleet.frozen.Store(false)
			began := time.Now()
			got, err := past(ctx, a, question, ask)
			if took := time.Since(began); took > freeze+time.Second {
				t.Errorf("%s: answered after %v", question, took)
			}
			if _, isOutage := errors.AsType[*outage](err); kept && (err != nil || got.Stale == "") || !kept && !isOutage {
				t.Errorf("%s: %+v %v", question, got, err)
			}
		}
		gone, leave := context.WithCancel(ctx)
		fleet.frozen.Store(false)
		freeze = 0
		leave()
		if _, err := past(gone, a, "kept", func(ctx context.Context) (uptimeBody, error) { return body, down(clickHouse, ctx.Err()) }); !errors.Is(err, context.Canceled) {
			t.Errorf("a caller that went away: %v", err)
		}
	})
}

func TestRangesThatEndNowAreOneQuestion(t *testing.T) {
	t.Parallel()
	name := func(from, to time.Duration) string { return window(testNow.Add(from), testNow.Add(to), testNow) }
	day := name(-24*time.Hour, 0)
	for what, c := range map[string]struct {
		from, to time.Duration
		same     bool
	}{
		"a moment ago":              {-24*time.Hour - time.Minute, -time.Minute, true},
		"a day, until tomorrow":     {-24 * time.Hour, 24 * time.Hour, true}, // nothing is there yet
		"an hour, until tomorrow":   {-time.Hour, 23 * time.Hour, false},
		"two days, until yesterday": {-48 * time.Hour, -24 * time.Hour, false},
		"an hour":                   {-time.Hour, 0, false},
	} {
		if got := name(c.from, c.to); (got == day) != c.same {
			t.Errorf("%s is %q, the last day %q", what, got, day)
		}
	}
}

func TestFleetSaysSinceWhenItIsNotKnown(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.fleet.stale = testNow.Add(-90 * time.Second)
	got := b.do("GET", "/api/v1/fleet", "", as(viewerKey))
	if got.Code != http.StatusOK || !strings.HasPrefix(got.text, `{"stale_since":"2026-03-01T11:58:30.000Z",`) || got.Header().Get("Age") != "90" || got.Header().Get(staleHeader) != "since=2026-03-01T11:58:30Z" {
		t.Errorf("%d %v %s", got.Code, got.Header(), got.text)
	}
}

func TestFleetSaysHowTheDatabaseIs(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, c := range []struct {
		down time.Time
		want string
	}{
		{time.Time{}, `"database":{"engine":"sqlite","ok":true,"down_since":null,"latency_ms":1.235}`},
		{testNow.Add(-time.Minute), `"database":{"engine":"sqlite","ok":false,"down_since":"2026-03-01T11:59:00.000Z","latency_ms":null}`},
	} {
		b.fleet.databaseDown = c.down
		if got := b.do("GET", "/api/v1/fleet", "", as(viewerKey)); got.Code != http.StatusOK || !strings.Contains(got.text, c.want) {
			t.Errorf("%d %s, want %s", got.Code, got.text, c.want)
		}
	}
}

func TestCopiesAreBounded(t *testing.T) {
	t.Parallel()
	c := NewCopies()
	check := func(what string, want int) {
		t.Helper()
		bytes := 0
		for e := c.order.Front(); e != nil; e = e.Next() {
			bytes += len(e.Value.(*copied).body)
		}
		if c.order.Len() != want || len(c.byQuestion) != want || c.bytes != bytes || bytes > maxCopyBytes {
			t.Fatalf("%s: %d copies of %d questions in %d bytes, counted %d; want %d", what, c.order.Len(), len(c.byQuestion), bytes, c.bytes, want)
		}
	}
	for i := range 3 * maxCopies {
		c.put(fmt.Sprint(i), []byte("{}"), testNow)
		c.get("0") // used all the time
		c.put("1", []byte(strings.Repeat("x", i)), testNow)
	}
	check("many", maxCopies)
	for _, used := range []string{"0", "1", fmt.Sprint(3*maxCopies - 1)} {
		if _, _, found := c.get(used); !found {
			t.Errorf("%s was dropped though it was used lately", used)
		}
	}
	for i := range 2 * maxCopyBytes / maxCopySize {
		c.put(fmt.Sprint("large ", i), make([]byte, maxCopySize), testNow)
	}
	check("large", maxCopyBytes/maxCopySize)
	c.put("large 15", make([]byte, maxCopySize+1), testNow)
	if _, _, found := c.get("large 15"); found {
		t.Error("an older answer outlived one that is too large to keep")
	}
	check("too large", maxCopyBytes/maxCopySize-1)
}

// Of a target that was deleted no copy stays, whoever is named beside it.
func TestCopiesOfADeletedTargetAreForgotten(t *testing.T) {
	t.Parallel()
	c := NewCopies()
	for question, body := range map[string]string{
		"results 7 last 1h0m0s": `{"items":[]}`,
		"latest 90[5 7]":        `{"items":[]}`,
		"current f00":           `{"items":[{"target_id":7,"region":"eu"}]}`,
		"results 77 last 7h":    `{"items":[]}`,
		"current ba4":           `{"items":[{"target_id":77,"region":"eu"}]}`,
	} {
		c.put(question, []byte(body), testNow)
	}
	c.Forget(7)
	if got := slices.Sorted(maps.Keys(c.byQuestion)); !slices.Equal(got, []string{"current ba4", "results 77 last 7h"}) {
		t.Errorf("kept %q", got)
	}
}
