package httpapi

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/probefleet/probefleet/internal/secret"
	"github.com/probefleet/probefleet/internal/subscriberstore"
	"github.com/probefleet/probefleet/internal/testbackend"
)

func TestStatusPages(t *testing.T) {
	t.Parallel()
	told := 0
	b := newBenchOn(t, testbackend.SQLite(t), func(_ *bench, o *Options) { o.PagesChanged = func() { told++ } })
	target, other := b.create(`{"url":"https://example.com/"}`), b.create(`{"url":"https://example.org/"}`)
	body := fmt.Sprintf(`{"slug":"main","host":"Status.Example.com","published":true,"title":"Acme","theme":"dark","accent_dark":"#8ab4f8","zone":"Europe/Berlin","password":"correct horse","allow":["192.0.2.7","2001:db8::1/32"],
 "groups":[{"name":"Web","components":[{"name":"Site","target_ids":[%d,%d]},{"name":"By hand","rule":"manual","state":"degraded"}]}]}`, target.ID, other.ID)
	created := b.do("POST", "/api/v1/status-pages", body, as(editorKey))
	if created.Code != http.StatusCreated {
		t.Fatalf("%d %s", created.Code, created.text)
	}
	for _, want := range []string{`"host":"status.example.com"`, `"has_password":true`, `"allow":["192.0.2.7/32","2001:db8::/32"]`, fmt.Sprintf(`"target_ids":[%d,%d]`, target.ID, other.ID), `"id":2,"name":"By hand"`} {
		if !strings.Contains(created.text, want) {
			t.Errorf("%s is not in %s", want, created.text)
		}
	}
	if strings.Contains(created.text, "argon") || strings.Contains(created.text, "horse") {
		t.Errorf("the password is told: %s", created.text)
	}
	path, tag := created.Header().Get("Location"), created.Header().Get("ETag")
	read := b.do("GET", path, "", as(viewerKey))
	if read.text != created.text || read.Header().Get("ETag") != tag {
		t.Errorf("%s %s", read.Header().Get("ETag"), read.text)
	}
	if got := b.do("GET", path, "", as(viewerKey), header("If-None-Match", tag)); got.Code != http.StatusNotModified {
		t.Errorf("%d", got.Code)
	}
	// A deleted target goes from the page, and whoever read the page before has read an old one.
	gone := b.do("DELETE", fmt.Sprintf("/api/v1/targets/%d", other.ID), "", as(editorKey))
	if d := b.do("GET", gone.Header().Get("Location"), "", as(editorKey)); !strings.Contains(d.text, `"step":"pages","state":"done"`) {
		t.Errorf("%s", d.text)
	}
	if got := b.do("GET", path, "", as(viewerKey), header("If-None-Match", tag)); got.Code != http.StatusOK || !strings.Contains(got.text, fmt.Sprintf(`"target_ids":[%d]`, target.ID)) {
		t.Errorf("%d %s", got.Code, got.text)
	}
	if got := b.do("PATCH", path, `{"title":"x"}`, as(editorKey), header("If-Match", tag)); got.problem(t).Code != codeVersionMismatch {
		t.Errorf("%d %s", got.Code, got.text)
	}
	tag = b.do("GET", path, "", as(viewerKey)).Header().Get("ETag")
	patched := b.do("PATCH", path, `{"title":"Acme & Co","password":null,"host":null,"groups":[{"components":[{"id":2,"name":"Stays","rule":"manual","state":"up"},{"name":"New"}]}]}`, as(editorKey), header("If-Match", tag))
	if patched.Code != http.StatusOK || !strings.Contains(patched.text, `"has_password":false`) || !strings.Contains(patched.text, `"id":3,"name":"New"`) || !strings.Contains(patched.text, `"host":null`) {
		t.Errorf("%d %s", patched.Code, patched.text)
	}
	if told != 2 {
		t.Errorf("pages were told of %d changes", told)
	}
	if got := b.do("DELETE", path, "", as(editorKey)); got.Code != http.StatusNoContent {
		t.Errorf("%d %s", got.Code, got.text)
	}
	if got := b.do("GET", path, "", as(viewerKey)); got.Code != http.StatusNotFound {
		t.Errorf("%d", got.Code)
	}
}

