package httpapi

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/probefleet/probefleet/dashboard-api/internal/session"
	"github.com/probefleet/probefleet/internal/availability"
	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/internal/uptime"
)

// longHistory has rows a second apart, in one region.
type longHistory struct {
	rows   int
	failAt int   // with errBrokenStore, when this row is asked for; 0: never
	err    error // of every question
	asked  atomic.Int64
	hang   chan struct{} // told when a second page is asked for, which never comes; nil: it does
	ended  chan error    // how that page ended
}

var errBrokenStore = errors.New("dial secret-host")

func (l *longHistory) ExportResults(ctx context.Context, q resultstore.ExportQuery) (page []uptime.Result, err error) {
	l.asked.Add(1)
	first := testNow.Add(-time.Duration(l.rows) * time.Second)
	n := 0
	if q.After != nil {
		if n = int(q.After.ScheduledAt.Sub(first)/time.Second) + 1; l.hang != nil {
			l.hang <- struct{}{}
			<-ctx.Done()
			l.ended <- context.Cause(ctx)
			return nil, ctx.Err()
		}
	}
	for ; n < l.rows && len(page) < q.Limit; n++ {
		if l.failAt > 0 && n >= l.failAt {
			return nil, errBrokenStore
		}
		at := first.Add(time.Duration(n) * time.Second)
		page = append(page, uptime.Result{TargetID: q.TargetID, Region: "eu", ScheduledAt: at, CheckedAt: at, Status: uptime.StatusUp, HTTPStatus: 200, TotalUS: uint32(n), Prober: "p", Message: "=1+1"})
	}
	return page, l.err
}

func (l *longHistory) ExportFigures(_ context.Context, tier resultstore.Tier, q resultstore.ExportQuery) ([]resultstore.Bucket, error) {
	at := testNow.Truncate(24 * time.Hour)
	if tier == resultstore.TierDaily {
		at = at.Add(-24 * time.Hour)
	}
	none := resultstore.Bucket{At: at, P50: math.NaN(), P95: math.NaN(), P99: math.NaN(), Counts: availability.Counts{Degraded: 1}}
	page := []resultstore.Bucket{none, {Region: "eu", At: at, Counts: availability.Counts{Up: 3, Missed: 1}, TotalSum: 30, TotalMin: 5, TotalMax: 20, P50: 10.4, P95: 19.6, P99: 20, RevisedAt: testNow}}
	if q.After != nil {
		page = page[1:]
	}
	return page, l.err
}

// served is an API with a target behind a real socket.
func served(t *testing.T, from *longHistory, adjust ...func(*bench, *Options)) (b *bench, url string) {
	t.Helper()
	b = newBenchOn(t, testbackend.SQLite(t), append([]func(*bench, *Options){func(_ *bench, o *Options) { o.Exports = from }}, adjust...)...)
	b.create(`{"url":"https://example.com/"}`)
	server := httptest.NewServer(b.handler)
	t.Cleanup(server.Close)
	return b, server.URL + "/api/v1/targets/1/export"
}

func request(ctx context.Context, t *testing.T, url string, options ...option) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	as(viewerKey)(r)
	for _, o := range options {
		o(r)
	}
	response, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = response.Body.Close() })
	return response
}

func wholeOf(t *testing.T, response *http.Response) string {
	t.Helper()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%d %s: %v", response.StatusCode, body, err)
	}
	return string(body)
}

