package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/uptime"
)

// Questions reach the store as they were asked.
func TestQuestionsAboutWindows(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.create(`{"url":"https://example.com/"}`)
	from := testNow.Add(-90 * 24 * time.Hour)
	for path, want := range map[string]resultstore.SeriesQuery{
		"series?from=2025-12-01T12:00:00Z":                    {TargetID: 1, From: from, To: testNow},
		"series?step_s=86400&from=2025-12-01T12:00:00Z":       {TargetID: 1, From: from, To: testNow, Step: 24 * time.Hour},
		"series?region=eu":                                    {TargetID: 1, From: testNow.Add(-24 * time.Hour), To: testNow, Region: "eu"},
		"series?folded=true":                                  {TargetID: 1, From: testNow.Add(-24 * time.Hour), To: testNow, Whole: true},
		"matrix?step_s=3600&from=2026-03-01T00:00:00%2B01:00": {TargetID: 1, From: testNow.Add(-13 * time.Hour), To: testNow, Step: time.Hour},
	} {
		b.results.steps = resultstore.SeriesQuery{}
		if got := b.do("GET", "/api/v1/targets/1/"+path, "", as(viewerKey)); got.Code != 200 || b.results.steps != want {
			t.Errorf("%s: %d, asked %+v", path, got.Code, b.results.steps)
		}
	}
	for _, what := range []string{"failures", "histogram"} {
		want := resultstore.WindowQuery{TargetID: 1, From: testNow.Add(-2 * time.Hour), To: testNow.Add(-time.Hour), Region: "us"}
		got := b.do("GET", "/api/v1/targets/1/"+what+"?region=us&from=2026-03-01T10:00:00Z&to=2026-03-01T11:00:00Z", "", as(viewerKey))
		if got.Code != 200 || b.results.window != want {
			t.Errorf("%s: %d, asked %+v", what, got.Code, b.results.window)
		}
	}
}

// What the store cannot give of a window is the caller's mistake, and says what can be had.
func TestBoundsOfTheStoreAreMistakes(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.create(`{"url":"https://example.com/"}`)
	for _, what := range []string{"series", "matrix", "failures", "histogram"} {
		for field, parameter := range map[string]string{"step": "step_s", "to": "to"} {
			b.results.err = fmt.Errorf("read: %w", &resultstore.BoundError{Field: field, Problem: "results are kept since then"})
			got := b.do("GET", "/api/v1/targets/1/"+what, "", as(viewerKey))
			if p := got.problem(t); p.Status != 422 || len(p.Errors) != 1 || p.Errors[0].Parameter != parameter || p.Errors[0].Message != "results are kept since then" {
				t.Errorf("%s: %d %s", what, got.Code, got.text)
			}
		}
	}
}

func TestPagesOfCurrentResults(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.hub.SetRegions([]string{"eu"}, nil)
	for i := range 3 {
		b.create(fmt.Sprintf(`{"url":"https://example.com/%d"}`, i))
	}
	for id := range int64(5) { // of 4 and 5 there is no target, or no longer
		b.results.rows = append(b.results.rows, uptime.Result{TargetID: id + 1, Region: "eu", ScheduledAt: testNow, Status: uptime.StatusUp})
	}
	b.results.rows = b.results.rows[1:] // of the first there is no result yet
	var seen []string
	path := "/api/v1/results/current?limit=2"
	for range 2 {
		var page struct {
			Items []struct {
				ID      int64 `json:"target_id"`
				Results []struct{ Region, Status string }
			}
			Next string `json:"next_cursor"`
		}
		b.do("GET", path, "", as(viewerKey)).into(t, &page)
		seen = append(seen, fmt.Sprintf("%v %v", page.Items, page.Next != ""))
		path = "/api/v1/results/current?limit=2&cursor=" + page.Next
	}
	if got := strings.Join(seen, " | "); got != "[{1 []} {2 [{eu up}]}] true | [{3 [{eu up}]}] false" {
		t.Error(got)
	}
}

// leaving answers nothing until whoever asked is gone.
type leaving struct {
	fakeResults
	asked chan struct{}
	gone  chan error
}

func (l *leaving) wait(ctx context.Context) error {
	close(l.asked)
	<-ctx.Done()
	l.gone <- ctx.Err()
	return ctx.Err()
}

func (l *leaving) Results(ctx context.Context, _ resultstore.ResultQuery) ([]uptime.Result, error) {
	return nil, l.wait(ctx)
}
func (l *leaving) LatestN(ctx context.Context, _ []int64, _ int, _ time.Time) (map[int64][]resultstore.Bar, error) {
	return nil, l.wait(ctx)
}
func (l *leaving) Current(ctx context.Context, _ []int64) ([]resultstore.Bar, error) {
	return nil, l.wait(ctx)
}
func (l *leaving) Series(ctx context.Context, _ resultstore.SeriesQuery) (resultstore.Series, error) {
	return resultstore.Series{}, l.wait(ctx)
}
func (l *leaving) Matrix(ctx context.Context, _ resultstore.SeriesQuery) (map[string]resultstore.Series, error) {
	return nil, l.wait(ctx)
}
func (l *leaving) Failures(ctx context.Context, _ resultstore.WindowQuery) (resultstore.Failures, error) {
	return resultstore.Failures{}, l.wait(ctx)
}
func (l *leaving) Histogram(ctx context.Context, _ resultstore.WindowQuery) (resultstore.Histogram, error) {
	return resultstore.Histogram{}, l.wait(ctx)
}

// A request that is given up takes its question to the store with it; there the query
// ends (resultstore.TestQuestionsEndWithTheirCaller).
func TestGivenUpRequestsEndTheirQuestions(t *testing.T) {
	t.Parallel()
	for _, path := range []string{
		"/api/v1/targets/1/results", "/api/v1/results/latest?ids=1", "/api/v1/results/current", "/api/v1/targets/1/series", "/api/v1/targets/1/matrix",
		"/api/v1/targets/1/failures", "/api/v1/targets/1/histogram",
	} {
		b := newBench(t)
		b.create(`{"url":"https://example.com/"}`)
		store := &leaving{asked: make(chan struct{}), gone: make(chan error, 1)}
		b.options.Results = store
		handler, err := New(b.options)
		if err != nil {
			t.Fatal(err)
		}
		ctx, leave := context.WithCancel(t.Context())
		r := httptest.NewRequestWithContext(ctx, "GET", path, nil)
		as(viewerKey)(r)
		w := httptest.NewRecorder()
		answered := make(chan struct{})
		go func() {
			defer close(answered)
			handler.ServeHTTP(w, r)
		}()
		<-store.asked
		leave()
		if err := <-store.gone; !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", path, err)
		}
		<-answered
		if w.Code != 499 {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
}
