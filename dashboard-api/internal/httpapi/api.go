package httpapi

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/semaphore"

	"github.com/probefleet/probefleet/dashboard-api/internal/answercache"
	"github.com/probefleet/probefleet/dashboard-api/internal/live"
	"github.com/probefleet/probefleet/dashboard-api/internal/ratelimit"
	"github.com/probefleet/probefleet/dashboard-api/internal/session"
	"github.com/probefleet/probefleet/dashboard-api/internal/statuspage"
	"github.com/probefleet/probefleet/internal/seal"
	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/internal/verdict"
)

// Hub is the live state of this node.
type Hub interface {
	Brief(ticks int) live.Snapshot
	Overview(first int) live.Overview
	Upsert(uptime.Target)
	Remove(id int64)
	Rules(uptime.Target) verdict.Rules
	Admit(id int64, regions []string, kept time.Duration, most int) bool
}

// FleetSource knows the fleet and the stores as of a moment ago.
type FleetSource interface {
	Fleet() (Fleet, error)      // marked while Redis cannot be asked; an error when it never could be
	HistoryOK() bool            // whether ClickHouse answers
	Regions() []string          // what targets may ask for, by the newest knowledge
	OpenRanges() []netip.Prefix // private ranges some prober dials, by the newest knowledge
}

// Options are what the API stands on.
type Options struct {
	Targets     Targets
	Deletions   Deletions
	Regions     Regions
	Probers     Probers
	Drains      Drains
	DeadLetters DeadLetters
	Results     Results
	History     History
	Schedules   Schedules
	Corrections Corrections // nil: none are kept
	Standing    *Standing   // nil: nothing is known to be missing
	Maintenance Maintenance
	Blind       Blind
	Exports     Exports
	Recent      *answercache.Cache // answers about the past, for a moment; nil: none are kept
	Copies      *Copies            // of answers about the past, for outages; nil: its own
	Ledger      Ledger
	Sessions    *session.Sessions
	Accounts    Accounts
	Keys        Keys
	Passkeys    PasskeyStore
	Answers     Answers
	Audit       Audit
	Hub         Hub
	Fleet       FleetSource
	After       *Aftermath
	Box         *seal.Box // seals the secrets of targets
	Checks      Checks

	Recorder   Recorder                                                 // of results from outside
	Announce   func(ctx context.Context, results []uptime.Result) error // to live pages
	Heartbeats Heartbeats
	Pinged     func() // a heartbeat's row waits; must not block

	Incidents     Incidents
	Confirmations Confirmations
	Alerts        Alerts
	Tester        Tester
	Notified      func() // something may be due; must not block

	StatusPages  StatusPages
	Subscribers  Subscribers
	MailReady    bool   // there is a server that takes mails to subscribers
	PagesChanged func() // what public pages show has changed; must not block; nil: nobody listens
	PageCopy     func(ctx context.Context, id int64) (statuspage.FixedCopy, bool)
	PublicURL    string // where people reach the dashboard

	Socket  http.Handler // the websocket, behind the same policy as any route
	Stream  http.Handler // the same as an event stream
	Pages   http.Handler // everything outside /api, and what it Owns there
	Version string
	Now     func() time.Time
	Log     *slog.Logger
	Metrics prometheus.Registerer
}

// How often something may be asked of one node.
const (
	perMinute = 30 // checks on demand of an account, previews of what it saves, and tests of channels
	burst     = 30 // pings of a token, and sign-ins begun from an address; then one a second
)

type api struct {
	Options
	metrics  *metrics
	inFlight *flights
	rate     *ratelimit.Limiter // of checks on demand, by account
	previews *ratelimit.Limiter // of targets saved, by account: who saves many may still ask for a check
	pings    *ratelimit.Limiter // by token
	begins   *ratelimit.Limiter // of sign-ins that somebody begins, by address
	tests    *ratelimit.Limiter // of channels, by account

	hasher func() *session.Hasher    // of passwords of pages; made when the first is set
	teller func() *statuspage.Teller // of the past of pages; made when it is first asked for

	exporting *semaphore.Weighted // a unit an export
	replaying *semaphore.Weighted // a unit a replay
	recalling *semaphore.Weighted // a unit an answer as of an instant
	showing   *semaphore.Weighted // a unit a snapshot
	importing *semaphore.Weighted // a unit an import
}

