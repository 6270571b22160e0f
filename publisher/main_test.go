package main

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/database/databasetest"
	"github.com/probefleet/probefleet/internal/ledger"
	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/schedulestore"
	"github.com/probefleet/probefleet/internal/service"
	"github.com/probefleet/probefleet/internal/targetstore"
	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/migrations"
)

func TestMain(m *testing.M) { testbackend.Main(m) }

func quiet(string) {}

// servers are the real stores of a test, migrated.
type servers struct {
	env      map[string]string
	redis    *checkstream.Redis
	targets  *targetstore.Store
	versions *schedulestore.Store
	results  *resultstore.Store
	frames   map[string]*service.Service // of the publishers launched
}

func start(t *testing.T) *servers {
	t.Helper()
	ctx := t.Context()
	env := map[string]string{"REDIS_URL": testbackend.Redis(t), "DATABASE_URL": testbackend.SQLite(t), "CLICKHOUSE_URL": testbackend.ClickHouse(t)}
	if err := migrations.UpClickHouse(ctx, env["CLICKHOUSE_URL"], quiet); err != nil {
		t.Fatal(err)
	}
	db := databasetest.Open(t, env["DATABASE_URL"])
	redis, err := checkstream.Open(env["REDIS_URL"])
	if err != nil {
		t.Fatal(err)
	}
	results, err := resultstore.Open(ctx, env["CLICKHOUSE_URL"])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = redis.Close(), results.Close() })
	return &servers{env: env, redis: redis, targets: targetstore.New(db), versions: schedulestore.New(db), results: results, frames: map[string]*service.Service{}}
}

// launch runs a publisher as the program does. The answer is what run returned.
func (s *servers) launch(t *testing.T, name string) (stop context.CancelFunc, ended chan error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	frame := &service.Service{Name: "publisher", Version: "test", Log: slog.New(slog.NewTextHandler(t.Output(), nil)).With("instance", name),
		Metrics: prometheus.NewRegistry(), Health: service.NewHealth("publisher", "test")}
	s.frames[name] = frame
	ended = make(chan error, 1)
	spool := map[string]string{"PUBLISHER_SPOOL_DIR": filepath.Join(t.TempDir(), "spool"), "PUBLISHER_SPOOL_VOLATILE": "true"}
	over := make(chan struct{})
	go func() {
		defer close(over)
		ended <- run(ctx, frame, func(name string) string { return cmp.Or(s.env[name], spool[name]) })
	}()
	t.Cleanup(func() { cancel(); <-over })
	return cancel, ended
}

// healthz is what a publisher launched says of itself.
func (s *servers) healthz(t *testing.T, name string) string { return healthz(t, s.frames[name]) }

func healthz(t *testing.T, frame *service.Service) string {
	answer := httptest.NewRecorder()
	service.OpsHandler(frame.Health, prometheus.NewRegistry()).ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), "GET", "/healthz", nil))
	return answer.Body.String()
}

func (s *servers) add(t *testing.T, i int) uptime.Target {
	t.Helper()
	target, err := s.targets.Create(t.Context(), uptime.Target{Name: fmt.Sprint("target ", i), URL: "http://127.0.0.1/", Kind: uptime.KindHTTP,
		Interval: 10 * time.Second, Timeout: time.Second, Active: true})
	if err != nil {
		t.Fatal(err)
	}
	return target
}

// hang bounds every wait: longer means that it never comes.
const hang = 2 * time.Minute

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for deadline := time.Now().Add(hang); !ok(); <-ticker.C {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
	}
}

// TestPublishersShareOneSchedule runs two publishers of which the one at work is
// stopped while targets change, and compares what a region was handed with what
// the ledger says was planned.
func TestPublishersShareOneSchedule(t *testing.T) {
	t.Parallel()
	s := start(t)
	for i := range 300 {
		s.add(t, i)
	}
	prober := checkstream.NewConsumer(s.redis, "eu", "p1")
	beat := func() {
		if _, err := prober.Beat(t.Context(), checkstream.Heartbeat{Region: "eu", Name: "p1", StartedAt: time.Now()}); err != nil {
			t.Fatal(err)
		}
	}
	beat()
	stop, ended := s.launch(t, "a")
	_, _ = s.launch(t, "b")

	got, last := map[uptime.Slot]int{}, int64(0)
	read := func() {
		beat()
		entries, err := prober.Read(t.Context(), 500, 50*time.Millisecond)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, e := range entries {
			got[e.Check.Slot("eu")]++
			last = max(last, e.Second)
			ids = append(ids, e.ID)
		}
		if len(ids) > 0 {
			if err := prober.Ack(t.Context(), ids); err != nil {
				t.Fatal(err)
			}
		}
	}
	eventually(t, "first checks", func() bool { read(); return len(got) > 300 })

	if text := s.healthz(t, "b"); !strings.Contains(text, `"embedded":false`) || strings.Contains(text, `"redis":{"version":""`) {
		t.Errorf("/healthz does not say which Redis this is: %s", text)
	}
	stopped := time.Now()
	stop()
	if err := <-ended; err != nil {
		t.Fatalf("a drained publisher says %v", err)
	}
	for i := 300; i < 330; i++ {
		s.add(t, i)
	}
	for id := int64(1); id <= 20; id++ {
		if _, err := s.targets.Update(t.Context(), id, 0, func(target *uptime.Target) error {
			target.Active, target.Interval = id%2 == 0, 11*time.Second
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "takeover", func() bool { n := len(got); read(); return len(got) > n })
	t.Logf("the other publisher took over after %v", time.Since(stopped).Round(10*time.Millisecond))
	seq, err := s.versions.Seq(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	publisher := checkstream.NewPublisher(s.redis)
	var clock checkstream.Clock
	eventually(t, "adoption and some seconds more", func() bool {
		read()
		if clock, err = publisher.Clock(t.Context()); err != nil {
			t.Fatal(err)
		}
		return clock.Seq == seq && time.Since(stopped) > 8*time.Second
	})
	end := clock.Tick + 1
	eventually(t, "the last second", func() bool { read(); return last >= end })

	plan, err := ledger.Load(t.Context(), s.versions, time.Unix(0, 0), time.Unix(end, 0))
	if err != nil {
		t.Fatal(err)
	}
	published, twice := int64(0), 0
	for slot, n := range got {
		if slot.ScheduledAt.Unix() < end {
			published++
			if n > 1 {
				twice++
			}
		}
	}
	if planned := plan.Planned()["eu"]; planned != published || twice > 0 {
		t.Errorf("%d slots planned, %d published, %d twice", planned, published, twice)
	}
	eventually(t, "notes of the cycles", func() bool {
		at, found, err := s.results.LastCycle(t.Context())
		return err == nil && found && at.Unix() >= end-1
	})
}

func TestBootNamesWhatIsWrong(t *testing.T) {
	t.Parallel()
	frame := &service.Service{Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry(), Health: service.NewHealth("publisher", "test")}
	err := run(t.Context(), frame, func(string) string { return "" })
	if service.Code(err) != service.ExitConfig {
		t.Errorf("no settings: %v", err)
	}
}
