package main

import (
	"context"
	"errors"
	"time"

	"github.com/probefleet/probefleet/internal/database"
	"github.com/probefleet/probefleet/internal/lab"
	"github.com/probefleet/probefleet/internal/targetstore"
	"github.com/probefleet/probefleet/internal/uptime"
)

// startDemo runs the lab in this process and registers its targets, so that the
// first screen is alive. The lab's ports change with every start: targets of an
// earlier demo are pointed at the new ones.
func startDemo(ctx context.Context, databaseURL string) (*lab.Lab, error) {
	server, err := lab.Start("127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	if err := registerDemo(ctx, databaseURL, server); err != nil {
		_ = server.Close()
		return nil, err
	}
	return server, nil
}

func registerDemo(ctx context.Context, databaseURL string, server *lab.Lab) error {
	db, err := database.Open(ctx, databaseURL)
	if err != nil {
		return err
	}
	defer db.Close()
	targets := targetstore.New(db)
	existing := map[string]uptime.Target{}
	if err := targets.Each(ctx, func(t uptime.Target) error { existing[t.Name] = t; return nil }); err != nil {
		return err
	}
	for _, demo := range []struct{ name, url string }{
		{"Demo: shop front", server.URL() + "/n/shop"},
		{"Demo: slow search", server.URL() + "/slow/900ms"},
		{"Demo: failing payments", server.URL() + "/status/503"},
		{"Demo: flapping login", server.URL() + "/flap/45s"},
		{"Demo: expired certificate", server.ExpiredURL() + "/ok"},
		{"Demo: hanging report", server.URL() + "/hang"},
		{"Demo: redirecting blog", server.URL() + "/redirect/2"},
	} {
		if old, found := existing[demo.name]; found {
			_, err = targets.Update(ctx, old.ID, 0, func(t *uptime.Target) error { t.URL = demo.url; return nil })
		} else {
			_, err = targets.Create(ctx, uptime.Target{Name: demo.name, URL: demo.url, Kind: uptime.KindHTTP, Interval: 10 * time.Second, Timeout: 3 * time.Second, Active: true})
		}
		if err != nil && !errors.Is(err, targetstore.ErrNotFound) {
			return err
		}
	}
	return nil
}
