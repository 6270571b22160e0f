package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/probefleet/probefleet/dashboard-api/internal/answercache"
	"github.com/probefleet/probefleet/dashboard-api/internal/httpapi"
	"github.com/probefleet/probefleet/dashboard-api/internal/live"
	"github.com/probefleet/probefleet/dashboard-api/internal/notify"
	"github.com/probefleet/probefleet/dashboard-api/internal/session"
	"github.com/probefleet/probefleet/dashboard-api/internal/statuspage"
	"github.com/probefleet/probefleet/dashboard-api/internal/wsconn"
	"github.com/probefleet/probefleet/dashboard-api/web"
	"github.com/probefleet/probefleet/internal/guard"
	"github.com/probefleet/probefleet/internal/pagestore"
	"github.com/probefleet/probefleet/internal/seal"
	"github.com/probefleet/probefleet/internal/secret"
	"github.com/probefleet/probefleet/internal/service"
	"github.com/probefleet/probefleet/internal/subscriberstore"
)

// tellPages has public pages hear of what the kept answers are told.
func tellPages(kept *answercache.Cache, public *statuspage.Pages) {
	kept.Listen(func(readable time.Time, writes []answercache.Write) {
		targets := make([]int64, len(writes))
		for i, w := range writes {
			targets[i] = w.Target
		}
		public.Written(readable, targets...)
	})
}

// newStatusPages serves the public pages, and the dashboard where there is none.
func newStatusPages(cfg Config, o httpapi.Options, store *pagestore.Store, told *subscribers, hub *live.Hub, sockets *wsconn.Server, sessions *session.Sessions) *statuspage.Pages {
	return statuspage.New(statuspage.Options{
		Store: store, Incidents: o.Incidents, Windows: o.Maintenance, Live: hub, Daily: httpapi.Daily(o), Behind: o.Standing.Behind, Now: o.Now, Fingerprint: o.Box.Fingerprint,
		Subscribers: told.store, MailReady: !cfg.SMTPURL.IsZero(), Asked: told.wake,
		Secure: sessions.Secure, TrustProxy: cfg.TrustProxy, PublicURL: cfg.PublicURL, Socket: sockets.Only, MostOfAddress: cfg.PageReaders, Next: web.Handler(), Log: o.Log,
	})
}

// Senders at once, of a node: a mail server is asked gently, and webhooks that hang hold up no others.
// Requests to confirm, which anybody may cause, are apart.
const (
	mailers     = 8
	hookers     = 64
	requesters  = 2
	challengers = 8
)

// subscribers is what tells those who subscribed to pages: mails and webhooks apart, and of both
// what they are to confirm.
type subscribers struct {
	store   *subscriberstore.Store
	workers []*notify.Worker
	log     *slog.Logger
}

func newSubscribers(cfg Config, stores *stores, deliverer *notify.Deliverer, box *seal.Box, node string, s *service.Service) *subscribers {
	t := &subscribers{store: subscriberstore.New(stores.database, box), log: s.Log}
	server, _ := notify.Server(cfg.SMTPURL, cfg.SMTPFrom) // was judged with the configuration
	courier := statuspage.NewCourier(statuspage.CourierOptions{Now: stores.clock.Now, Deliverer: toReaders(cfg, deliverer, box), Subscribers: t.store, Server: server, PublicURL: cfg.PublicURL, Fingerprint: box.Fingerprint})
	add := func(outbox notify.Outbox, of string, most int, tryFor time.Duration) {
		t.workers = append(t.workers, notify.NewWorker(notify.WorkerOptions{Now: stores.clock.Now, Holder: node, Of: of, Most: most, TryFor: tryFor, Outbox: outbox, Sender: courier, Health: s.Health, Log: s.Log.With("of", of), Metrics: s.Metrics}))
	}
	if !cfg.SMTPURL.IsZero() {
		add(t.store.Outbox(subscriberstore.Email), "subscriber_mail", mailers, 0)
		add(t.store.Requests(subscriberstore.Email), "subscriber_mail_request", requesters, 0)
	}
	add(t.store.Outbox(subscriberstore.Webhook), "subscriber_webhook", hookers, 0)
	add(t.store.Requests(subscriberstore.Webhook), "subscriber_challenge", challengers, statuspage.ChallengeFor)
	return t
}

// apart hands mails to the operator's server, and webhooks to public addresses alone.
type apart struct {
	*notify.Deliverer
	hooks *notify.Deliverer
}

// Hook posts a signed document.
func (a apart) Hook(ctx context.Context, to, key secret.Text, id string, document any) (notify.Sent, []byte) {
	return a.hooks.Hook(ctx, to, key, id, document)
}

// toReaders is what reaches subscribers: API_ALLOW_CIDRS opens ranges to the operator's own
// channels, and not to what any reader of a page asks for.
func toReaders(cfg Config, deliverer *notify.Deliverer, box *seal.Box) apart {
	return apart{deliverer, notify.NewDeliverer(notify.DelivererOptions{Box: box, Guard: guard.New(nil), PublicURL: cfg.PublicURL})}
}

// wake has outboxes looked at without delay.
func (t *subscribers) wake() {
	for _, w := range t.workers {
		w.Wake()
	}
}

// loops send, and forget what nobody confirmed.
func (t *subscribers) loops() (all []func(context.Context) error) {
	for _, w := range t.workers {
		all = append(all, w.Run)
	}
	return append(all, func(ctx context.Context) error {
		return every(ctx, time.Hour, func(ctx context.Context) {
			ctx, cancel := context.WithTimeout(ctx, time.Minute)
			defer cancel()
			if err := t.store.Prune(ctx, time.Now()); err != nil {
				t.log.Debug("old wishes to subscribe not removed", "error", err)
			}
		})
	})
}
