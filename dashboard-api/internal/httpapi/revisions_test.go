package httpapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

type revisionJSON struct {
	Actor, Action string
	Kept          bool
	Changes       []struct {
		Pointer   string
		From, To  any
		Shortened bool
	}
}

// revisions are those of a target as a viewer reads them, newest first: "pointer: from → to".
func (b *bench) revisions(id int64) (all []string, text string) {
	b.Helper()
	got := b.do("GET", fmt.Sprintf("/api/v1/targets/%d/revisions", id), "", as(viewerKey))
	if got.Code != http.StatusOK {
		b.Fatalf("%d %s", got.Code, got.text)
	}
	var page struct{ Items []revisionJSON }
	got.into(b, &page)
	for _, one := range page.Items {
		if !one.Kept {
			all = append(all, one.Action+" by "+one.Actor)
			continue
		}
		var fields []string
		for _, c := range one.Changes {
			from, _ := json.Marshal(c.From)
			to, _ := json.Marshal(c.To)
			fields = append(fields, fmt.Sprintf("%s: %s → %s", c.Pointer, from, to))
		}
		all = append(all, strings.Join(fields, "; "))
	}
	return all, got.text
}

func (b *bench) patch(id int64, body string) {
	b.Helper()
	if got := b.do("PATCH", fmt.Sprintf("/api/v1/targets/%d", id), body, as(editorKey)); got.Code != http.StatusOK {
		b.Fatalf("%s: %d %s", body, got.Code, got.text)
	}
}

