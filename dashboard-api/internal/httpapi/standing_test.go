package httpapi

import (
	"strings"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/availability"
	"github.com/probefleet/probefleet/internal/testbackend"
)

// Figures say what may still come into them, and what of them could not be made.
func TestFiguresSayWhatTheyLack(t *testing.T) {
	t.Parallel()
	known := new(Standing)
	b := newBenchOn(t, testbackend.SQLite(t), func(_ *bench, o *Options) { o.Standing = known })
	b.create(`{"url":"https://example.com/"}`)
	says := func(path string, want ...string) {
		t.Helper()
		got := b.do("GET", path, "", as(viewerKey))
		if got.Code != 200 {
			t.Fatalf("%s: %d %s", path, got.Code, got.text)
		}
		for _, field := range []string{"settled_until", "not_computed"} {
			text := strings.Join(want, " ")
			if strings.Contains(got.text, field) != strings.Contains(text, field) {
				t.Errorf("%s: %s in %.400s", path, field, got.text)
			}
		}
		for _, text := range want {
			if !strings.Contains(got.text, text) {
				t.Errorf("%s: no %s in %.400s", path, text, got.text)
			}
		}
	}
	const today, february = "?from=2026-03-01T00:00:00Z&to=2026-03-01T12:00:00Z", "?from=2026-02-01T00:00:00Z&to=2026-02-02T00:00:00Z"
	target := "/api/v1/targets/1/"
	says(target + "uptime" + today)

	known.Tell(testNow.Add(-10*time.Minute), nil) // the sweep is where it should be
	says(target + "uptime" + today)
	says(target + "series" + today)

	hour := testNow.Truncate(time.Hour)
	known.Tell(hour.Add(-3*time.Hour), availability.NewSpans(availability.Span{From: hour.Add(-5 * time.Hour), To: hour.Add(-4 * time.Hour)}))
	const settled, missing = `"settled_until":"2026-03-01T09:00:00.000Z"`, `"not_computed":[{"from":"2026-03-01T07:00:00.000Z","to":"2026-03-01T08:00:00.000Z"}]`
	says(target+"uptime"+today, settled, missing)
	says(target+"series"+today, settled, missing)
	says("/api/v1/targets:figures?ids=1", settled, missing)
	says("/api/v1/reports/2026-03", settled, missing, `"complete":false`)
	says(target + "uptime" + february)
	says("/api/v1/reports/2026-02", `"complete":true`)

	known.Tell(hour.Add(-20*24*time.Hour), nil) // nobody sweeps
	says(target+"uptime"+today, `"settled_until":"2026-03-01T00:00:00.000Z"`)
	says("/api/v1/reports/2026-02", `"settled_until":"2026-02-09T12:00:00.000Z"`, `"complete":false`)
}