func TestExportsAreGolden(t *testing.T) {
	t.Parallel()
	_, url := served(t, &longHistory{rows: 2})
	sealed := func(format, lines string) string {
		sum := sha256.Sum256([]byte(lines))
		return lines + fmt.Sprintf(format, hex.EncodeToString(sum[:]))
	}
	row := func(at string, n int) string {
		return fmt.Sprintf(`{"target_id":1,"region":"eu","scheduled_at":"2026-03-01T11:59:%[1]sZ","checked_at":"2026-03-01T11:59:%[1]sZ","status":"up","failure":"","reason":"","http_status":200,"dns_us":0,"connect_us":0,"tls_us":0,"wait_us":0,"transfer_us":0,"total_us":%d,"attempt":0,"prober":"p","message":"=1+1","address":"","cert_not_after":null,"protocol":"","tls_version":"","hops":0,"wire_bytes":0,"body_bytes":0,"dns_cached":false,"saturated":false}`+"\n", at, n)
	}
	const (
		rawHead   = "target_id,region,scheduled_at,checked_at,status,failure,reason,http_status,dns_us,connect_us,tls_us,wait_us,transfer_us,total_us,attempt,prober,message,address,cert_not_after,protocol,tls_version,hops,wire_bytes,body_bytes,dns_cached,saturated\n"
		dayHead   = "target_id,region,bucket,up,degraded,down,unknown,missed,dns_us_sum,connect_us_sum,tls_us_sum,wait_us_sum,transfer_us_sum,total_us_sum,total_us_min,total_us_max,p50_us,p95_us,p99_us,revised_at\n"
		wholeHour = `{"target_id":1,"region":"","bucket":"2026-03-01T00:00:00.000Z","up":0,"degraded":1,"down":0,"unknown":0,"missed":0,"dns_us_sum":0,"connect_us_sum":0,"tls_us_sum":0,"wait_us_sum":0,"transfer_us_sum":0,"total_us_sum":0,"total_us_min":0,"total_us_max":0,"p50_us":null,"p95_us":null,"p99_us":null,"revised_at":null}` + "\n"
		euHour    = `{"target_id":1,"region":"eu","bucket":"2026-03-01T00:00:00.000Z","up":3,"degraded":0,"down":0,"unknown":0,"missed":1,"dns_us_sum":0,"connect_us_sum":0,"tls_us_sum":0,"wait_us_sum":0,"transfer_us_sum":0,"total_us_sum":30,"total_us_min":5,"total_us_max":20,"p50_us":10,"p95_us":20,"p99_us":20,"revised_at":"2026-03-01T12:00:00.000Z"}` + "\n"
		jsonEnd   = `{"complete":{"rows":%d,"sha256":"%%s"}}` + "\n"
		csvEnd    = "# complete rows=%d sha256=%%s\n"
	)
	end := func(format string, rows int) string { return fmt.Sprintf(format, rows) }
	for query, want := range map[string]string{
		"":                                   sealed(end(jsonEnd, 2), row("58.000", 0)+row("59.000", 1)),
		"?after=2026-03-01T11:59:58.000Z,eu": sealed(end(jsonEnd, 1), row("59.000", 1)),
		"?after=2026-03-01T11:59:59Z,eu":     sealed(end(jsonEnd, 0), ""),
		"?format=csv":                        sealed(end(csvEnd, 2), rawHead+"1,eu,2026-03-01T11:59:58.000Z,2026-03-01T11:59:58.000Z,up,,,200,0,0,0,0,0,0,0,p,'=1+1,,,,,0,0,0,false,false\n1,eu,2026-03-01T11:59:59.000Z,2026-03-01T11:59:59.000Z,up,,,200,0,0,0,0,0,1,0,p,'=1+1,,,,,0,0,0,false,false\n"),
		"?format=csv&after=2026-03-01T11:59:59Z,e": sealed(end(csvEnd, 0), rawHead),
		"?kind=hourly": sealed(end(jsonEnd, 2), wholeHour+euHour),
		"?kind=hourly&after=2026-03-01T00:00:00Z,": sealed(end(jsonEnd, 1), euHour),
		"?kind=daily&format=csv":                   sealed(end(csvEnd, 2), dayHead+"1,,2026-02-28T00:00:00.000Z,0,1,0,0,0,0,0,0,0,0,0,0,0,,,,\n1,eu,2026-02-28T00:00:00.000Z,3,0,0,0,1,0,0,0,0,0,30,5,20,10,20,20,2026-03-01T12:00:00.000Z\n"),
	} {
		plain := request(t.Context(), t, url+query, header("Accept-Encoding", "identity"))
		if got := wholeOf(t, plain); got != want || plain.Header.Get("Content-Encoding") != "" || plain.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %v\n%s, want\n%s", query, plain.Header, got, want)
		}
		packed := request(t.Context(), t, url+query, header("Accept-Encoding", "br, gzip"))
		reader, err := gzip.NewReader(packed.Body)
		if err != nil || packed.Header.Get("Content-Encoding") != "gzip" || packed.Header.Get("Vary") != "Accept-Encoding" {
			t.Fatalf("%s: %v %v", query, packed.Header, err)
		}
		if got, err := io.ReadAll(reader); err != nil || string(got) != want {
			t.Errorf("%s, compressed: %s %v", query, got, err)
		}
	}
	named := request(t.Context(), t, url+"?kind=daily&format=csv").Header
	if named.Get("Content-Type") != "text/csv; charset=utf-8" || named.Get("Content-Disposition") != `attachment; filename="probefleet-1-daily-20260301T120000Z.csv"` {
		t.Error(named)
	}
}

