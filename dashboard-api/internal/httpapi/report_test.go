package httpapi

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/availability"
	"github.com/probefleet/probefleet/internal/uptime"
)

func TestReportsSayWhatTheyRestOn(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	troubled(b)
	b.create(`{"name":"calm","url":"https://example.org/","active":false}`)
	const path = "/api/v1/reports/2026-02?zone=Asia/Kathmandu"
	content := `probefleet report 1
month	2026-02	Asia/Kathmandu	2026-01-31T18:15:00Z	2026-02-28T18:15:00Z
target	1
series	""	4	0	2	0	0	3	600
series	"eu"	4	0	2	0	0	3	600
series	"us"	3	0	2	0	1	3	600
incident	2026-02-09T18:15:00Z	2026-02-09T18:30:00Z	2	600
target	2
series	""	0	0	0	0	0	0	0
`
	got := b.do("GET", path, "", as(viewerKey))
	for _, want := range []string{
		`{"month":"2026-02","zone":"Asia/Kathmandu","from":"2026-01-31T18:15:00.000Z","to":"2026-02-28T18:15:00.000Z","complete":true,"content_hash":"` + hashOf(content) + `","targets":[{"target_id":1,"name":"=cmd()","folded":{"up":4,`,
		`"incidents":[{"from":"2026-02-09T18:15:00.000Z","to":"2026-02-09T18:30:00.000Z","down_slots":2,"downtime_minutes":10}]`,
		`"corrections":[{"region":"us","hour":"2026-02-09T18:00:00.000Z","revised_at":"2026-03-01T11:00:00.000Z","old":{"up":0,"degraded":0,"down":3,"unknown":0,"missed":0},"new":{"up":0,"degraded":0,"down":2,"unknown":0,"missed":1}},{"region":"","hour"`,
		`{"target_id":2,"name":"calm","folded":{"up":0,`,
	} {
		if !strings.Contains(got.text, want) {
			t.Errorf("%d %s\nlacks %s", got.Code, got.text, want)
		}
	}
	var cuts []string
	for _, cut := range b.results.cuts[0] {
		cuts = append(cuts, cut.Format("15:04"))
	}
	if got := strings.Join(cuts, " "); got != "19:45 20:00 20:15 20:30" { // around the edges of maintenance, on quarters: rollups know no others
		t.Errorf("counts were asked for with cuts at %s", got)
	}
	if ct := got.Header().Get("Content-Type"); ct != "application/json" {
		t.Errorf("type %q", ct)
	}
	rand.Shuffle(len(b.results.cells), func(i, j int) { b.results.cells[i], b.results.cells[j] = b.results.cells[j], b.results.cells[i] })
	if again := b.do("GET", path, "", as(viewerKey)); again.text != got.text {
		t.Errorf("in another order: %s", again.text)
	}

	csv := b.do("GET", path+"&format=csv", "", as(viewerKey))
	want := `month,zone,target_id,name,region,uptime_percent,low_percent,high_percent,coverage_percent,checks,up,degraded,down,unknown,missed,excluded,downtime_minutes,incidents,revised_at,complete
2026-02,Asia/Kathmandu,1,'=cmd(),,66.666,66.666,66.666,100.000,6,4,0,2,0,0,3,10,1,2026-03-01T10:00:00.000Z,true
2026-02,Asia/Kathmandu,1,'=cmd(),eu,66.666,66.666,66.666,100.000,6,4,0,2,0,0,3,10,,,true
2026-02,Asia/Kathmandu,1,'=cmd(),us,60.000,50.000,66.666,83.333,5,3,0,2,0,1,3,10,,2026-03-01T11:00:00.000Z,true
2026-02,Asia/Kathmandu,2,calm,,,,,,0,0,0,0,0,0,0,0,0,,true
`
	if h := csv.Header(); csv.text != want || h.Get("Content-Type") != "text/csv; charset=utf-8" || h.Get("X-Content-Hash") != hashOf(content) || !strings.Contains(h.Get("Content-Disposition"), "2026-02.csv") {
		t.Errorf("%d %v\n%s, want\n%s", csv.Code, h, csv.text, want)
	}

	// A month that is not over is not complete; what changes later has another hash.
	if open := b.do("GET", "/api/v1/reports/2026-03", "", as(viewerKey)); !strings.Contains(open.text, `"complete":false`) {
		t.Errorf("a month that is not over: %s", open.text)
	}
	if open := b.do("GET", "/api/v1/reports/2026-03?format=csv", "", as(viewerKey)); strings.Count(open.text, ",false\n") != strings.Count(open.text, "\n")-1 {
		t.Errorf("a month that is not over, in lines: %s", open.text)
	}
	b.results.cells[0].Up++
	if changed := b.do("GET", path, "", as(viewerKey)); strings.Contains(changed.text, hashOf(content)) {
		t.Errorf("one slot more has the same hash: %s", changed.text)
	}
	b.past.err = errors.New("dial")
	for query, status := range map[string]int{path: 200, path + "&format=csv": 503, path + "&ids=2": 503} {
		if got := b.do("GET", query, "", as(viewerKey)); got.Code != status || (status == 200) != (got.Header().Get(staleHeader) != "") {
			t.Errorf("%s during an outage: %d %v", query, got.Code, got.Header())
		}
	}
}

func hashOf(content string) string {
	return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(content)))
}

func TestReportsOfEveryTarget(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const n = 1203 // more than a page of the list, and than one question to ClickHouse
	for i := range n {
		if _, err := b.targets.Create(t.Context(), uptime.Target{Name: fmt.Sprint("target ", i), URL: fmt.Sprintf("https://%d.example/", i), Kind: uptime.KindHTTP, Interval: time.Minute, Timeout: time.Second, Active: true}); err != nil {
			t.Fatal(err)
		}
	}
	for id := range int64(n) {
		b.results.cells = append(b.results.cells, quarterOf(id+1, "", "2026-02-09T18:00:00Z", availability.Counts{Down: 1}))
	}
	b.past.maintenance = map[int64]availability.Spans{7: availability.NewSpans(span("2026-02-09T18:00:00Z", "2026-02-09T18:15:00Z"))}
	var report struct {
		Targets []struct {
			TargetID  int64 `json:"target_id"`
			Folded    struct{ Down, Excluded uint64 }
			Incidents []struct{ From time.Time }
		}
	}
	b.do("GET", "/api/v1/reports/2026-02", "", as(viewerKey)).into(t, &report)
	if len(report.Targets) != n {
		t.Fatalf("%d targets", len(report.Targets))
	}
	for i, target := range report.Targets {
		down, excluded := uint64(1), uint64(0)
		if target.TargetID == 7 {
			down, excluded = 0, 1
		}
		if target.TargetID != int64(i+1) || target.Folded.Down != down || target.Folded.Excluded != excluded || len(target.Incidents) != int(down) {
			t.Fatalf("line %d: %+v", i, target)
		}
	}
	if asked := len(b.results.cuts); asked != 2*7+1 { // 7 chunks twice, and the maintained one, which was not down
		t.Errorf("%d questions", asked)
	}
}

// TestHarmless: nothing that people or targets say begins a cell with a formula, also not
// where semicolons divide cells, as they do for spreadsheets in half of Europe.
func TestHarmless(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", "shop": "shop", "a=b": "a=b", "a; b": "a; b", "=1+1": "'=1+1", "+1": "'+1", "-1": "'-1", "@a": "'@a", "\t=1": "'\t=1", "\r=1": "'\r=1",
		"a;=1+1;b": "a;'=1+1;b", ";@a;-b": ";'@a;'-b",
	} {
		if got := harmless(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
