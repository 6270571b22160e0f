package main

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/lab"
	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/service"
	"github.com/probefleet/probefleet/internal/spool"
	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/migrations"
)

// region is a stream with checks for eu in it.
type region struct {
	url       string
	redis     *checkstream.Redis
	publisher *checkstream.Publisher
	fleet     *checkstream.Fleet
	targets   string
}

func newRegion(t *testing.T) *region {
	t.Helper()
	r := &region{url: testbackend.Redis(t)}
	l, err := lab.Start("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	r.targets = l.URL()
	if r.redis, err = checkstream.Open(r.url); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.redis.Close() })
	r.publisher, r.fleet = checkstream.NewPublisher(r.redis), checkstream.NewFleet(r.redis)
	if err := r.publisher.EnsureGroups(t.Context(), []string{"eu"}); err != nil {
		t.Fatal(err)
	}
	return r
}

// publish adds checks of the targets 1 to n and gives their second.
func (r *region) publish(t *testing.T, n int64) time.Time {
	t.Helper()
	clock, err := r.publisher.Clock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	chunk := checkstream.Chunk{Second: clock.Tick + 1, Seq: 1, Last: true}
	for id := int64(1); id <= n; id++ {
		chunk.Checks = append(chunk.Checks, uptime.Check{
			TargetID: id, ScheduledAt: time.Unix(chunk.Second, 0).UTC(), Interval: time.Minute, SpecVersion: 1,
			Regions: []string{"eu"}, Kind: uptime.KindHTTP, URL: r.targets + "/ok", Timeout: 2 * time.Second,
		})
	}
	if _, err := r.publisher.Publish(t.Context(), chunk); err != nil {
		t.Fatal(err)
	}
	return time.Unix(chunk.Second, 0)
}

// unsettled says whether so many entries are pending and none waits to be delivered.
func (r *region) unsettled(t *testing.T, n int64) bool {
	groups, err := r.fleet.Groups(t.Context())
	return err == nil && len(groups) == 1 && groups[0].Pending == n && (n > 0 || groups[0].Lag == 0)
}

func (r *region) heartbeat(t *testing.T) checkstream.Heartbeat {
	probers, err := r.fleet.Probers(t.Context())
	if err != nil || len(probers) != 1 {
		return checkstream.Heartbeat{}
	}
	return probers[0]
}

// TestStartsWithClickHouseDown: rows go to disk and are acknowledged from there, and
// reach ClickHouse when it comes. Before that the prober waits for its folder, which
// somebody else still has.
func TestStartsWithClickHouseDown(t *testing.T) {
	t.Parallel()
	const checks = 30
	r := newRegion(t)
	server := testbackend.ClickHouseServer(t)
	if err := migrations.UpClickHouse(t.Context(), server.URL(), func(string) {}); err != nil {
		t.Fatal(err)
	}
	server.Stop()
	dir := t.TempDir()
	predecessor, err := spool.Open(spool.Options{Dir: dir, Volatile: true})
	if err != nil {
		t.Fatal(err)
	}
	prober, ended, log, ops := startProber(t, "REDIS_URL="+r.url, "CLICKHOUSE_URL="+server.URL(), "PROBER_SPOOL_DIR="+dir)
	awaitOrEnd(t, "the prober to wait for its folder", ended, log, func() bool { return strings.Contains(log.String(), "dependency=spool") })
	if err := predecessor.Close(); err != nil {
		t.Fatal(err)
	}
	awaitOrEnd(t, "the heartbeat", ended, log, func() bool { return r.heartbeat(t).Name == "eu-1" })
	at := r.publish(t, checks)
	awaitOrEnd(t, "the acknowledgements", ended, log, func() bool {
		return r.unsettled(t, 0) && r.heartbeat(t).Spooled == checks && r.heartbeat(t).SpoolBytes > 0
	})
	beat := r.heartbeat(t)
	if beat.ClickHouse != "down" || beat.Breaker == "closed" || !beat.SpoolFirst.Equal(at) || !beat.SpoolLast.Equal(at) {
		t.Errorf("%+v, want the rows of %v", beat, at)
	}
	awaitOrEnd(t, "/healthz to say so", ended, log, func() bool {
		text := healthz(t, ops)
		return strings.Contains(text, `"status":"degraded"`) && strings.Contains(text, "30 rows wait on disk")
	})

	server.Restart()
	store, err := resultstore.Open(t.Context(), server.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	awaitOrEnd(t, "the spool to be replayed", ended, log, func() bool {
		return r.heartbeat(t).Spooled == 0 && r.heartbeat(t).SpoolBytes == 0 && r.heartbeat(t).ClickHouse == "ok"
	})
	for id := int64(1); id <= checks; id++ {
		rows, err := store.Results(t.Context(), resultstore.ResultQuery{TargetID: id, From: at, To: at.Add(time.Second), Limit: 10})
		if err != nil || len(rows) != 1 || rows[0].Status != uptime.StatusUp {
			t.Errorf("target %d: %+v %v", id, rows, err)
		}
	}
	if got := metric(t, ops, "probefleet_prober_illegal_transitions_total"); got != "0" {
		t.Errorf("%s illegal transitions", got)
	}
	drain(t, prober, ended, log)
}

// TestBrokenSpoolEndsTheProber takes the folder away. What is on disk was acknowledged;
// nothing is from then on.
func TestBrokenSpoolEndsTheProber(t *testing.T) {
	t.Parallel()
	r := newRegion(t)
	dir := t.TempDir() + "/spool"
	_, ended, log, _ := startProber(t, "REDIS_URL="+r.url, "CLICKHOUSE_URL=clickhouse://127.0.0.1:1/none", "PROBER_SPOOL_DIR="+dir)
	awaitOrEnd(t, "the heartbeat", ended, log, func() bool { return r.heartbeat(t).Name == "eu-1" })
	r.publish(t, 10)
	awaitOrEnd(t, "the acknowledgements", ended, log, func() bool { return r.unsettled(t, 0) && r.heartbeat(t).Spooled == 10 })
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	r.publish(t, 7)
	select {
	case err := <-ended:
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok || exit.ExitCode() != service.ExitSpool || !strings.Contains(log.String(), "spool: create") {
			t.Errorf("ended with %v\n%s", err, log)
		}
	case <-time.After(hang):
		t.Fatalf("goes on with a broken disk\n%s", log)
	}
	if !r.unsettled(t, 7) {
		groups, err := r.fleet.Groups(t.Context())
		t.Errorf("%+v %v", groups, err)
	}
}

func TestSpoolFolderIsJudgedAtStart(t *testing.T) {
	t.Parallel()
	blocked := t.TempDir() + "/file"
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ dir, volatile, want string }{
		"temporary":    {t.TempDir(), "false", "PROBER_SPOOL_VOLATILE=true"},
		"not a folder": {blocked + "/spool", "true", "PROBER_SPOOL_DIR"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, ended, log, _ := startProber(t, "REDIS_URL=redis://127.0.0.1:1", "CLICKHOUSE_URL=clickhouse://127.0.0.1:1/none",
				"PROBER_SPOOL_DIR="+c.dir, "PROBER_SPOOL_VOLATILE="+c.volatile)
			select {
			case err := <-ended:
				exit, ok := errors.AsType[*exec.ExitError](err)
				if !ok || exit.ExitCode() != service.ExitConfig || !strings.Contains(log.String(), c.want) || !strings.Contains(log.String(), c.dir) {
					t.Errorf("ended with %v\n%s", err, log)
				}
			case <-time.After(hang):
				t.Fatalf("started\n%s", log)
			}
		})
	}
}
