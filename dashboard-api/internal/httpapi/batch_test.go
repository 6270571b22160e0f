package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type batchJSON struct {
	DryRun  bool `json:"dry_run"`
	Changed []struct {
		ID          int64 `json:"id"`
		SpecVersion int64 `json:"spec_version"`
	}
	Unchanged []int64
	Refused   []struct {
		ID      int64
		Problem struct {
			Status int
			Code   string
			Errors []struct{ Pointer, Code string }
		}
	}
}

func (b batchJSON) changed() (ids []int64) {
	for _, c := range b.Changed {
		ids = append(ids, c.ID)
	}
	return ids
}

func TestManyTargetsAreChangedAtOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for i := range 5 {
		b.create(fmt.Sprintf(`{"url":"https://host%d.example/","active":%t}`, i, i != 2))
	}
	b.create(`{"url":"heartbeat://job","heartbeat":{"period_s":60,"grace_s":60}}`)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_ = b.after.Run(ctx)
	b.redis.changes = nil
	entries := func() (n int64) {
		t.Helper()
		if err := b.db.Read().Raw("SELECT count(*) FROM audit_log WHERE operation = 'changeTargets'").Scan(&n).Error; err != nil {
			t.Fatal(err)
		}
		return n
	}
	browser, _, _, err := b.hub.Subscribe("targets", nil)
	if err != nil {
		t.Fatal(err)
	}

	const body = `{"ids":[5,2,3,4711,1],"versions":[0,9,0,0,1],"set":{"active":false},"dry_run":%t}`
	for _, dry := range []bool{true, false} {
		got := b.do("POST", "/api/v1/targets:batch", fmt.Sprintf(body, dry), as(editorKey))
		var answer batchJSON
		got.into(t, &answer)
		if got.Code != http.StatusOK || answer.DryRun != dry || !slices.Equal(answer.changed(), []int64{5, 1}) || !slices.Equal(answer.Unchanged, []int64{3}) || len(answer.Refused) != 2 ||
			answer.Refused[0].ID != 2 || answer.Refused[0].Problem.Code != "version_mismatch" || answer.Refused[1].ID != 4711 || answer.Refused[1].Problem.Status != http.StatusNotFound {
			t.Fatalf("dry %v: %d %s", dry, got.Code, got.text)
		}
		want := map[bool][]int64{true: {5, 1}, false: {7, 8}}[dry]
		if answer.Changed[0].SpecVersion != want[0] || answer.Changed[1].SpecVersion != want[1] {
			t.Errorf("dry %v: versions %v, want %v", dry, answer.Changed, want)
		}
		var paused []int64
		for _, target := range b.stored() {
			if !target.Active {
				paused = append(paused, target.ID)
			}
		}
		if want := map[bool][]int64{true: {3}, false: {1, 3, 5}}[dry]; !slices.Equal(paused, want) {
			t.Errorf("dry %v: paused are %v, want %v", dry, paused, want)
		}
		if n, want := entries(), map[bool]int64{true: 0, false: 2}[dry]; n != want {
			t.Errorf("dry %v: %d entries in the audit log, want %d", dry, n, want)
		}
	}
	if got := b.do("GET", "/api/v1/targets/5", "", as(viewerKey)); got.Header().Get("ETag") != `"7"` {
		t.Errorf("the ETag is %s", got.Header().Get("ETag"))
	}
	_ = b.after.Run(ctx)
	var told []string
	for _, change := range b.redis.changes {
		told = append(told, fmt.Sprintf("%d %s %d", change.TargetID, change.Op, change.Seq))
	}
	if diff := cmp.Diff([]string{"5 updated 7", "1 updated 8"}, told); diff != "" {
		t.Error(diff)
	}
	var said []string
	if err := b.db.Read().Raw("SELECT action || ' ' || object || ' ' || detail FROM audit_log WHERE operation = 'changeTargets' ORDER BY id").Scan(&said).Error; err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"target.updated target:5 host4.example", "target.updated target:1 host0.example"}, said); diff != "" {
		t.Error(diff)
	}
	running, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	changed := b.hub.Changed()
	go func() { ended <- b.hub.Run(running) }()
	<-changed
	message := string(browser.Poll())
	stop()
	<-ended
	for _, id := range []string{"1", "5"} {
		if !strings.Contains(message, `"op":"upsert","id":`+id+",") || strings.Count(message, `"state":"paused"`) < 2 {
			t.Errorf("browsers hear %s", message)
		}
	}

	got := b.do("POST", "/api/v1/targets:batch", `{"ids":[1,6],"set":{"interval_s":30,"regions":null}}`, as(editorKey))
	var answer batchJSON
	got.into(t, &answer)
	if !slices.Equal(answer.changed(), []int64{1}) || len(answer.Refused) != 1 || answer.Refused[0].ID != 6 || answer.Refused[0].Problem.Errors[0].Pointer != "/interval_s" {
		t.Errorf("a heartbeat has no interval: %d %s", got.Code, got.text)
	}
}

func TestBatchesThatCannotBe(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.create(`{"url":"https://example.com/"}`)
	for body, want := range map[string]string{
		`{"ids":[],"set":{"active":true}}`:                   "/ids required",
		`{"set":{"active":true}}`:                            "/ids required",
		`{"ids":[1,1],"set":{"active":true}}`:                "/ids invalid_parameter",
		`{"ids":[1],"versions":[1,2],"set":{"active":true}}`: "/versions invalid_parameter",
		`{"ids":[1]}`:                         "/set required",
		`{"ids":[1],"set":{}}`:                "/set required",
		`{"ids":[1],"set":{"name":"all"}}`:    "/set/name unknown_field",
		`{"ids":["1"],"set":{"active":true}}`: "/ids/0 invalid_type",
		`{"ids":[` + strings.Repeat("1,", 10_000) + `2],"set":{"active":true}}`: "/ids too_long",
	} {
		got := b.do("POST", "/api/v1/targets:batch", body, as(editorKey))
		if p := got.problem(t); got.Code < 400 || len(p.Errors) == 0 || p.Errors[0].Pointer+" "+p.Errors[0].Code != want {
			t.Errorf("%.80s: %d %.200s, want %s", body, got.Code, got.text, want)
		}
	}
	if got := b.do("POST", "/api/v1/targets:batch", `{"ids":[1],"set":{"active":false}}`, as(viewerKey)); got.Code != http.StatusForbidden {
		t.Errorf("a viewer changes many: %d", got.Code)
	}
}