func TestMistakesInStatusPages(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	if got := b.do("POST", "/api/v1/status-pages", `{"slug":"taken","title":"x"}`, as(editorKey)); got.Code != http.StatusCreated {
		t.Fatalf("%s", got.text)
	}
	page := func(members string) string { return `{"slug":"a","title":"x",` + members + `}` }
	for body, want := range map[string]string{
		`{}`:                               "/slug required",
		`{"slug":"taken","title":"x"}`:     "/slug duplicate_name",
		`{"slug":"A b","title":"x"}`:       "/slug invalid_text",
		page(`"host":"example.com:80"`):    "/host invalid_text",
		page(`"host":"PF.example."`):       "/host invalid_text", // that of the dashboard
		page(`"host":"203.0.113.7"`):       "/host invalid_text",
		page(`"host":"127.1"`):             "/host invalid_text",
		page(`"host":"::1"`):               "/host invalid_text",
		page(`"host":"a.localhost"`):       "/host invalid_text",
		page(`"description":"a\u0000b"`):   "/description invalid_text",
		page(`"theme":"pink"`):             "/theme unknown_value",
		page(`"accent":"#ffff00"`):         "/accent contrast_too_low",
		page(`"accent_dark":"#202020"`):    "/accent_dark contrast_too_low",
		page(`"accent":"red"`):             "/accent invalid_text",
		page(`"language":"xx"`):            "/language unknown_value",
		page(`"zone":"Mars/Base"`):         "/zone unknown_zone",
		page(`"password":"short"`):         "/password out_of_range",
		page(`"allow":["here"]`):           "/allow/0 invalid_text",
		page(`"password_hash":"$argon2i"`): "/password_hash unknown_field",
		page(`"groups":[{"components":[{"name":"c","target_ids":[4711]}]}]`): "/groups not_found",
		page(`"groups":[{"components":[{"id":9,"name":"c"}]}]`):              "/groups/0/components/0/id not_found",
		page(`"groups":[{"components":[{"name":"c","rule":"best"}]}]`):       "/groups/0/components/0/rule unknown_value",
		page(`"groups":[{"components":[{"name":"c","rule":"manual"}]}]`):     "/groups/0/components/0/state unknown_value",
		page(`"groups":[{"components":[{"name":"c","state":"up"}]}]`):        "/groups/0/components/0/state conflict",
		page(`"groups":[{"components":[{"name":"c","tags":["a b"]}]}]`):      "/groups/0/components/0/tags/0 invalid_text",
		page(`"groups":[{"components":[{}]}]`):                               "/groups/0/components/0/name required",
		page(`"groups":[{"components":[{"name":"c","colour":1}]}]`):          "/groups/0/components/0/colour unknown_field",
	} {
		p := b.do("POST", "/api/v1/status-pages", body, as(editorKey)).problem(t)
		if !slices.ContainsFunc(p.Errors, func(m Mistake) bool { return m.Pointer+" "+m.Code == want }) {
			t.Errorf("%s: %+v, want %s", body, p, want)
		}
	}
	if p := b.do("POST", "/api/v1/status-pages", page(`"accent":"#ffff00"`), as(editorKey)).problem(t); !strings.Contains(p.Detail, "1.07 to 1 with #ffffff") {
		t.Errorf("the ratio is not told: %s", p.Detail)
	}
	for own, said := range map[string]string{"pf.example": "the dashboard is at pf.example (API_PUBLIC_URL)", "203.0.113.7": "an IP address", "localhost": "localhost is no page's own"} {
		if p := b.do("POST", "/api/v1/status-pages", page(`"host":"`+own+`"`), as(editorKey)).problem(t); p.Status != http.StatusUnprocessableEntity || !strings.Contains(p.Detail, said) {
			t.Errorf("%s: %d %s", own, p.Status, p.Detail)
		}
	}
}

