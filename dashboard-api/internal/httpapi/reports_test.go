package httpapi

import (
	"log/slog"
	"math"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/probefleet/probefleet/internal/availability"
	"github.com/probefleet/probefleet/internal/ledger"
	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/uptime"
)

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }

func TestReportsAreGolden(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.hub.SetRegions([]string{"eu", "us"}, nil)
	b.create(`{"url":"https://example.com/"}`)
	slot := time.Date(2026, 3, 1, 11, 59, 0, 250e6, time.UTC)
	b.results.rows = []uptime.Result{
		{TargetID: 1, Region: "eu", ScheduledAt: slot, CheckedAt: slot.Add(3 * time.Millisecond), Status: uptime.StatusDown, Failure: uptime.FailureStatusCode, HTTPStatus: 503,
			Phases: uptime.Phases{DNS: 1, Connect: 2, TLS: 3, Wait: 4, Transfer: 5}, TotalUS: 15, Message: "<script>", Address: netip.MustParseAddr("192.0.2.1"), CertNotAfter: slot.Add(time.Hour), Attempt: 1, Prober: "p1",
			Seen: uptime.Seen{Protocol: "HTTP/1.1", TLSVersion: 0x0304, Hops: 2, WireBytes: 10, BodyBytes: 30, DNSCached: true, Saturated: true}},
		{TargetID: 1, Region: "us", ScheduledAt: slot, Status: uptime.StatusMissed, Reason: uptime.ReasonExpired, Prober: "p2"},
	}
	b.results.series = resultstore.Series{
		Tier: resultstore.TierHourly, Step: time.Minute, From: time.Unix(600, 0), To: time.Unix(720, 0), RevisedAt: []time.Time{{}, slot},
		At: []time.Time{time.Unix(600, 0), time.Unix(660, 0)}, Count: []uint64{2, 0}, Up: []uint64{1, 0}, Degraded: []uint64{0, 0}, Down: []uint64{1, 0}, Unknown: []uint64{0, 0}, Missed: []uint64{0, 0},
		P50: []float64{1000.4, math.NaN()}, P95: []float64{2000, math.NaN()}, P99: []float64{3000, math.NaN()},
		DNS: []float64{1, math.NaN()}, Connect: []float64{2, math.NaN()}, TLS: []float64{3, math.NaN()}, Wait: []float64{4, math.NaN()}, Transfer: []float64{5, math.NaN()},
	}
	b.results.matrix = map[string]resultstore.Series{"us": b.results.series, "eu": b.results.series}
	b.results.wrong = resultstore.Failures{From: testNow.Add(-time.Hour), To: testNow, Groups: []resultstore.FailureGroup{
		{Status: uptime.StatusDown, Failure: uptime.FailureStatusCode, Count: 7, First: slot.Add(-time.Minute), Last: slot, Example: b.results.rows[0]},
		{Status: uptime.StatusMissed, Reason: uptime.ReasonExpired, Count: 1, First: slot, Last: slot, Example: b.results.rows[1]},
	}}
	b.results.shape = resultstore.Histogram{From: testNow.Add(-time.Hour), To: testNow, Count: 3, Buckets: []resultstore.Band{{From: 16, To: 20, Count: 2}, {From: 20, To: 23}, {From: 23, To: 27, Count: 1}}}
	hour := availability.Span{From: testNow.Add(-time.Hour), To: testNow}
	b.results.cells = []fakeCell{
		{1, "eu", availability.Cell{Span: hour, Counts: availability.Counts{Up: 96, Degraded: 1, Down: 2, Missed: 1}}},
		{1, "", availability.Cell{Span: hour, Counts: availability.Counts{Up: 95, Degraded: 2, Down: 1, Missed: 2}}},
	}
	b.ledger.lines = []ledger.Line{{Region: "eu", Planned: 10, Up: 5, Down: 1, Unknown: 1, Missed: 1, InFlight: 2, Reasons: []ledger.Stated{{Status: uptime.StatusMissed, Reason: uptime.ReasonExpired, Count: 1}, {Status: uptime.StatusUnknown, Reason: uptime.ReasonProbeBlind, Count: 1}}}}
	b.results.cycled = resultstore.Cycled{Due: 12, Published: 10, Missed: 2}
	for path, want := range map[string]string{
		"/api/v1/targets/1/results": `{"items":[{"target_id":1,"region":"eu","scheduled_at":"2026-03-01T11:59:00.250Z","checked_at":"2026-03-01T11:59:00.253Z","status":"down","failure":"status_code","reason":"","http_status":503,"dns_us":1,"connect_us":2,"tls_us":3,"wait_us":4,"transfer_us":5,"total_us":15,"attempt":1,"prober":"p1","message":"<script>","address":"192.0.2.1","cert_not_after":"2026-03-01T12:59:00.250Z","protocol":"HTTP/1.1","tls_version":"1.3","hops":2,"wire_bytes":10,"body_bytes":30,"dns_cached":true,"saturated":true},` +
			`{"target_id":1,"region":"us","scheduled_at":"2026-03-01T11:59:00.250Z","checked_at":null,"status":"missed","failure":"","reason":"expired","http_status":0,"dns_us":0,"connect_us":0,"tls_us":0,"wait_us":0,"transfer_us":0,"total_us":0,"attempt":0,"prober":"p2","message":"","address":"","cert_not_after":null,"protocol":"","tls_version":"","hops":0,"wire_bytes":0,"body_bytes":0,"dns_cached":false,"saturated":false}],"next_cursor":null}`,
		"/api/v1/targets/1/series?from=1970-01-01T00:10:00Z&to=1970-01-01T00:12:00Z&step_s=60": `{"tier":"hourly","from":"1970-01-01T00:10:00.000Z","to":"1970-01-01T00:12:00.000Z","kept_since":"2021-03-01T12:00:00.000Z","step_s":60,"partial":false,"revised_at":"2026-03-01T11:59:00.250Z","revised":[{"x":660,"revised_at":"2026-03-01T11:59:00.250Z"}],"x":[600,660],"count":[2,0],"up":[1,0],"degraded":[0,0],"down":[1,0],"unknown":[0,0],"missed":[0,0],"p50_us":[1000,null],"p95_us":[2000,null],"p99_us":[3000,null],"dns_us":[1,null],"connect_us":[2,null],"tls_us":[3,null],"wait_us":[4,null],"transfer_us":[5,null]}`,
		"/api/v1/targets/1/matrix": `{"tier":"hourly","step_s":60,"x":[600,660],"items":[{"region":"eu","up":[1,0],"degraded":[0,0],"down":[1,0],"unknown":[0,0],"missed":[0,0],"p50_us":[1000,null],"p95_us":[2000,null],"revised":[{"x":660,"revised_at":"2026-03-01T11:59:00.250Z"}]},` +
			`{"region":"us","up":[1,0],"degraded":[0,0],"down":[1,0],"unknown":[0,0],"missed":[0,0],"p50_us":[1000,null],"p95_us":[2000,null],"revised":[{"x":660,"revised_at":"2026-03-01T11:59:00.250Z"}]}]}`,
		"/api/v1/targets/1/failures": `{"from":"2026-03-01T11:00:00.000Z","to":"2026-03-01T12:00:00.000Z","items":[` +
			`{"status":"down","failure":"status_code","reason":"","count":7,"first":"2026-03-01T11:58:00.250Z","last":"2026-03-01T11:59:00.250Z","example":{"region":"eu","scheduled_at":"2026-03-01T11:59:00.250Z","checked_at":"2026-03-01T11:59:00.253Z","http_status":503,"total_us":15,"message":"<script>","prober":"p1"}},` +
			`{"status":"missed","failure":"","reason":"expired","count":1,"first":"2026-03-01T11:59:00.250Z","last":"2026-03-01T11:59:00.250Z","example":{"region":"us","scheduled_at":"2026-03-01T11:59:00.250Z","checked_at":null,"http_status":0,"total_us":0,"message":"","prober":"p2"}}]}`,
		"/api/v1/targets/1/histogram": `{"from":"2026-03-01T11:00:00.000Z","to":"2026-03-01T12:00:00.000Z","count":3,"buckets":[{"from_us":16,"to_us":20,"count":2},{"from_us":20,"to_us":23,"count":0},{"from_us":23,"to_us":27,"count":1}]}`,
		"/api/v1/results/current":     `{"items":[{"target_id":1,"results":[{"region":"eu","scheduled_at":"2026-03-01T11:59:00.250Z","checked_at":"2026-03-01T11:59:00.253Z","status":"down","failure":"status_code","reason":"","http_status":503,"total_us":15,"fresh":true},{"region":"us","scheduled_at":"2026-03-01T11:59:00.250Z","checked_at":null,"status":"missed","failure":"","reason":"expired","http_status":0,"total_us":0,"fresh":false}]}],"next_cursor":null}`,
		"/api/v1/targets/1/uptime": `{"from":"2026-02-28T12:00:00.000Z","to":"2026-03-01T12:00:00.000Z","up":96,"degraded":1,"down":2,"unknown":0,"missed":1,"planned":100,"uptime":0.9797979797979798,"coverage":0.99,"low":0.97,"high":0.98,"uptime_percent":"97.979","checks":99,"excluded":0,"downtime_minutes":1,"revised_at":null,"zone":"UTC","by":"none",` +
			`"folded":{"up":95,"degraded":2,"down":1,"unknown":0,"missed":2,"planned":100,"uptime":0.9897959183673469,"coverage":0.98,"low":0.97,"high":0.99,"uptime_percent":"98.979","checks":98,"excluded":0,"downtime_minutes":1,"revised_at":null},` +
			`"regions":[{"region":"eu","up":96,"degraded":1,"down":2,"unknown":0,"missed":1,"planned":100,"uptime":0.9797979797979798,"coverage":0.99,"low":0.97,"high":0.98,"uptime_percent":"97.979","checks":99,"excluded":0,"downtime_minutes":2,"revised_at":null}],"periods":[]}`,
		"/api/v1/results/latest?ids=1,2&n=2":     `{"items":[{"target_id":1,"results":[{"region":"eu","scheduled_at":"2026-03-01T11:59:00.250Z","checked_at":"2026-03-01T11:59:00.253Z","status":"down","failure":"status_code","reason":"","http_status":503,"total_us":15},{"region":"us","scheduled_at":"2026-03-01T11:59:00.250Z","checked_at":null,"status":"missed","failure":"","reason":"expired","http_status":0,"total_us":0}]}]}`,
		"/api/v1/ledger?to=2026-03-01T00:00:00Z": `{"items":[{"region":"eu","planned":10,"up":5,"degraded":0,"down":1,"unknown":1,"missed":1,"in_flight":2,"spooled":0,"unexplained":0,"reasons":[{"status":"missed","reason":"expired","count":1},{"status":"unknown","reason":"probe_blind","count":1}]}],"publisher":{"due":12,"published":10,"missed":2},"from":"2026-02-28T00:00:00.000Z","to":"2026-03-01T00:00:00.000Z"}`,
		"/api/v1/fleet":                          `{"redis":{"version":"","embedded":false,"durable":false,"backlog":0,"dead_letters":0},"clickhouse":{"ok":false,"down_since":null},"database":{"engine":"sqlite","ok":true,"down_since":null,"latency_ms":1.235},"publisher":{"leader":"one","last_tick":"2026-03-01T12:00:00.000Z"},"regions":[],"outside":[]}`,
	} {
		got := b.do("GET", path, "", as(viewerKey))
		if diff := cmp.Diff(want, strings.TrimSpace(got.text)); diff != "" || got.Code != 200 {
			t.Errorf("%s: %d %s", path, got.Code, diff)
		}
	}
}

