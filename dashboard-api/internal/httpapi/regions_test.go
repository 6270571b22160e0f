package httpapi

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/schedulestore"
	"github.com/probefleet/probefleet/internal/uptime"
)

// fakeProbers are those that were heard.
type fakeProbers struct {
	heard     []checkstream.Heartbeat
	forgotten []string
	err       error
	wishFails error
}

func (f *fakeProbers) Probers(context.Context) ([]checkstream.Heartbeat, error) {
	return f.heard, f.err
}

func (f *fakeProbers) DrainProber(_ context.Context, region, name, by string) (changed bool, err error) {
	return f.wish(region, name, &checkstream.Drain{By: by, At: testNow})
}

func (f *fakeProbers) ResumeProber(_ context.Context, region, name string) (changed bool, err error) {
	return f.wish(region, name, nil)
}

// wish is kept once.
func (f *fakeProbers) wish(region, name string, drain *checkstream.Drain) (changed bool, err error) {
	for i := range f.heard {
		if h := &f.heard[i]; h.Region == region && h.Name == name && (h.Drain == nil) != (drain == nil) {
			h.Drain, changed = drain, true
		}
	}
	return changed, f.wishFails
}

func (f *fakeProbers) ForgetProber(_ context.Context, region, name string) error {
	f.forgotten = append(f.forgotten, region+"/"+name)
	return f.err
}

// TestRegionsAreRetired: nothing more is planned there, and what was measured there is
// answered as before.
func TestRegionsAreRetired(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	versions := schedulestore.New(b.db)
	list := func() string {
		t.Helper()
		return b.do("GET", "/api/v1/regions", "", as(viewerKey)).text
	}
	has := func(what, want string) {
		t.Helper()
		if got := list(); !strings.Contains(got, want) {
			t.Errorf("%s: %s", what, got)
		}
	}
	has("none", `"items":[]`)
	for _, region := range []string{"us", "eu"} {
		if _, err := versions.AddRegion(t.Context(), region); err != nil {
			t.Fatal(err)
		}
	}
	has("new", `[{"region":"eu","state":"joining","since":null},{"region":"us","state":"joining","since":null}]`)
	adopt := func(upTo int64) {
		t.Helper()
		if _, err := versions.Adopt(t.Context(), upTo, testNow); err != nil {
			t.Fatal(err)
		}
	}
	adopt(2)
	has("adopted", `{"region":"eu","state":"active","since":"2026-03-01T12:00:00.000Z"}`)

	b.create(`{"url":"https://example.com/"}`)
	b.results.rows = []uptime.Result{{TargetID: 1, Region: "us", ScheduledAt: testNow.Add(-time.Minute), Status: uptime.StatusUp}}
	before := b.do("GET", "/api/v1/targets/1/results", "", as(viewerKey)).text
	for range 2 { // once more changes nothing
		if got := b.do("DELETE", "/api/v1/regions/us", "", as(ownerKey)); got.Code != http.StatusOK || !strings.Contains(got.text, `{"region":"us","state":"leaving","since":null}`) {
			t.Errorf("%d %s", got.Code, got.text)
		}
	}
	adopt(4)
	has("retired", `{"region":"us","state":"retired","since":"2026-03-01T12:00:00.000Z"}`)
	if after := b.do("GET", "/api/v1/targets/1/results", "", as(viewerKey)).text; after != before || !strings.Contains(after, `"region":"us"`) {
		t.Errorf("history of a retired region: %s", after)
	}
	if got := b.do("DELETE", "/api/v1/regions/nowhere", "", as(ownerKey)); got.Code != http.StatusNotFound {
		t.Errorf("one that never was: %d %s", got.Code, got.text)
	}
	var audited int64
	if err := b.db.Read().Raw("SELECT count(*) FROM audit_log WHERE action = 'region.retired'").Row().Scan(&audited); err != nil || audited != 1 {
		t.Errorf("%d lines in the audit log, %v", audited, err)
	}
}

