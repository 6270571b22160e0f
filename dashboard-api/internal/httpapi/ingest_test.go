package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/probefleet/probefleet/internal/recorder"
	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/spool"
	"github.com/probefleet/probefleet/internal/uptime"
)

// fakeRecorder keeps what it is given, unless a test makes it refuse.
type fakeRecorder struct {
	mu        sync.Mutex
	rows      []uptime.Result
	announced []uptime.Result
	err       error
	hang      bool
	state     recorder.State
}

func (f *fakeRecorder) RecordWait(ctx context.Context, rows []uptime.Result) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.hang {
		<-ctx.Done()
		return ctx.Err()
	}
	if f.err != nil {
		return f.err
	}
	f.rows = append(f.rows, rows...)
	return nil
}

func (f *fakeRecorder) State() recorder.State { return f.state }

func (f *fakeRecorder) announce(_ context.Context, rows []uptime.Result) error {
	f.announced = append(f.announced, rows...)
	return nil
}

const oneResult = `{"at":"2026-03-01T11:59:58.250Z","region":"office","status":"down","failure":"timeout","latency_ms":12.5,"dns_us":100,"connect_us":200,"tls_us":300,"wait_us":400,"transfer_us":500,"http_status":503,"message":"no answer"}`

func received(items ...string) string { return `{"items":[` + strings.Join(items, ",") + `]}` }

func TestReceiveResults(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	target := b.create(`{"url":"https://example.com/"}`)
	path := fmt.Sprintf("/api/v1/targets/%d/results", target.ID)
	got := b.do("POST", path, received(oneResult, `{"at":"2026-03-01T13:00:59+01:00","status":"up","connect_us":7}`), as(editorKey))
	if got.Code != http.StatusOK || !strings.Contains(got.text, `"accepted":2,"regions":["ext-office","ext-external"]`) {
		t.Fatalf("%d %s", got.Code, got.text)
	}
	actor := b.rows.rows[0].Prober
	at := time.Date(2026, 3, 1, 11, 59, 58, 250e6, time.UTC)
	later := time.Date(2026, 3, 1, 12, 0, 59, 0, time.UTC)
	want := []uptime.Result{{
		TargetID: target.ID, Region: "ext-office", ScheduledAt: at, CheckedAt: at, Status: uptime.StatusDown, Failure: uptime.FailureTimeout, HTTPStatus: 503,
		Phases: uptime.Phases{DNS: 100, Connect: 200, TLS: 300, Wait: 400, Transfer: 500}, TotalUS: 12500, Message: "no answer", Attempt: 1, Prober: actor, SpecVersion: target.SpecVersion, IngestedAt: testNow,
	}, {
		TargetID: target.ID, Region: "ext-external", ScheduledAt: later, CheckedAt: later, Status: uptime.StatusUp,
		Phases: uptime.Phases{Connect: 7}, TotalUS: 7, Attempt: 1, Prober: actor, SpecVersion: target.SpecVersion, IngestedAt: testNow,
	}}
	if diff := cmp.Diff(fmt.Sprintf("%+v", want), fmt.Sprintf("%+v", b.rows.rows)); diff != "" {
		t.Errorf("stored: %s", diff)
	}
	if len(b.rows.announced) != 2 || !strings.Contains(actor, ":") {
		t.Errorf("announced %d, by %q", len(b.rows.announced), actor)
	}
}

