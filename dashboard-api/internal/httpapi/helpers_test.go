package httpapi

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
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
	"github.com/probefleet/probefleet/internal/blindstore"
	"github.com/probefleet/probefleet/internal/database"
	"github.com/probefleet/probefleet/internal/database/databasetest"
	"github.com/probefleet/probefleet/internal/heartbeatstore"
	"github.com/probefleet/probefleet/internal/incidentstore"
	"github.com/probefleet/probefleet/internal/jobstore"
	"github.com/probefleet/probefleet/internal/maintenancestore"
	"github.com/probefleet/probefleet/internal/pagestore"
	"github.com/probefleet/probefleet/internal/schedulestore"
	"github.com/probefleet/probefleet/internal/seal"
	"github.com/probefleet/probefleet/internal/subscriberstore"
	"github.com/probefleet/probefleet/internal/targetstore"
	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/internal/verdictstore"
)

func TestMain(m *testing.M) { testbackend.Main(m) }

// hang is how long something may take that takes no time: until then it is waited for.
const hang = 2 * time.Minute

var testNow = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

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

	checks   *jobs.Service // not running: what is accepted stays queued
	now      time.Time
	signedIn time.Time // what it is for sessions
	setup    string
	log      *bytes.Buffer
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
	db := databasetest.Open(t, url)
	accounts := accountstore.New(db)
	for key, role := range map[string]accountstore.Role{
		ownerKey: accountstore.RoleOwner, editorKey: accountstore.RoleEditor, viewerKey: accountstore.RoleViewer, revokedKey: accountstore.RoleOwner,
	} {
		if _, err := accounts.CreateKey(t.Context(), accountstore.User{}, accountstore.APIKey{Name: key, Prefix: session.Prefix(key), Role: role}, session.HashToken(key)); err != nil {
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
	b.signedIn = time.Now() // by the clock of sessions, which stands still: a code stays that of its step
	sessions := session.New(accounts, false, log).WithHasher(hasher()).
		WithClock(func() time.Time { return b.signedIn }).WithBox(box).WithPasskeys("https://pf.example")
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
	made := newRoutedAPI(t, options)
	b.router, b.handler = made.routes, inFront(made, options)
	options.Metrics = prometheus.NewRegistry()
	b.options = options
	return b
}

// hasher has passwords cost next to nothing. All of them read what one writes.
func hasher() *session.Hasher { return session.NewHasherAt(session.Cost{MemoryKiB: 8, Passes: 1}) }

// idle are APIs whose tests are over.
var idle struct {
	sync.Mutex
	apis []*routedAPI
}

// routedAPI is an API with its routes.
type routedAPI struct {
	*api
	routes *router
	inside atomic.Int32 // requests that are being served
}

func (a *routedAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.inside.Add(1)
	defer a.inside.Add(-1)
	a.routes.ServeHTTP(w, r)
}

// newRoutedAPI makes an API of the options. Registering the routes takes longer than most tests do, and is the
// same for all: an API whose test is over is given these options, unless it still serves something.
func newRoutedAPI(t *testing.T, options Options) *routedAPI {
	t.Helper()
	idle.Lock()
	defer idle.Unlock()
	a := newAPI(options)
	a.hasher = hasher
	var made *routedAPI
	if last := len(idle.apis) - 1; last >= 0 {
		made, idle.apis = idle.apis[last], idle.apis[:last]
		*made.api = *a
	} else {
		routes, err := a.router()
		if err != nil {
			t.Fatal(err)
		}
		made = &routedAPI{api: a, routes: routes}
	}
	t.Cleanup(func() {
		if made.inside.Load() == 0 {
			idle.Lock()
			defer idle.Unlock()
			idle.apis = append(idle.apis, made)
		}
	})
	return made
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
