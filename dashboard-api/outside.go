package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/probefleet/probefleet/dashboard-api/internal/beats"
	"github.com/probefleet/probefleet/dashboard-api/internal/httpapi"
	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/heartbeatstore"
	"github.com/probefleet/probefleet/internal/livefeed"
	"github.com/probefleet/probefleet/internal/recorder"
	"github.com/probefleet/probefleet/internal/seal"
	"github.com/probefleet/probefleet/internal/service"
	"github.com/probefleet/probefleet/internal/spool"
	"github.com/probefleet/probefleet/internal/storing"
)

// outside is what takes results in that nobody here measured: those of external checkers,
// and pings.
type outside struct {
	node   string
	rows   *recorder.Recorder
	spool  *spool.Spool // nil: there is none
	beats  *beats.Keeper
	store  *heartbeatstore.Store
	broken chan error // the spool's disk failed
}

func newOutside(ctx context.Context, cfg Config, stores *stores, announcer *livefeed.Announcer, box *seal.Box, s *service.Service) (*outside, error) {
	o := &outside{node: nodeName(), store: heartbeatstore.New(stores.database).Keeping(stores.results.RawKept), broken: make(chan error, 1)}
	options := recorder.Options{
		Prober: o.node, MaxAge: 20 * time.Millisecond, // a request waits for them
		FlushTimeout: 8 * time.Second, // nobody was told that what is held then is durable
		Fatal:        func(err error) { o.broken <- err }, Deleted: stores.redis.Tombstoned, TooOld: stores.results.TooOld, Log: s.Log, Metrics: s.Metrics,
	}
	if cfg.SpoolDir != "" {
		var err error
		if o.spool, err = storing.OpenSpool(ctx, s, "API", spool.Options{Dir: cfg.SpoolDir, MaxBytes: int64(cfg.SpoolMaxBytes), Volatile: cfg.SpoolVolatile, ByRegion: true}); err != nil {
			return nil, err
		}
		options.Spool = o.spool
	}
	o.rows = recorder.New(stores.results, options)
	o.beats = beats.New(beats.Options{
		Holder: o.node, Store: o.store, Rows: o.rows, Now: stores.clock.Now, Announce: announcer.Announce,
		NewToken: func() heartbeatstore.Token { return httpapi.NewHeartbeatToken(box) },
		Health:   s.Health, Log: s.Log, Metrics: s.Metrics,
	})
	s.Health.Fact("recorder", func() any { return o.rows.State() })
	return o, nil
}

// record runs until stop is called: after the last request, so that what was taken in is
// written down.
func (o *outside) record(ctx context.Context, s *service.Service) (stop func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	written, told := make(chan error, 1), make(chan struct{})
	go func() { written <- o.rows.Run(ctx) }()
	go func() {
		defer close(told)
		_ = storing.TellAs(ctx, o.rows, s.Health, "recording")
	}()
	return func() {
		cancel()
		<-told
		if err := <-written; err != nil { // nobody was told that these were durable
			s.Log.Warn("not every row from outside was written", "error", err)
		}
		if o.spool != nil {
			if err := o.spool.Close(); err != nil {
				s.Log.Warn("spool not closed", "error", err)
			}
		}
	}
}

// watched ends with the failure of the spool's disk, too.
func (o *outside) watched(ctx context.Context) (context.Context, context.CancelCauseFunc) {
	ctx, end := context.WithCancelCause(ctx)
	go func() {
		select {
		case err := <-o.broken:
			end(service.Exit(service.ExitSpool, err))
		case <-ctx.Done():
		}
	}()
	return ctx, end
}

// kept is what waits on the disk, by region.
func (o *outside) kept() map[string]spool.Share {
	if o.spool == nil {
		return nil
	}
	return o.spool.Regions()
}

// tellKept tells the other nodes what waits here until ctx ends: each of them shows the
// whole account. It stays said when this node ends, until it is too old to count.
func (o *outside) tellKept(redis *checkstream.Redis) func(context.Context) error {
	told := false
	return func(ctx context.Context) error {
		return every(ctx, fleetEvery, func(ctx context.Context) {
			regions := map[string]checkstream.Kept{}
			for region, share := range o.kept() {
				regions[region] = checkstream.Kept{Rows: int64(share.Rows), First: share.First, Last: share.Last}
			}
			if len(regions) == 0 && !told {
				return
			}
			call, cancel := context.WithTimeout(ctx, askPatience)
			defer cancel()
			if err := redis.KeepSpool(call, o.node, regions); err == nil {
				told = len(regions) > 0
			}
		})
	}
}

// nodeName tells this process from every other one.
func nodeName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "api"
	}
	return fmt.Sprintf("%s-%d-%s", host, os.Getpid(), strings.ToLower(rand.Text()[:4]))
}
