//go:build !load && !faults && !browser && !bench

package e2e

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/lab"
	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/internal/testfleet"
)

// TestAUserForEachProgram runs every program as its own user of Redis and of ClickHouse, from
// the first migration to the end of a target: on the way nobody is refused anything.
func TestAUserForEachProgram(t *testing.T) {
	t.Parallel()
	server, err := lab.Start("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	redis := testbackend.NewRedisUsers(t, filepath.Join("..", "..", "deploy", "redis", "users.acl"), "eu", "us")
	click := testbackend.NewClickHouseUsers(t, filepath.Join("..", "..", "deploy", "clickhouse", "grants.sql"), "eu", "us")
	s := newSystem(t)
	if err := os.MkdirAll(filepath.Join(s.dir, "logs"), 0o700); err != nil {
		t.Fatal(err)
	}
	database := "DATABASE_URL=" + testbackend.SQLite(t)
	migrate := exec.Command(filepath.Join(testfleet.Programs(t, variant), "probefleet"), "migrate", "up")
	migrate.Dir, migrate.Env = t.TempDir(), []string{database, "CLICKHOUSE_URL=" + click.URL("pf_migrate")}
	if out, err := migrate.CombinedOutput(); err != nil {
		t.Fatalf("migrate: %v\n%s", err, out)
	}
	click.RunFile(filepath.Join("..", "..", "deploy", "clickhouse", "tables.sql"))

	start := func(program, name, redisUser, clickUser string, more ...string) *exec.Cmd {
		t.Helper()
		kind := map[string]string{"publisher": "PUBLISHER", "prober": "PROBER", "dashboard-api": "API"}[program]
		return s.program(program, name, append(more, "REDIS_URL="+redis.URL(redisUser), "CLICKHOUSE_URL="+click.URL(clickUser), "SECRET_KEY=a key of a throwaway installation, 32 letters",
			kind+"_SPOOL_DIR="+filepath.Join(t.TempDir(), "spool"), kind+"_SPOOL_VOLATILE=true")...)
	}
	publishers := 0
	publisher := func() *exec.Cmd {
		publishers++
		return start("publisher", fmt.Sprint("publisher-", publishers), "publisher", "pf_publisher", database, "RETENTION_RAW=480h")
	}
	all := []*exec.Cmd{
		publisher(),
		start("dashboard-api", "api", "api", "pf_api", database, fmt.Sprintf("PORT=%d", s.port), "API_BIND=127.0.0.1", "BOOTSTRAP_API_KEY="+apiKey),
	}
	for _, region := range []string{"eu", "us"} {
		all = append(all, start("prober", "prober-"+region, "prober-"+region, "pf_prober_"+region, "REGION="+region, "PROBER_NAME="+region+"-1", "PROBER_ALLOW_CIDRS=127.0.0.0/8", "PROBER_CANARIES="+testfleet.Canary(t)))
	}
	s.await(hang, "both probers are known", func() bool {
		status, fleet := s.try("GET", "/api/v1/fleet", nil)
		return status == http.StatusOK && bytes.Count(fleet, []byte(`"live":true`)) >= 2
	})

	good := s.create(target{URL: server.URL() + "/ok", IntervalS: 1})
	bad := s.create(target{URL: server.URL() + "/status/503", IntervalS: 1}) // it is confirmed, and an incident opens
	s.await(hang, "results of both regions", func() bool {
		return len(s.regionsOf(good.ID, "up")) == 2
	})
	s.await(hang, "an incident", func() bool {
		_, incidents := s.try("GET", fmt.Sprintf("/api/v1/incidents?target_id=%d", bad.ID), nil)
		return bytes.Contains(incidents, []byte(`"state":"open"`))
	})

	var check struct{ ID, State string }
	if status := s.call("POST", "/api/v1/checks", map[string]any{"url": server.URL() + "/ok"}, &check); status != http.StatusAccepted {
		t.Errorf("a check on demand: %d", status)
	}
	s.await(hang, "the check on demand", func() bool {
		s.call("GET", "/api/v1/checks/"+check.ID, nil, &check)
		return check.State == "COMPLETED"
	})
	received := map[string]any{"items": []any{map[string]any{"at": time.Now().UTC().Add(-time.Second).Format(time.RFC3339), "region": "office", "status": "up"}}}
	if status := s.call("POST", fmt.Sprintf("/api/v1/targets/%d/results", good.ID), received, nil); status != http.StatusOK {
		t.Errorf("a result from outside: %d", status)
	}
	drained := func() bool {
		_, fleet := s.try("GET", "/api/v1/fleet", nil)
		return bytes.Contains(fleet, []byte(`"drained"`))
	}
	s.call("POST", "/api/v1/regions/us/probers/us-1:drain", nil, nil)
	s.await(hang, "the prober is drained", drained)
	s.call("POST", "/api/v1/regions/us/probers/us-1:resume", nil, nil)
	s.await(hang, "the prober goes on", func() bool { return !drained() })
	for _, path := range []string{"/api/v1/dead-letters", "/api/v1/ledger", "/api/v1/targets/%d/series", "/api/v1/targets/%d/uptime", "/api/v1/results/current", "/api/v1/targets:figures?ids=%d"} {
		if strings.Contains(path, "%d") {
			path = fmt.Sprintf(path, good.ID)
		}
		if status, said := s.try("GET", path, nil); status != http.StatusOK {
			t.Errorf("%s: %d %s", path, status, said)
		}
	}
	// Another publisher takes over, and begins with the figures; the first would compute them in a minute.
	all = append(all, publisher())
	if err := all[0].Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := all[0].Wait(); err != nil {
		t.Errorf("publisher: %v", err)
	}
	all = all[1:]
	s.await(hang, "hourly figures", func() bool {
		return strings.TrimSpace(click.Admin("SELECT count() > 0 FROM probefleet.rollup_1h")) == "1"
	})
	// Neither the check on demand nor the previews of what was saved are history: every row of a
	// prober is one of the slots of its target, a second apart.
	if other := strings.TrimSpace(click.Admin(fmt.Sprintf("SELECT countIf(target_id NOT IN (%d, %d)), uniqExact(target_id, toUnixTimestamp64Milli(scheduled_at) %% 1000) FROM probefleet.results WHERE region != 'ext-office'", good.ID, bad.ID))); other != "0\t2" {
		t.Errorf("results of no target, and phases of slots: %q\n%s", other, click.Admin("SELECT target_id, region, status, reason, scheduled_at FROM probefleet.results ORDER BY target_id, scheduled_at"))
	}
	if ttl := click.Admin("SELECT engine_full FROM system.tables WHERE database = 'probefleet' AND name = 'results'"); !strings.Contains(ttl, "toIntervalHour(480)") {
		t.Errorf("results are kept for another time than is wanted: %s", ttl)
	}
	s.call("DELETE", fmt.Sprintf("/api/v1/targets/%d", good.ID), nil, nil)
	s.await(hang, "the deleted target's results are gone", func() bool {
		return strings.TrimSpace(click.Admin(fmt.Sprintf("SELECT count() FROM probefleet.results WHERE target_id = %d", good.ID))) == "0"
	})
	// The publisher erases them eleven minutes later; nobody waits for that here.
	store, err := resultstore.Open(t.Context(), click.URL("pf_publisher"))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	s.await(hang, "no part hides rows", func() bool { // the other tables' rows are marked after the results'
		for _, table := range resultstore.TargetTables() {
			if err := store.EraseDeleted(t.Context(), table); err != nil {
				t.Fatal(err)
			}
		}
		return strings.TrimSpace(click.Admin("SELECT count() FROM system.parts WHERE database = 'probefleet' AND active AND has_lightweight_delete")) == "0"
	})

	for _, one := range all {
		if err := one.Process.Signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
	}
	for _, one := range all {
		if err := one.Wait(); err != nil {
			t.Errorf("%s: %v", filepath.Base(one.Path), err)
		}
	}
	if refused := append(redis.Refused(), click.Refused()...); len(refused) > 0 {
		t.Errorf("refused, though it is a part of the work:\n%s", strings.Join(refused, "\n"))
	}
}
