package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/probefleet/probefleet/internal/uptime"
)

type batchJSON struct {
	DryRun  bool `json:"dry_run"`
	Changed []struct {
		ID          int64 `json:"id"`
		SpecVersion int64 `json:"spec_version"`

		PreviewCheckID string `json:"preview_check_id"`
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
	Before []struct {
		IDs []int64
		Set json.RawMessage
	}
}

func (b *bench) batch(body string) (answer batchJSON) {
	b.Helper()
	got := b.do("POST", "/api/v1/targets:batch", body, as(editorKey))
	if got.Code != http.StatusOK {
		b.Fatalf("%s: %d %s", body, got.Code, got.text)
	}
	got.into(b, &answer)
	return answer
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

// All that can be the same of many is set, told as it was, and put back by what was told.
func TestManyArePutBack(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.create(`{"url":"tcp://router.example:22","name":"router"}`)
	b.create(`{"url":"https://a.example/","tags":["old","both"],"expect":{"status":["200"]},"policy":{"down_after":3},"family":"6","parent_id":1,"assertions":[{"source":"body","op":"contains","value":"a"}]}`)
	b.create(`{"url":"https://b.example/","interval_s":30,"tags":["both"]}`)
	b.create(`{"url":"https://c.example/","interval_s":30,"tags":["both"]}`)
	b.create(`{"url":"https://d.example/","active":false}`)
	first := b.stored()
	const set = `{"active":false,"interval_s":300,"timeout_ms":2000,"add_tags":["NEW","both"],"remove_tags":["Old"],"expect":{"status":["204"]},"policy":{"up_after":2},"family":"4","parent_id":1,"assertions":[{"source":"header","name":"x-a","op":"exists","severity":"degrade"}]}`
	dry := b.batch(`{"ids":[1,2,3,4,5],"dry_run":true,"set":` + set + `}`)
	if diff := cmp.Diff(first, b.stored()); diff != "" {
		t.Fatal(diff)
	}
	did := b.batch(`{"ids":[1,2,3,4,5],"set":` + set + `}`)
	if !slices.Equal(did.changed(), []int64{2, 3, 4, 5}) || len(did.Refused) != 1 || did.Refused[0].ID != 1 { // a tcp target has no status, nor is it its own parent
		t.Errorf("%+v", did)
	}
	for _, target := range b.stored()[1:] {
		if target.Active || target.Interval != 5*time.Minute || target.Timeout != 2*time.Second || !slices.Equal(target.Tags, []string{"both", "new"}) ||
			target.ParentID != 1 || target.Spec.Family != uptime.FamilyV4 || target.Policy != `{"up_after":2}` || len(target.Spec.Assertions) != 1 || len(target.Spec.Expect.Status) != 1 || target.Spec.Expect.Status[0].From != 204 {
			t.Errorf("%+v", target)
		}
	}
	var was []string
	for _, group := range did.Before {
		was = append(was, fmt.Sprint(group.IDs)+" "+string(group.Set))
	}
	slices.Reverse(was)
	if diff := cmp.Diff([]string{
		`[2] {"active":true,"add_tags":["old"],"assertions":[{"source":"body","op":"contains","value":"a"}],"expect":{"status":["200"]},"family":"6","interval_s":60,"policy":{"down_after":3},"remove_tags":["new"],"timeout_ms":10000}`,
		`[3 4] {"active":true,"assertions":[],"expect":null,"family":null,"interval_s":30,"parent_id":null,"policy":null,"remove_tags":["new"],"timeout_ms":10000}`,
		`[5] {"assertions":[],"expect":null,"family":null,"interval_s":60,"parent_id":null,"policy":null,"remove_tags":["both","new"],"timeout_ms":10000}`,
	}, was); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(did.Before, dry.Before); diff != "" {
		t.Errorf("a dry run says something else: %s", diff)
	}
	revisions, _ := b.revisions(3)
	const told = `/active: true → false; /assertions: [] → [{"name":"x-a","op":"exists","severity":"degrade","source":"header"}]; /expect/status: null → ["204"]; /family: null → "4"; /interval_s: 30 → 300; /parent: null → "router"; ` +
		`/policy/up_after: null → 2; /tags: ["both"] → ["both","new"]; /timeout_ms: 10000 → 2000`
	if len(revisions) == 0 || revisions[0] != told {
		t.Errorf("the log says %q", revisions)
	}
	for _, group := range did.Before {
		ids, _ := json.Marshal(group.IDs)
		if back := b.batch(fmt.Sprintf(`{"ids":%s,"set":%s}`, ids, group.Set)); len(back.changed()) != len(group.IDs) {
			t.Errorf("not put back: %+v", back)
		}
	}
	if diff := cmp.Diff(first, b.stored(), cmpopts.IgnoreFields(uptime.Target{}, "SpecVersion", "UpdatedAt", "VisitedSince")); diff != "" { // it was visited otherwise meanwhile
		t.Error(diff)
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
		`{"ids":[1]}`:                                   "/set required",
		`{"ids":[1],"set":{}}`:                          "/set required",
		`{"ids":[1],"set":{"name":"all"}}`:              "/set/name unknown_field",
		`{"ids":[1],"set":{"tags":["all"]}}`:            "/set/tags unknown_field",
		`{"ids":[1],"set":{"add_tags":["x","no tag"]}}`: "/set/add_tags/1 invalid_text",
		`{"ids":[1],"set":{"remove_tags":["a"` + strings.Repeat(`,"a"`, 20) + `]}}`: "/set/remove_tags too_long",
		`{"ids":["1"],"set":{"active":true}}`:                                       "/ids/0 invalid_type",
		`{"ids":[` + strings.Repeat("1,", 10_000) + `2],"set":{"active":true}}`:     "/ids too_long",
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
