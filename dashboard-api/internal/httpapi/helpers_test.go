package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"gorm.io/gorm"

	"github.com/probefleet/probefleet/dashboard-api/internal/jobs"
	"github.com/probefleet/probefleet/dashboard-api/internal/live"
	"github.com/probefleet/probefleet/dashboard-api/internal/notify"
	"github.com/probefleet/probefleet/dashboard-api/internal/session"
	"github.com/probefleet/probefleet/dashboard-api/internal/statuspage"
	"github.com/probefleet/probefleet/internal/accountstore"
	"github.com/probefleet/probefleet/internal/asknown"
	"github.com/probefleet/probefleet/internal/availability"
	"github.com/probefleet/probefleet/internal/blindstore"
	"github.com/probefleet/probefleet/internal/database"
	"github.com/probefleet/probefleet/internal/heartbeatstore"
	"github.com/probefleet/probefleet/internal/incidentstore"
	"github.com/probefleet/probefleet/internal/jobstore"
	"github.com/probefleet/probefleet/internal/ledger"
	"github.com/probefleet/probefleet/internal/maintenancestore"
	"github.com/probefleet/probefleet/internal/pagestore"
	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/schedulestore"
	"github.com/probefleet/probefleet/internal/seal"
	"github.com/probefleet/probefleet/internal/subscriberstore"
	"github.com/probefleet/probefleet/internal/targetstore"
	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/internal/verdictstore"
	"github.com/probefleet/probefleet/migrations"
)

func TestMain(m *testing.M) { testbackend.Main(m) }

var testNow = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// fakeResults answers what a test put in, or its error.
type fakeResults struct {
	cycled resultstore.Cycled
	rows   []uptime.Result
	series resultstore.Series
	matrix map[string]resultstore.Series
	wrong  resultstore.Failures
	shape  resultstore.Histogram
	steps  resultstore.SeriesQuery // the last one
	window resultstore.WindowQuery // likewise
	turns  []resultstore.Turn
	unseen map[string]availability.Spans // by regions, of the last question for them
	turned [3]int64                      // the last question for them: a target, and a time in Unix seconds
	cells  []fakeCell
	cuts   [][]time.Time // of the questions about cells
	err    error
	asked  resultstore.ResultQuery
	since  map[int64]time.Time
	kept   time.Duration // 0: as usual

	certificates map[int64]time.Time // seen before the rows
}

func (f *fakeResults) RawKept() time.Duration {
	if f.kept != 0 {
		return f.kept
	}
	return resultstore.Retention
}

func (f *fakeResults) LastKept() resultstore.Retentions {
	return resultstore.Retentions{Raw: f.RawKept(), Hourly: 100 * 24 * time.Hour, Daily: 400 * 24 * time.Hour}
}

func (f *fakeResults) KeptSince() time.Time { return testNow.Add(-f.RawKept()) }

func (f *fakeResults) Measured(_ context.Context, ids []int64, from, to time.Time, fn func(*uptime.Result) error) error {
	for _, r := range f.rows {
		if f.err == nil && slices.Contains(ids, r.TargetID) && !r.ScheduledAt.Before(from) && r.ScheduledAt.Before(to) {
			if err := fn(&r); err != nil {
				return err
			}
		}
	}
	return f.err
}

func (f *fakeResults) Known(context.Context, []int64, int, time.Time, time.Time) (map[int64][]asknown.Row, error) {
	return nil, f.err
}

func (f *fakeResults) LastKnown(context.Context, int64, []string, time.Time, time.Time, time.Time) ([]asknown.Row, error) {
	return nil, f.err
}

func (f *fakeResults) FiguresSince() time.Time { return testNow.AddDate(-5, 0, 0) }

func (f *fakeResults) Results(_ context.Context, q resultstore.ResultQuery) ([]uptime.Result, error) {
	f.asked = q
	return f.rows[:min(q.Limit, len(f.rows))], f.err
}

func (f *fakeResults) LatestN(_ context.Context, ids []int64, _ int, since time.Time) (map[int64][]resultstore.Bar, error) {
	found := map[int64][]resultstore.Bar{}
	for _, id := range ids {
		if f.since == nil {
			f.since = map[int64]time.Time{}
		}
		f.since[id] = since
		for _, r := range f.rows {
			if r.TargetID == id {
				found[id] = append(found[id], barOf(r))
			}
		}
	}
	return found, f.err
}

func (f *fakeResults) Series(_ context.Context, q resultstore.SeriesQuery) (resultstore.Series, error) {
	f.steps = q
	return f.series, f.err
}

func (f *fakeResults) Matrix(_ context.Context, q resultstore.SeriesQuery) (map[string]resultstore.Series, error) {
	f.steps = q
	return f.matrix, f.err
}

