package httpapi

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/targetstore"
)

type deletionJSON struct {
	TargetID int64   `json:"target_id"`
	State    string  `json:"state"`
	DoneAt   *string `json:"done_at"`
	Steps    []struct {
		Step, State string
		DoneAt      *string `json:"done_at"`
		Failures    int64
		LastError   string `json:"last_error"`
	}
}

func (d deletionJSON) states() map[string]string {
	all := map[string]string{}
	for _, s := range d.Steps {
		all[s.Step] = s.State
	}
	return all
}

// TestDeletionTellsWhatIsLeft follows a deletion from the answer to the delete to its end.
func TestDeletionTellsWhatIsLeft(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	target := b.create(`{"url":"https://example.com/"}`)
	path := fmt.Sprintf("/api/v1/targets/%d", target.ID)
	if got := b.do("GET", fmt.Sprintf("/api/v1/deletions/%d", target.ID), "", as(editorKey)); got.Code != http.StatusNotFound {
		t.Errorf("before: %d", got.Code)
	}
	got := b.do("DELETE", path, "", as(editorKey))
	where := got.Header().Get("Location")
	if got.Code != http.StatusNoContent || where != fmt.Sprintf("/api/v1/deletions/%d", target.ID) {
		t.Fatalf("%d, %q", got.Code, where)
	}
	look := func() (d deletionJSON) {
		t.Helper()
		b.do("GET", where, "", as(editorKey)).into(t, &d)
		return d
	}
	steps := append(append([]string{"probers", "answers", "checks"}, resultstore.TargetTables()...), "pages")
	d := look()
	if d.TargetID != target.ID || d.State != "pending" || d.DoneAt != nil || len(d.Steps) != len(steps) {
		t.Fatalf("%+v", d)
	}
	for _, step := range d.Steps {
		if (step.State != "pending") != (step.Step == "pages") || !slices.Contains(steps, step.Step) {
			t.Errorf("%+v", step)
		}
	}
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	now := time.Now()
	id := []int64{target.ID}
	do(b.targets.MarkTombstoned(t.Context(), id, now))
	do(b.targets.MarkFailed(t.Context(), "results", id, "code 60: no such table"))
	do(b.targets.MarkLooked(t.Context(), "rollup_1h", now, []targetstore.Look{{TargetID: target.ID, Clean: true}}))
	do(b.targets.MarkLooked(t.Context(), "rollup_1d", now, []targetstore.Look{{TargetID: target.ID}}))
	do(b.targets.MarkLooked(t.Context(), "answers", now, []targetstore.Look{{TargetID: target.ID, Clean: true, Done: true}}))
	d = look()
	for step, want := range map[string]string{"probers": "done", "answers": "done", "results": "failing", "rollup_1h": "cleared", "rollup_1d": "pending", "corrections": "pending"} {
		if got := d.states()[step]; got != want {
			t.Errorf("%s is %s, want %s", step, got, want)
		}
	}
	if at := slices.IndexFunc(d.Steps, func(s struct {
		Step, State string
		DoneAt      *string `json:"done_at"`
		Failures    int64
		LastError   string `json:"last_error"`
	}) bool {
		return s.Step == "results"
	}); d.Steps[at].Failures != 1 || !strings.Contains(d.Steps[at].LastError, "no such table") {
		t.Errorf("%+v", d.Steps[at])
	}
	for _, step := range steps[2 : len(steps)-1] {
		do(b.targets.MarkLooked(t.Context(), step, now, []targetstore.Look{{TargetID: target.ID, Clean: true, Done: true}}))
	}
	if n, err := b.targets.FinishDeletions(t.Context(), steps[1:len(steps)-1], now); err != nil || n != 1 {
		t.Fatal(n, err)
	}
	if d = look(); d.State != "done" || d.DoneAt == nil {
		t.Errorf("%+v", d)
	}
	for step, state := range d.states() {
		if state != "done" {
			t.Errorf("%s is %s", step, state)
		}
	}

	for range 3 {
		other := b.create(`{"url":"https://example.org/"}`)
		b.do("DELETE", fmt.Sprintf("/api/v1/targets/%d", other.ID), "", as(editorKey))
	}
	var page struct {
		Items      []deletionJSON
		NextCursor *string `json:"next_cursor"`
	}
	list := func(query string) (ids []int64) {
		t.Helper()
		page.Items, page.NextCursor = nil, nil
		b.do("GET", "/api/v1/deletions?"+query, "", as(editorKey)).into(t, &page)
		for _, d := range page.Items {
			ids = append(ids, d.TargetID)
		}
		return ids
	}
	if got := list("state=pending"); !slices.Equal(got, []int64{4, 3, 2}) || page.NextCursor != nil {
		t.Errorf("pending: %v", got)
	}
	if got := list("limit=2"); !slices.Equal(got, []int64{4, 3}) || page.NextCursor == nil {
		t.Fatalf("first page: %v", got)
	}
	if got := list("limit=2&cursor=" + *page.NextCursor); !slices.Equal(got, []int64{2, 1}) || page.NextCursor != nil {
		t.Errorf("second page: %v", got)
	}
}
