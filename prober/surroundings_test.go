package main

import (
	"testing"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/lab"
	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/migrations"
)

// surroundings are what a prober of the region eu needs, all real.
type surroundings struct {
	redisURL, clickHouseURL string
	redis                   *checkstream.Redis
	publisher               *checkstream.Publisher
	fleet                   *checkstream.Fleet
	store                   *resultstore.Store
	lab                     *lab.Lab
}

func newSurroundings(t *testing.T) surroundings {
	t.Helper()
	s := surroundings{redisURL: testbackend.Redis(t), clickHouseURL: testbackend.ClickHouse(t)}
	err := migrations.UpClickHouse(t.Context(), s.clickHouseURL, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	if s.store, err = resultstore.Open(t.Context(), s.clickHouseURL); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.store.Close() })
	if s.lab, err = lab.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.lab.Close() })
	if s.redis, err = checkstream.Open(s.redisURL); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.redis.Close() })
	s.publisher, s.fleet = checkstream.NewPublisher(s.redis), checkstream.NewFleet(s.redis)
	if err := s.publisher.EnsureGroups(t.Context(), []string{"eu"}); err != nil {
		t.Fatal(err)
	}
	return s
}
