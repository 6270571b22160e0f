package main

import (
	"math"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/recorder"
	"github.com/probefleet/probefleet/internal/testbackend"
)

func TestScalerSeesWhatThereIs(t *testing.T) {
	t.Parallel()
	server := testbackend.RedisServer(t)
	redis, err := checkstream.Open(server.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer redis.Close()
	stream := checkstream.NewConsumer(redis, "eu", "p1")
	if err := stream.EnsureGroup(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, at := range [][2]string{{"eu", "p1"}, {"eu", "p2"}, {"us", "p3"}} {
		if _, err := checkstream.NewConsumer(redis, at[0], at[1]).Beat(t.Context(), checkstream.Heartbeat{}); err != nil {
			t.Fatal(err)
		}
	}
	publisher := checkstream.NewPublisher(redis)
	clock, err := publisher.Clock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := publisher.Publish(t.Context(), checkstream.Chunk{Second: clock.Tick + 1, Last: true, BacklogMax: 1000}); err != nil {
		t.Fatal(err)
	}
	draining := false
	see := eyes{
		region: "eu", stream: stream, fleet: checkstream.NewFleet(redis), rows: recorder.New(nil, recorder.Options{Metrics: prometheus.NewRegistry()}),
		demand: func() (int, time.Duration) { return 7, time.Hour }, resting: func() bool { return draining },
	}
	got := see.look(t.Context())
	if got.Lag != 0 || got.Depth != 0 || got.Writer != 0 || !(got.Memory > 0 && got.Memory < 1) || got.InHand != 7 || got.Promised != time.Hour || got.Probers != 2 {
		t.Errorf("%+v", got)
	}
	// How far others are behind is not this prober's to mend, and it is no help to them.
	if _, err := checkstream.NewFleet(redis).DrainProber(t.Context(), "eu", "p1", "user:1"); err != nil {
		t.Fatal(err)
	}
	draining = true
	if got := see.look(t.Context()); !math.IsNaN(got.Lag) || got.Depth != 0 || got.Probers != 1 {
		t.Errorf("while it is to drain: %+v", got)
	}
	server.Stop()
	got = see.look(t.Context())
	if !math.IsNaN(got.Lag) || !math.IsNaN(got.Depth) || !math.IsNaN(got.Memory) || got.Writer != 0 || got.InHand != 7 || got.Probers != 0 {
		t.Errorf("without Redis: %+v", got)
	}
}