func (f *fakeResults) Failures(_ context.Context, q resultstore.WindowQuery) (resultstore.Failures, error) {
	f.window = q
	return f.wrong, f.err
}

func (f *fakeResults) Histogram(_ context.Context, q resultstore.WindowQuery) (resultstore.Histogram, error) {
	f.window = q
	return f.shape, f.err
}

// Current are the rows of Newest, with less of them.
func (f *fakeResults) Current(ctx context.Context, ids []int64) ([]resultstore.Bar, error) {
	rows, err := f.Newest(ctx, ids)
	bars := make([]resultstore.Bar, len(rows))
	for i, r := range rows {
		bars[i] = barOf(r)
	}
	return bars, err
}

func barOf(r uptime.Result) resultstore.Bar {
	return resultstore.Bar{
		TargetID: r.TargetID, Region: r.Region, ScheduledAt: r.ScheduledAt, CheckedAt: r.CheckedAt, Status: r.Status,
		Failure: r.Failure, Reason: r.Reason, HTTPStatus: r.HTTPStatus, TotalUS: r.TotalUS,
	}
}

func (f *fakeResults) Newest(_ context.Context, ids []int64) ([]uptime.Result, error) {
	return slices.DeleteFunc(slices.Clone(f.rows), func(r uptime.Result) bool { return !slices.Contains(ids, r.TargetID) }), f.err
}

func (f *fakeResults) Certificates(_ context.Context, ids []int64, _ time.Time) (map[int64]time.Time, error) {
	seen := maps.Clone(f.certificates)
	maps.DeleteFunc(seen, func(id int64, _ time.Time) bool { return !slices.Contains(ids, id) })
	return seen, f.err
}

// fakeCell is a cell of a target's region.
type fakeCell struct {
	id     int64
	region string
	availability.Cell
}

// Cells hands over the cells of those asked for, whatever the range.
func (f *fakeResults) Cells(_ context.Context, q resultstore.CellQuery, fn func(int64, string, availability.Cell) error) error {
	f.cuts = append(f.cuts, q.Cuts)
	for _, c := range f.cells {
		if f.err == nil && slices.Contains(q.IDs, c.id) && (c.region == "" || !q.Whole) {
			if err := fn(c.id, c.region, c.Cell); err != nil {
				return err
			}
		}
	}
	return f.err
}

func (f *fakeResults) Result(_ context.Context, slot uptime.Slot) (uptime.Result, bool, error) {
	for _, r := range f.rows {
		if r.Slot() == slot && f.err == nil {
			return r, true, nil
		}
	}
	return uptime.Result{}, false, f.err
}

func (f *fakeResults) Turns(_ context.Context, targetID int64, from, to time.Time, blind map[string]availability.Spans) ([]resultstore.Turn, error) {
	f.unseen = blind
	f.turned = [3]int64{targetID, from.Unix(), to.Unix()}
	return f.turns, f.err
}

// fakePast is what happened to targets: corrections, and maintenance.
type fakePast struct {
	corrections map[int64][]availability.Correction
	maintenance map[int64]availability.Spans
	blind       map[string]availability.Spans
	err         error
}

func (f *fakePast) Corrections(context.Context, []int64, time.Time, time.Time) (map[int64][]availability.Correction, error) {
	newest := map[int64][]availability.Correction{}
	for id, all := range f.corrections {
		newest[id] = all[:min(len(all), resultstore.MaxCorrections)]
	}
	return newest, f.err
}

func (f *fakePast) Revised(context.Context, []int64, time.Time, time.Time) (map[int64][]availability.Correction, error) {
	return f.corrections, f.err
}

// maintained is a store of windows, or what a test says they cover.
type maintained struct {
	*maintenancestore.Store
	past *fakePast
}

func (m maintained) Maintenance(ctx context.Context, ids []int64, from, to time.Time) (map[int64]availability.Spans, error) {
	if m.past.maintenance != nil {
		return m.past.maintenance, nil
	}
	return m.Store.Maintenance(ctx, ids, from, to)
}

// blinded is a store of blind windows, or what a test says.
type blinded struct {
	*blindstore.Store
	past *fakePast
}

func (m blinded) Blind(ctx context.Context, from, to time.Time) (map[string]availability.Spans, error) {
	if m.past.blind != nil {
		return m.past.blind, nil
	}
	return m.Store.Blind(ctx, from, to)
}

func (f *fakeResults) Cycles(context.Context, time.Time, time.Time) (resultstore.Cycled, error) {
	return f.cycled, nil
}

type fakeLedger struct {
	lines []ledger.Line
	from  time.Time // of the last question
	err   error
}

func (f *fakeLedger) Report(_ context.Context, from, _ time.Time) ([]ledger.Line, error) {
	f.from = from
	return f.lines, f.err
}

