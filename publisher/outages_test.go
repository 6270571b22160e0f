package main

import (
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/service"
	"github.com/probefleet/probefleet/internal/spool"
	"github.com/probefleet/probefleet/internal/storing"
	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/migrations"
	"github.com/probefleet/probefleet/publisher/internal/deletion"
)

// TestDeletedTargetLeavesNothing deletes a target that has results, and has Redis
// lose what it was told.
func TestDeletedTargetLeavesNothing(t *testing.T) {
	t.Parallel()
	s := start(t)
	kept, gone := s.add(t, 1), s.add(t, 2)
	slot := time.Now().Truncate(time.Minute).Add(-time.Hour)
	var rows []uptime.Result
	for _, target := range []uptime.Target{kept, gone} {
		rows = append(rows, uptime.Result{TargetID: target.ID, Region: "eu", ScheduledAt: slot, Status: uptime.StatusUp, Prober: "p"})
	}
	if err := s.results.Insert(t.Context(), resultstore.Batch{Token: "one", Prober: "p", Region: "eu", Attempt: 1, Rows: rows}); err != nil {
		t.Fatal(err)
	}
	_, _ = s.launch(t, "a")
	if err := s.targets.Delete(t.Context(), gone.ID, 0); err != nil {
		t.Fatal(err)
	}
	buried := func() bool {
		there, err := s.redis.Tombstoned(t.Context(), []int64{kept.ID, gone.ID})
		return err == nil && there[gone.ID] && !there[kept.ID]
	}
	left := func() []int64 {
		found, err := s.results.TargetsWithRows(t.Context(), []int64{kept.ID, gone.ID})
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	// A row that was computed while it was removed goes with the look half a minute later.
	eventually(t, "the removal", func() bool { return buried() && slices.Equal(left(), []int64{kept.ID}) })
	eventually(t, "the note of it", func() bool {
		d, err := s.targets.Deletion(t.Context(), gone.ID)
		return err == nil && !d.Tombstoned.IsZero() && len(d.Steps) == len(deletion.Steps()) && !d.Effective.IsZero()
	})
	if err := s.redis.Commands().Del(t.Context(), "{pf}:tombstones").Err(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a new tombstone", buried)
}

// beating has a prober in the region for as long as the test: a publisher that starts slowly hears of it, too.
func (s *servers) beating(t *testing.T) {
	t.Helper()
	prober := checkstream.NewConsumer(s.redis, "eu", "p1")
	beat := func() error {
		_, err := prober.Beat(t.Context(), checkstream.Heartbeat{Region: "eu", Name: "p1", StartedAt: time.Now()})
		return err
	}
	if err := beat(); err != nil {
		t.Fatal(err)
	}
	var beats sync.WaitGroup
	t.Cleanup(beats.Wait) // before Redis is closed
	beats.Go(func() {
		ticker := time.NewTicker(time.Second)
		defer ticker.Stop()
		for beat() == nil {
			select {
			case <-t.Context().Done():
				return
			case <-ticker.C:
			}
		}
	})
}

// TestStartsWithClickHouseDown has a full stream: every slot is a missed row, which
// waits on disk until ClickHouse comes.
func TestStartsWithClickHouseDown(t *testing.T) {
	t.Parallel()
	s := start(t)
	server := testbackend.ClickHouseServer(t)
	if err := migrations.UpClickHouse(t.Context(), server.URL(), quiet); err != nil {
		t.Fatal(err)
	}
	server.Stop()
	s.env["CLICKHOUSE_URL"], s.env["PUBLISHER_BACKLOG_MAX"] = server.URL(), "1"
	for i := range 50 {
		s.add(t, i)
	}
	s.beating(t)
	stop, ended := s.launch(t, "a")
	eventually(t, "rows on disk", func() bool {
		text := s.healthz(t, "a")
		return strings.Contains(text, "rows wait on disk") && strings.Contains(text, `"status":"degraded"`)
	})
	server.Restart()
	results, err := resultstore.Open(t.Context(), server.URL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = results.Close() })
	eventually(t, "the replay", func() bool { return !strings.Contains(s.healthz(t, "a"), "rows wait on disk") })
	stop()
	if err := <-ended; err != nil {
		t.Fatalf("a drained publisher says %v", err)
	}
	reasons := map[uptime.Reason]int{}
	for id := int64(1); id <= 50; id++ {
		rows, err := results.Results(t.Context(), resultstore.ResultQuery{TargetID: id, From: time.Now().Add(-time.Hour), To: time.Now().Add(time.Minute), Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			reasons[row.Reason]++
		}
	}
	if reasons[uptime.ReasonBackpressure] == 0 || len(reasons) != 1 {
		t.Errorf("rows by reason: %v", reasons)
	}
}

// TestBrokenSpoolEndsThePublisher takes its folder away while it is needed.
func TestBrokenSpoolEndsThePublisher(t *testing.T) {
	t.Parallel()
	s := start(t)
	dir := filepath.Join(t.TempDir(), "spool")
	s.env["CLICKHOUSE_URL"], s.env["PUBLISHER_BACKLOG_MAX"], s.env["PUBLISHER_SPOOL_DIR"] = "clickhouse://127.0.0.1:1/none", "1", dir
	for i := range 50 {
		s.add(t, i)
	}
	s.beating(t)
	_, ended := s.launch(t, "a")
	eventually(t, "rows on disk", func() bool { return strings.Contains(s.healthz(t, "a"), "rows wait on disk") })
	// Moved, as one step: removing file by file races with the publisher, which writes new ones.
	if err := os.Rename(dir, dir+".gone"); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		if service.Code(err) != service.ExitSpool {
			t.Errorf("ended with %d: %v", service.Code(err), err)
		}
	case <-time.After(hang):
		t.Error("goes on without its spool")
	}
}

func TestBootRefusesWhatItCannotUse(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	taken := filepath.Join(t.TempDir(), "taken")
	holder, err := spool.Open(spool.Options{Dir: taken, Volatile: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = holder.Close() })
	migrated := start(t)
	for name, c := range map[string]struct {
		env  map[string]string
		code int
		want string
	}{
		"a folder that is lost":    {map[string]string{"PUBLISHER_SPOOL_DIR": filepath.Join(t.TempDir(), "spool"), "PUBLISHER_SPOOL_VOLATILE": "false"}, service.ExitConfig, "PUBLISHER_SPOOL_VOLATILE"},
		"no folder":                {map[string]string{"PUBLISHER_SPOOL_DIR": filepath.Join(file, "spool")}, service.ExitConfig, "PUBLISHER_SPOOL_DIR"},
		"an old clickhouse schema": {map[string]string{"CLICKHOUSE_URL": testbackend.ClickHouse(t)}, service.ExitDependency, "probefleet migrate up"},
		"no clickhouse url":        {map[string]string{"CLICKHOUSE_URL": "http://127.0.0.1"}, service.ExitConfig, "CLICKHOUSE_URL"},
		"settling for too long":    {map[string]string{"PUBLISHER_SETTLE": "2h"}, service.ExitConfig, "PUBLISHER_SETTLE"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := map[string]string{"PUBLISHER_SPOOL_DIR": filepath.Join(t.TempDir(), "spool"), "PUBLISHER_SPOOL_VOLATILE": "true"}
			for _, from := range []map[string]string{migrated.env, c.env} {
				for key, value := range from {
					env[key] = value
				}
			}
			err := run(t.Context(), frame(t), func(name string) string { return env[name] })
			if service.Code(err) != c.code || !strings.Contains(err.Error(), c.want) {
				t.Errorf("code %d: %v", service.Code(err), err)
			}
		})
	}
	t.Run("a folder in use is waited for", func(t *testing.T) {
		t.Parallel()
		f := frame(t)
		waited := make(chan error, 1)
		go func() {
			opened, err := storing.OpenSpool(t.Context(), f, "PUBLISHER", Config{SpoolDir: taken, SpoolVolatile: true}.spool())
			if err == nil {
				err = opened.Close()
			}
			waited <- err
		}()
		eventually(t, "the wait", func() bool { return strings.Contains(healthz(t, f), "waiting at start") })
		if err := holder.Close(); err != nil {
			t.Fatal(err)
		}
		if err := <-waited; err != nil {
			t.Fatal(err)
		}
	})
}

func frame(t *testing.T) *service.Service {
	return &service.Service{Name: "publisher", Version: "test", Log: slog.New(slog.NewTextHandler(t.Output(), nil)), Metrics: prometheus.NewRegistry(), Health: service.NewHealth("publisher", "test")}
}