func TestResultPages(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.create(`{"url":"https://example.com/"}`)
	slot := time.UnixMilli(1_772_366_340_123).UTC()
	newest := uptime.Result{TargetID: 1, Region: "eu-1", ScheduledAt: slot, Status: uptime.StatusUp}
	older := newest
	older.ScheduledAt = slot.Add(-time.Minute)
	b.results.rows = []uptime.Result{newest, older}
	type pageBody struct {
		Items      []any   `json:"items"`
		NextCursor *string `json:"next_cursor"`
	}
	var first, last pageBody
	b.do("GET", "/api/v1/targets/1/results?limit=1&region=eu-1&from=2026-01-01T00:00:00Z", "", as(viewerKey)).into(t, &first)
	if len(first.Items) != 1 || first.NextCursor == nil {
		t.Fatalf("the first page is %+v", first)
	}
	b.results.rows = []uptime.Result{older}
	b.do("GET", "/api/v1/targets/1/results?limit=1&cursor="+*first.NextCursor, "", as(viewerKey)).into(t, &last)
	if asked := b.results.asked; asked.Limit != 2 || asked.Before == nil || !asked.Before.ScheduledAt.Equal(slot) || asked.Before.Region != "eu-1" || asked.TargetID != 1 {
		t.Errorf("the second page asked for %+v", asked)
	}
	if len(last.Items) != 1 || last.NextCursor != nil {
		t.Errorf("a full page that is the last: %+v", last)
	}
}

