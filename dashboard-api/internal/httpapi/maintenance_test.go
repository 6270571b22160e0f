package httpapi

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestMaintenanceWindows(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	target := b.create(`{"url":"https://example.com/"}`)
	body := fmt.Sprintf(`{"name":"moving house","target_id":%d,"starts_at":"2026-03-01T12:30:00","zone":"Europe/Berlin","duration_s":3600,"rrule":"FREQ=WEEKLY;BYDAY=SU"}`, target.ID)
	created := b.do("POST", "/api/v1/maintenance-windows", body, as(editorKey), header("Idempotency-Key", "k"))
	if created.Code != http.StatusCreated {
		t.Fatalf("%d %s", created.Code, created.text)
	}
	// It is 13:00 in Berlin: it holds since half past twelve, whenever it is asked for.
	for _, want := range []string{`"active":true`, `"next_from":"2026-03-01T11:30:00.000Z"`, `"next_to":"2026-03-01T12:30:00.000Z"`, `"zone":"Europe/Berlin"`, `"ended_at":null`, fmt.Sprintf(`"target_id":%d`, target.ID)} {
		if !strings.Contains(created.text, want) {
			t.Errorf("%s is not in %s", want, created.text)
		}
	}
	if again := b.do("POST", "/api/v1/maintenance-windows", body, as(editorKey), header("Idempotency-Key", "k")); again.text != created.text {
		t.Errorf("repeated: %s", again.text)
	}
	path := created.Header().Get("Location")
	if got := b.do("GET", path, "", as(viewerKey)); got.text != created.text {
		t.Errorf("%s", got.text)
	}
	later := b.do("POST", "/api/v1/maintenance-windows", `{"name":"everything","everything":true,"starts_at":"2026-04-01T00:00:00","duration_s":60}`, as(editorKey))
	for _, gone := range []string{path, later.Header().Get("Location")} {
		if got := b.do("DELETE", gone, "", as(editorKey)); got.Code != http.StatusNoContent {
			t.Errorf("%d %s", got.Code, got.text)
		}
	}
	tagged := b.do("POST", "/api/v1/maintenance-windows", `{"name":"databases","tags":["DB","a","db"],"starts_at":"2026-04-01T00:00:00","duration_s":60}`, as(editorKey))
	if tagged.Code != http.StatusCreated || !strings.Contains(tagged.text, `"everything":false,"target_id":null,"tags":["a","db"],`) {
		t.Errorf("%d %s", tagged.Code, tagged.text)
	}
	list := b.do("GET", "/api/v1/maintenance-windows", "", as(viewerKey))
	if !strings.Contains(list.text, `"ended_at":"2026-03-01T12:00:00.000Z"`) || strings.Contains(list.text, "everything\",") || strings.Contains(list.text, `"active":true`) {
		t.Errorf("%s", list.text)
	}
	for body, want := range map[string]string{
		`{"name":"x"`: " malformed_json",
		`{}`:          "/name required",
		`{"name":"x","starts_at":"2026-03-01T00:00:00","duration_s":60}`:                                                      "/everything required",
		`{"name":"x","everything":true,"target_id":1,"starts_at":"2026-03-01T00:00:00","duration_s":60}`:                      "/everything conflict",
		`{"name":"x","everything":true,"starts_at":"tomorrow","duration_s":60}`:                                               "/starts_at invalid_text",
		`{"name":"x","everything":true,"starts_at":"2026-03-29T02:30:00","zone":"Europe/Berlin","duration_s":60}`:             "/starts_at conflict",
		`{"name":"x","everything":true,"starts_at":"2026-03-01T00:00:00","duration_s":1}`:                                     "/duration_s out_of_range",
		`{"name":"x","everything":true,"starts_at":"2026-03-01T00:00:00","duration_s":60,"rrule":"FREQ=SECONDLY"}`:            "/rrule invalid_text",
		`{"name":"x","everything":true,"starts_at":"2026-03-01T00:00:00","duration_s":60,"zone":"Mars/Base"}`:                 "/zone unknown_value",
		`{"name":"x","target_id":4711,"starts_at":"2026-03-01T00:00:00","duration_s":60}`:                                     "/target_id not_found",
		`{"name":"x","everything":true,"starts_at":"2026-03-01T00:00:00","duration_s":60,"tags":["prod"]}`:                    "/everything conflict",
		`{"name":"x","tags":["prod","a b"],"starts_at":"2026-03-01T00:00:00","duration_s":60}`:                                "/tags/1 invalid_text",
		`{"name":"x","everything":true,"starts_at":"2026-03-01T00:00:00","duration_s":60,"rrule":"FREQ=DAILY;BYHOUR=1,2"}`:    "/rrule invalid_text",
		`{"name":"x","everything":true,"starts_at":"2026-03-01T00:00:00","duration_s":60,"rrule":"FREQ=YEARLY;BYMONTHDAY=0"}`: "/rrule invalid_text",
	} {
		p := b.do("POST", "/api/v1/maintenance-windows", body, as(editorKey)).problem(t)
		if !slices.ContainsFunc(p.Errors, func(m Mistake) bool { return m.Pointer+" "+m.Code == want }) && " "+p.Code != want {
			t.Errorf("%s: %+v, want %s", body, p, want)
		}
	}
	if got := b.do("GET", path+"99", "", as(viewerKey)); got.Code != http.StatusNotFound {
		t.Errorf("%d", got.Code)
	}
}

