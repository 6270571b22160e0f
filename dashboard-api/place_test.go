package main

import (
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/database/databasetest"
	"github.com/probefleet/probefleet/internal/livefeed"
	"github.com/probefleet/probefleet/internal/schedulestore"
	"github.com/probefleet/probefleet/internal/targetstore"
	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/internal/uptime"
)

// place is an installation without ClickHouse: one target, region eu, and as many nodes as are
// started.
type place struct {
	*testing.T
	databaseURL, redisURL string
	target                uptime.Target
	announcer             *livefeed.Announcer
}

func newPlace(t *testing.T, change func(*uptime.Target)) *place {
	t.Helper()
	p := &place{T: t, databaseURL: testbackend.SQLite(t), redisURL: testbackend.Redis(t)}
	db := databasetest.Open(t, p.databaseURL)
	if _, err := schedulestore.New(db).AddRegion(t.Context(), "eu"); err != nil {
		t.Fatal(err)
	}
	wanted := uptime.Target{Name: "a", URL: "https://a.example/", Kind: uptime.KindHTTP, Interval: time.Minute, Timeout: time.Second, Active: true}
	if change != nil {
		change(&wanted)
	}
	var err error
	if p.target, err = targetstore.New(db).Create(t.Context(), wanted); err != nil {
		t.Fatal(err)
	}
	redis, err := checkstream.Open(p.redisURL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = redis.Close() })
	p.announcer = livefeed.NewAnnouncer(redis)
	return p
}

// node starts one.
func (p *place) node() *node {
	p.Helper()
	return start(p.T, p.databaseURL, p.redisURL, "clickhouse://127.0.0.1:1/x")
}

// announce tells of a result of the target that was just measured.
func (p *place) announce(result uptime.Result) {
	p.Helper()
	result.TargetID, result.Region = p.target.ID, "eu"
	if err := p.announcer.Announce(p.Context(), []uptime.Result{result}); err != nil {
		p.Fatal(err)
	}
}