func TestRangesAndBounds(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.create(`{"url":"https://example.com/","interval_s":10}`)
	b.create(`{"url":"https://daily.example/","interval_s":86400}`)
	many := strings.TrimSuffix(strings.Repeat("1,", 1001), ",")
	for path, want := range map[string]int{
		"/api/v1/targets/1/series?from=2026-03-01T00:00:00Z&to=2026-03-01T00:00:00Z":              422,
		"/api/v1/targets/1/series?from=2020-01-01T00:00:00Z":                                      422,
		"/api/v1/targets/1/series?from=2021-04-01T00:00:00Z":                                      200,
		"/api/v1/targets/1/series?region=eu&folded=true":                                          422,
		"/api/v1/targets/1/series?step_s=86401":                                                   422,
		"/api/v1/targets/1/matrix?from=2020-01-01T00:00:00Z":                                      422,
		"/api/v1/targets/1/matrix?step_s=0":                                                       422,
		"/api/v1/targets/9/matrix":                                                                404,
		"/api/v1/targets/1/failures?from=2025-01-01T00:00:00Z":                                    422,
		"/api/v1/targets/1/failures?from=2026-03-01T00:00:00Z&to=2026-03-01T00:00:00Z":            422,
		"/api/v1/targets/9/failures":                                                              404,
		"/api/v1/targets/1/histogram?from=2025-01-01T00:00:00Z":                                   422,
		"/api/v1/targets/9/histogram":                                                             404,
		"/api/v1/results/current?limit=0":                                                         422,
		"/api/v1/results/current?cursor=nonsense":                                                 422,
		"/api/v1/targets/1/series?step_s=0":                                                       422,
		"/api/v1/targets/1/series?from=yesterday":                                                 422,
		"/api/v1/targets/9/series":                                                                404,
		"/api/v1/targets/9/results":                                                               404,
		"/api/v1/targets/9/uptime":                                                                404,
		"/api/v1/targets/x/uptime":                                                                422,
		"/api/v1/targets/1/results?limit=1001":                                                    422,
		"/api/v1/targets/1/results?cursor=dDE":                                                    422,
		"/api/v1/targets/1/results?from=2026-03-01T00:00:00Z&to=2026-02-01T00:00:00Z":             422,
		"/api/v1/results/latest":                                                                  422,
		"/api/v1/results/latest?ids=" + many:                                                      422,
		"/api/v1/results/latest?n=1000&ids=" + strings.TrimSuffix(strings.Repeat("1,", 200), ","): 422,
		"/api/v1/results/latest?ids=1,x":                                                          422,
		"/api/v1/results/latest?ids=1,2,99&n=90":                                                  200,
	} {
		if got := b.do("GET", path, "", as(viewerKey)); got.Code != want {
			t.Errorf("%.100s: %d, want %d: %.200s", path, got.Code, want, got.text)
		}
	}
	if got, want := testNow.Sub(b.results.since[1]), 90*10*time.Second+time.Minute; got != want {
		t.Errorf("the 10 s target was looked for %v back, want %v", got, want)
	}
}

