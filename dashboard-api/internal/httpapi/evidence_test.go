package httpapi

import (
	"errors"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/probefleet/probefleet/internal/uptime"
)

func TestEvidence(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.create(`{"url":"https://example.com/"}`)
	slot := testNow.Add(-time.Minute)
	b.results.rows = []uptime.Result{
		{TargetID: 1, Region: "eu", ScheduledAt: slot, CheckedAt: slot, Status: uptime.StatusDown, Failure: uptime.FailureStatusCode, HTTPStatus: 503, Attempt: 1, Prober: "p", Seen: uptime.Seen{TLSVersion: 0x0303, Hops: 1},
			Evidence: &uptime.Evidence{
				Hops:       []uptime.Hop{{URL: "https://example.com/?q=…", Address: netip.MustParseAddr("192.0.2.1"), Protocol: "HTTP/1.1", Status: 503, Phases: uptime.Phases{Wait: 7}}},
				StatusLine: "HTTP/1.1 503 Busy", Headers: []uptime.Header{{Name: "Server", Value: "<b>"}}, Body: "oh no", BodyCut: true, Received: "220", ReceivedCut: true,
				Failed: []uptime.Failed{{Index: 2, Severity: uptime.SeverityFail, Message: "x"}}, Command: "curl 'https://example.com/'",
			}},
		{TargetID: 1, Region: "us", ScheduledAt: slot, Status: uptime.StatusUp},
	}
	const path = "/api/v1/targets/1/evidence?scheduled_at=2026-03-01T11:59:00.000Z&region="
	want := `{"result":{"target_id":1,"region":"eu","scheduled_at":"2026-03-01T11:59:00.000Z","checked_at":"2026-03-01T11:59:00.000Z","status":"down","failure":"status_code","reason":"","http_status":503,` +
		`"dns_us":0,"connect_us":0,"tls_us":0,"wait_us":0,"transfer_us":0,"total_us":0,"attempt":1,"prober":"p","message":"","address":"","cert_not_after":null,` +
		`"protocol":"","tls_version":"1.2","hops":1,"wire_bytes":0,"body_bytes":0,"dns_cached":false,"saturated":false},` +
		`"evidence":{"hops":[{"url":"https://example.com/?q=…","address":"192.0.2.1","protocol":"HTTP/1.1","status":503,"phases":{"dns_us":0,"connect_us":0,"tls_us":0,"wait_us":7,"transfer_us":0}}],` +
		`"status_line":"HTTP/1.1 503 Busy","headers":[{"name":"Server","value":"\u003cb\u003e"}],"body":"oh no","body_cut":true,"received":"220","received_cut":true,"failed":[{"index":2,"severity":"fail","message":"x"}],"command":"curl 'https://example.com/'"}}`
	got := b.do("GET", path+"eu", "", as(viewerKey))
	if diff := cmp.Diff(want+"\n", got.text); got.Code != http.StatusOK || diff != "" {
		t.Errorf("%d %s", got.Code, diff)
	}
	if got := b.do("GET", path+"us", "", as(viewerKey)); got.Code != http.StatusOK || !strings.HasSuffix(strings.TrimSpace(got.text), `"evidence":null}`) {
		t.Errorf("of a visit that was up: %d %s", got.Code, got.text)
	}
	for query, want := range map[string]int{
		"region=eu&scheduled_at=2026-03-01T12:59:00%2B01:00": 200, // the same instant
		"region=ap&scheduled_at=2026-03-01T11:59:00Z":        404,
		"region=EU%00&scheduled_at=2026-03-01T11:59:00Z":     404,
		"region=eu&scheduled_at=2026-03-01T11:59:00.001Z":    404,
		"region=eu&scheduled_at=9999-12-31T23:59:59Z":        404,
		"region=eu&scheduled_at=0001-01-01T00:00:00Z":        404,
		"region=eu&scheduled_at=1960-01-01T00:00:00Z":        404,
		"region=eu":                         422,
		"scheduled_at=2026-03-01T11:59:00Z": 422,
		"region=eu&scheduled_at=yesterday":  422,
		"region=" + strings.Repeat("a", 33) + "&scheduled_at=2026-03-01T11:59:00Z": 422,
	} {
		got := b.do("GET", "/api/v1/targets/1/evidence?"+query, "", as(viewerKey))
		if got.Code != want || want == 404 && got.problem(t).Code != codeNotFound {
			t.Errorf("%s: %d %s, want %d", query, got.Code, got.text, want)
		}
	}
	if got := b.do("GET", strings.Replace(path, "/1/", "/9/", 1)+"eu", "", as(viewerKey)); got.Code != http.StatusNotFound {
		t.Errorf("of no target: %d", got.Code)
	}
	asked := b.now
	for what, breakIt := range map[string]func(){
		"it fails":         func() { b.results.err = errors.New("dial secret-host"); b.fleet.down.Store(false) },
		"it is known down": func() { b.results.err = nil; b.fleet.down.Store(true) },
	} {
		breakIt()
		b.now = asked.Add(10 * time.Second)
		got := b.do("GET", path+"eu", "", as(viewerKey))
		if want := `{"stale_since":"2026-03-01T12:00:00.000Z",` + want[1:]; got.Code != http.StatusOK || strings.TrimSpace(got.text) != want || got.Header().Get("Age") != "10" || got.Header().Get(staleHeader) == "" {
			t.Errorf("%s: %d %v %s", what, got.Code, got.Header(), got.text)
		}
		if got := b.do("GET", path+"ap", "", as(viewerKey)); got.Code != http.StatusServiceUnavailable || got.Header().Get("Retry-After") == "" || got.problem(t).Code != codeUnavailable {
			t.Errorf("%s, and nobody asked before: %d %s", what, got.Code, got.text)
		}
	}
	if got := b.do("DELETE", "/api/v1/targets/1", "", as(editorKey)); got.Code != http.StatusNoContent {
		t.Fatal(got.text)
	}
	if got := b.do("GET", path+"eu", "", as(viewerKey)); got.Code != http.StatusNotFound {
		t.Errorf("of a deleted target: %d %s", got.Code, got.text)
	}
}

func TestNamesOfTLSVersions(t *testing.T) {
	t.Parallel()
	for number, want := range map[uint16]string{0: "", 0x0300: "", 0x0301: "1.0", 0x0302: "1.1", 0x0303: "1.2", 0x0304: "1.3", 0x0305: "", 0xffff: ""} {
		if got := tlsVersion(number); got != want {
			t.Errorf("%#x is %q, want %q", number, got, want)
		}
	}
}
