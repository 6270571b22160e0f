package architecture

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// besideHanging is how late healthy checks began while others hung.
type besideHanging struct {
	measuredAt
	Hanging int
	TLS     float64
	Rate    int
	Checks  int
	NotUp   int     `json:"not_up"`
	P50     float64 `json:"lateness_p50_ms"`
	P99     float64 `json:"lateness_p99_ms"`
	Most    float64 `json:"lateness_most_ms"`
}

func (h *besideHanging) figure() figure {
	what := fmt.Sprintf("most that a healthy check begins early or late while %d others hang at once, %.0f %% of them after a TLS handshake (%d a second; p50 %.0f, p99 %.0f ms; of %d checks %d are not up)",
		h.Hanging, 100*h.TLS, h.Rate, h.P50, h.P99, h.Checks, h.NotUp)
	f := atMost(what, h.Most, 2000, "%.0f ms", h.measuredAt)
	f.met = f.met && h.NotUp == 0
	return f
}

// measuringErrors are how far the times of a busy prober are from those of an idle one.
type measuringErrors struct {
	measuredAt
	Lines []measuringError
}

// measuringError is that at a load.
type measuringError struct {
	Busy    float64 `json:"busy_percent"`
	Results int
	Marked  int
	P50     float64 `json:"error_p50_ms"`
	P99     float64 `json:"error_p99_ms"`
	Whole   float64 `json:"whole_p99_ms"`
	Calm    float64 `json:"marked_p50_ms"` // of those with the mark
	Worst   float64 `json:"marked_p99_ms"`
	Over    int     `json:"over_2ms"` // of those without
}

func (e *measuringError) figure(when measuredAt) figure {
	what := fmt.Sprintf("error of a measured time against an idle prober's, beyond what the server did, p99 of results without `saturated`, core %.0f %% busy (%d of %d results have it, p50 / p99 %.2f / %.1f ms",
		e.Busy, e.Marked, e.Results, e.Calm, e.Worst)
	if e.Marked == e.Results { // the promise is kept by saying so, and there is no error to show
		return figure{what + ")", "all have it", "≤ 2.0 ms", true, when}
	}
	return atMost(fmt.Sprintf("%s; p50 of the others %.2f ms, %d of them off by more than 2 ms; their p99 with what the busy machine does to the server %.1f ms)", what, e.P50, e.Over, e.Whole), e.P99, 2, "%.1f ms", when)
}

func TestFiguresUnderLoad(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{}`: "",
		`{"beside": {"hanging": 10150, "tls": 0.5, "rate": 50, "checks": 1000, "lateness_p50_ms": 1, "lateness_p99_ms": 12.4, "lateness_most_ms": 80.2}}`: "most that a healthy check begins early or late while 10150 others hang at once, 50 % of them after a TLS handshake (50 a second; p50 1, p99 12 ms; of 1000 checks 0 are not up): 80 ms, ≤ 2000 ms, true",
		`{"beside": {"lateness_most_ms": 2001}}`:            "2001 ms, ≤ 2000 ms, false",
		`{"beside": {"lateness_most_ms": 80, "not_up": 1}}`: "80 ms, ≤ 2000 ms, false",
		`{"error": {"lines": [{"results": 200, "marked": 9, "marked_p50_ms": 0.33, "marked_p99_ms": 5.06, "busy_percent": 69.6, "error_p50_ms": 0.05, "error_p99_ms": 0.84, "over_2ms": 1, "whole_p99_ms": 1.5}]}}`: "core 70 % busy (9 of 200 results have it, p50 / p99 0.33 / 5.1 ms; p50 of the others 0.05 ms, 1 of them off by more than 2 ms; their p99 with what the busy machine does to the server 1.5 ms): 0.8 ms, ≤ 2.0 ms, true",
		`{"error": {"lines": [{"results": 200, "error_p99_ms": 2.1}]}}`: "2.1 ms, ≤ 2.0 ms, false",
		`{"error": {"lines": [{"results": 200, "marked": 200}]}}`:       "all have it, ≤ 2.0 ms, true",
	} {
		var b bench
		if err := json.Unmarshal([]byte(text), &b); err != nil {
			t.Fatal(err)
		}
		said := ""
		for _, f := range b.figures() {
			said += fmt.Sprintf("%s: %s, %s, %v", f.what, f.measured, f.aim, f.met)
		}
		if !strings.HasSuffix(said, want) || want == "" && said != "" {
			t.Errorf("of %s\n%s", text, said)
		}
	}
}