// Rows older than that are gone, while their slots were planned all the same: an
// account of them would call every one unexplained.
func TestLedgerAccountsForWhatIsKept(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	oldest := testNow.Add(-resultstore.Retention)
	for query, want := range map[string]time.Time{
		"from=2026-02-27T00:00:00Z":                         time.Date(2026, 2, 27, 0, 0, 0, 0, time.UTC),
		"from=2025-12-01T00:00:00Z":                         oldest,
		"from=2025-12-01T00:00:00Z&to=2026-02-01T00:00:00Z": oldest,
	} {
		b.ledger.from = time.Time{}
		got := b.do("GET", "/api/v1/ledger?"+query, "", as(viewerKey))
		if said := `"from":"` + want.Format("2006-01-02T15:04:05.000Z") + `"`; got.Code != 200 || !b.ledger.from.Equal(want) || !strings.Contains(got.text, said) {
			t.Errorf("%s: asked from %v, want %v: %d %s", query, b.ledger.from, want, got.Code, got.text)
		}
	}
	if got := b.do("GET", "/api/v1/ledger?from=2025-12-01T00:00:00Z&to=2026-01-01T00:00:00Z", "", as(viewerKey)); got.Code != 422 {
		t.Errorf("a range of which nothing is kept: %d %s", got.Code, got.text)
	}
}
