package main

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/livefeed"
	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/service"
	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/internal/uptime"
)

// A prober that has lost its network says so, of itself and of what fails; what is good
// stays good. Once its canaries are back it is believed again.
func TestBlindProber(t *testing.T) {
	t.Parallel()
	around := newSurroundings(t)
	store, l, redis, publisher, fleet := around.store, around.lab, around.redis, around.publisher, around.fleet
	heard := follow(t, redis)

	canary, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", testbackend.Port(t)))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = canary.Close() }()
	exit := filepath.Join(t.TempDir(), "last_exit")
	if err := service.NewLastExit(service.ResultWatchdog, "killed", "KILL", time.Now(), time.Hour).Write(exit); err != nil {
		t.Fatal(err)
	}
	prober, ended, log, ops := startProber(t, "LAST_EXIT_FILE="+exit, "REDIS_URL="+around.redisURL, "CLICKHOUSE_URL="+around.clickHouseURL, "PROBER_SPOOL_DIR="+t.TempDir(), "PROBER_CANARIES="+canary.Addr().String())
	says := func(word string) func() bool {
		return func() bool {
			probers, err := fleet.Probers(t.Context())
			return err == nil && len(probers) == 1 && probers[0].Canaries == word && probers[0].CanariesAll == 1 && (probers[0].CanariesAnswered == 1) == (word == "good") && probers[0].ClockOffset != nil
		}
	}
	awaitOrEnd(t, "a good round in the heartbeat", ended, log, says("good"))
	if heard, err := fleet.Probers(t.Context()); err != nil || heard[0].LastExit == nil || heard[0].LastExit.Cause != "unresponsive" || heard[0].LastExit.Signal != "KILL" || heard[0].LastExit.At.IsZero() {
		t.Errorf("the life before ended so: %+v, %v", heard, err)
	}

	// slot publishes a good and a failing check and gives their rows.
	seq := int64(0)
	slot := func() (good, failing uptime.Result) {
		t.Helper()
		clock, err := publisher.Clock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		seq++
		chunk := checkstream.Chunk{Second: clock.Tick + 1, Seq: seq, Last: true}
		for id, path := range map[int64]string{1: "/ok", 2: "/status/503"} {
			chunk.Checks = append(chunk.Checks, uptime.Check{
				TargetID: id, ScheduledAt: time.Unix(chunk.Second, 0).UTC(), Interval: 10 * time.Second, SpecVersion: 1,
				Regions: []string{"eu"}, Kind: uptime.KindHTTP, URL: l.URL() + path, Timeout: 8 * time.Second,
			})
		}
		if chunk.Checks[0].TargetID > chunk.Checks[1].TargetID {
			chunk.Checks[0], chunk.Checks[1] = chunk.Checks[1], chunk.Checks[0]
		}
		if _, err := publisher.Publish(t.Context(), chunk); err != nil {
			t.Fatal(err)
		}
		var rows [2]uptime.Result
		for i := range rows {
			awaitOrEnd(t, "a row", ended, log, func() bool {
				found, err := store.Results(t.Context(), resultstore.ResultQuery{
					TargetID: int64(i + 1), From: time.Unix(chunk.Second, 0), To: time.Unix(chunk.Second+1, 0), Limit: 10,
				})
				if err != nil || len(found) != 1 {
					return false
				}
				rows[i] = found[0]
				return true
			})
		}
		return rows[0], rows[1]
	}

	if good, failing := slot(); good.Status != uptime.StatusUp || failing.Status != uptime.StatusDown || failing.Failure != uptime.FailureStatusCode {
		t.Errorf("with its network: %+v, %+v", good, failing)
	}
	_ = canary.Close()
	good, failing := slot()
	if good.Status != uptime.StatusUp || failing.Status != uptime.StatusUnknown || failing.Reason != uptime.ReasonProbeBlind || !strings.Contains(failing.Message, "not believed") {
		t.Errorf("blind: %+v, %+v", good, failing)
	}
	awaitOrEnd(t, "a bad round in the heartbeat", ended, log, says("bad"))
	if text := healthz(t, ops); !strings.Contains(text, `"status":"degraded"`) || !strings.Contains(text, "PROBER_CANARIES") || !strings.Contains(text, "connection refused") {
		t.Errorf("/healthz does not say what to do: %s", text)
	}
	awaitOrEnd(t, "a bad round among the results", ended, log, func() bool {
		r := heard()
		return !r.Good && r.Region == "eu" && r.Prober == "eu-1" && strings.Contains(r.Said, canary.Addr().String()) && time.Since(r.At).Abs() < time.Minute
	})

	if canary, err = net.Listen("tcp", canary.Addr().String()); err != nil {
		t.Fatal(err)
	}
	awaitOrEnd(t, "a good round among the results", ended, log, func() bool { return heard().Good })
	if good, failing := slot(); good.Status != uptime.StatusUp || failing.Status != uptime.StatusDown {
		t.Errorf("back: %+v, %+v", good, failing)
	}
	if text := healthz(t, ops); strings.Contains(text, "canaries:") || !strings.Contains(text, canary.Addr().String()) {
		t.Errorf("/healthz: %s", text)
	}
	if got := metric(t, ops, "probefleet_prober_doubted_total"); got != "1" {
		t.Errorf("%s failures were doubted", got)
	}
	drain(t, prober, ended, log)
}

// follow gives the newest round among the results.
func follow(t *testing.T, redis *checkstream.Redis) func() livefeed.Round {
	t.Helper()
	var mu sync.Mutex
	var newest livefeed.Round
	follower := livefeed.NewFollower(redis).WithRounds(func(_ string, r livefeed.Round) error {
		mu.Lock()
		defer mu.Unlock()
		newest = r
		return nil
	})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = follower.Follow(ctx, "0-0", func(string, []uptime.Result) error { return nil })
	}()
	t.Cleanup(func() { stop(); <-ended })
	return func() livefeed.Round {
		mu.Lock()
		defer mu.Unlock()
		return newest
	}
}
