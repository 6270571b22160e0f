package httpapi

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

type heartbeatJSON struct {
	Path       string
	Paused     bool
	ExpectedAt *time.Time `json:"expected_at"`
	DeadlineAt *time.Time `json:"deadline_at"`
	LastSignal string     `json:"last_signal"`
	ExitCode   int        `json:"exit_code"`
	Excerpt    string
	Pings      int
}

const nightly = `{"kind":"heartbeat","name":"Nightly back-up!","heartbeat":{"cron":"30 2 * * *","zone":"Europe/Berlin","grace_s":1800}}`

func (b *bench) heartbeat(id int64) (h heartbeatJSON) {
	b.Helper()
	got := b.do("GET", fmt.Sprintf("/api/v1/targets/%d/heartbeat", id), "", as(editorKey))
	if got.Code != http.StatusOK || got.Header().Get("Cache-Control") != "no-store" {
		b.Fatalf("%d %v %s", got.Code, got.Header(), got.text)
	}
	got.into(b, &h)
	return h
}

// rowsOf are the rows of heartbeats that wait, as "status failure message".
func (b *bench) rowsOf() (all []string) {
	b.Helper()
	rows, err := b.beats.Rows(b.Context(), 1000)
	if err != nil {
		b.Fatal(err)
	}
	for _, r := range rows {
		all = append(all, strings.TrimSpace(fmt.Sprintf("%s %s %s %s", r.ScheduledAt.Format("15:04:05"), r.Status, r.Failure, r.Message)))
		if r.Region != uptime.RegionPush {
			b.Errorf("region %s", r.Region)
		}
	}
	return all
}

func TestHeartbeatTarget(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	target := b.create(nightly)
	if target.URL != "heartbeat://nightly-back-up" || target.Kind != "heartbeat" || target.IntervalS != 25*3600 || target.Name != "Nightly back-up!" {
		t.Errorf("%+v", target)
	}
	if got := b.do("GET", fmt.Sprintf("/api/v1/targets/%d", target.ID), "", as(viewerKey)); !strings.Contains(got.text, `"heartbeat":{"cron":"30 2 * * *","zone":"Europe/Berlin","grace_s":1800}`) || strings.Contains(got.text, "/heartbeats/") {
		t.Error(got.text)
	}
	if got := b.do("GET", fmt.Sprintf("/api/v1/targets/%d/heartbeat", target.ID), "", as(viewerKey)); got.Code != http.StatusForbidden {
		t.Errorf("a viewer sees the token: %d", got.Code)
	}
	if other := b.create(`{"url":"heartbeat://Hourly","heartbeat":{"period_s":3600,"grace_s":60}}`); other.Name != "hourly (heartbeat)" || other.IntervalS != 3600 {
		t.Errorf("%+v", other)
	}
	path := fmt.Sprintf("/api/v1/targets/%d", target.ID)
	for body, want := range map[string]string{
		`{"kind":"heartbeat","name":"x"}`:                                                                                                 "/heartbeat required",
		`{"kind":"heartbeat","heartbeat":{"period_s":60,"grace_s":60}}`:                                                                   "/name required",
		`{"url":"heartbeat://x/y","heartbeat":{"period_s":60,"grace_s":60}}`:                                                              "/url invalid_url",
		`{"url":"heartbeat://x","heartbeat":{"period_s":9,"grace_s":60}}`:                                                                 "/heartbeat/period_s out_of_range",
		`{"url":"heartbeat://x","heartbeat":{"period_s":60}}`:                                                                             "/heartbeat/grace_s out_of_range",
		`{"url":"heartbeat://x","heartbeat":{"cron":"* * * *","grace_s":60}}`:                                                             "/heartbeat/cron unknown_value",
		`{"url":"heartbeat://x","heartbeat":{"cron":"0 2 * * *","period_s":60,"grace_s":60}}`:                                             "/heartbeat/cron conflict",
		`{"url":"heartbeat://x","heartbeat":{"cron":"0 2 * * *","zone":"Mars","grace_s":60}}`:                                             "/heartbeat/zone unknown_value",
		`{"url":"heartbeat://x","heartbeat":{"period_s":60,"zone":"UTC","grace_s":60}}`:                                                   "/heartbeat/zone conflict",
		`{"url":"heartbeat://x","interval_s":60,"heartbeat":{"period_s":60,"grace_s":60}}`:                                                "/interval_s not_of_kind",
		`{"url":"heartbeat://x","regions":["eu"],"heartbeat":{"period_s":60,"grace_s":60}}`:                                               "/regions not_of_kind",
		`{"url":"https://x.example/","heartbeat":{"period_s":60,"grace_s":60}}`:                                                           "/heartbeat not_of_kind",
		`{"url":"heartbeat://x","heartbeat":{"period_s":60,"grace_s":60},"assertions":[{"source":"status","op":"equals","value":"200"}]}`: "/assertions/0/source source_not_of_kind",
	} {
		got := b.do("POST", "/api/v1/targets", body, as(editorKey))
		p := got.problem(t)
		if len(p.Errors) != 1 || p.Errors[0].Pointer+" "+p.Errors[0].Code != want {
			t.Errorf("%s: %s, want %s", body, got.text, want)
		}
	}
	if got := b.do("POST", "/api/v1/checks", `{"url":"heartbeat://x","heartbeat":{"period_s":60,"grace_s":60}}`, as(editorKey)); got.Code != http.StatusUnprocessableEntity {
		t.Errorf("a check on demand of a heartbeat: %d %s", got.Code, got.text)
	}
	if got := b.do("PATCH", path, `{"url":"https://example.com/","heartbeat":null}`, as(editorKey)); got.Code != http.StatusOK || !strings.Contains(got.text, `"interval_s":60,`) {
		t.Errorf("%d %s", got.Code, got.text)
	}
	if got := b.do("GET", path+"/heartbeat", "", as(editorKey)); got.Code != http.StatusNotFound {
		t.Errorf("no heartbeat any more: %d %s", got.Code, got.text)
	}
}