// What another release wrote of windows and rules is shown as what it is, and not changed.
func TestWindowsAndRulesThatCannotBeRead(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	window := b.do("POST", "/api/v1/maintenance-windows", `{"name":"w","everything":true,"starts_at":"2026-03-01T11:30:00","duration_s":3600}`, as(editorKey)).Header().Get("Location")
	rule := b.do("POST", "/api/v1/notification-rules", fmt.Sprintf(`{"name":"r","channel_ids":[%d]}`, b.channel(aWebhook).ID), as(editorKey)).Header().Get("Location")
	for _, table := range []string{"maintenance_windows", "notification_rules"} {
		if err := b.db.Write().Exec("UPDATE " + table + ` SET terms = '{"weather":"rain"}'`).Error; err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{window, rule} {
		for _, from := range []string{path, path[:strings.LastIndexByte(path, '/')]} {
			if got := b.do("GET", from, "", as(viewerKey)); got.Code != http.StatusOK || !strings.Contains(got.text, `"unreadable":"`) || strings.Contains(got.text, `"active":true`) {
				t.Errorf("%s: %d %s", from, got.Code, got.text)
			}
		}
		if p := b.do("PATCH", path, `{"name":"x"}`, as(editorKey)).problem(t); p.Status != http.StatusUnprocessableEntity || p.Code != "unreadable" {
			t.Errorf("%s: %+v", path, p)
		}
		if got := b.do("DELETE", path, "", as(editorKey)); got.Code != http.StatusNoContent {
			t.Errorf("%s: %d %s", path, got.Code, got.text)
		}
	}
}

// A window is changed from now on, as any other document is: what is not given stays, null is the
// default, and who has read an older one is told so.
func TestMaintenanceWindowsAreChanged(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	target, other := b.create(`{"url":"https://example.com/"}`), b.create(`{"url":"https://other.example.com/"}`)
	created := b.do("POST", "/api/v1/maintenance-windows", fmt.Sprintf(`{"name":"moving house","target_id":%d,"starts_at":"2026-03-01T12:30:00","zone":"Europe/Berlin","duration_s":3600,"rrule":"FREQ=WEEKLY;BYDAY=SU"}`, target.ID), as(editorKey))
	path, tag := created.Header().Get("Location"), created.Header().Get("ETag")
	if read := b.do("GET", path, "", as(viewerKey)); tag != `"1"` || read.Header().Get("ETag") != tag || !strings.Contains(read.text, `"begun":true,"ended_at":null,"created_at":"2026-03-01T12:00:00.000Z","changed_at":null,"version":1`) {
		t.Fatalf("%s %s", tag, read.text)
	}
	b.now = b.now.Add(10 * time.Minute)
	// Half an hour more, while it is under way: it began when it began.
	longer := b.do("PATCH", path, `{"duration_s":5400}`, as(editorKey), header("If-Match", tag))
	for _, want := range []string{`"name":"moving house"`, `"next_from":"2026-03-01T11:30:00.000Z"`, `"next_to":"2026-03-01T13:00:00.000Z"`, `"changed_at":"2026-03-01T12:10:00.000Z"`, `"version":2`, `"rrule":"FREQ=WEEKLY;BYDAY=SU"`} {
		if longer.Code != http.StatusOK || longer.Header().Get("ETag") != `"2"` || !strings.Contains(longer.text, want) {
			t.Errorf("%s is not in %d %s", want, longer.Code, longer.text)
		}
	}
	for _, method := range []string{"PATCH", "DELETE"} {
		for _, match := range []string{tag, `"x"`} {
			if got := b.do(method, path, `{"name":"lost"}`, as(editorKey), header("If-Match", match)); got.Code != http.StatusPreconditionFailed || got.problem(t).Code != codeVersionMismatch {
				t.Errorf("%s %s: %d %s", method, match, got.Code, got.text)
			}
		}
	}
	for body, want := range map[string]string{
		`{"name":"x"`:                "malformed_json",
		`{"begun":false}`:            "/begun unknown_field",
		`{"name":null}`:              "/name required",
		`{"name":" "}`:               "/name required",
		`{"target_id":null}`:         "/everything required",
		`{"everything":true}`:        "/everything conflict",
		`{"target_id":4711}`:         "/target_id not_found",
		`{"starts_at":null}`:         "/starts_at invalid_text",
		`{"zone":"Mars/Base"}`:       "/zone unknown_value",
		`{"duration_s":59}`:          "/duration_s out_of_range",
		`{"duration_s":"long"}`:      "/duration_s invalid_type",
		`{"rrule":"FREQ=SECONDLY"}`:  "/rrule invalid_text",
		`{"tags":["a b"],"name":""}`: "/tags/0 invalid_text",
	} {
		p := b.do("PATCH", path, body, as(editorKey)).problem(t)
		if !slices.ContainsFunc(p.Errors, func(m Mistake) bool { return strings.TrimSpace(m.Pointer+" "+m.Code) == want }) && p.Code != want {
			t.Errorf("%s: %+v, want %s", body, p, want)
		}
	}
	if got := b.do("GET", path, "", as(viewerKey)); got.text != longer.text {
		t.Errorf("what was refused changed it: %s", got.text)
	}
	moved := b.do("PATCH", path, `{"name":"all of it","target_id":null,"tags":["Db"],"rrule":null,"zone":null}`, as(editorKey))
	if !strings.Contains(moved.text, `"name":"all of it","everything":false,"target_id":null,"tags":["db"],"starts_at":"2026-03-01T12:30:00","zone":"UTC","duration_s":5400,"rrule":""`) {
		t.Errorf("%s", moved.text)
	}
	if got := b.do("PATCH", path, fmt.Sprintf(`{"target_id":%d,"tags":null}`, other.ID), as(editorKey)); got.Code != http.StatusOK {
		t.Errorf("%s", got.text)
	}
	b.do("DELETE", fmt.Sprintf("/api/v1/targets/%d", other.ID), "", as(editorKey))
	if got := b.do("PATCH", path, `{"duration_s":60}`, as(editorKey)); got.Code != http.StatusOK { // its target is gone
		t.Errorf("%s", got.text)
	}
	if got := b.do("DELETE", path, "", as(editorKey), header("If-Match", `"5"`)); got.Code != http.StatusNoContent {
		t.Errorf("%d %s", got.Code, got.text)
	}
	if p := b.do("PATCH", path, `{"name":"again"}`, as(editorKey)).problem(t); p.Code != "window_ended" || p.Status != http.StatusConflict {
		t.Errorf("%+v", p)
	}
	if log := b.do("GET", "/api/v1/audit?action=maintenance-window.updated", "", as(ownerKey)); strings.Count(log.text, `"action":"maintenance-window.updated"`) != 4 || !strings.Contains(log.text, `"detail":"all of it"`) {
		t.Errorf("%s", log.text)
	}
}
