package statuspage_test

import (
	"bufio"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/probefleet/probefleet/dashboard-api/internal/httpapi"
	"github.com/probefleet/probefleet/dashboard-api/internal/live"
	"github.com/probefleet/probefleet/dashboard-api/internal/session"
	"github.com/probefleet/probefleet/dashboard-api/internal/statuspage"
	"github.com/probefleet/probefleet/dashboard-api/internal/wsconn"
	"github.com/probefleet/probefleet/internal/accountstore"
	"github.com/probefleet/probefleet/internal/availability"
	"github.com/probefleet/probefleet/internal/database"
	"github.com/probefleet/probefleet/internal/database/databasetest"
	"github.com/probefleet/probefleet/internal/incidentstore"
	"github.com/probefleet/probefleet/internal/maintenancestore"
	"github.com/probefleet/probefleet/internal/pagestore"
	"github.com/probefleet/probefleet/internal/seal"
	"github.com/probefleet/probefleet/internal/targetstore"
	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/internal/uptime"
)

func TestMain(m *testing.M) { testbackend.Main(m) }

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// rig is pages on a real database and hub, with a clock of their own and days that a test says.
type rig struct {
	sockets  *wsconn.Server
	sessions *session.Sessions
	testing.TB
	db        *database.DB
	pages     *statuspage.Pages
	store     *pagestore.Store
	targets   *targetstore.Store
	incidents *incidentstore.Store
	windows   *maintenancestore.Store
	hub       *live.Hub
	clock     atomic.Int64
	history   atomic.Pointer[error]                     // of the days; nil: they are answered
	behind    time.Time                                 // what the sweep has not come to
	day       func(id int64, n int) availability.Counts // of the nth day of 90; nil: all up
}

func (r *rig) now() time.Time             { return time.Unix(r.clock.Load(), 0).UTC() }
func (r *rig) pass(d time.Duration)       { r.clock.Add(int64(d / time.Second)) }
func (r *rig) historyFails(failure error) { r.history.Store(&failure) }

// hang is how long something may take that takes no time: until then it is waited for.
const hang = 2 * time.Minute

// cheap has passwords cost next to nothing.
var cheap = session.NewHasherAt(session.Cost{MemoryKiB: 8, Passes: 1})

func newRig(t testing.TB, url string) *rig {
	t.Helper()
	r := &rig{TB: t, db: databasetest.Open(t, url)}
	r.clock.Store(noon.Unix())
	r.store, r.targets, r.incidents, r.windows = pagestore.New(r.db, nil), targetstore.New(r.db), incidentstore.New(r.db, nil), maintenancestore.New(r.db)
	r.hub = live.New(live.Options{Now: r.now})
	r.hub.SetRegions([]string{"eu"}, nil)
	box, err := seal.New("the SECRET_KEY of the test of pages")
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	sessions := session.New(accountstore.New(r.db), false, log)
	r.sessions = sessions
	r.sockets = wsconn.New(wsconn.Options{Hub: r.hub, Secure: sessions.Secure, StillAllowed: sessions.StillAllowed, Log: log})
	r.pages = statuspage.New(statuspage.Options{
		Store: r.store, Incidents: r.incidents, Windows: r.windows, Live: r.hub, Daily: r.daily, Behind: func(time.Time) time.Time { return r.behind }, Fingerprint: box.Fingerprint, Secure: sessions.Secure, Socket: r.sockets.Only,
		PublicURL: "https://pf.example", Patience: 10 * time.Second, Hasher: cheap, Now: r.now, Log: log, Next: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("the dashboard")) }),
	})
	return r
}

func (r *rig) daily(_ context.Context, ids []int64, window availability.Span, periods []availability.Period) (map[int64]*availability.Account, error) {
	if failure := r.history.Load(); failure != nil && *failure != nil {
		return nil, *failure
	}
	all := map[int64]*availability.Account{}
	for _, id := range ids {
		account := availability.NewAccount(availability.Terms{Window: window, Every: availability.NewIntervals(availability.Interval{From: window.From, Every: time.Minute})}, periods)
		for i, p := range periods {
			counts := availability.Counts{Up: 1440}
			if r.day != nil {
				counts = r.day(id, i)
			}
			account.Add(availability.Cell{Span: p.Span, Counts: counts})
		}
		all[id] = account
	}
	return all, nil
}

var errAway = errors.New("it is away")

// target is registered, and known to the hub.
func (r *rig) target(name string) int64 {
	r.Helper()
	t, err := r.targets.Create(context.Background(), uptime.Target{Name: name, URL: "https://" + strings.ReplaceAll(name, " ", "-") + ".internal.example/secret-path", Kind: uptime.KindHTTP, Interval: time.Minute, Timeout: time.Second, Active: true})
	if err != nil {
		r.Fatal(err)
	}
	r.hub.Upsert(t)
	return t.ID
}

