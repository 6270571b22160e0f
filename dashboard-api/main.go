// Dashboard-api serves the dashboard, the REST API and the live feed.
//
// It reads targets and accounts from the relational database, results from
// ClickHouse, and follows the live results in Redis; it keeps the newest state of
// every target in memory and sends changes to browsers. Any number of nodes can
// run beside each other. It needs DATABASE_URL, REDIS_URL, CLICKHOUSE_URL and
// SECRET_KEY; docs/config.md lists every setting.
//
// It starts and serves while Redis or ClickHouse is down. Without Redis pages go on
// from memory, and turn to "no data" as the evidence in it ages; without ClickHouse
// history is answered with the last copy of the same answer, marked with its age, or
// 503. Without the database everything is 503. /healthz says what is missing and
// since when. SIGTERM closes the websockets with "come back" and finishes the requests
// under way. Results from outside wait in the node's spool while ClickHouse is away. Exit
// codes: 0 drained, 74 the spool's disk failed, 75 no database at start or a schema that is too
// old, 78 wrong configuration.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"sync"
	"time"
	_ "time/tzdata" // days and cron expressions name zones, and containers often have none

	"github.com/probefleet/probefleet/dashboard-api/internal/answercache"
	"github.com/probefleet/probefleet/dashboard-api/internal/httpapi"
	"github.com/probefleet/probefleet/dashboard-api/internal/live"
	"github.com/probefleet/probefleet/dashboard-api/internal/longtail"
	"github.com/probefleet/probefleet/dashboard-api/internal/session"
	"github.com/probefleet/probefleet/dashboard-api/internal/wsconn"
	"github.com/probefleet/probefleet/internal/accountstore"
	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/lease"
	"github.com/probefleet/probefleet/internal/ledger"
	"github.com/probefleet/probefleet/internal/livefeed"
	"github.com/probefleet/probefleet/internal/pagestore"
	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/rollupstore"
	"github.com/probefleet/probefleet/internal/schedulestore"
	"github.com/probefleet/probefleet/internal/seal"
	"github.com/probefleet/probefleet/internal/service"
	"github.com/probefleet/probefleet/internal/targetstore"
	"github.com/probefleet/probefleet/internal/verdictstore"
)

const (
	drainPatience     = 10 * time.Second
	confirmationsKept = 90 * 24 * time.Hour // as long as what was told of them
)

func main() {
	if code, ran := longtail.MaybeRunChild(os.Args); ran {
		os.Exit(code)
	}
	os.Exit(service.Main("dashboard-api", ":9103", os.Args[1:], os.Getenv, os.Stderr, func(ctx context.Context, s *service.Service) error {
		return run(ctx, s, os.Getenv)
	}))
}