func TestPing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	target := b.create(`{"kind":"heartbeat","name":"job","heartbeat":{"period_s":600,"grace_s":60}}`)
	path := b.heartbeat(target.ID).Path
	for _, c := range []struct{ method, suffix, body, want string }{
		{"GET", "", "", "12:00:01 up"},
		{"HEAD", "", "", "12:00:02 up"},
		{"POST", "", "all well\nreally", "12:00:03 up  all well"},
		{"POST", "/start", "", ""},
		{"POST", "/0", "", "12:00:05 up"},
		{"GET", "/log", "", ""},
		{"POST", "/fail", "\x00disk full\xff", "12:00:07 down reported the job said that it failed: disk full�"},
		{"GET", "/3", "", "12:00:08 down reported exit code 3"},
		{"POST", "/255", strings.Repeat("x", 11<<10), "12:00:09 down reported exit code 255: " + strings.Repeat("x", 200)},
	} {
		b.now = b.now.Add(time.Second)
		before := len(b.rowsOf())
		got := b.do(c.method, path+c.suffix, c.body, header("Content-Type", "text/x-log"), header("Sec-Fetch-Site", "cross-site"), header("Cookie", "pf_session=x"))
		if got.Code != http.StatusOK || got.Header().Get("Cache-Control") != "no-store" || got.Header().Get("Set-Cookie") != "" {
			t.Errorf("%s %s: %d %v %s", c.method, c.suffix, got.Code, got.Header(), got.text)
		}
		rows := b.rowsOf()
		switch {
		case c.want == "" && len(rows) == before:
		case c.want == "" || len(rows) != before+1 || rows[before] != c.want:
			t.Errorf("%s %s: rows %v, want %q", c.method, c.suffix, rows[before:], c.want)
		}
	}
	h := b.heartbeat(target.ID)
	if h.Pings != 9 || h.LastSignal != "fail" || h.ExitCode != 255 || len(h.Excerpt) != 10<<10 || !h.ExpectedAt.Equal(b.now.Add(10*time.Minute)) || !h.DeadlineAt.Equal(b.now.Add(11*time.Minute)) || b.pinged != 9 {
		t.Errorf("%+v, woken %d times", h, b.pinged)
	}
	rows, err := b.beats.Rows(t.Context(), 100)
	if err != nil || rows[3].TotalUS != 1e6 || rows[4].Evidence == nil || rows[4].Evidence.Received != "disk full�" || rows[2].Evidence != nil {
		t.Errorf("%v %+v", err, rows)
	}

	for suffix, code := range map[string]int{"/256": 404, "/restart": 404, "/start/x": 404, "x": 404} {
		if got := b.do("GET", path+suffix, ""); got.Code != code {
			t.Errorf("%s: %d %s", suffix, got.Code, got.text)
		}
	}
	for _, token := range []string{"nobody", strings.Repeat("A", 26), strings.Repeat("A", 4000), "%00"} {
		if got := b.do("POST", heartbeatPrefix+token, ""); got.problem(t).Code != "not_found" || got.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%.30s: %d %s", token, got.Code, got.text)
		}
	}
	if got := b.do("PATCH", path, "{}"); got.Code != http.StatusMethodNotAllowed {
		t.Errorf("PATCH: %d", got.Code)
	}
	if strings.Contains(b.log.String(), strings.TrimPrefix(path, heartbeatPrefix)) {
		t.Error("the log gives a token away")
	}
}