type fakeFleet struct {
	err     error
	down    atomic.Bool // ClickHouse
	stale   time.Time
	regions []string
	open    []netip.Prefix
}

func (f *fakeFleet) Fleet() (Fleet, error) {
	fleet := NewFleet(testNow, "one")
	fleet.Stale(f.stale)
	return fleet, f.err
}
func (f *fakeFleet) HistoryOK() bool            { return !f.down.Load() }
func (f *fakeFleet) Regions() []string          { return f.regions }
func (f *fakeFleet) OpenRanges() []netip.Prefix { return f.open }

// fakeTester says that it has sent what a test wants it to.
type fakeTester struct{ sent notify.Sent }

func (f *fakeTester) Test(_ context.Context, _ incidentstore.Channel, _ bool, _ string, now time.Time) notify.Sent {
	f.sent.At = now
	return f.sent
}

// bench is an API on a real database with everything else faked.
type bench struct {
	*testing.T
	handler http.Handler
	router  *router
	db      *database.DB
	server  *httptest.Server // of browsers; nil: none was opened
	targets *targetstore.Store
	results *fakeResults
	options Options // what the handler was made of, with a fresh registry
	past    *fakePast
	history *switched // b.results, unless a test says otherwise
	ledger  *fakeLedger
	fleet   *fakeFleet
	redis   *fakeRedis
	probers *fakeProbers
	letters *fakeLetters
	after   *Aftermath
	hub     *live.Hub
	rows    *fakeRecorder
	beats   *heartbeatstore.Store
	pinged  int

	incidents   *incidentstore.Store
	verdicts    *verdictstore.Store
	subscribers *subscriberstore.Store
	tester      *fakeTester
	notified    int

	checks *jobs.Service // not running: what is accepted stays queued
	now    time.Time
	setup  string
	log    *bytes.Buffer
}

// Keys of the roles, as a bench makes them.
const (
	ownerKey   = "pf_owner"
	editorKey  = "pf_editor"
	viewerKey  = "pf_viewer"
	revokedKey = "pf_revoked"
	benchKey   = "the SECRET_KEY of the benches"
)

func newBench(t *testing.T) *bench { return newBenchOn(t, testbackend.SQLite(t)) }

func newBenchOn(t *testing.T, url string, adjust ...func(*bench, *Options)) *bench {
	t.Helper()
	if err := migrations.UpRelational(t.Context(), url, func(string) {}); err != nil {
		t.Fatal(err)
	}
	db, err := database.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	accounts := accountstore.New(db)
	for key, role := range map[string]accountstore.Role{
		ownerKey: accountstore.RoleOwner, editorKey: accountstore.RoleEditor, viewerKey: accountstore.RoleViewer, revokedKey: accountstore.RoleOwner,
	} {
		if err := accounts.EnsureKey(t.Context(), key, session.Prefix(key), session.HashToken(key), role); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Write().Exec("UPDATE api_keys SET revoked_at_ms = 1 WHERE name = ?", revokedKey).Error; err != nil {
		t.Fatal(err)
	}
	b := &bench{
		T: t, db: db, targets: targetstore.New(db).WithHostRate(targetstore.HostRate{Limit: 5, Exempt: func(host string) bool { return host == "exempt.example" }}), results: &fakeResults{}, past: &fakePast{}, ledger: &fakeLedger{},
		fleet: &fakeFleet{regions: []string{"eu", "us"}}, redis: &fakeRedis{}, probers: &fakeProbers{}, letters: &fakeLetters{}, hub: live.New(live.Options{}), now: testNow, log: &bytes.Buffer{},
	}
	b.history = &switched{b.results}
	log := slog.New(slog.NewTextHandler(&lockedWriter{w: b.log}, nil))
	b.after = NewAftermath(b.redis, b.redis, log)
	box, err := seal.New(benchKey)
	if err != nil {
		t.Fatal(err)
	}
	sessions := session.New(accounts, false, log).WithBox(box).WithPasskeys("https://pf.example")
	if b.setup, err = sessions.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.checks = jobs.New(jobs.Options{
		Owner: "test", Store: jobstore.New(db), Regions: func() []string { return b.fleet.regions }, Tell: func(jobstore.Job) {}, Log: log, Metrics: prometheus.NewRegistry(),
	})
	b.rows, b.beats = &fakeRecorder{}, heartbeatstore.New(db)
	b.incidents, b.tester = incidentstore.New(db, notify.Planner{PublicURL: "https://pf.example"}), &fakeTester{}
	b.verdicts = verdictstore.New(db, b.incidents)
	b.subscribers = subscriberstore.New(db, box)
	options := Options{
		Box: box, StatusPages: pagestore.New(db, b.subscribers), Subscribers: b.subscribers,
		PageCopy: func(_ context.Context, id int64) (statuspage.FixedCopy, bool) {
			return statuspage.FixedCopy{MadeAt: b.now, Files: map[string][]byte{"index.html": []byte("<!doctype html>")}}, id == 1
		},
		Incidents: b.incidents, Confirmations: b.verdicts, Alerts: b.incidents, Tester: b.tester, Notified: func() { b.notified++ },
		Recorder: b.rows, Announce: b.rows.announce, Heartbeats: b.beats, Pinged: func() { b.pinged++ },
		Deletions: b.targets, Regions: schedulestore.New(db), Probers: b.probers, Drains: b.probers, DeadLetters: b.letters,
		Targets: b.targets, Results: b.results, History: b.history, Schedules: schedulestore.New(db), Corrections: b.past, Maintenance: maintained{maintenancestore.New(db), b.past}, Blind: blinded{blindstore.New(db), b.past}, Ledger: b.ledger, PublicURL: "https://pf.example", Sessions: sessions, Accounts: accounts, Keys: accounts, Passkeys: accounts, Answers: accounts, Audit: accounts, Hub: b.hub, Fleet: b.fleet, After: b.after, Checks: b.checks,
		Socket:  http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusSwitchingProtocols) }),
		Stream:  http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }),
		Pages:   http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "page") }),
		Version: "test", Now: func() time.Time { return b.now }, Log: log, Metrics: prometheus.NewRegistry(),
	}
	for _, f := range adjust {
		f(b, &options)
	}
	if b.handler, err = New(options); err != nil {
		t.Fatal(err)
	}
	options.Metrics = prometheus.NewRegistry()
	if b.router, err = newAPI(options); err != nil {
		t.Fatal(err)
	}
	options.Metrics = prometheus.NewRegistry()
	b.options = options
	return b
}