func TestStatusPosts(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	page := b.do("POST", "/api/v1/status-pages", `{"slug":"a","title":"x","groups":[{"components":[{"name":"c"}]}]}`, as(editorKey)).Header().Get("Location")
	posts := page + "/posts"
	created := b.do("POST", posts, `{"title":"Slow","impact":"degraded","component_ids":[1],"text":"We **look**."}`, as(editorKey))
	if created.Code != http.StatusCreated || !strings.Contains(created.text, `"state":"investigating"`) {
		t.Fatalf("%d %s", created.Code, created.text)
	}
	path := created.Header().Get("Location")
	if got := b.do("PATCH", path, `{"title":"Slower"}`, as(editorKey), header("If-Match", `"1"`)); got.Code != http.StatusOK || !strings.Contains(got.text, "Slower") {
		t.Errorf("%d %s", got.Code, got.text)
	}
	if got := b.do("POST", path+"/updates", `{"state":"resolved","text":"Over."}`, as(editorKey), header("If-Match", `"1"`)); got.problem(t).Code != codeVersionMismatch {
		t.Errorf("%s", got.text)
	}
	done := b.do("POST", path+"/updates", `{"state":"resolved","text":"Over."}`, as(editorKey))
	if done.Code != http.StatusOK || !strings.Contains(done.text, `"resolved_at":"2026-03-01T12:00:00.000Z"`) || strings.Count(done.text, `"at":`) != 2 {
		t.Errorf("%d %s", done.Code, done.text)
	}
	again := header("Idempotency-Key", "k")
	more := b.do("POST", path+"/updates", `{"text":"It was a disk."}`, as(editorKey), again)
	if got := b.do("POST", path+"/updates", `{"text":"It was a disk."}`, as(editorKey), again); got.text != more.text || got.Header().Get("Idempotency-Replayed") != "true" || got.Header().Get("ETag") != more.Header().Get("ETag") {
		t.Errorf("%d %s", got.Code, got.text)
	}
	if got := b.do("GET", path, "", as(viewerKey)); strings.Count(got.text, "It was a disk.") != 1 || got.text != more.text {
		t.Errorf("told %s, there is %s", more.text, got.text)
	}
	if got := b.do("GET", posts, "", as(viewerKey)); !strings.Contains(got.text, "Over.") {
		t.Errorf("%s", got.text)
	}
	for body, want := range map[string]string{
		`{}`:                                     "/text required",
		`{"title":"x","text":"y","kind":"rant"}`: "/kind unknown_value",
		`{"title":"x","text":"y","impact":"bad"}`:      "/impact unknown_value",
		`{"title":"x","text":"y","state":"gone"}`:      "/state unknown_value",
		`{"title":"x","text":"y","component_ids":[2]}`: "/component_ids/0 not_found",
	} {
		p := b.do("POST", posts, body, as(editorKey)).problem(t)
		if !slices.ContainsFunc(p.Errors, func(m Mistake) bool { return m.Pointer+" "+m.Code == want }) {
			t.Errorf("%s: %+v, want %s", body, p, want)
		}
	}
	if p := b.do("PATCH", path, `{"text":"else"}`, as(editorKey)).problem(t); p.Errors[0].Pointer != "/text" {
		t.Errorf("%+v", p)
	}
	if got := b.do("DELETE", path, "", as(editorKey)); got.Code != http.StatusNoContent {
		t.Errorf("%d", got.Code)
	}
	for _, missing := range []string{path, page + "99/posts"} {
		if got := b.do("GET", missing, "", as(viewerKey)); got.Code != http.StatusNotFound {
			t.Errorf("%s: %d", missing, got.Code)
		}
	}
}

func TestSubscribersOfPages(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	if got := b.do("POST", "/api/v1/targets", `{"url":"https://example.com/","tags":["prod"]}`, as(editorKey)); got.Code != http.StatusCreated {
		t.Fatalf("%s", got.text)
	}
	created := b.do("POST", "/api/v1/status-pages", `{"slug":"a","title":"x","subscribe_email":true,"subscribe_webhook":true,"groups":[{"components":[{"name":"c","tags":["PROD"]}]}]}`, as(editorKey))
	if created.Code != http.StatusCreated || !strings.Contains(created.text, `"subscribe_email":true,"subscribe_webhook":true,"mail_missing":"no mail server is set up`) || !strings.Contains(created.text, `"tags":["prod"],"member_ids":[1]`) {
		t.Fatalf("%d %s", created.Code, created.text)
	}
	path := created.Header().Get("Location")
	if got := b.do("PATCH", path, `{"subscribe_email":null}`, as(editorKey)); !strings.Contains(got.text, `"subscribe_email":false,"subscribe_webhook":true`) {
		t.Errorf("%s", got.text)
	}
	for to, kind := range map[string]string{"ann@example.com": subscriberstore.Email, "https://hooks.example.com/x?token=canary": subscriberstore.Webhook} {
		if err := b.subscribers.Ask(t.Context(), subscriberstore.Wish{PageID: 1, Kind: kind, Terms: subscriberstore.Terms{Address: secret.New(to), Key: secret.New("canary of a key"), Language: "de"}}, b.now); err != nil {
			t.Fatal(err)
		}
	}
	if got := b.do("GET", path+"/subscribers", "", as(viewerKey)); got.Code != http.StatusForbidden {
		t.Errorf("a viewer sees addresses: %d", got.Code)
	}
	got := b.do("GET", path+"/subscribers", "", as(editorKey))
	if got.Code != http.StatusOK || !strings.Contains(got.text, `"to":"ann@example.com"`) || !strings.Contains(got.text, `"to":"hooks.example.com"`) || !strings.Contains(got.text, `"confirmed_at":null`) || strings.Contains(got.text, "canary") {
		t.Errorf("%d %s", got.Code, got.text)
	}
	if got := b.do("DELETE", path+"/subscribers/1", "", as(editorKey)); got.Code != http.StatusNoContent {
		t.Errorf("%d", got.Code)
	}
	if got := b.do("DELETE", path+"/subscribers/1", "", as(editorKey)); got.Code != http.StatusNotFound {
		t.Errorf("%d", got.Code)
	}
	if got := b.do("GET", path+"/copy", "", as(viewerKey)); got.Code != http.StatusOK || !strings.Contains(got.text, `"made_at":"2026-03-01T12:00:00.000Z","files":{"index.html":`) {
		t.Errorf("%d %s", got.Code, got.text)
	}
	if got := b.do("GET", "/api/v1/status-pages/9/copy", "", as(viewerKey)); got.Code != http.StatusNotFound {
		t.Errorf("%d", got.Code)
	}
}
