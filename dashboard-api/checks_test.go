package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/database/databasetest"
	"github.com/probefleet/probefleet/internal/schedulestore"
	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/internal/uptime"
)

type checkAnswer struct {
	ID, State string
	Results   []struct {
		Region, Status string
		PageSource     string `json:"page_source"`
	}
}

func (n *node) check(method, path, body string, want int) checkAnswer {
	n.Helper()
	code, text := n.call(method, path, body)
	var c checkAnswer
	if err := json.Unmarshal([]byte(text), &c); err != nil || code != want {
		n.Fatalf("%s %s: %d %s", method, path, code, text)
	}
	return c
}

// TestCheckSurvivesItsNode: it is accepted without Redis and ClickHouse, outlives the node
// that accepted it, is run by another one once Redis is there, and a third can show it.
func TestCheckSurvivesItsNode(t *testing.T) {
	t.Parallel()
	databaseURL, redisURL := testbackend.SQLite(t), testbackend.Redis(t)
	const nowhere, noClickHouse = "redis://127.0.0.1:1/0", "clickhouse://127.0.0.1:1/x"
	if _, err := schedulestore.New(databasetest.Open(t, databaseURL)).AddRegion(t.Context(), "eu"); err != nil {
		t.Fatal(err)
	}
	first := start(t, databaseURL, nowhere, noClickHouse)
	asked := first.check("POST", "/api/v1/checks", `{"url":"https://example.com/"}`, http.StatusAccepted)
	if again := first.check("GET", "/api/v1/checks/"+asked.ID, "", http.StatusOK); asked.State != "QUEUED" || again.State != "QUEUED" {
		t.Fatalf("%+v, then %+v", asked, again)
	}
	if err := first.stop(); err != nil {
		t.Fatal(err)
	}

	redis, err := checkstream.Open(redisURL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = redis.Close() })
	second, third := start(t, databaseURL, redisURL, noClickHouse), start(t, databaseURL, nowhere, noClickHouse)
	prober := checkstream.NewAdhocConsumer(redis, "eu", "p1")
	var visits []checkstream.VisitEntry
	second.await("the prober is asked", func() bool {
		visits, err = prober.Read(t.Context(), 10, 100*time.Millisecond)
		return err == nil && len(visits) == 1
	})
	if v := visits[0]; v.Job != asked.ID || v.Region != "eu" || v.URL != "https://example.com/" || v.Timeout != 10*time.Second || v.Attempt != 1 {
		t.Errorf("asked for %+v", v)
	}
	look := uptime.Look{Status: uptime.StatusDown, Failure: uptime.FailureStatusCode, Evidence: &uptime.Evidence{Body: "sorry"}}
	if err := prober.Settle(t.Context(), visits[0], checkstream.VisitOutcome{Look: look}); err != nil {
		t.Fatal(err)
	}
	for _, n := range []*node{second, third} {
		var got checkAnswer
		n.await("the outcome is shown", func() bool {
			got = n.check("GET", "/api/v1/checks/"+asked.ID, "", http.StatusOK)
			return got.State == "COMPLETED"
		})
		if len(got.Results) != 1 || got.Results[0].Status != "down" || got.Results[0].PageSource != "sorry" {
			t.Errorf("%+v", got)
		}
		if code, text := n.call("GET", "/api/v1/checks?url=https://example.com/&state=COMPLETED", ""); code != http.StatusOK || !strings.Contains(text, asked.ID) {
			t.Errorf("%d %s", code, text)
		}
	}
}
