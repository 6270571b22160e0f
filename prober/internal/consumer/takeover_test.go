package consumer

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/guard"
	"github.com/probefleet/probefleet/internal/lab"
	"github.com/probefleet/probefleet/internal/livefeed"
	"github.com/probefleet/probefleet/internal/recorder"
	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/sharedclock"
	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/prober/internal/hostlimit"
	"github.com/probefleet/probefleet/prober/internal/probe"
)

// A subprocess with these in its environment is a prober to be killed.
const (
	victimRedis = "PROBEFLEET_TEST_VICTIM_REDIS"
	victimFile  = "PROBEFLEET_TEST_VICTIM_FILE"
	victimBane  = "PROBEFLEET_TEST_VICTIM_BANE" // the target whose visit ends it
)

func TestMain(m *testing.M) {
	if url := os.Getenv(victimRedis); url != "" {
		bane, _ := strconv.ParseInt(os.Getenv(victimBane), 10, 64)
		if err := runProber(context.Background(), url, os.Getenv(victimFile), "victim", bane); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	testbackend.Main(m)
}

// file is a store of one line a row, shared by processes. A line is one write.
type file struct{ *os.File }

func (f file) Insert(_ context.Context, batch resultstore.Batch) error {
	var lines bytes.Buffer
	for _, row := range batch.Rows {
		fmt.Fprintf(&lines, "%d/%d %s %s %d\n", row.TargetID, row.ScheduledAt.UnixMilli(), row.Status, row.Prober, row.Attempt)
	}
	_, err := f.Write(lines.Bytes())
	return err
}

// bane ends this process when it is to visit a certain target, as a defect in a library would.
type bane struct {
	Prober
	target int64
}

func (b bane) Check(ctx context.Context, check *uptime.Check, done func(probe.Outcome)) {
	if check.TargetID == b.target {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
	b.Prober.Check(ctx, check, done)
}

// runProber is a whole prober but for ClickHouse; one target may be its bane.
func runProber(ctx context.Context, redisURL, path, name string, target int64) error {
	redis, err := checkstream.Open(redisURL)
	if err != nil {
		return err
	}
	defer redis.Close()
	out, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer out.Close()
	log := slog.New(slog.DiscardHandler)
	registry := prometheus.NewRegistry()
	engine := probe.New(probe.Options{Version: "test", Guard: guard.New([]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}), Log: log, Metrics: registry})
	var c *Consumer
	rows := recorder.New(file{out}, recorder.Options{
		Prober: name, Region: "eu", MaxAge: 300 * time.Millisecond, Log: log, Metrics: registry,
		Reject: func(row uptime.Result, err error) { c.Refused(row, err) },
	})
	stream := checkstream.NewConsumer(redis, "eu", name)
	c = New(Parts{
		Source: stream, Settler: stream, Presence: stream, Clock: sharedclock.New(redis), Prober: bane{engine, target}, Recorder: rows,
		Hosts:     hostlimit.New(hostlimit.Options{PerHost: 2000, Waiting: 2000, Metrics: registry}),
		Announcer: livefeed.NewAnnouncer(redis), Log: log, Metrics: registry,
	}, Options{Region: "eu", Name: name, Capacity: 2000, ReclaimIdle: 45 * time.Second})
	behind, stop := context.WithCancel(context.WithoutCancel(ctx))
	recorded := make(chan error, 1)
	go func() { recorded <- rows.Run(behind) }()
	err = c.Run(ctx)
	stop()
	<-recorded
	if n := c.flights.illegal.Load(); err == nil && n > 0 {
		return fmt.Errorf("%d illegal transitions", n)
	}
	return err
}

// realParts are a lab, a Redis of the test's own and its URL, and the file that probers
// write their rows to.
func realParts(t *testing.T) (l *lab.Lab, redis *checkstream.Redis, redisURL, path string) {
	t.Helper()
	redisURL = testbackend.Redis(t)
	l, err := lab.Start("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	path = filepath.Join(t.TempDir(), "rows")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if redis, err = checkstream.Open(redisURL); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = redis.Close() })
	return l, redis, redisURL, path
}

// TestKilledProberLosesNothing kills one of two probers in the middle of its work:
// the other takes over, and every slot has its row.
//
// Promise: the checks of a killed prober are taken over
func TestKilledProberLosesNothing(t *testing.T) {
	t.Parallel()
	const perSecond, seconds, killAfter, most = 40, 6, 3, 30
	l, redis, redisURL, path := realParts(t)
	publisher, fleet := checkstream.NewPublisher(redis), checkstream.NewFleet(redis)
	if err := publisher.EnsureGroups(t.Context(), []string{"eu"}); err != nil {
		t.Fatal(err)
	}

	ctx, stop := context.WithCancel(t.Context())
	survived := make(chan error, 1)
	go func() { survived <- runProber(ctx, redisURL, path, "survivor", 0) }()
	victim := exec.Command(os.Args[0])
	victim.Env = append(os.Environ(), victimRedis+"="+redisURL, victimFile+"="+path)
	victim.Stderr = os.Stderr
	if err := victim.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = victim.Process.Kill() })
	await(t, "both probers", func() bool {
		probers, err := fleet.Probers(t.Context())
		return err == nil && len(probers) == 2
	})

	planned := map[string]bool{}
	clock, err := publisher.Clock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	killed := false // as soon as it has work: who gets a second's checks is chance
	for i := int64(0); i < seconds || !killed; i++ {
		if i == most {
			t.Fatalf("the victim got nothing to do in %d s", most)
		}
		chunk := checkstream.Chunk{Second: clock.Tick + 1 + i, Seq: 1, Last: true}
		for id := int64(1); id <= perSecond; id++ {
			at := time.Unix(chunk.Second, id*int64(time.Millisecond)*20).UTC()
			path := "/slow/100ms"
			if id%10 == 0 {
				path = "/slow/1s" // under way when the kill comes
			}
			chunk.Checks = append(chunk.Checks, uptime.Check{
				TargetID: id, ScheduledAt: at, Interval: time.Minute, SpecVersion: 1, Regions: []string{"eu"},
				Kind: uptime.KindHTTP, URL: l.URL() + path, Timeout: 30 * time.Second,
			})
			planned[fmt.Sprintf("%d/%d", id, at.UnixMilli())] = true
		}
		await(t, "the second to come near", func() bool {
			now, err := redis.Now(t.Context())
			return err == nil && now.Unix() >= chunk.Second-2
		})
		if _, err := publisher.Publish(t.Context(), chunk); err != nil {
			t.Fatal(err)
		}
		if !killed && i >= killAfter && bytes.Contains(read(t, path), []byte(" victim ")) {
			killed = true
			if err := victim.Process.Signal(syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			_ = victim.Wait()
		}
	}
	await(t, "every slot to have its row and every entry its acknowledgement", func() bool {
		groups, err := fleet.Groups(t.Context())
		return err == nil && len(rowsIn(t, path)) == len(planned) && groups[0].Pending == 0 && groups[0].Lag == 0
	})
	for slot, statuses := range rowsIn(t, path) {
		if !planned[slot] || len(statuses) > 2 {
			t.Errorf("%s: %v", slot, statuses)
		}
		for _, status := range statuses {
			if status != "up" {
				t.Errorf("%s ended %s", slot, status)
			}
		}
	}
	stop()
	if err := <-survived; err != nil {
		t.Error(err)
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// rowsIn gives the statuses of each slot: more than one when it was probed again.
func rowsIn(t *testing.T, path string) map[string][]string {
	t.Helper()
	rows := map[string][]string{}
	lines := bufio.NewScanner(bytes.NewReader(read(t, path)))
	for lines.Scan() {
		var slot, status, prober string
		var attempt int
		if _, err := fmt.Sscan(lines.Text(), &slot, &status, &prober, &attempt); err == nil {
			rows[slot] = append(rows[slot], status)
		}
	}
	return rows
}

func await(t *testing.T, what string, ready func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for limit := time.Now().Add(2 * time.Minute); !ready(); <-tick.C {
		if time.Now().After(limit) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}