// run wires the API:
//
//	database ──▶ targets, accounts ──▶ httpapi ──▶ REST, pages
//	                  │ reconcile         │ after a write
//	                  ▼                   ▼
//	{pf}:results ──▶ hub ──▶ wsconn    {pf}:changes, {pf}:tombstones
//	{pf}:changes ──▶  ▲  ──▶ snapshot
//	{pf}:regions ──▶ fleet watch ──▶ known regions, open ranges, /fleet
//	{pf}:adhoc ◀──▶ jobs ◀──▶ httpapi, hub; written behind to the database
//	{pf}:results, {pf}:changes, marks of rows and runs of rollups ──▶ kept answers ──▶ httpapi
//	ClickHouse ──▶ history watch ──▶ history, ledger; the hub's state at start
//	httpapi ── results from outside ──▶ recorder ──▶ ClickHouse, else spool
//	{pf}:results, ClickHouse ──▶ evaluator (one node) ──▶ verdicts, incidents
//	incidents ──▶ outbox in the database ──▶ notify ──▶ channels
//	posts of pages ──▶ another outbox ──▶ notify ──▶ subscribers
//	        └───▶ timelines ──▶ hub
//	vitals of the fleet ──▶ dead man's switch ──▶ an alarm outside
//	              └───────▶ troubles ──▶ incidents ──▶ channels
//	httpapi ── pings ──▶ database ◀──▶ beats ──▶ recorder, {pf}:results
func run(ctx context.Context, s *service.Service, getenv func(string) string) error {
	cfg, err := loadConfig(getenv)
	if err != nil {
		return service.Exit(service.ExitConfig, err)
	}
	if cfg.cookiesInClear() {
		s.Log.Warn("cookies go out without Secure and __Host-: API_PUBLIC_URL is https://, and nothing says that browsers come over TLS. Set API_TRUST_PROXY=true if the proxy that ends it sets X-Forwarded-For and X-Forwarded-Proto itself")
	}
	box, err := seal.New(cfg.SecretKey.Reveal(), cfg.OtherKey.Reveal())
	if err != nil {
		return service.Exit(service.ExitConfig, err)
	}
	listener, err := net.Listen("tcp", cfg.listenAddress())
	if err != nil {
		return service.Exit(service.ExitConfig, fmt.Errorf("listening for the dashboard (set PORT to a free one): %w", err))
	}
	defer listener.Close()
	stores, err := connect(ctx, cfg, s)
	if err != nil {
		return err
	}
	defer stores.close()

	targets, schedules, accounts := targetstore.New(stores.database).WithClock(stores.clock.Now), schedulestore.New(stores.database), accountstore.New(stores.database)
	sessions := session.New(accounts, cfg.TrustProxy, s.Log).WithBox(box).WithPasskeys(cfg.PublicURL)
	cfg.signOn(sessions)
	if err := firstKeys(ctx, cfg, sessions, s.Log); err != nil {
		return err
	}
	kept := answercache.New(answercache.Options{Now: stores.clock.Now, Metrics: s.Metrics})
	copies := httpapi.NewCopies()
	hub := live.New(live.Options{Now: stores.clock.Now, Metrics: live.NewMetrics(s.Metrics), Removed: func(id int64) {
		kept.Forget(id)
		copies.Forget(id)
	}})
	sockets := wsconn.New(wsconn.Options{Hub: hub, StillAllowed: sessions.StillAllowed, Holder: sessions.Holder, Secure: sessions.Secure, Most: cfg.SocketsMax, MostOfAccount: cfg.SocketsOfAccount, Log: s.Log, Metrics: wsconn.NewMetrics(s.Metrics)})
	announcer := livefeed.NewAnnouncer(stores.redis)
	after := httpapi.NewAftermath(announcer, stores.redis, s.Log)
	taken, err := newOutside(ctx, cfg, stores, announcer, box, s)
	if err != nil {
		return err
	}
	defer taken.record(ctx, s)()
	history := newHistoryWatch(stores.results, s.Health)
	relational := newDatabaseWatch(stores.database, string(stores.database.Engine()), s.Health)
	watch := &fleetWatch{
		stream: checkstream.NewFleet(stores.redis), leader: lease.NewHolder(stores.redis, "publisher"), dead: checkstream.NewLetterTally(stores.redis).Regions,
		versions: schedules, history: history, database: relational, hub: hub, health: s.Health, node: taken.node, kept: taken.kept,
	}
	watch.export(s.Metrics)
	written := newWrites(kept, stores.results)
	feed := &feed{hub: hub, kept: kept, targets: targets, results: stores.results, follower: heard(livefeed.NewFollower(stores.redis).WithConfirmations(confirmed(hub)), kept), back: history.back, now: stores.clock.Now, log: s.Log}

	about := checkstream.NewAbout(stores.redis)
	s.Health.Fact("redis", func() any { return about.Last() })

	now := stores.clock.Now()
	relational.runOnce(ctx)
	if err := history.runOnce(ctx); errors.Is(err, resultstore.ErrSchema) {
		return service.Exit(service.ExitDependency, err) // only the operator can help
	}
	watch.runOnce(ctx)
	if err := feed.load(ctx, now, watch.Adopted(), watch.HistoryOK()); err != nil {
		return service.Exit(service.ExitDependency, err)
	}
	watch.runOnce(ctx) // now that the hub is full: who is alive
	exempt, err := parseExempt(cfg.HostsExempt)
	if err != nil {
		return service.Exit(service.ExitConfig, err)
	}
	checks, err := newJobs(stores, watch, hub, s)
	if err != nil {
		return err
	}
	alerts := newAlerts(cfg, stores, hub, box, taken.node, s)
	told := newSubscribers(cfg, stores, alerts.deliverer, box, taken.node, s)
	pages := pagestore.New(stores.database, told.store)
	if err := alerts.feed.begin(ctx); err != nil {
		return service.Exit(service.ExitDependency, err)
	}
	notes, standing := rollupstore.New(stores.database), new(httpapi.Standing)
	books := account{ledger.New(schedules, stores.results, watch.Spools).WithPushes(taken.store).WithClock(stores.clock.Now), watch}
	audit := httpapi.NewAuditBacklog(accounts, func(trouble string) {
		level := service.OK
		if trouble != "" {
			level = service.Degraded
		}
		s.Health.Set("audit log", level, trouble)
	}, s.Metrics, s.Log)
	options := httpapi.Options{
		Deletions: targets, Regions: schedules, Probers: checkstream.NewFleet(stores.redis), Drains: checkstream.NewFleet(stores.redis), DeadLetters: checkstream.NewDeadLetters(stores.redis),
		Targets: targets.WithHostRate(targetstore.HostRate{Limit: cfg.HostRate, Exempt: exempt.with(watch.OpenRanges)}), Results: stores.results, History: stores.results, Corrections: stores.results, Standing: standing, Recent: kept, Copies: copies, Exports: stores.results, Schedules: schedules, Ledger: books, PublicURL: cfg.PublicURL, Sessions: sessions, Accounts: accounts, Keys: accounts, Passkeys: accounts, Answers: accounts, Audit: audit,
		StatusPages: pages, Subscribers: told.store, MailReady: !cfg.SMTPURL.IsZero(), Maintenance: alerts.windows, Blind: alerts.blind, Incidents: alerts.store, Confirmations: alerts.verdicts, Alerts: alerts.store, Tester: alerts.deliverer, Notified: alerts.told,
		Recorder: taken.rows, Announce: announcer.Announce, Heartbeats: taken.store, Pinged: taken.beats.Wake,
		Now: stores.clock.Now, Hub: hub, Fleet: watch, After: after, Box: box, Checks: checks, Socket: sockets, Stream: sockets.Stream(), Version: s.Version, Log: s.Log, Metrics: s.Metrics,
	}
	public := newStatusPages(cfg, options, pages, told, hub, sockets, sessions)
	tellPages(kept, public)
	options.Pages, options.PageCopy, options.PagesChanged = public, public.Copy, func() { public.Changed(); told.wake() }
	defer context.AfterFunc(ctx, public.LetGo)() // what streams must not hold up the end
	handler, err := httpapi.New(options)
	if err != nil {
		return err
	}

	look := func() *vitals {
		return &vitals{now: stores.clock.Now, watch: watch, judged: alerts.evaluator.JudgedUntil, account: books}
	}
	// These outlive the signal: requests under way still write and announce.
	behind, stop := context.WithCancel(context.WithoutCancel(ctx))
	var background sync.WaitGroup
	for _, loop := range slices.Concat(told.loops(), alerts.loops(cfg, look, stores, hub, s), []func(context.Context) error{
		about.Run, stores.followClock(s.Health), hub.Run, sockets.Run, public.Run, watch.Run, history.Run, relational.Run, after.Run, audit.Run,
		feed.followResults(now), feed.followChanges, feed.reconcile, feed.reconcileResults, housekeeping(accounts, alerts.verdicts, s.Log), checks.Run, taken.beats.Run, taken.tellKept(stores.redis), followRollups(notes, stores.results.RolledUp, written), followStanding(notes, schedules.SweptTo, standing.Tell), written.Run,
	}) {
		background.Go(func() {
			if err := loop(behind); err != nil && behind.Err() == nil {
				s.Log.Error("a loop ended", "error", err)
			}
		})
	}
	s.Health.Ready()
	s.Log.Info("serving", "address", listener.Addr().String(), "url", cfg.PublicURL)
	serving, ended := taken.watched(ctx)
	defer ended(nil)
	err = serve(serving, listener, handler, sockets, s.Log)
	stop()
	background.Wait()
	if ctx.Err() == nil && err == nil {
		err = context.Cause(serving)
	}
	return err
}