func TestProbersAreForgotten(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.probers.heard = []checkstream.Heartbeat{
		{Region: "eu", Name: "gone", Age: time.Minute}, {Region: "eu", Name: "running"}, {Region: "eu", Name: "full", Age: time.Minute, Spooled: 7},
	}
	for name, c := range map[string]struct {
		code int
		says string
	}{"gone": {204, ""}, "running": {409, "stop it first"}, "full": {409, "7 results lie on its disk"}, "nobody": {404, "no such prober"}} {
		if got := b.do("DELETE", "/api/v1/regions/eu/probers/"+name, "", as(ownerKey)); got.Code != c.code || !strings.Contains(got.text, c.says) {
			t.Errorf("%s: %d %s", name, got.Code, got.text)
		}
	}
	if len(b.probers.forgotten) != 1 || b.probers.forgotten[0] != "eu/gone" {
		t.Errorf("forgotten: %v", b.probers.forgotten)
	}
	b.probers.err = errors.New("away")
	if got := b.do("DELETE", "/api/v1/regions/eu/probers/gone", "", as(ownerKey)); got.Code != http.StatusServiceUnavailable {
		t.Errorf("without redis: %d %s", got.Code, got.text)
	}
}

func TestProbersAreDrainedAndResumed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.probers.heard = []checkstream.Heartbeat{{Region: "eu", Name: "host:1"}, {Region: "eu", Name: "away", Age: time.Hour}, {Region: "us", Name: "host:1"}}
	ask := func(what, key string) reply { return b.do("POST", "/api/v1/regions/eu/probers/"+what, "", as(key)) }
	audited := func(action string) (n int64) {
		t.Helper()
		if err := b.db.Read().Raw("SELECT count(*) FROM audit_log WHERE action = ? AND object = 'prober:eu/host:1'", action).Row().Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	for _, key := range []string{"", viewerKey, editorKey} {
		if got := ask("host:1:drain", key); got.Code != http.StatusUnauthorized && got.Code != http.StatusForbidden {
			t.Errorf("%q may drain: %d", key, got.Code)
		}
	}
	for range 2 { // once more changes nothing
		if got := ask("host:1:drain", ownerKey); got.Code != http.StatusOK || !strings.Contains(got.text, `"name":"host:1"`) || !strings.Contains(got.text, `"state":"draining","drain_asked_at":"2026-03-01T12:00:00.000Z","drain_asked_by":"key:`) {
			t.Errorf("%d %s", got.Code, got.text)
		}
	}
	if n := audited("prober.drained"); n != 1 || b.probers.heard[2].Drain != nil {
		t.Errorf("%d lines in the audit log, %+v", n, b.probers.heard)
	}
	if got := ask("away:drain", ownerKey); got.Code != http.StatusOK || !strings.Contains(got.text, `"state":"drained"`) {
		t.Errorf("one that is away: %d %s", got.Code, got.text)
	}
	for range 2 {
		if got := ask("host:1:resume", ownerKey); got.Code != http.StatusOK || !strings.Contains(got.text, `"state":"","drain_asked_at":null,"drain_asked_by":""`) {
			t.Errorf("%d %s", got.Code, got.text)
		}
	}
	if n := audited("prober.resumed"); n != 1 {
		t.Errorf("%d lines in the audit log", n)
	}
	for what, code := range map[string]int{"nobody:drain": http.StatusNotFound, "nobody:resume": http.StatusNotFound, "host:1:stop": http.StatusMethodNotAllowed, "drain": http.StatusMethodNotAllowed} {
		if got := ask(what, ownerKey); got.Code != code {
			t.Errorf("%s: %d %s", what, got.Code, got.text)
		}
	}
	away := func(what string) {
		t.Helper()
		if got := ask(what, ownerKey); got.Code != http.StatusServiceUnavailable || got.Header().Get("Retry-After") == "" {
			t.Errorf("%s without redis: %d %s", what, got.Code, got.text)
		}
	}
	b.probers.wishFails = errors.New("away")
	away("host:1:drain")
	away("host:1:resume")
	b.probers.wishFails, b.probers.err = nil, errors.New("away")
	away("host:1:drain")
	away("host:1:resume")
}
