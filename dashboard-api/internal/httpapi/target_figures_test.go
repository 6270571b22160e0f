package httpapi

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/probefleet/probefleet/internal/availability"
	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/uptime"
)

// Of stored results, a part of them maintained, the figures of many targets are those that each
// target's own page shows.
func TestFiguresOfManyAreThoseOfEach(t *testing.T) {
	t.Parallel()
	b, store := newStoredBench(t)
	b.now = b.now.Truncate(time.Millisecond)
	var rows []uptime.Result
	for n := range 3 {
		target := b.create(fmt.Sprintf(`{"url":"https://example.com/%d","interval_s":600}`, n))
		for at := b.now.Add(-5 * 24 * time.Hour); at.Before(b.now); at = at.Add(10 * time.Minute) {
			for i, region := range []string{"eu", "us"} {
				r := uptime.Result{TargetID: target.ID, Region: region, ScheduledAt: at, CheckedAt: at, Status: uptime.StatusUp, IngestedAt: at.Add(time.Minute)}
				switch slot := at.Unix() / 600; {
				case n == 2: // never measured
					r.Status, r.Reason, r.CheckedAt = uptime.StatusMissed, uptime.ReasonLost, time.Time{}
				case slot%int64(7+n+i) == 0:
					r.Status, r.Failure = uptime.StatusDown, uptime.FailureTimeout
				case slot%5 == 0:
					r.Status, r.Reason, r.CheckedAt = uptime.StatusMissed, uptime.ReasonLost, time.Time{}
				}
				rows = append(rows, r)
			}
		}
	}
	if err := store.Insert(t.Context(), resultstore.Batch{Token: uuid.Must(uuid.NewV7()).String(), Prober: "p", Region: "eu", Attempt: 1, Rows: rows}); err != nil {
		t.Fatal(err)
	}
	hours := func(n float64) time.Time { return b.now.Add(-time.Duration(n * float64(time.Hour))) }
	b.past.maintenance = map[int64]availability.Spans{1: availability.NewSpans(
		availability.Span{From: hours(30), To: hours(20.3)}, availability.Span{From: hours(90), To: hours(80)},
	)}
	type figures struct{ Uptime, Coverage *float64 }
	shown := func(f figures) string {
		if f.Uptime == nil || f.Coverage == nil {
			return fmt.Sprint(f.Uptime == nil, f.Coverage == nil)
		}
		return fmt.Sprint(*f.Uptime, *f.Coverage)
	}
	var got struct {
		Items []struct {
			TargetID int64   `json:"target_id"`
			Last24h  figures `json:"last_24h"`
			Last30d  figures `json:"last_30d"`
		}
	}
	b.do("GET", figuresPath+"?ids=3,1,2", "", as(viewerKey)).into(t, &got)
	if len(got.Items) != 3 {
		t.Fatalf("%d items", len(got.Items))
	}
	seen := map[string]bool{}
	for i, item := range got.Items {
		if item.TargetID != int64(i+1) {
			t.Errorf("item %d is of %d", i, item.TargetID)
		}
		for days, f := range map[int]figures{1: item.Last24h, 30: item.Last30d} {
			var own figures
			path := fmt.Sprintf("/api/v1/targets/%d/uptime?from=%s&to=%s", item.TargetID, b.now.AddDate(0, 0, -days).Format(time.RFC3339Nano), b.now.Format(time.RFC3339Nano))
			b.do("GET", path, "", as(viewerKey)).into(t, &own)
			if shown(f) != shown(own) {
				t.Errorf("target %d, %d days: %s, its own page says %s", item.TargetID, days, shown(f), shown(own))
			}
			seen[shown(f)] = true
		}
	}
	if len(seen) != 5 { // those of the one that was never measured are the same
		t.Errorf("the figures tell nothing apart: %v", seen)
	}
	if f := got.Items[2].Last30d; f.Uptime != nil || f.Coverage == nil || *f.Coverage != 0 {
		t.Errorf("never measured, and yet %s", shown(f))
	}
}