func TestPingRate(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	path := b.heartbeat(b.create(`{"kind":"heartbeat","name":"job","heartbeat":{"period_s":600,"grace_s":60}}`).ID).Path
	other := b.heartbeat(b.create(`{"kind":"heartbeat","name":"other","heartbeat":{"period_s":600,"grace_s":60}}`).ID).Path
	refused := 0
	for range 3 * burst {
		got := b.do("GET", path+"/log", "")
		if got.Code == http.StatusTooManyRequests && got.Header().Get("Retry-After") != "" && got.Header().Get("Cache-Control") == "no-store" {
			refused++
		} else if got.Code != http.StatusOK {
			t.Fatalf("%d %s", got.Code, got.text)
		}
	}
	if refused == 0 {
		t.Error("no ping was too many")
	}
	if got := b.do("GET", other, ""); got.Code != http.StatusOK {
		t.Errorf("another heartbeat: %d", got.Code)
	}
}

// TestRotate: the path before ends; the new one is shown again and again.
func TestRotate(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	id := b.create(nightly).ID
	before := b.heartbeat(id).Path
	got := b.do("POST", fmt.Sprintf("/api/v1/targets/%d/heartbeat/token", id), "", as(editorKey))
	after := b.heartbeat(id).Path
	if got.Code != http.StatusOK || before == after || !strings.Contains(got.text, after) || len(after) < len(heartbeatPrefix)+26 {
		t.Errorf("%d %s: %s, then %s", got.Code, got.text, before, after)
	}
	if old, now := b.do("GET", before, ""), b.do("GET", after, ""); old.Code != http.StatusNotFound || now.Code != http.StatusOK {
		t.Errorf("%d %d", old.Code, now.Code)
	}
	var stored string
	if err := b.db.Read().Raw("SELECT token_hash || token_sealed FROM heartbeats").Row().Scan(&stored); err != nil || strings.Contains(stored, strings.TrimPrefix(after, heartbeatPrefix)) {
		t.Errorf("%v: the token stands in the database", err)
	}
	if got := b.do("POST", "/api/v1/targets/4711/heartbeat/token", "", as(editorKey)); got.Code != http.StatusNotFound {
		t.Errorf("%d", got.Code)
	}
}