func (r *rig) result(target int64, status uptime.Status) {
	at := r.now().Add(-5 * time.Second)
	result := uptime.Result{TargetID: target, Region: "eu", ScheduledAt: at, CheckedAt: at, Status: status, TotalUS: 1000, Attempt: 1, Prober: "secret-prober", IngestedAt: at}
	if status == uptime.StatusDown {
		result.Failure, result.HTTPStatus = uptime.FailureStatusCode, 503
	}
	r.hub.Apply([]uptime.Result{result})
}

func (r *rig) page(p pagestore.Page) pagestore.Page {
	r.Helper()
	if p.Terms.Theme == "" {
		p.Terms.Theme = pagestore.ThemeAuto
	}
	if p.Terms.Language == "" {
		p.Terms.Language = "en"
	}
	p.Published = true
	created, err := r.store.Create(context.Background(), p, r.now())
	if err != nil {
		r.Fatal(err)
	}
	r.pages.Changed()
	return created
}

// edit changes a page.
func (r *rig) edit(page pagestore.Page, change func(*pagestore.Terms)) {
	r.Helper()
	if _, err := r.store.Update(context.Background(), page.ID, r.now(), func(pagestore.Page) bool { return true }, func(p *pagestore.Page) error { change(&p.Terms); return nil }); err != nil {
		r.Fatal(err)
	}
	r.pages.Changed()
}

// live serves what answers, with everything that tells readers of changes, until it is stopped.
func (r *rig) live(answers http.Handler) (ctx context.Context, url string, stop func()) {
	ctx, cancel := context.WithTimeout(context.Background(), hang)
	var loops sync.WaitGroup
	loops.Go(func() { _ = r.pages.Run(ctx) })
	loops.Go(func() { _ = r.sockets.Run(ctx) })
	server := httptest.NewServer(answers)
	return ctx, server.URL, func() { cancel(); loops.Wait(); server.Close() }
}

// events opens the event stream of a page.
func (r *rig) events(ctx context.Context, url string, options ...option) *bufio.Scanner {
	r.Helper()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		r.Fatal(err)
	}
	for _, o := range options {
		o(request)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(func() { _ = answer.Body.Close() })
	if got := answer.Header.Get("Content-Type"); got != "text/event-stream" {
		r.Fatalf("%d %s", answer.StatusCode, got)
	}
	return bufio.NewScanner(answer.Body)
}

func components(all ...pagestore.Component) []pagestore.Group {
	return []pagestore.Group{{Name: "Services", Components: all}}
}

func (r *rig) post(page pagestore.Page, body pagestore.Body, resolved time.Time) pagestore.Post {
	r.Helper()
	p, err := r.store.CreatePost(context.Background(), pagestore.Post{PageID: page.ID, Body: body, BegunAt: body.Updates[0].At, ResolvedAt: resolved})
	if err != nil {
		r.Fatal(err)
	}
	r.pages.Changed()
	return p
}

// api is what stands in front of the pages, as programs have it.
func (r *rig) api() http.Handler {
	r.Helper()
	accounts := accountstore.New(r.db)
	handler, err := httpapi.New(httpapi.Options{
		Sessions: r.sessions, Accounts: accounts, Keys: accounts, Answers: accounts, Audit: accounts, StatusPages: r.store, Hub: r.hub, Socket: r.sockets, Stream: r.sockets.Stream(), Pages: r.pages,
		PublicURL: "https://pf.example", Version: "test", Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry(),
	})
	if err != nil {
		r.Fatal(err)
	}
	return handler
}

// signUp makes the first account of the API, and gives the cookie of its session.
func (r *rig) signUp(api http.Handler) string {
	r.Helper()
	token, err := r.sessions.Prepare(context.Background())
	if err != nil {
		r.Fatal(err)
	}
	request := httptest.NewRequestWithContext(context.Background(), http.MethodPost, "/api/v1/setup", strings.NewReader(`{"token":"`+token+`","email":"ann@example.com","name":"Ann","password":"correct horse"}`))
	request.Header.Set("Content-Type", "application/json")
	answer := httptest.NewRecorder()
	api.ServeHTTP(answer, request)
	if answer.Code != http.StatusCreated {
		r.Fatalf("%d %s", answer.Code, answer.Body)
	}
	cookie, _, _ := strings.Cut(answer.Header().Get("Set-Cookie"), ";")
	return cookie
}

type option func(*http.Request)

func header(name, value string) option { return func(r *http.Request) { r.Header.Set(name, value) } }
func host(name string) option          { return func(r *http.Request) { r.Host = name } }

func (r *rig) get(path string, options ...option) *httptest.ResponseRecorder {
	r.Helper()
	return r.ask(r.pages, path, options...)
}

func (r *rig) ask(handler http.Handler, path string, options ...option) *httptest.ResponseRecorder {
	r.Helper()
	request := httptest.NewRequestWithContext(context.Background(), http.MethodGet, path, nil)
	for _, o := range options {
		o(request)
	}
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, request)
	return answer
}