// TestReceiveRefusals: each mistake is named by item and field, and nothing is stored.
func TestReceiveRefusals(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	target := b.create(`{"url":"https://example.com/"}`)
	path := fmt.Sprintf("/api/v1/targets/%d/results", target.ID)
	good := `{"at":"2026-03-01T11:59:00Z","status":"up"}`
	with := func(member string) string {
		return received(good, strings.Replace(strings.Replace(good, `"status":"up"`, `"status":"up",`+member, 1), `"status":"up","status"`, `"status"`, 1))
	}
	at := func(text string) string { return received(good, `{"at":`+text+`,"status":"up"}`) }
	for name, c := range map[string]struct {
		body          string
		code          int
		pointer, what string
	}{
		"not JSON":               {`{"items":[`, 400, "", "malformed_json"},
		"cut off":                {`{"items":[` + good, 400, "", "malformed_json"},
		"two documents":          {received(good) + received(good), 400, "", "malformed_json"},
		"a bare list":            {`[` + good + `]`, 400, "", "malformed_json"},
		"null":                   {`null`, 400, "", "malformed_json"},
		"nothing":                {`{}`, 422, "/items", "required"},
		"null items":             {`{"items":null}`, 422, "/items", "required"},
		"no items":               {`{"items":[]}`, 422, "/items", "too_short"},
		"items of another type":  {`{"items":{}}`, 422, "/items", "invalid_type"},
		"an item that is none":   {received(good, `7`), 422, "/items/1", "invalid_type"},
		"too many":               {received(slicesOf(good, 1001)...), 422, "/items", "too_long"},
		"unknown field":          {with(`"colour":"red"`), 400, "/items/1/colour", "unknown_field"},
		"unknown field outside":  {`{"items":[` + good + `],"x":1}`, 400, "/x", "unknown_field"},
		"no time":                {received(good, `{"status":"up"}`), 422, "/items/1/at", "required"},
		"time null":              {at(`null`), 422, "/items/1/at", "required"},
		"time as a number":       {at(`1772366400`), 422, "/items/1/at", "invalid_type"},
		"time without a zone":    {at(`"2026-03-01T11:59:00"`), 422, "/items/1/at", "invalid_time"},
		"no such day":            {at(`"2026-02-30T11:59:00Z"`), 422, "/items/1/at", "invalid_time"},
		"ahead":                  {at(`"2026-03-01T12:01:00.001Z"`), 422, "/items/1/at", "time_in_future"},
		"too old":                {at(`"2026-01-30T11:59:59.999Z"`), 422, "/items/1/at", "time_too_old"},
		"far too old":            {at(`"0001-01-01T00:00:00Z"`), 422, "/items/1/at", "time_too_old"},
		"no status":              {received(good, `{"at":"2026-03-01T11:59:00Z"}`), 422, "/items/1/status", "required"},
		"unknown status":         {received(good, strings.Replace(good, `"up"`, `"UP"`, 1)), 422, "/items/1/status", "unknown_status"},
		"not a measurement":      {received(good, strings.Replace(good, `"up"`, `"missed"`, 1)), 422, "/items/1/status", "unknown_status"},
		"unknown, too":           {received(good, strings.Replace(good, `"up"`, `"unknown"`, 1)), 422, "/items/1/status", "unknown_status"},
		"status as a number":     {received(good, strings.Replace(good, `"up"`, `1`, 1)), 422, "/items/1/status", "invalid_type"},
		"unknown failure":        {received(good, strings.Replace(good, `"up"`, `"down","failure":"gremlins"`, 1)), 422, "/items/1/failure", "unknown_failure"},
		"down without a failure": {received(good, strings.Replace(good, `"up"`, `"down"`, 1)), 422, "/items/1/failure", "required"},
		"up with a failure":      {with(`"failure":"timeout"`), 422, "/items/1/failure", "conflict"},
		"region in capitals":     {with(`"region":"EU"`), 422, "/items/1/region", "invalid_region"},
		"region too long":        {with(`"region":"` + strings.Repeat("a", 29) + `"`), 422, "/items/1/region", "too_long"},
		"region of probers":      {with(`"region":"eu"`), 422, "/items/1/region", "region_of_probers"},
		"region of heartbeats":   {with(`"region":"push"`), 422, "/items/1/region", "reserved_region"},
		"region as a list":       {with(`"region":[]`), 422, "/items/1/region", "invalid_type"},
		"negative latency":       {with(`"latency_ms":-0.1`), 422, "/items/1/latency_ms", "out_of_range"},
		"latency of hours":       {with(`"latency_ms":3600001`), 422, "/items/1/latency_ms", "out_of_range"},
		"latency as a text":      {with(`"latency_ms":"1"`), 422, "/items/1/latency_ms", "invalid_type"},
		"negative phase":         {with(`"dns_us":-1`), 422, "/items/1/dns_us", "out_of_range"},
		"huge phase":             {with(`"wait_us":3600000001`), 422, "/items/1/wait_us", "out_of_range"},
		"phase with a fraction":  {with(`"tls_us":1.5`), 422, "/items/1/tls_us", "invalid_type"},
		"phases beyond latency":  {with(`"latency_ms":1,"connect_us":2001`), 422, "/items/1/latency_ms", "conflict"},
		"HTTP status":            {with(`"http_status":99`), 422, "/items/1/http_status", "out_of_range"},
		"long message":           {with(`"message":"` + strings.Repeat("m", 501) + `"`), 422, "/items/1/message", "too_long"},
		"lines in the message":   {with(`"message":"a\nb"`), 422, "/items/1/message", "invalid_text"},
	} {
		got := b.do("POST", path, c.body, as(editorKey))
		p := got.problem(t)
		if got.Code != c.code || p.Code != c.what || len(p.Errors) != 1 || p.Errors[0].Pointer != c.pointer || len(p.Errors[0].Message) < 10 {
			t.Errorf("%s: %d %s", name, got.Code, got.text)
		}
	}
	for name, c := range map[string]struct {
		path, key string
		code      int
	}{
		"unknown target": {"/api/v1/targets/4711/results", editorKey, 404}, "target 0": {"/api/v1/targets/0/results", editorKey, 422},
		"no target": {"/api/v1/targets/x/results", editorKey, 422}, "a viewer": {path, viewerKey, 403}, "nobody": {path, "", 401},
	} {
		if got := b.do("POST", c.path, received(good), as(c.key)); got.Code != c.code {
			t.Errorf("%s: %d %s", name, got.Code, got.text)
		}
	}
	if len(b.rows.rows) > 0 || len(b.rows.announced) > 0 {
		t.Errorf("refused, and stored: %d rows", len(b.rows.rows))
	}
	several := b.do("POST", path, received(`{"at":"x","status":"y","region":"Z"}`, good, `{}`), as(editorKey)).problem(t)
	if len(several.Errors) != 5 {
		t.Errorf("%d mistakes named: %+v", len(several.Errors), several.Errors)
	}
}

