//go:build faults

package e2e

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/testfleet"
)

// explained waits until the sweep has spoken for the window, then audits: every
// planned slot is a measurement or a stated reason, none twice.
func explained(t *testing.T, s *system, from, to time.Time) testfleet.Audit {
	t.Helper()
	var a testfleet.Audit
	s.await(6*time.Minute, "every planned slot has its row", func() bool {
		a = auditWindow(t, s, from, to)
		return a.Missing == 0
	})
	t.Logf("audit: %v", a)
	if a.Doubled != 0 || a.Unplanned != 0 || a.Planned == 0 {
		t.Errorf("audit failed: %v", a)
	}
	return a
}

// steady starts an installation under the load of TARGETS (10,000) a minute.
func steady(t *testing.T, extra ...string) (*system, []int64, string) {
	t.Helper()
	s := newSystem(t, extra...)
	s.start()
	server := startLab(t)
	ids := s.createMany(server.URL(), number("TARGETS", 10_000), 60)
	first := time.Now()
	s.await(3*time.Minute, "a minute of steady load", func() bool { return time.Since(first) > 75*time.Second })
	return s, ids, server.URL()
}

// TestFaultRestarts restarts publisher, prober and API one at a time under load,
// and Redis once (its log is kept).
func TestFaultRestarts(t *testing.T) {
	s, _, _ := steady(t)
	from := time.Now().Truncate(time.Second)
	for _, step := range []struct {
		name   string
		signal syscall.Signal
	}{{"publisher", syscall.SIGTERM}, {"prober-local", syscall.SIGTERM}, {"dashboard-api", syscall.SIGTERM}, {"redis", syscall.SIGKILL}, {"publisher", syscall.SIGKILL}, {"prober-local", syscall.SIGKILL}} {
		old := s.signal(step.name, step.signal)
		began := time.Now()
		s.await(90*time.Second, step.name+" runs again", func() bool { pid := s.pid(step.name); return pid != 0 && pid != old })
		t.Logf("%s after %v: back in %v", step.name, step.signal, time.Since(began).Round(time.Millisecond))
		for range tick(t, 20*time.Second, time.Now().Add(20*time.Second)) {
			t.Log(s.progress())
		}
	}
	explained(t, s, from, time.Now().Add(-5*time.Second))
}

// TestFaultChanges adds, pauses, re-times and deletes 500 targets while the
// publisher is killed and a standby takes over.
func TestFaultChanges(t *testing.T) {
	s, ids, labURL := steady(t)
	standby := startStandby(t, s)
	from := time.Now().Truncate(time.Second)
	var wait sync.WaitGroup
	wait.Go(func() {
		for i := range 125 {
			s.create(target{Name: fmt.Sprintf("added %d", i), URL: fmt.Sprintf("%s/n/added-%d", labURL, i), IntervalS: 30})
		}
	})
	change := func(ids []int64, method string, body map[string]any) {
		wait.Go(func() {
			for _, id := range ids {
				if status, text := s.try(method, fmt.Sprintf("/api/v1/targets/%d", id), body); status != http.StatusOK && status != http.StatusNoContent {
					t.Errorf("%s target %d: %d %s", method, id, status, text)
				}
			}
		})
	}
	change(ids[:125], "PATCH", map[string]any{"active": false})
	change(ids[125:250], "PATCH", map[string]any{"interval_s": 20})
	change(ids[250:375], "DELETE", nil)
	// The publisher is killed, and frozen as soon as it runs again: only the standby
	// can go on, while the changes arrive.
	killed := s.signal("publisher", syscall.SIGKILL)
	began := time.Now()
	s.await(10*time.Second, "the publisher runs again", func() bool { pid := s.pid("publisher"); return pid != 0 && pid != killed })
	frozen := s.signal("publisher", syscall.SIGSTOP)
	s.await(15*time.Second, "the standby leads", func() bool {
		return strings.Contains(s.leader(), fmt.Sprintf("-%d-", standby.Process.Pid))
	})
	t.Logf("the standby leads %v after the kill", time.Since(began).Round(time.Millisecond))
	wait.Wait()
	change(ids[:125], "PATCH", map[string]any{"active": true})
	wait.Wait()
	if err := syscall.Kill(frozen, syscall.SIGCONT); err != nil {
		t.Error(err)
	}
	for range tick(t, 20*time.Second, time.Now().Add(60*time.Second)) {
		t.Log(s.progress())
	}
	explained(t, s, from, time.Now().Add(-5*time.Second))
	if err := standby.Process.Signal(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	if err := standby.Wait(); err != nil {
		t.Errorf("standby: %v", err)
	}
}

// leader is the publisher that holds the lease, as the API says.
func (s *system) leader() string {
	s.t.Helper()
	var fleet struct {
		Publisher struct {
			Leader string `json:"leader"`
		} `json:"publisher"`
	}
	s.call("GET", "/api/v1/fleet", nil, &fleet)
	return fleet.Publisher.Leader
}

// startStandby runs a second publisher beside the installation's own.
func startStandby(t *testing.T, s *system) *exec.Cmd {
	t.Helper()
	bin := testfleet.Programs(t, testfleet.Build{})
	run := s.run()
	log, err := os.Create(filepath.Join(s.dir, "logs", "standby.log"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() })
	secret, err := os.ReadFile(filepath.Join(s.dir, "secret_key"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(bin, "publisher"))
	cmd.Env = append(os.Environ(), "DATABASE_URL="+run.DatabaseURL, "REDIS_URL="+run.RedisURL, "CLICKHOUSE_URL="+run.ClickHouseURL, "SECRET_KEY="+strings.TrimSpace(string(secret)), "OPS_ADDR=127.0.0.1:0")
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return cmd
}