// Every way to change a target leaves what it changed; what changed nothing leaves nothing; who may
// read the target may read it.
func TestRevisions(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	router := b.create(`{"url":"tcp://router.example:22","name":"router"}`)
	shop := b.create(`{"url":"https://shop.example/","name":"shop"}`)
	b.patch(shop.ID, `{"interval_s":120,"tags":["prod"],"parent_id":`+fmt.Sprint(router.ID)+`}`)
	b.patch(shop.ID, `{"interval_s":120}`)
	b.patch(shop.ID, `{"http":{"method":"POST","body":"ping"},"expect":{"status":["200"]}}`)
	b.patch(shop.ID, `{"http":null}`)
	if got := b.do("POST", "/api/v1/targets:batch", fmt.Sprintf(`{"ids":[%d,%d],"set":{"active":false,"regions":["eu"],"timeout_ms":2000}}`, shop.ID, router.ID), as(editorKey)); got.Code != http.StatusOK {
		t.Fatalf("%d %s", got.Code, got.text)
	}
	if got := b.do("POST", "/api/v1/targets:import", `{"targets":[{"url":"https://shop.example/","name":"till","parent":null}]}`, as(editorKey)); got.Code != http.StatusOK {
		t.Fatalf("%d %s", got.Code, got.text)
	}
	b.exec("INSERT INTO audit_log (at_ms, actor, action, object, detail) VALUES (1, 'user:7', 'target.updated', ?, 'shop')", fmt.Sprint("target:", router.ID))
	b.exec("INSERT INTO audit_log (at_ms, actor, action, object, detail) VALUES (1, 'user:7', 'check.created', ?, '')", fmt.Sprint("target:", shop.ID))
	want := []string{
		`/name: "shop" → "till"; /parent: "router" → null`,
		`/active: true → false; /regions: [] → ["eu"]; /timeout_ms: 10000 → 2000`,
		`/http/body: "ping" → null; /http/method: "POST" → null`,
		`/expect/status: null → ["200"]; /http/body: null → "ping"; /http/method: null → "POST"`,
		`/interval_s: 60 → 120; /parent: null → "router"; /tags: [] → ["prod"]`,
		`target.created by `,
	}
	got, _ := b.revisions(shop.ID)
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || !strings.HasPrefix(got[i], want[i]) || got[i] != want[i] && i != len(want)-1 {
			t.Fatalf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	if got, _ := b.revisions(router.ID); len(got) != 3 || got[0] != "target.updated by user:7" {
		t.Errorf("of before it was kept: %q", got)
	}
	path := fmt.Sprintf("/api/v1/targets/%d/revisions?limit=2", shop.ID)
	var page struct {
		Items      []revisionJSON
		NextCursor string `json:"next_cursor"`
	}
	b.do("GET", path, "", as(viewerKey)).into(t, &page)
	first := page.Items
	b.do("GET", path+"&cursor="+page.NextCursor, "", as(viewerKey)).into(t, &page)
	if len(first) != 2 || len(page.Items) != 2 || len(page.Items[0].Changes) != 2 || page.Items[0].Changes[0].Pointer != "/http/body" {
		t.Errorf("%+v %+v", first, page)
	}
	if got := b.do("GET", "/api/v1/targets/99/revisions", "", as(viewerKey)); got.Code != http.StatusNotFound {
		t.Errorf("%d %s", got.Code, got.text)
	}
}

// Neither a secret, nor what was written in clear where a secret is kept before or after, nor what
// its name says is one, is kept or shown; that it changed is.
func TestRevisionsHoldNoSecrets(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	shop := b.create(`{"url":"https://shop.example/","name":"shop","http":{"headers":[{"name":"X-Plain","value":"canary-1"},{"name":"X-Api-Token","value":"canary-2"}],"body":"canary-3"}}`)
	b.patch(shop.ID, `{"http":{"headers":[{"name":"x-plain","secret":"canary-4"},{"name":"X-Api-Token","value":"canary-5"}],"body_secret":"canary-6","username":"u","password":"canary-7"}}`)
	b.patch(shop.ID, `{"http":{"headers":[{"name":"x-plain","secret":"canary-8"},{"name":"X-Api-Token","value":"canary-5"}],"body_secret":"[secret]","username":"u","password":"canary-9"}}`)
	b.patch(shop.ID, `{"http":{"headers":[{"name":"X-Api-Token","value":"canary-10"}],"body":"canary-11","username":"u","password":"[secret]"}}`)
	line := b.create(`{"url":"tcp://line.example:25","name":"line","tcp":{"send":"canary-12"}}`)
	b.patch(line.ID, `{"tcp":{"send_secret":"canary-13"}}`)
	b.patch(line.ID, `{"tcp":{"send_secret":"canary-14"}}`)
	got, shown := b.revisions(shop.ID)
	want := []string{
		`/http/body: null → "[secret]"; /http/body_secret: "[secret]" → null; /http/headers: [{"name":"x-plain","secret":"[secret]"},{"name":"X-Api-Token","secret":"[secret]"}] → [{"name":"X-Api-Token","secret":"[secret]"}]`,
		`/http/headers: "[secret]" → "[secret]"; /http/password: "[secret]" → "[secret]"`,
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("got  %s\nwant %s", got[i], want[i])
		}
	}
	if !strings.Contains(got[2], `/http/body_secret: null → "[secret]"`) || !strings.Contains(got[2], `/http/password: null → "[secret]"`) || !strings.Contains(got[2], "/http/headers") {
		t.Error(got[2])
	}
	of, more := b.revisions(line.ID)
	if of[0] != `/tcp/send_secret: "[secret]" → "[secret]"` || of[1] != `/tcp/send: "[secret]" → null; /tcp/send_secret: null → "[secret]"` {
		t.Errorf("%q", of)
	}
	var kept string
	if err := b.db.Read().Raw("SELECT GROUP_CONCAT(changes || detail) FROM audit_log").Row().Scan(&kept); err != nil {
		t.Fatal(err)
	}
	for where, text := range map[string]string{"an answer": shown + more, "the database": kept, "the log": b.log.String()} {
		if strings.Contains(text, "canary") {
			t.Errorf("a secret is in %s: %s", where, text)
		}
	}
}

// A long value is kept by its beginning.
func TestRevisionsOfLongValues(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	shop := b.create(`{"url":"https://shop.example/","name":"shop"}`)
	b.patch(shop.ID, `{"http":{"method":"POST","body":"`+strings.Repeat("é", 20_000)+`"}}`)
	got := b.do("GET", fmt.Sprintf("/api/v1/targets/%d/revisions", shop.ID), "", as(viewerKey))
	var page struct{ Items []revisionJSON }
	got.into(t, &page)
	body := page.Items[0].Changes[0]
	if text, _ := body.To.(string); body.Pointer != "/http/body" || !body.Shortened || text != strings.Repeat("é", 1000)+"…" || page.Items[0].Changes[1].Shortened {
		t.Errorf("%.300s", got.text)
	}
}
