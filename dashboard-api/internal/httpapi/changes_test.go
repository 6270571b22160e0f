package httpapi

import (
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/probefleet/probefleet/internal/availability"
	"github.com/probefleet/probefleet/internal/incidentstore"
	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/uptime"
)

func TestWhatChangedInAnIncident(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	target := b.create(`{"url":"https://example.com/"}`)
	began := testNow.Add(-10 * time.Minute)
	incident := func(target int64, began time.Time) string {
		return fmt.Sprintf("/api/v1/incidents/%d/changes", b.openIncident(incidentstore.Opening{TargetID: target, FirstSlot: began, At: testNow.Add(-time.Minute), Severity: incidentstore.Down,
			Subject: incidentstore.Subject{Name: "example.com", URL: "https://example.com/", Kind: "http"}, Cause: incidentstore.Cause{Explanation: "answers 500"}}))
	}
	path := incident(target.ID, began)
	for missing, path := range map[string]string{"no_failure": path, "no_target": incident(0, began), "not_kept": incident(target.ID, testNow.AddDate(-1, 0, 0))} {
		if got := b.do("GET", path, "", as(viewerKey)); got.Code != http.StatusOK || strings.TrimSpace(got.text) != `{"missing":"`+missing+`","regions":[]}` {
			t.Errorf("%s: %d %s", missing, got.Code, got.text)
		}
	}
	if want := [3]int64{target.ID, began.Unix(), testNow.Unix()}; b.results.turned != want {
		t.Errorf("asked for %v, want %v", b.results.turned, want)
	}
	degraded := fmt.Sprintf("/api/v1/incidents/%d/changes", b.openIncident(incidentstore.Opening{TargetID: b.create(`{"url":"https://example.com/slow"}`).ID, FirstSlot: began, At: testNow.Add(-time.Minute), Severity: incidentstore.Degraded,
		Subject: incidentstore.Subject{Name: "example.com", URL: "https://example.com/slow", Kind: "http"}, Cause: incidentstore.Cause{Explanation: "slower than allowed"}}))
	if got := b.do("GET", degraded, "", as(viewerKey)); !strings.Contains(got.text, `"missing":"by_policy"`) {
		t.Errorf("degraded, and no check failed: %d %s", got.Code, got.text)
	}
	b.past.blind = map[string]availability.Spans{"eu": {{From: began, To: began.Add(time.Minute)}}}
	if b.do("GET", path, "", as(viewerKey)); !cmp.Equal(b.results.unseen, b.past.blind) {
		t.Errorf("does not tell when regions were blind: %v", b.results.unseen)
	}

	good := uptime.Result{TargetID: target.ID, Region: "eu", ScheduledAt: began.Add(-time.Minute), Status: uptime.StatusUp, HTTPStatus: 200, Address: netip.MustParseAddr("192.0.2.1"),
		Print: &uptime.Print{URL: "https://example.com/", Headers: []uptime.Header{{Name: "Server", Value: "nginx"}}}}
	bad := good
	bad.ScheduledAt, bad.Status, bad.Failure, bad.HTTPStatus, bad.Phases.Wait, bad.Print = began, uptime.StatusDown, uptime.FailureStatusCode, 503, 300_000, nil
	bad.Evidence = &uptime.Evidence{Hops: []uptime.Hop{{URL: "https://example.com/"}}, Headers: []uptime.Header{{Name: "Server", Value: "<caddy>"}}}
	unknown, never := bad, bad
	unknown.Region, unknown.Evidence, never.Region = "us", nil, "ap"
	b.results.turns = []resultstore.Turn{{Good: &good, Bad: bad}, {Good: &good, Bad: unknown}, {Bad: never}}
	var answer struct {
		Regions []struct {
			Region               string
			Good, Bad            *struct{ Status string }
			Differences, Unknown []map[string]any
		}
	}
	got := b.do("GET", path, "", as(viewerKey))
	got.into(t, &answer)
	var told []string
	for _, r := range answer.Regions {
		told = append(told, fmt.Sprint(r.Region, " ", r.Good != nil, " ", r.Bad.Status))
		for _, d := range r.Differences {
			told = append(told, fmt.Sprintf("%v %v > %v %v %v %v", d["what"], d["before"], d["after"], d["phase"], d["ended"], d["headers"]))
		}
		for _, g := range r.Unknown {
			told = append(told, fmt.Sprint("? ", g["what"], " ", g["why"]))
		}
	}
	want := []string{
		"eu true down", "failure  > status_code  false []", "http_status 200 > 503  false []", "phase 0 > 300000 wait false []", "headers e8e57e36c91b71ec > c08412910f113cd6  false [map[after:<caddy> before:nginx name:Server]]",
		"us true down", "failure  > status_code  false []", "http_status 200 > 503  false []", "phase 0 > 300000 wait false []", "? redirect no_evidence", "? headers no_evidence",
		"ap false down",
	}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Error(diff)
	}
	if got := b.do("GET", "/api/v1/incidents/4711/changes", "", as(viewerKey)); got.Code != http.StatusNotFound {
		t.Errorf("of no incident: %d %s", got.Code, got.text)
	}
	b.results.err = errors.New("dial secret-host")
	if copied := b.do("GET", path, "", as(viewerKey)); copied.Code != http.StatusOK || copied.Header().Get(staleHeader) == "" || !strings.HasPrefix(copied.text, `{"stale_since":`) {
		t.Errorf("while the store is away: %d %s", copied.Code, copied.text)
	}
}