// New builds the handler of the API's port. It fails if a route has no policy.
func New(options Options) (http.Handler, error) {
	router, err := newAPI(options).router()
	if err != nil {
		return nil, err
	}
	return inFront(router, options), nil
}

// inFront is what a request passes before the API or the pages see it.
func inFront(api http.Handler, options Options) http.Handler {
	mux := http.NewServeMux()
	mux.Handle(apiPrefix, besidePages(api, options.Pages))
	mux.Handle("/", options.Pages)
	return withRequestID(withRecovery(options.Log, private(crossOrigin(onlyJSON(mux)))))
}

// besidePages leaves to public pages what they own of the API's paths, if they say so: on the host of
// a page that is another API than ours.
func besidePages(api, pages http.Handler) http.Handler {
	owner, is := pages.(interface{ Owns(r *http.Request) bool })
	if !is {
		return api
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if owner.Owns(r) {
			pages.ServeHTTP(w, r)
			return
		}
		api.ServeHTTP(w, r)
	})
}

func newAPI(options Options) *api {
	if options.Now == nil {
		options.Now = time.Now
	}
	if options.Copies == nil {
		options.Copies = NewCopies()
	}
	return &api{
		Options: options, metrics: newMetrics(options.Metrics), inFlight: newFlights(),
		rate: ratelimit.New(perMinute, time.Minute/perMinute), previews: ratelimit.New(perMinute, time.Minute/perMinute), tests: ratelimit.New(perMinute, time.Minute/perMinute),
		pings: ratelimit.New(burst, time.Second), begins: ratelimit.New(burst, time.Second),
		hasher: sync.OnceValue(session.NewHasher), teller: sync.OnceValue(statuspage.NewTeller),
		exporting: semaphore.NewWeighted(maxExports), replaying: semaphore.NewWeighted(maxReplays), recalling: semaphore.NewWeighted(maxRecalls), showing: semaphore.NewWeighted(maxSnapshots), importing: semaphore.NewWeighted(1),
	}
}

// router registers the routes. Their handlers see what a holds when they are called.
func (a *api) router() (*router, error) {
	r := newRouter(config(a.Version), a.guard, a.toProblem)
	r.again = a.again
	a.routes(r)
	if err := r.finish(); err != nil {
		return nil, fmt.Errorf("build the api: %w", err)
	}
	return r, nil
}

// config is huma's, without the routes and links it would add by itself.
func config(version string) huma.Config {
	format := jsonFormat()
	return huma.Config{
		OpenAPI: &huma.OpenAPI{
			OpenAPI: "3.1.0",
			Info: &huma.Info{Title: "Probefleet", Version: version, Description: "Watches URLs from many regions. Instants are RFC 3339 in UTC; durations carry their unit (_s, _ms, _us). " +
				"Errors are RFC 9457 problems with a code. While ClickHouse does not answer, a question about the past that was asked before is answered with the last answer, marked by stale_since, " +
				"X-Probefleet-Stale and Age. Lists are {items, next_cursor}. x-policy says which role a route needs, x-scope what a key with scopes needs.",
				License: &huma.License{Name: "Apache-2.0", Identifier: "Apache-2.0"}},
			Components: &huma.Components{
				Schemas: huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer),
				SecuritySchemes: map[string]*huma.SecurityScheme{
					"key":    {Type: "http", Scheme: "bearer", Description: "an API key"},
					"cookie": {Type: "apiKey", In: "cookie", Name: "pf_session", Description: "set by signing in; __Host-pf_session behind TLS"},
				},
			},
		},
		Formats:       map[string]huma.Format{"application/json": format, "json": format},
		DefaultFormat: "application/json",
		Transformers:  []huma.Transformer{problems},
	}
}

// surroundings are what targets are judged against now.
func (a *api) surroundings() surroundings {
	return surroundings{regions: a.Fleet.Regions(), open: a.Fleet.OpenRanges(), seal: a.Box.Seal, now: a.Now()}
}
