//go:build bench

package fanout

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/database/databasetest"
	"github.com/probefleet/probefleet/internal/livefeed"
	"github.com/probefleet/probefleet/internal/schedulestore"
	"github.com/probefleet/probefleet/internal/targetstore"
	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/internal/testfleet"
	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/migrations"
)

const key = "pf_fanout_key_of_a_throwaway_installation"

var regions = []string{"ap", "eu", "us"}

// node is one dashboard-api with its stores, and the end that announces results to it.
type node struct {
	pid       int
	address   string
	announcer *livefeed.Announcer
	targets   []int64
}

// newNode starts a node that knows as many targets.
func newNode(t *testing.T, targets int) *node {
	t.Helper()
	databaseURL, redisURL, clickURL := testbackend.SQLite(t), testbackend.Redis(t), testbackend.ClickHouse(t)
	if err := migrations.UpClickHouse(t.Context(), clickURL, nil); err != nil {
		t.Fatal(err)
	}
	n := &node{}
	db := databasetest.Open(t, databaseURL)
	for _, region := range regions {
		if _, err := schedulestore.New(db).AddRegion(t.Context(), region); err != nil {
			t.Fatal(err)
		}
	}
	store := targetstore.New(db)
	for i := range targets {
		made, err := store.Create(t.Context(), uptime.Target{Name: fmt.Sprintf("Shop front %d", i), URL: fmt.Sprintf("https://shop%d.example/", i), Kind: uptime.KindHTTP, Interval: time.Minute, Timeout: 10 * time.Second, Active: true})
		if err != nil {
			t.Fatal(err)
		}
		n.targets = append(n.targets, made.ID)
	}
	stream, err := checkstream.Open(redisURL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stream.Close() })
	n.announcer = livefeed.NewAnnouncer(stream)
	n.start(t, databaseURL, redisURL, clickURL)
	return n
}

func (n *node) start(t *testing.T, databaseURL, redisURL, clickURL string) {
	t.Helper()
	free := func() string {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		return l.Addr().String()
	}
	n.address = free()
	_, port, _ := net.SplitHostPort(n.address)
	ops := free()
	log, err := os.Create(filepath.Join(t.TempDir(), "node.log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(testfleet.Programs(t, testfleet.Build{}), "dashboard-api"))
	cmd.Env = append(os.Environ(), "DATABASE_URL="+databaseURL, "REDIS_URL="+redisURL, "CLICKHOUSE_URL="+clickURL, "SECRET_KEY="+strings.Repeat("x", 32),
		"PORT="+port, "API_BIND=127.0.0.1", "OPS_ADDR="+ops, "BOOTSTRAP_API_KEY="+key, "API_SOCKETS_PER_ACCOUNT=20000")
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	n.pid = cmd.Process.Pid
	exited := make(chan struct{})
	go func() { defer close(exited); _ = cmd.Wait() }()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-exited:
		case <-time.After(time.Minute):
			_ = cmd.Process.Kill()
			<-exited
		}
		if content, _ := os.ReadFile(log.Name()); t.Failed() {
			t.Logf("%s", content[max(0, len(content)-4000):])
		}
	})
	within(t, time.Minute, "the node serves", func() bool {
		conn, err := net.Dial("tcp", n.address)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
}

// announce tells the node of a result each 1/rate seconds, target after target, region after
// region, until ctx ends. A slot's instant is when it was announced: readers judge by it.
func (n *node) announce(ctx context.Context, rate int) error {
	const batches = 20 // a second, as probers do
	ticker := time.NewTicker(time.Second / batches)
	defer ticker.Stop()
	for i := 0; ; {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return nil
		}
		var results []uptime.Result
		for range rate / batches {
			now := time.Now().UTC().Truncate(time.Millisecond)
			results = append(results, uptime.Result{TargetID: n.targets[i%len(n.targets)], Region: regions[i/len(n.targets)%len(regions)], ScheduledAt: now, CheckedAt: now,
				Status: uptime.StatusUp, HTTPStatus: 200, TotalUS: uint32(100_000 + i%1000), IngestedAt: now})
			i++
		}
		if err := n.announcer.Announce(ctx, results); err != nil && ctx.Err() == nil {
			return err
		}
	}
}

func within(t *testing.T, limit time.Duration, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(limit); !ok(); {
		if time.Now().After(deadline) {
			t.Fatalf("not within %s: %s", limit, what)
		}
		<-time.After(20 * time.Millisecond)
	}
}
