package consumer

import (
	"context"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/uptime"
)

// A prober that was killed with hundreds of checks in hand settles them within seconds
// of its next start, while the targets answer.
func TestRestartSettlesWhatTheKilledOneHad(t *testing.T) {
	t.Parallel()
	const left = 500
	l, redis, redisURL, path := realParts(t)
	publisher, fleet := checkstream.NewPublisher(redis), checkstream.NewFleet(redis)
	if err := publisher.EnsureGroups(t.Context(), []string{"eu"}); err != nil {
		t.Fatal(err)
	}
	clock, err := publisher.Clock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	chunk := checkstream.Chunk{Second: clock.Tick + 1, Seq: 1, Last: true}
	for id := int64(1); id <= left; id++ {
		chunk.Checks = append(chunk.Checks, uptime.Check{
			TargetID: id, ScheduledAt: time.Unix(chunk.Second, 0).UTC(), Interval: time.Minute, SpecVersion: 1, Regions: []string{"eu"},
			Kind: uptime.KindHTTP, URL: l.URL() + "/ok", Timeout: 30 * time.Second,
		})
	}
	if _, err := publisher.Publish(t.Context(), chunk); err != nil {
		t.Fatal(err)
	}
	killed, err := checkstream.NewConsumer(redis, "eu", "p1").Read(t.Context(), left, time.Second)
	if err != nil || len(killed) != left {
		t.Fatal(len(killed), err)
	}
	await(t, "the slots", func() bool {
		now, err := redis.Now(t.Context())
		return err == nil && now.Unix() > chunk.Second
	})

	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	started := time.Now()
	go func() { ended <- runProber(ctx, redisURL, path, "p1", 0) }()
	await(t, "every entry to be settled", func() bool {
		groups, err := fleet.Groups(t.Context())
		return err == nil && len(groups) == 1 && groups[0].Pending == 0 && len(rowsIn(t, path)) == left
	})
	t.Logf("%d suspects settled in %v", left, time.Since(started).Round(time.Millisecond))
	for slot, statuses := range rowsIn(t, path) {
		if len(statuses) != 1 || statuses[0] != "up" {
			t.Errorf("%s: %v", slot, statuses)
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