func TestFiguresOfMany(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for n := range 3 {
		b.create(fmt.Sprintf(`{"url":"https://example.com/%d","interval_s":60}`, n))
	}
	b.results.cells = []fakeCell{
		quarterOf(1, "eu", "2026-03-01T11:00:00Z", availability.Counts{Up: 9, Missed: 1}),
		quarterOf(1, "us", "2026-03-01T11:00:00Z", availability.Counts{Up: 8, Down: 2}),
		quarterOf(1, "", "2026-03-01T11:00:00Z", availability.Counts{Up: 10}),
		quarterOf(1, "eu", "2026-02-20T11:00:00Z", availability.Counts{Down: 20}),
		quarterOf(1, "", "2026-02-20T11:00:00Z", availability.Counts{Down: 20}),
		quarterOf(2, "eu", "2026-03-01T11:00:00Z", availability.Counts{Up: 1}), // not asked for
	}
	const want = `{"items":[{"target_id":1,"last_24h":{"uptime":0.8947368421052632,"coverage":0.95},"last_30d":{"uptime":0.4358974358974359,"coverage":0.975},"cert_not_after":null},` +
		`{"target_id":3,"last_24h":{"uptime":null,"coverage":null},"last_30d":{"uptime":null,"coverage":null},"cert_not_after":null}]}`
	for _, ids := range []string{"1,3", "3,1,1", "1,3,77"} {
		if got := b.do("GET", figuresPath+"?ids="+ids, "", as(viewerKey)); strings.TrimSpace(got.text) != want {
			t.Errorf("%s: %d %s, want %s", ids, got.Code, got.text, want)
		}
	}
	if got := b.do("GET", figuresPath+"?ids=77", "", as(viewerKey)); strings.TrimSpace(got.text) != `{"items":[]}` {
		t.Errorf("of nobody: %d %s", got.Code, got.text)
	}
	if got := b.do("DELETE", "/api/v1/targets/1", "", as(editorKey)); got.Code != http.StatusNoContent {
		t.Fatal(got.Code, got.text)
	}
	if got := b.do("GET", figuresPath+"?ids=1", "", as(viewerKey)); strings.TrimSpace(got.text) != `{"items":[]}` {
		t.Errorf("of one that is gone: %d %s", got.Code, got.text)
	}
	many := strings.TrimSuffix(strings.Repeat("1,", 101), ",")
	for query, want := range map[string]int{"": 422, "?ids=": 422, "?ids=x": 422, "?ids=1,,2": 422, "?ids=" + many: 422, "?ids=" + many[2:]: 200} {
		if got := b.do("GET", figuresPath+query, "", as(viewerKey)); got.Code != want {
			t.Errorf("%.40s: %d, want %d: %.200s", query, got.Code, want, got.text)
		}
	}
	if got := b.do("GET", figuresPath+"?ids=2", ""); got.Code != http.StatusUnauthorized {
		t.Errorf("somebody who is not signed in: %d", got.Code)
	}
}

// The certificate is that of the last checks; where none got through, the one that was seen before.
func TestCertificatesOfMany(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for n := range 6 {
		b.create(fmt.Sprintf(`{"url":"https://example.com/%d","interval_s":60,"timeout_ms":5000}`, n))
	}
	june := func(n int) time.Time { return time.Date(2026, 6, n, 0, 0, 0, 0, time.UTC) }
	row := func(id int64, region string, ago time.Duration, status uptime.Status, cert time.Time) {
		b.results.rows = append(b.results.rows, uptime.Result{TargetID: id, Region: region, ScheduledAt: testNow.Add(-ago), Status: status, CertNotAfter: cert})
	}
	row(1, "eu", time.Minute, uptime.StatusUp, june(9)) // regions differ: the first to end
	row(1, "us", 2*time.Minute, uptime.StatusUp, june(8))
	row(1, "ap", time.Hour, uptime.StatusUp, june(1)) // checks it no more
	row(2, "eu", time.Minute, uptime.StatusDown, time.Time{})
	row(3, "eu", time.Minute, uptime.StatusUp, time.Time{}) // has none now, whatever there was
	row(4, "eu", time.Minute, uptime.StatusDown, june(4))   // down, but it was seen
	row(5, "eu", time.Minute, uptime.StatusMissed, time.Time{})
	b.results.certificates = map[int64]time.Time{1: june(2), 2: june(20), 3: june(21), 4: june(22), 6: june(23)}
	got := b.do("GET", figuresPath+"?ids=1,2,3,4,5,6", "", as(viewerKey))
	var page struct {
		Items []struct {
			TargetID     int64      `json:"target_id"`
			CertNotAfter *time.Time `json:"cert_not_after"`
		}
	}
	got.into(t, &page)
	want := map[int64]time.Time{1: june(8), 2: june(20), 4: june(4)}
	for _, item := range page.Items {
		if at := item.CertNotAfter; at == nil && !want[item.TargetID].IsZero() || at != nil && !at.Equal(want[item.TargetID]) {
			t.Errorf("target %d: %v, want %v", item.TargetID, at, want[item.TargetID])
		}
	}
	if len(page.Items) != 6 {
		t.Error(got.text)
	}
}