type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

type option func(*http.Request)

func header(name, value string) option { return func(r *http.Request) { r.Header.Set(name, value) } }

func as(key string) option {
	if key == "" {
		return func(*http.Request) {}
	}
	return header("Authorization", "Bearer "+key)
}

// reply is an answer with its body read.
type reply struct {
	*httptest.ResponseRecorder
	text string
}

func (b *bench) do(method, path, body string, options ...option) reply {
	b.Helper()
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	r := httptest.NewRequestWithContext(b.Context(), method, path, reader)
	if method == http.MethodPost || method == http.MethodPatch || method == http.MethodPut {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, o := range options {
		o(r)
	}
	w := httptest.NewRecorder()
	b.handler.ServeHTTP(w, r)
	return reply{w, w.Body.String()}
}

func (r reply) into(t testing.TB, v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(r.text), v); err != nil {
		t.Fatalf("answer %d %q: %v", r.Code, r.text, err)
	}
}

func (r reply) problem(t testing.TB) Problem {
	t.Helper()
	if ct := r.Header().Get("Content-Type"); ct != problemType {
		t.Fatalf("answer %d has type %q: %s", r.Code, ct, r.text)
	}
	var p Problem
	r.into(t, &p)
	if p.Status != r.Code || p.RequestID == "" || p.RequestID != r.Header().Get("X-Request-Id") || p.Code == "" || p.Type != "urn:probefleet:problem:"+p.Code {
		t.Fatalf("malformed problem: %d %s", r.Code, r.text)
	}
	return p
}

// create registers a target as an editor.
func (b *bench) create(body string) targetJSON {
	b.Helper()
	got := b.do("POST", "/api/v1/targets", body, as(editorKey))
	if got.Code != http.StatusCreated {
		b.Fatalf("create %s: %d %s", body, got.Code, got.text)
	}
	var target targetJSON
	got.into(b, &target)
	return target
}

func (b *bench) stored() []uptime.Target {
	b.Helper()
	all, err := b.targets.List(b.Context(), targetstore.Filter{Limit: 1000})
	if err != nil {
		b.Fatal(err)
	}
	return all
}

// targetJSON is a target as callers see it.
type targetJSON struct {
	ID          int64    `json:"id"`
	Name        string   `json:"name"`
	URL         string   `json:"url"`
	Kind        string   `json:"kind"`
	IntervalS   int64    `json:"interval_s"`
	TimeoutMS   int64    `json:"timeout_ms"`
	Regions     []string `json:"regions"`
	Active      bool     `json:"active"`
	Expect      struct{ Status []string }
	SpecVersion int64  `json:"spec_version"`
	CreatedAt   string `json:"created_at"`
	UpdatedAt   string `json:"updated_at"`
}

// openIncident opens one, in a transaction of its own.
func (b *bench) openIncident(o incidentstore.Opening) (id int64) {
	b.Helper()
	err := b.db.Tx(b.Context(), func(tx *gorm.DB) error {
		i, _, err := b.incidents.Open(b.Context(), tx, o)
		id = i.ID
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return id
}
