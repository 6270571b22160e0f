package httpapi

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/probefleet/probefleet/internal/schedulestore"
)

// The mistake is at the field that asks for more, and says the sum, the limit and what to do.
func TestHostRateIsAMistakeAtItsField(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, region := range b.fleet.regions {
		if _, err := schedulestore.New(b.db).AddRegion(t.Context(), region); err != nil {
			t.Fatal(err)
		}
	}
	save := func(name, host string, more string) reply {
		return b.do("POST", "/api/v1/targets", fmt.Sprintf(`{"name":%q,"url":"https://%s/","interval_s":10,"regions":["eu","us"]%s}`, name, host, more), as(editorKey))
	}
	for i := range 24 { // 24 × 2 / 10 s = 4.8
		if got := save(fmt.Sprint(i), "Example.com", ""); got.Code != http.StatusCreated {
			t.Fatalf("%d: %d %s", i, got.Code, got.text)
		}
	}
	edge := save("edge", "example.com.", "") // 5
	paused, away := save("paused", "example.com", `,"active":false`), save("away", "example.org", "")
	if edge.Code != http.StatusCreated || paused.Code != http.StatusCreated || away.Code != http.StatusCreated {
		t.Fatal(edge.text, paused.text, away.text)
	}
	edgeAt, pausedAt, awayAt := edge.Header().Get("Location"), paused.Header().Get("Location"), away.Header().Get("Location")
	if got := b.do("PATCH", edgeAt, `{"interval_s":20}`, as(editorKey)); got.Code != http.StatusOK { // 4.9
		t.Fatal(got.text)
	}
	for name, c := range map[string]struct {
		method, path, body, pointer string
		with, others                string
	}{
		"create":  {"POST", "/api/v1/targets", `{"url":"https://example.com:8443/x","interval_s":10}`, "/url", "5.1 ", "4.9)"},
		"move":    {"PATCH", awayAt, `{"url":"tcp://example.com:25"}`, "/url", "5.1 ", "4.9)"},
		"resume":  {"PATCH", pausedAt, `{"active":true}`, "/active", "5.1 ", "4.9)"},
		"default": {"PATCH", pausedAt, `{"active":null,"regions":null,"interval_s":10}`, "/active", "5.1 ", "4.9)"},
	} {
		got := b.do(c.method, c.path, c.body, as(editorKey))
		p := got.problem(t)
		if got.Code != http.StatusUnprocessableEntity || len(p.Errors) != 1 || p.Errors[0].Pointer != c.pointer || p.Errors[0].Code != "host_rate_exceeded" {
			t.Errorf("%s: %d %s", name, got.Code, got.text)
			continue
		}
		message := p.Errors[0].Message
		for _, part := range []string{c.with, c.others, "and 5 is the limit", "API_HOST_RATE", "less often"} {
			if !strings.Contains(message, part) {
				t.Errorf("%s: %q does not say %q", name, message, part)
			}
		}
		if strings.Contains(message, "example") {
			t.Errorf("%s: %q repeats what was given", name, message)
		}
	}
	for _, body := range []string{`{"name":"still edited"}`, `{"interval_s":30}`, `{"active":false}`} {
		if got := b.do("PATCH", edgeAt, body, as(editorKey)); got.Code != http.StatusOK {
			t.Errorf("%s: %d %s", body, got.Code, got.text)
		}
	}
	for i := range 60 {
		if got := save(fmt.Sprint("exempt ", i), "exempt.example", ""); got.Code != http.StatusCreated {
			t.Fatalf("exempt: %d %s", got.Code, got.text)
		}
	}
}

func TestRatesAreWrittenPlainly(t *testing.T) {
	t.Parallel()
	for rate, want := range map[float64]string{0: "0", 5: "5", 4.9: "4.9", 5.0000115: "5.01", 0.1 + 0.2: "0.3", 1.0 / 86400: "0.01", 16.666666: "16.67", 120: "120"} {
		if got := perSecond(rate); got != want {
			t.Errorf("%v: %s, want %s", rate, got, want)
		}
	}
}