// However many rows there are, they go through with the memory of a few pages. Alone, because what
// other tests need would be counted, too.
func TestExportsTakeConstantMemory(t *testing.T) {
	rows := 300_000
	if testing.Short() {
		rows = 90_000
	}
	_, url := served(t, &longHistory{rows: rows})
	unpacked, err := gzip.NewReader(request(t.Context(), t, url, header("Accept-Encoding", "gzip")).Body)
	if err != nil {
		t.Fatal(err)
	}
	var heap []uint64 // KiB
	lines, last := 0, ""
	for scanner := bufio.NewScanner(unpacked); scanner.Scan(); lines++ {
		if last = scanner.Text(); lines%(rows/10) == rows/20 {
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			heap = append(heap, m.HeapAlloc>>10)
		}
	}
	if lines != rows+1 || !strings.Contains(last, "complete") {
		t.Errorf("%d lines, the last is %q", lines, last)
	}
	// Pages in use make it vary by some 16 MiB; holding half of the rows would take 100 MiB, or 30 in
	// short runs.
	first, second := slices.Min(heap[:5]), slices.Min(heap[5:])
	if second > first+8<<10 || slices.Max(heap) > first+32<<10 {
		t.Errorf("the heap grows, in KiB: %v", heap)
	}
	t.Logf("live heap in KiB every %d rows: %v", rows/10, heap)
}

// Whoever reads a part knows that it is one.
func TestBrokenExportsCanBeTold(t *testing.T) {
	t.Parallel()
	var said bytes.Buffer
	log := &lockedWriter{w: &said}
	_, url := served(t, &longHistory{rows: 20_000, failAt: 12_000}, func(_ *bench, o *Options) { o.Log = slog.New(slog.NewTextHandler(log, nil)) })
	for _, encoding := range []string{"identity", "gzip"} {
		response := request(t.Context(), t, url, header("Accept-Encoding", encoding))
		var body io.Reader = response.Body
		if encoding == "gzip" {
			body, _ = gzip.NewReader(body)
		}
		got, err := io.ReadAll(body)
		if lines := strings.Count(string(got), "\n"); !errors.Is(err, io.ErrUnexpectedEOF) || lines != 10_000 || strings.Contains(string(got), "complete") {
			t.Errorf("%s: %d lines, %v", encoding, lines, err)
		}
	}
	log.mu.Lock() // it was written before the connections were cut
	defer log.mu.Unlock()
	if text := said.String(); strings.Count(text, "export broken off") != 2 || !strings.Contains(text, "rows=10000") {
		t.Error(text)
	}
}

// vanishing is a history whose target is deleted, rows and all, while its second page is read.
type vanishing struct {
	longHistory
	remove func()
}

func (v *vanishing) ExportResults(ctx context.Context, q resultstore.ExportQuery) ([]uptime.Result, error) {
	if q.After == nil {
		return v.longHistory.ExportResults(ctx, q)
	}
	v.remove()
	return nil, nil
}

// What is left of a target that was deleted meanwhile is no whole export.
func TestExportsOfTargetsThatGo(t *testing.T) {
	t.Parallel()
	history := &vanishing{longHistory: longHistory{rows: 12_000}}
	b, url := served(t, nil, func(_ *bench, o *Options) { o.Exports = history })
	history.remove = func() {
		if err := b.targets.Delete(b.Context(), 1, 0); err != nil {
			t.Error(err)
		}
	}
	got, err := io.ReadAll(request(t.Context(), t, url, header("Accept-Encoding", "identity")).Body)
	if !errors.Is(err, io.ErrUnexpectedEOF) || strings.Contains(string(got), "complete") {
		t.Errorf("%v, it ends with %q", err, got[max(0, len(got)-200):])
	}
}