// TestPingPausedAndWithoutDatabase: a paused heartbeat answers and keeps no rows; without
// the database nothing is promised.
func TestPingPausedAndWithoutDatabase(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	target := b.create(nightly)
	path := b.heartbeat(target.ID).Path
	if got := b.do("PATCH", fmt.Sprintf("/api/v1/targets/%d", target.ID), `{"active":false}`, as(editorKey)); got.Code != http.StatusOK {
		t.Fatal(got.text)
	}
	if got := b.do("GET", path, ""); got.Code != http.StatusOK || got.text != "OK (paused)\n" || len(b.rowsOf()) > 0 {
		t.Errorf("%d %s %v", got.Code, got.text, b.rowsOf())
	}
	if h := b.heartbeat(target.ID); !h.Paused || h.ExpectedAt != nil || h.Pings != 1 {
		t.Errorf("%+v", h)
	}
	if err := b.db.Close(); err != nil {
		t.Fatal(err)
	}
	if got := b.do("GET", path, ""); got.Code != http.StatusServiceUnavailable || got.Header().Get("Retry-After") == "" {
		t.Errorf("%d %v", got.Code, got.Header())
	}
}

// TestPingKeepsNoToken: jobs that print what they run send their own address along, and
// more people see what they say than may ping.
func TestPingKeepsNoToken(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	path := b.heartbeat(b.create(`{"kind":"heartbeat","name":"job","heartbeat":{"period_s":600,"grace_s":60}}`).ID).Path
	token := strings.TrimPrefix(path, heartbeatPrefix)
	if got := b.do("POST", path+"/fail", "+ curl https://fleet.example"+path+"/start\nno "+token); got.Code != http.StatusOK {
		t.Fatal(got.Code, got.text)
	}
	rows, err := b.beats.Rows(t.Context(), 10)
	if err != nil || len(rows) != 1 || rows[0].Evidence == nil {
		t.Fatalf("%v %+v", err, rows)
	}
	h := b.heartbeat(1)
	for _, text := range []string{rows[0].Message, rows[0].Evidence.Received, h.Excerpt} {
		if strings.Contains(text, token) || !strings.Contains(text, "+ curl https://fleet.example/api/v1/heartbeats/…/start") {
			t.Error(text)
		}
	}
}

// slowBody is one that takes its time.
type slowBody struct {
	io.Reader
	meanwhile func()
}

func (s *slowBody) Read(p []byte) (int, error) {
	if s.meanwhile != nil {
		s.meanwhile()
		s.meanwhile = nil
	}
	return s.Reader.Read(p)
}

// TestPingIsThereWhenItIsWhole: a deadline that ends while a body is on its way is over, and
// the ping no earlier than that.
func TestPingIsThereWhenItIsWhole(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	target := b.create(`{"kind":"heartbeat","name":"job","heartbeat":{"period_s":600,"grace_s":60}}`)
	path := b.heartbeat(target.ID).Path
	if got := b.do("POST", path, ""); got.Code != http.StatusOK {
		t.Fatal(got.Code, got.text)
	}
	b.now = testNow.Add(11*time.Minute - time.Second)
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, &slowBody{strings.NewReader("done"), func() {
		b.now = b.now.Add(5 * time.Second)
		if n, err := b.beats.Settle(t.Context(), target.ID, b.now); n != 1 || err != nil {
			t.Error(n, err)
		}
	}})
	w := httptest.NewRecorder()
	b.handler.ServeHTTP(w, r)
	want := []string{"12:00:00 up", "12:10:00 down timeout no ping came by 2026-03-01 12:11:00 UTC", "12:11:04 up  done"}
	if got := b.rowsOf(); w.Code != http.StatusOK || !slices.Equal(got, want) {
		t.Errorf("%d, %q", w.Code, got)
	}
}

// TestLatestOfARarePing: a thousand years back is no instant to come.
func TestLatestOfARarePing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	yearly := b.create(`{"kind":"heartbeat","name":"job","heartbeat":{"period_s":31622400,"grace_s":60}}`)
	for _, n := range []int{1, 90, 1000} {
		b.do("GET", fmt.Sprintf("/api/v1/results/latest?ids=%d&n=%d", yearly.ID, n), "", as(viewerKey))
		if since := b.results.since[yearly.ID]; since.After(testNow.AddDate(-1, 0, 0)) {
			t.Errorf("the newest %d since %v", n, since)
		}
	}
}
