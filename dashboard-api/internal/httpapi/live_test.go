package httpapi

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/probefleet/probefleet/dashboard-api/internal/live"
	"github.com/probefleet/probefleet/internal/uptime"
)

// Who polls is sent nothing while nothing is new, but until when that holds; and all there is as soon
// as there is something, also where nothing but time has passed.
func TestSnapshotsHaveETags(t *testing.T) {
	t.Parallel()
	now := testNow
	hub := live.New(live.Options{Now: func() time.Time { return now }})
	hub.Load([]uptime.Target{{ID: 1, Name: "a", URL: "https://x/", Kind: uptime.KindHTTP, Interval: time.Minute, Timeout: time.Second, Active: true}}, nil, []string{"eu"})
	measured := func() {
		hub.Apply([]uptime.Result{{TargetID: 1, Region: "eu", ScheduledAt: now, CheckedAt: now, Status: uptime.StatusUp, IngestedAt: now}})
	}
	region := func(is bool) {
		at := now
		hub.SetRegions([]string{"eu"}, []live.Region{{Region: "eu", Probers: 1, Live: is, HeartbeatAt: &at}})
	}
	measured()
	region(true)
	b := newBenchWith(t, func(_ *bench, o *Options) { o.Hub = hub })

	tag := ""
	ask := func(what string, code int, has ...string) {
		t.Helper()
		got := b.do("GET", "/api/v1/live/snapshot", "", as(viewerKey), header("If-None-Match", tag))
		h := got.Header()
		if got.Code != code || (code == http.StatusNotModified) != (h.Get("ETag") == tag) || !strings.HasPrefix(h.Get("ETag"), `W/"`) {
			t.Fatalf("%s: %d %s, known was %s", what, got.Code, h.Get("ETag"), tag)
		}
		if said := h.Get("X-Probefleet-Now"); said != now.Format("2006-01-02T15:04:05.000Z07:00") || h.Get("Cache-Control") != "private, no-store" || len(h["Cache-Control"]) != 1 {
			t.Errorf("%s: now %s, %v", what, said, h["Cache-Control"])
		}
		if code == http.StatusNotModified && got.text != "" {
			t.Errorf("%s: %s", what, got.text)
		}
		for _, want := range has {
			if !strings.Contains(got.text, want) {
				t.Errorf("%s: no %s in %s", what, want, got.text)
			}
		}
		tag = h.Get("ETag")
	}
	ask("first", http.StatusOK, `"state":"up"`, `"now":"2026-03-01T12:00:00Z"`, `"heartbeat_at":"2026-03-01T12:00:00Z"`)
	ask("nothing new", http.StatusNotModified)
	now = now.Add(10 * time.Second)
	region(true)
	ask("time, and a heartbeat of a region that is there", http.StatusNotModified)
	measured()
	ask("a result", http.StatusOK, `"at":"2026-03-01T12:00:10Z"`)
	ask("nothing new since", http.StatusNotModified)
	region(false)
	ask("a region that is silent", http.StatusOK, `"live":false`, `"heartbeat_at":"2026-03-01T12:00:10Z"`)
	now = now.Add(10 * time.Minute)
	ask("evidence that is old by now", http.StatusOK, `"state":"no_data"`)
	ask("nothing new ever since", http.StatusNotModified)
	if got := b.do("GET", "/api/v1/live/snapshot", "", header("If-None-Match", tag)); got.Code != http.StatusUnauthorized {
		t.Errorf("for nobody: %d", got.Code)
	}
}