// cookiesInClear says whether people come over TLS and no request can say so: we end none, and only
// a proxy that is trusted is believed.
func (c Config) cookiesInClear() bool {
	u, err := url.Parse(c.PublicURL)
	return err == nil && u.Scheme == "https" && !c.TrustProxy
}

// newServer bounds how long whoever asks may take, and how much they may say before it is judged.
func newServer(handler http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler: handler, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second, WriteTimeout: 60 * time.Second, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: 64 << 10, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
}

// serve answers requests until ctx ends, then lets go of the sockets and finishes
// the requests under way.
func serve(ctx context.Context, listener net.Listener, handler http.Handler, sockets *wsconn.Server, log *slog.Logger) error {
	server := newServer(handler, log)
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainPatience)
	defer cancel()
	var letGo sync.WaitGroup
	letGo.Go(func() { sockets.Shutdown(drain) }) // beside: a browser that says nothing must not use up the requests' time
	defer letGo.Wait()
	if err := server.Shutdown(drain); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("drain: %w", err)
	}
	return nil
}

// firstKeys makes the ways in: the bootstrap key, and the set-up link while there
// is no owner.
func firstKeys(ctx context.Context, cfg Config, sessions *session.Sessions, log *slog.Logger) error {
	if key := cfg.BootstrapKey.Reveal(); key != "" {
		if len(key) < 20 {
			log.Warn("BOOTSTRAP_API_KEY is short enough to be guessed: use 32 random characters or more")
		}
		if err := sessions.EnsureKey(ctx, key); err != nil {
			return service.Exit(service.ExitDependency, err)
		}
	}
	token, err := sessions.Prepare(ctx)
	if err != nil {
		return service.Exit(service.ExitDependency, err)
	}
	link := ""
	if token != "" {
		link = cfg.PublicURL + "/setup?token=" + token
		log.Info("no account yet: open the set-up link", "setup_link", link)
	}
	if cfg.SetupLinkFile != "" {
		if err := writeSetupLink(cfg.SetupLinkFile, link); err != nil {
			return service.Exit(service.ExitConfig, err)
		}
	}
	return nil
}

// housekeeping removes expired sessions and kept answers, and old confirmations.
func housekeeping(accounts *accountstore.Store, verdicts *verdictstore.Store, log *slog.Logger) func(context.Context) error {
	return func(ctx context.Context) error {
		return every(ctx, expireEvery, func(ctx context.Context) {
			if err := accounts.DeleteExpired(ctx, time.Now()); err != nil && ctx.Err() == nil {
				log.Warn("expired sessions not removed", "error", err)
			}
			if err := verdicts.ForgetConfirmations(ctx, time.Now().Add(-confirmationsKept)); err != nil && ctx.Err() == nil {
				log.Warn("old confirmations not removed", "error", err)
			}
		})
	}
}