// When the reader leaves, the question in the store ends.
func TestExportsEndWithTheirReader(t *testing.T) {
	t.Parallel()
	history := &longHistory{rows: 20_000, hang: make(chan struct{}), ended: make(chan error, 1)}
	_, url := served(t, history)
	ctx, leave := context.WithCancel(t.Context())
	response := request(ctx, t, url, header("Accept-Encoding", "identity"))
	first := bufio.NewReader(response.Body)
	if line, err := first.ReadString('\n'); err != nil || !strings.HasPrefix(line, `{"target_id":1,`) {
		t.Fatal(line, err) // the first page is here while the second is asked for
	}
	<-history.hang
	leave()
	if err := <-history.ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// interrupted calls while every page but the first is looked for.
type interrupted struct {
	*longHistory
	call func()
}

func (i *interrupted) ExportResults(ctx context.Context, q resultstore.ExportQuery) ([]uptime.Result, error) {
	if q.After != nil {
		i.call()
	}
	return i.longHistory.ExportResults(ctx, q)
}

// An export whose key is revoked meanwhile goes no further, and is not taken for the whole.
func TestExportsEndWithTheirKey(t *testing.T) {
	t.Parallel()
	history := &longHistory{rows: 3 * resultstore.MaxExportPage}
	_, url := served(t, history, func(b *bench, o *Options) {
		o.Exports = &interrupted{history, func() {
			b.exec("UPDATE api_keys SET revoked_at_ms = 1 WHERE key_hash = ?", session.HashToken(viewerKey))
		}}
	})
	said, err := io.ReadAll(request(t.Context(), t, url).Body)
	if rows := bytes.Count(said, []byte("\n")); err == nil || rows > resultstore.MaxExportPage || bytes.Contains(said, []byte("complete")) {
		t.Errorf("%d rows, %v", rows, err)
	}
}

func TestExportsThatAreRefused(t *testing.T) {
	t.Parallel()
	history := &longHistory{rows: 1}
	b, _ := served(t, history)
	for path, want := range map[string]string{
		"/api/v1/targets/9/export":                                                        "404 not_found",
		"/api/v1/targets/1/export?kind=weekly":                                            "422 invalid_parameter",
		"/api/v1/targets/1/export?format=xml":                                             "422 invalid_parameter",
		"/api/v1/targets/1/export?after=yesterday":                                        "422 invalid_parameter",
		"/api/v1/targets/1/export?after=2026-03-01T00:00:00Z":                             "422 invalid_parameter",
		"/api/v1/targets/1/export?from=2026-03-01T00:00:00Z&to=2026-03-01T00:00:00Z":      "422 invalid_range",
		"/api/v1/targets/1/export?from=2027-03-01T00:00:00Z":                              "422 invalid_range",
		"/api/v1/targets/1/export?from=2020-01-01T00:00:00Z&to=2026-01-01T00:00:00Z&kind": "422 invalid_parameter",
	} {
		got := b.do("GET", path, "", as(viewerKey))
		if said := fmt.Sprint(got.Code, " ", got.problem(t).Code); said != want {
			t.Errorf("%s: %s, want %s", path, said, want)
		}
	}
	history.err = errBrokenStore
	for range maxExports + 1 { // a failed one takes no place
		if got := b.do("GET", "/api/v1/targets/1/export", "", as(viewerKey)); got.Code != http.StatusServiceUnavailable || strings.Contains(got.text, "secret") || strings.Contains(got.problem(t).Detail, "too many") {
			t.Errorf("while ClickHouse is away: %d %s", got.Code, got.text)
		}
	}
}

func TestExportsAtOnceAreBounded(t *testing.T) {
	t.Parallel()
	history := &longHistory{rows: 20_000, hang: make(chan struct{}), ended: make(chan error, maxExports)}
	b, url := served(t, history)
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	for range maxExports {
		request(ctx, t, url)
		<-history.hang
	}
	if got := b.do("GET", "/api/v1/targets/1/export", "", as(viewerKey)); got.Code != http.StatusServiceUnavailable || !strings.Contains(got.problem(t).Detail, "too many") || got.Header().Get("Retry-After") == "" {
		t.Errorf("one more: %d %s", got.Code, got.text)
	}
}
