package main

import (
	"github.com/probefleet/probefleet/dashboard-api/internal/httpapi"
	"github.com/probefleet/probefleet/dashboard-api/internal/live"
	"github.com/probefleet/probefleet/dashboard-api/internal/session"
	"github.com/probefleet/probefleet/dashboard-api/internal/statuspage"
	"github.com/probefleet/probefleet/dashboard-api/internal/wsconn"
	"github.com/probefleet/probefleet/dashboard-api/web"
	"github.com/probefleet/probefleet/internal/pagestore"
)

// newStatusPages serves the public pages, and the dashboard where there is none.
func newStatusPages(cfg Config, o httpapi.Options, store *pagestore.Store, hub *live.Hub, sockets *wsconn.Server, sessions *session.Sessions) *statuspage.Pages {
	return statuspage.New(statuspage.Options{
		Store: store, Incidents: o.Incidents, Windows: o.Maintenance, Live: hub, Daily: httpapi.Daily(o), Fingerprint: o.Box.Fingerprint,
		Secure: sessions.Secure, TrustProxy: cfg.TrustProxy, PublicURL: cfg.PublicURL, Socket: sockets.Only, Next: web.Handler(), Log: o.Log,
	})
}
