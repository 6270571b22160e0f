package httpapi

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestRetention(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.results.kept = 49 * time.Hour
	if got := b.do("GET", "/api/v1/retention", "", as(viewerKey)); got.Code != http.StatusOK || strings.TrimSpace(got.text) != `{"results_h":49,"hourly_h":2400,"daily_h":9600}` {
		t.Errorf("%d %s", got.Code, got.text)
	}
}