// TestReceiveAtTheLimits: what is just allowed is.
func TestReceiveAtTheLimits(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	path := fmt.Sprintf("/api/v1/targets/%d/results", b.create(`{"url":"https://example.com/"}`).ID)
	for name, items := range map[string][]string{
		"a thousand":     slicesOf(`{"at":"2026-03-01T11:59:00Z","status":"up"}`, 1000),
		"a minute ahead": {`{"at":"2026-03-01T12:01:00Z","status":"up"}`},
		"29 days":        {`{"at":"2026-01-31T12:00:00Z","status":"up"}`},
		"an hour":        {`{"at":"2026-03-01T11:59:00Z","status":"up","latency_ms":3600000,"wait_us":3600000000}`},
		"region":         {`{"at":"2026-03-01T11:59:00Z","status":"up","region":"` + strings.Repeat("a", 28) + `"}`},
		"its full name":  {`{"at":"2026-03-01T11:59:00Z","status":"up","region":"ext-office"}`},
		"degraded":       {`{"at":"2026-03-01T11:59:00Z","status":"degraded"}`},
	} {
		if got := b.do("POST", path, received(items...), as(editorKey)); got.Code != http.StatusOK {
			t.Errorf("%s: %d %s", name, got.Code, got.text)
		}
	}
}

// Who names a checker for its run and not for its place is told so before the pages are full of regions.
func TestReceiveFromFewRegions(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	one := fmt.Sprintf("/api/v1/targets/%d/results", b.create(`{"url":"https://example.com/"}`).ID)
	other := fmt.Sprintf("/api/v1/targets/%d/results", b.create(`{"url":"https://example.org/"}`).ID)
	from := func(first, n int) (items []string) {
		for i := range n {
			items = append(items, fmt.Sprintf(`{"at":"2026-03-01T11:59:00Z","status":"up","region":"run-%d"}`, first+i))
		}
		return items
	}
	for _, c := range []struct {
		path     string
		first, n int
		want     int
	}{{one, 0, maxOutside + 1, 422}, {one, 0, maxOutside - 1, 200}, {one, 100, 2, 422}, {one, 100, 1, 200}, {one, 101, 1, 422}, {one, 3, 5, 200}, {other, 500, maxOutside, 200}} {
		before := len(b.rows.rows)
		got := b.do("POST", c.path, received(from(c.first, c.n)...), as(editorKey))
		if got.Code != c.want || got.Code != 200 && (len(b.rows.rows) != before || got.problem(t).Errors[0].Code != codeManyRegions || !strings.Contains(got.text, "at most 20 regions")) {
			t.Errorf("%d regions from %d on: %d %s, %d stored", c.n, c.first, got.Code, got.text, len(b.rows.rows)-before)
		}
	}
}

