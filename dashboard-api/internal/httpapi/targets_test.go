package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/probefleet/probefleet/internal/uptime"
)

// withoutPreview is the answer to a write as a read would be answered.
func withoutPreview(text string) string {
	return regexp.MustCompile(`,"preview_check_id":"[^"]*"`).ReplaceAllString(text, "")
}

func TestTargetsLife(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	got := b.do("POST", "/api/v1/targets", `{"url":"https://example.com/x","regions":["us","eu","us"],"expect":{"status":["200-299","404"]}}`, as(editorKey))
	var made targetJSON
	got.into(t, &made)
	want := targetJSON{ID: 1, Name: "example.com/x", URL: "https://example.com/x", Kind: "http", IntervalS: 60, TimeoutMS: 10000, Regions: []string{"eu", "us"}, Active: true,
		Expect: struct{ Status []string }{[]string{"200-299", "404"}}, SpecVersion: 1, CreatedAt: made.CreatedAt, UpdatedAt: made.UpdatedAt}
	if diff := cmp.Diff(want, made); diff != "" || got.Code != http.StatusCreated {
		t.Fatalf("created %d: %s", got.Code, diff)
	}
	if got.Header().Get("Location") != "/api/v1/targets/1" || got.Header().Get("ETag") != `"1"` || !strings.HasSuffix(made.CreatedAt, "Z") {
		t.Errorf("headers %v", got.Header())
	}

	again := b.do("GET", "/api/v1/targets/1", "", as(viewerKey))
	if again.text != withoutPreview(got.text) || again.Header().Get("ETag") != `"1"` {
		t.Errorf("read back %s", again.text)
	}
	for _, known := range []string{`"1"`, `W/"1"`, `"0", "1"`, "*"} {
		got := b.do("GET", "/api/v1/targets/1", "", as(viewerKey), header("If-None-Match", known))
		if h := got.Header(); got.Code != http.StatusNotModified || got.text != "" || h.Get("ETag") != `"1"` || strings.Contains(h.Get("Content-Type"), "problem") || len(h["Cache-Control"]) != 1 || h.Get("Cache-Control") != again.Header().Get("Cache-Control") {
			t.Errorf("%s: not modified: %d %v %q", known, got.Code, h, got.text)
		}
	}

	patched := b.do("PATCH", "/api/v1/targets/1", `{"active":false,"interval_s":10,"regions":null,"expect":null,"timeout_ms":null,"name":"x"}`, as(editorKey), header("If-Match", `"1"`),
		header("Content-Type", "application/merge-patch+json"))
	var after targetJSON
	patched.into(t, &after)
	if patched.Code != http.StatusOK || after.Active || after.IntervalS != 10 || after.TimeoutMS != 5000 || len(after.Regions) != 0 || after.Expect.Status[0] != "200-399" ||
		after.Name != "x" || after.URL != made.URL || after.SpecVersion != 2 || patched.Header().Get("ETag") != `"2"` {
		t.Errorf("patched %d %s", patched.Code, patched.text)
	}
	for _, match := range []string{`"1"`, `"garbage"`} {
		for _, method := range []string{"PATCH", "DELETE"} {
			got := b.do(method, "/api/v1/targets/1", `{"name":"lost"}`, as(editorKey), header("If-Match", match))
			if p := got.problem(t); got.Code != http.StatusPreconditionFailed || p.Code != "version_mismatch" {
				t.Errorf("%s over a newer version: %d %s", method, got.Code, got.text)
			}
		}
	}
	if got := b.do("DELETE", "/api/v1/targets/1", "", as(editorKey), header("If-Match", `"2"`)); got.Code != http.StatusNoContent || got.text != "" {
		t.Errorf("delete: %d %s", got.Code, got.text)
	}
	for _, method := range []string{"GET", "PATCH", "DELETE"} {
		got := b.do(method, "/api/v1/targets/1", `{"name":"x"}`, as(editorKey))
		if p := got.problem(t); got.Code != http.StatusNotFound || p.Code != "not_found" {
			t.Errorf("%s of a deleted target: %d %s", method, got.Code, got.text)
		}
	}
	if len(b.hub.IDs()) != 0 {
		t.Error("the hub still shows the target")
	}
	var audited int64
	if err := b.db.Read().Raw("SELECT count(*) FROM audit_log WHERE object = 'target:1' AND actor LIKE 'key:%'").Scan(&audited).Error; err != nil || audited != 3 {
		t.Errorf("%d of 3 writes are in the audit log (%v)", audited, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_ = b.after.Run(ctx) // its last try
	if len(b.redis.changes) != 3 || len(b.redis.buried) != 1 || b.redis.changes[2].Op != "deleted" {
		t.Errorf("announced %v, buried %v", b.redis.changes, b.redis.buried)
	}
}

func TestListPagesAndFilters(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for i := range 25 {
		b.create(fmt.Sprintf(`{"url":"https://host%d.example/","active":%t}`, i, i%5 != 0))
	}
	var ids []int64
	for path := "/api/v1/targets?limit=10"; ; {
		var page struct {
			Items      []targetJSON
			NextCursor *string `json:"next_cursor"`
		}
		b.do("GET", path, "", as(viewerKey)).into(t, &page)
		for _, item := range page.Items {
			ids = append(ids, item.ID)
		}
		if page.NextCursor == nil {
			break
		}
		path = "/api/v1/targets?limit=10&cursor=" + *page.NextCursor
	}
	if len(ids) != 25 || ids[0] != 1 || ids[24] != 25 {
		t.Errorf("pages gave %v", ids)
	}
	for query, want := range map[string]int{"active=false": 5, "active=true&search=HOST1": 9, "search=%25": 0, "search=nowhere": 0} {
		got := b.do("GET", "/api/v1/targets?"+query, "", as(viewerKey))
		var page struct{ Items []targetJSON }
		got.into(t, &page)
		if len(page.Items) != want || page.Items == nil {
			t.Errorf("%s: %d items, want %d", query, len(page.Items), want)
		}
	}
	for _, query := range []string{"limit=0", "limit=1001", "limit=x", "cursor=x", "cursor=cjEuZXU", "active=maybe"} {
		got := b.do("GET", "/api/v1/targets?"+query, "", as(viewerKey))
		p := got.problem(t)
		if name, _, _ := strings.Cut(query, "="); got.Code != 422 || p.Code != "invalid_parameter" || len(p.Errors) != 1 || p.Errors[0].Parameter != name {
			t.Errorf("%s: %d %s", query, got.Code, got.text)
		}
	}
}

func TestIdempotencyKeyRepeatsTheAnswer(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const body = `{"url":"https://example.com/"}`
	key := header("Idempotency-Key", "abc")
	var (
		group sync.WaitGroup
		mu    sync.Mutex
		texts = map[string]int{}
		fresh int
	)
	for range 20 {
		group.Go(func() {
			got := b.do("POST", "/api/v1/targets", body, as(editorKey), key)
			mu.Lock()
			defer mu.Unlock()
			texts[fmt.Sprint(got.Code, got.Header().Get("Location"), got.Header().Get("ETag"), strings.TrimSpace(got.text))]++
			if got.Header().Get("Idempotency-Replayed") == "" {
				fresh++
			}
		})
	}
	group.Wait()
	if len(texts) != 1 || fresh != 1 || len(b.stored()) != 1 {
		t.Fatalf("20 repeats gave %v, %d of them fresh, %d stored", texts, fresh, len(b.stored()))
	}
	if got := b.do("POST", "/api/v1/targets", `{"url":"https://other.example/"}`, as(editorKey), key); got.Code != 422 || got.problem(t).Code != "idempotency_key_reused" {
		t.Errorf("another request with the key: %d %s", got.Code, got.text)
	}
	if got := b.do("POST", "/api/v1/targets", body, as(ownerKey), key); got.Code != 422 || got.problem(t).Code != "duplicate_name" {
		t.Errorf("another caller got the first one's answer: %d %s", got.Code, got.text)
	}
	refused := header("Idempotency-Key", "def")
	if got := b.do("POST", "/api/v1/targets", `{"url":"x"}`, as(editorKey), refused); got.Code != 422 {
		t.Errorf("%d %s", got.Code, got.text)
	}
	if got := b.do("POST", "/api/v1/targets", `{"url":"https://third.example/"}`, as(editorKey), refused); got.Code != http.StatusCreated {
		t.Errorf("a refusal was kept: %d %s", got.Code, got.text)
	}
}

// What a browser hears after a delete was answered is at most the removal.
func TestNoLiveEventAfterADelete(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	running, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- b.hub.Run(running) }()
	t.Cleanup(func() { stop(); <-ended })
	b.create(`{"url":"https://example.com/"}`)
	b.create(`{"url":"https://example.org/"}`)
	late := func() {
		now := time.Now()
		b.hub.Apply([]uptime.Result{
			{TargetID: 1, Region: "eu", ScheduledAt: now, CheckedAt: now, Status: uptime.StatusUp, IngestedAt: now},
			{TargetID: 2, Region: "eu", ScheduledAt: now, CheckedAt: now, Status: uptime.StatusUp, IngestedAt: now},
		})
	}
	late()
	browser, _, _, err := b.hub.Subscribe("targets", nil)
	if err != nil {
		t.Fatal(err)
	}
	b.redis.set(func() { b.redis.hangs = true })
	if got := b.do("DELETE", "/api/v1/targets/1", "", as(editorKey)); got.Code != http.StatusNoContent {
		t.Fatalf("delete: %d", got.Code)
	}
	b.redis.set(func() {
		if b.redis.asked > 0 {
			t.Error("the answer waited for Redis")
		}
	})
	for heard := 0; heard < 3; { // of the other target: the feed goes on
		changed := b.hub.Changed()
		late()
		message := string(browser.Poll())
		if strings.Contains(message, `{"op":"upsert","id":1,`) {
			t.Fatalf("after the delete: %s", message)
		}
		heard += strings.Count(message, `{"op":"upsert","id":2,`)
		select {
		case <-changed:
		case <-time.After(hang):
			t.Fatal("the feed stands still")
		}
	}
}
