//go:build !load && !faults && !browser && !bench

package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// targetsComeBackFromAFile: what `probefleet export` writes brings the same targets back, and what cannot come
// back is told. No other target exists meanwhile.
func targetsComeBackFromAFile(t *testing.T, s *system) {
	tool := func(want int, args ...string) (out, errOut string) {
		t.Helper()
		code, out, errOut := s.tool(args...)
		if code != want {
			t.Fatalf("%v: exit code %d, want %d\n%s%s", args, code, want, out, errOut)
		}
		return out, errOut
	}
	var ids []int64
	for _, body := range []string{
		`{"url":"https://one.example/","name":"One","interval_s":30,"timeout_ms":5000,"tags":["prod","team:db"],"active":false,"family":"4","expect":{"status":["200-299","301"]},"policy":{"down_after":3},
			"assertions":[{"source":"body","op":"contains","value":"ok, \"fine\"","severity":"degrade"}],"http":{"method":"POST","body":"x","headers":[{"name":"X-A","value":"1"}],"redirects":0}}`,
		`{"url":"https://one.example/","name":"=Twin, of \"One\"","parent_id":1,"interval_s":120}`,
		`{"url":"tcp://two.example:25","tcp":{"send":"EHLO","starttls":"smtp"},"tls":{"server_name":"mx.example","skip_verify":true}}`,
		`{"url":"dns://9.9.9.9/three.example?type=A","dns":{"transport":"tcp"}}`,
		`{"url":"heartbeat://job","heartbeat":{"cron":"30 2 * * *","zone":"Europe/Berlin","grace_s":60}}`,
		`{"url":"https://four.example/","name":"Secret","http":{"username":"u","password":"hunter2"}}`,
	} {
		var created target
		if status := s.call("POST", "/api/v1/targets", json.RawMessage(body), &created); status != http.StatusCreated {
			t.Fatalf("%s: %d", body, status)
		}
		ids = append(ids, created.ID)
	}

	file := filepath.Join(t.TempDir(), "targets.json")
	if out, _ := tool(0, "export", "-o", file); out != file+": 6 targets\n" {
		t.Errorf("%q", out)
	}
	if out, _ := tool(0, "import", file); out != "0 created, 0 changed, 6 unchanged, 0 refused.\n" {
		t.Errorf("%q", out)
	}
	targets := func(text []byte) []any {
		t.Helper()
		var document struct{ Targets []any }
		if err := json.Unmarshal(text, &document); err != nil {
			t.Fatal(err)
		}
		return document.Targets
	}
	before, err := os.ReadFile(file)
	if err != nil || strings.Contains(string(before), "hunter2") {
		t.Fatalf("%v %s", err, before)
	}

	for _, id := range slices.Backward(ids) { // parents last
		if status := s.call("DELETE", fmt.Sprintf("/api/v1/targets/%d", id), nil, nil); status != http.StatusNoContent {
			t.Fatalf("deleting %d: %d", id, status)
		}
	}
	empty := func() bool {
		out, _ := tool(0, "export")
		return len(targets([]byte(out))) == 0
	}
	s.await(hang, "all is deleted", empty)
	const noSecret = "line 6 refused  Secret  https://four.example/: /http/password: "
	if out, errOut := tool(1, "import", file, "--plan"); !strings.HasSuffix(out, "Would create 5, change 0, leave 0 as they are and refuse 1. Nothing was written.\n") || !strings.Contains(errOut, noSecret) {
		t.Errorf("%s%s", out, errOut)
	}
	if !empty() {
		t.Error("a plan has written")
	}
	if out, errOut := tool(1, "import", file); !strings.HasSuffix(out, "5 created, 0 changed, 0 unchanged, 1 refused.\n") || !strings.Contains(errOut, noSecret) {
		t.Errorf("%s%s", out, errOut)
	}
	written := filepath.Join(t.TempDir(), "with-secret.json")
	if err := os.WriteFile(written, []byte(strings.Replace(string(before), `"[secret]"`, `"hunter2"`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, errOut := tool(0, "import", written); !strings.HasSuffix(out, "1 created, 0 changed, 5 unchanged, 0 refused.\n") || strings.Contains(out+errOut, "hunter2") {
		t.Errorf("%s%s", out, errOut)
	}
	after, _ := tool(0, "export")
	byName := func(in []any) map[string]any {
		m := map[string]any{}
		for _, one := range in {
			m[fmt.Sprint(one.(map[string]any)["name"])] = one
		}
		return m
	}
	if diff := cmp.Diff(byName(targets(before)), byName(targets([]byte(after)))); diff != "" {
		t.Errorf("other targets came back: %s", diff)
	}
	created := s.every("/api/v1/targets?limit=1000")
	slices.SortFunc(created, func(a, b map[string]any) int { return int(b["id"].(float64) - a["id"].(float64)) }) // parents last
	for _, one := range created {
		if status := s.call("DELETE", fmt.Sprintf("/api/v1/targets/%v", one["id"]), nil, nil); status != http.StatusNoContent {
			t.Errorf("deleting %v: %d", one["id"], status)
		}
	}
}