// TestReceiveDurableOrNot: without room there is 503 with a time to come back, and a batch
// that is sent again has the same slots.
func TestReceiveDurableOrNot(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	path := fmt.Sprintf("/api/v1/targets/%d/results", b.create(`{"url":"https://example.com/"}`).ID)
	for name, broken := range map[string]*fakeRecorder{
		"stopping":        {err: fmt.Errorf("%w: 1 rows given back", recorder.ErrStopped)},
		"full spool":      {state: recorder.State{Retrying: true, LastError: "refused", Spool: &spool.State{Full: true}}},
		"no spool":        {state: recorder.State{Retrying: true, LastError: "refused"}},
		"nothing in time": {err: context.DeadlineExceeded},
	} {
		b.rows.err, b.rows.state = broken.err, broken.state
		got := b.do("POST", path, received(oneResult), as(editorKey), header("Idempotency-Key", "k"))
		if p := got.problem(t); got.Code != http.StatusServiceUnavailable || got.Header().Get("Retry-After") != "5" || p.Code != "unavailable" {
			t.Errorf("%s: %d %v %s", name, got.Code, got.Header(), got.text)
		}
	}
	if len(b.rows.rows)+len(b.rows.announced) > 0 {
		t.Error("something was stored or announced")
	}
	b.rows.err, b.rows.state = nil, recorder.State{Retrying: true, Spool: &spool.State{}} // to the disk
	for _, replayed := range []string{"", "true"} {
		got := b.do("POST", path, received(oneResult), as(editorKey), header("Idempotency-Key", "k"))
		if got.Code != http.StatusOK || got.Header().Get("Idempotency-Replayed") != replayed {
			t.Errorf("%d %v %s", got.Code, got.Header(), got.text)
		}
	}
	if len(b.rows.rows) != 1 {
		t.Errorf("%d rows", len(b.rows.rows))
	}
	b.rows.err = fmt.Errorf("row 0: %w", &resultstore.RowError{Problem: "slot", TooOld: true}) // the retention was shortened a minute ago
	if got := b.do("POST", path, received(oneResult), as(editorKey)); got.Code != http.StatusUnprocessableEntity || got.problem(t).Code != "time_too_old" {
		t.Errorf("%d %s", got.Code, got.text)
	}
	b.rows.err = errors.New("a bug")
	if got := b.do("POST", path, received(oneResult), as(editorKey)); got.Code != http.StatusInternalServerError {
		t.Errorf("%d %s", got.Code, got.text)
	}
}

func slicesOf(text string, n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = text
	}
	return all
}

// TestTooOldIsWhatTheRetentionSays: longer or shorter than usual, results are taken in as
// far back as they are kept, less the day in which they are rolled up, and the ledger answers
// as far as they are kept.
func TestTooOldIsWhatTheRetentionSays(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kept       time.Duration
		says       string
		good, late string
	}{
		{90 * 24 * time.Hour, "90 days", "2025-12-02T12:00:00Z", "2025-12-02T11:59:59.999Z"},
		{60 * time.Hour, "60 hours", "2026-02-28T00:00:00Z", "2026-02-27T23:59:59.999Z"},
	} {
		b := newBench(t)
		b.results.kept = c.kept
		b.create(`{"url":"https://example.com/"}`)
		send := func(at string) reply {
			return b.do("POST", "/api/v1/targets/1/results", received(`{"at":"`+at+`","status":"up"}`), as(editorKey))
		}
		if got := send(c.good); got.Code != http.StatusOK {
			t.Errorf("kept for %v: %d %s", c.kept, got.Code, got.text)
		}
		if got := send(c.late); got.Code != http.StatusUnprocessableEntity || !strings.Contains(got.text, codeTimeTooOld) || !strings.Contains(got.text, "results are kept for "+c.says) {
			t.Errorf("kept for %v: %d %s", c.kept, got.Code, got.text)
		}
		if len(b.rows.rows) != 1 {
			t.Errorf("kept for %v: %d rows", c.kept, len(b.rows.rows))
		}
		if got := b.do("GET", "/api/v1/ledger?from=2025-11-25T00:00:00Z&to=2026-03-01T00:00:00Z", "", as(viewerKey)); got.Code != http.StatusOK || !b.ledger.from.Equal(testNow.Add(-c.kept)) {
			t.Errorf("kept for %v: %d, ledger from %v", c.kept, got.Code, b.ledger.from)
		}
		if got := b.do("GET", "/api/v1/ledger?from=2025-10-25T00:00:00Z&to=2025-11-01T00:00:00Z", "", as(viewerKey)); got.Code != http.StatusUnprocessableEntity || !strings.Contains(got.text, c.says) {
			t.Errorf("kept for %v: %d %s", c.kept, got.Code, got.text)
		}
	}
}
