package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/envconf"
	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/internal/testfleet"
	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/prober/internal/scaler"
)

// asProber in its environment makes the test binary the prober.
const asProber = "PROBEFLEET_TEST_AS_PROBER"

func TestMain(m *testing.M) {
	if os.Getenv(asProber) != "" {
		main()
	}
	testbackend.Main(m)
}

func TestConfigReportsEveryMistakeAtOnce(t *testing.T) {
	t.Parallel()
	env := map[string]string{"SECRET_KEY": "short", "PROBER_WORKERS_MAX": "many", "PROBER_ALLOW_CIDRS": "10.0.0.0/33", "PROBER_BATCH_AGE": "1"}
	_, err := loadConfig(func(name string) string { return env[name] })
	mistakes, ok := errors.AsType[*envconf.Error](err)
	if !ok || len(mistakes.Mistakes) != 7 {
		t.Fatalf("%v", err)
	}
	for _, name := range []string{"REDIS_URL", "CLICKHOUSE_URL", "REGION", "SECRET_KEY", "PROBER_WORKERS_MAX", "PROBER_ALLOW_CIDRS", "PROBER_BATCH_AGE"} {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("%s is not reported: %v", name, err)
		}
	}
	env = map[string]string{"REDIS_URL": "r", "CLICKHOUSE_URL": "c", "SECRET_KEY": strings.Repeat("k", 32), "REGION": "EU west", "PROBER_WORKERS_MIN": "30", "PROBER_CANARIES": "one.one.one.one,none"}
	if _, err = loadConfig(func(name string) string { return env[name] }); err == nil || !strings.Contains(err.Error(), "REGION") || !strings.Contains(err.Error(), "PROBER_WORKERS_MIN") || !strings.Contains(err.Error(), "PROBER_CANARIES") {
		t.Errorf("%v", err)
	}
	env["REGION"], env["PROBER_WORKERS_MIN"], env["PROBER_CANARIES"] = "eu-west", "", ""
	cfg, err := loadConfig(func(name string) string { return env[name] })
	if err != nil || cfg.capacity() != 20_000 || cfg.HostConcurrency != 10 || cfg.limits(9) != (scaler.Limits{Min: 2, Max: 20, PerWorker: 1000, Most: 9}) || !strings.HasSuffix(cfg.Name, "-eu-west") {
		t.Errorf("%v, capacity %d, name %q", err, cfg.capacity(), cfg.Name)
	}
	if len(cfg.canaries) != 5 {
		t.Errorf("%v are the canaries of who names none", cfg.canaries)
	}
	for _, contact := range []string{"mailto:ops@example.com", "https://example.com/who?region=eu"} {
		env["PROBER_CONTACT_URL"] = contact
		if named, err := loadConfig(func(name string) string { return env[name] }); err != nil || named.ContactURL != contact {
			t.Errorf("%s: %q, %v", contact, named.ContactURL, err)
		}
	}
	for _, contact := range []string{"ops@example.com", "https://a b", "https://a/)(", "mailto:", "https://a/\r\nX: y", "https://a/\\"} {
		env["PROBER_CONTACT_URL"] = contact
		if _, err := loadConfig(func(name string) string { return env[name] }); err == nil || !strings.Contains(err.Error(), "PROBER_CONTACT_URL") {
			t.Errorf("%q is a contact: %v", contact, err)
		}
	}
	env["PROBER_CONTACT_URL"] = ""
	env["PROBER_CANARIES"] = "none"
	if off, err := loadConfig(func(name string) string { return env[name] }); err != nil || len(off.canaries) != 0 {
		t.Errorf("%v, %v", off.canaries, err)
	}
	// While ClickHouse is away a batch waits for seconds: with one of 1,000 rows, a
	// prober that may hold 100 checks would do nothing else.
	narrow := cfg
	narrow.WorkersMin, narrow.ChecksPerWorker = 1, 100
	if cfg.batchRows() != cfg.BatchSize || narrow.batchRows() != 50 {
		t.Errorf("%d rows a batch, and %d of one that holds 100 checks", cfg.batchRows(), narrow.batchRows())
	}
}

// TestWholeProber runs the program against real stores and a lab of targets.
func TestWholeProber(t *testing.T) {
	t.Parallel()
	around := newSurroundings(t)
	store, l, publisher, fleet := around.store, around.lab, around.publisher, around.fleet

	spoolDir := t.TempDir()
	prober, ended, log, ops := startProber(t, "REDIS_URL="+around.redisURL, "CLICKHOUSE_URL="+around.clickHouseURL, "PROBER_SPOOL_DIR="+spoolDir)
	awaitOrEnd(t, "the prober's heartbeat", ended, log, func() bool {
		probers, err := fleet.Probers(t.Context())
		return err == nil && len(probers) == 1 && probers[0].Name == "eu-1" && len(probers[0].AllowCIDRs) == 1
	})

	wanted := []struct {
		url    string
		status uptime.Status
		detail string
	}{
		{l.URL() + "/ok", uptime.StatusUp, ""},
		{l.URL() + "/slow/200ms", uptime.StatusUp, ""},
		{l.URL() + "/status/503", uptime.StatusDown, "status_code"},
		{l.ExpiredURL() + "/ok", uptime.StatusDown, "tls_expired"},
		{l.URL() + "/reset", uptime.StatusDown, "reset"},
		{"http://127.0.0.2/", uptime.StatusUnknown, "blocked_address"},
		{l.URL() + "/redirect-to?url=http://169.254.169.254/", uptime.StatusUnknown, "redirect_blocked"},
	}
	clock, err := publisher.Clock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	chunk := checkstream.Chunk{Second: clock.Tick + 1, Seq: 1, Last: true}
	for i, want := range wanted {
		chunk.Checks = append(chunk.Checks, uptime.Check{
			TargetID: int64(i + 1), ScheduledAt: time.Unix(chunk.Second, 500_000_000).UTC(), Interval: 10 * time.Second, SpecVersion: 7,
			Regions: []string{"eu"}, Kind: uptime.KindHTTP, URL: want.url, Timeout: 8 * time.Second,
		})
	}
	if _, err := publisher.Publish(t.Context(), chunk); err != nil {
		t.Fatal(err)
	}
	from, to := time.Unix(chunk.Second, 0), time.Unix(chunk.Second+1, 0)
	for i, want := range wanted {
		var rows []uptime.Result
		awaitOrEnd(t, "the row of "+want.url, ended, log, func() bool {
			rows, err = store.Results(t.Context(), resultstore.ResultQuery{TargetID: int64(i + 1), From: from, To: to, Limit: 10})
			return err == nil && len(rows) == 1
		})
		row := rows[0]
		late := row.CheckedAt.Sub(row.ScheduledAt)
		if row.Status != want.status || string(row.Failure)+string(row.Reason) != want.detail || late < 0 || late > 5*time.Second && !testing.Short() || row.Prober != "eu-1" || row.SpecVersion != 7 {
			t.Errorf("%s: %+v", want.url, row)
		}
	}
	awaitOrEnd(t, "the acknowledgements", ended, log, func() bool {
		groups, err := fleet.Groups(t.Context())
		return err == nil && groups[0].Pending == 0
	})

	if text := healthz(t, ops); !strings.Contains(text, `"embedded":false`) || strings.Contains(text, `"redis":{"version":""`) {
		t.Errorf("/healthz does not say which Redis this is: %s", text)
	}
	if _, err := os.Stat(filepath.Join(spoolDir, "watchdog.txt")); err != nil {
		t.Errorf("no file for the watchdog: %v", err)
	}
	// Whoever reaches the port of its metrics cannot have it visit an address (as in CVE-2020-16248).
	for _, path := range []string{"/probe?target=", "/probe?module=http_2xx&target=", "/check?url=", "/?target="} {
		if text := get(t, "http://"+ops+path+url.QueryEscape(l.URL()+"/ok")); text != "404 page not found\n" {
			t.Errorf("%s answers %.100q", path, text)
		}
	}
	if got := metric(t, ops, "probefleet_prober_illegal_transitions_total"); got != "0" {
		t.Errorf("%s illegal transitions", got)
	}
	if got, err := strconv.Atoi(metric(t, ops, "probefleet_prober_workers")); err != nil || got < 2 || got > 20 {
		t.Errorf("%d workers, %v", got, err)
	}
	drainedAndResumed(t, fleet, ended, log, ops)
	drain(t, prober, ended, log)
	if probers, err := fleet.Probers(t.Context()); err != nil || len(probers) != 0 {
		t.Errorf("left without a goodbye: %v %v", probers, err)
	}
	if strings.Contains(log.String(), strings.Repeat("k", 32)) {
		t.Error("the secret is in the log")
	}
}

// drainedAndResumed has people drain the prober eu-1: it is well, and says why it does nothing.
func drainedAndResumed(t *testing.T, fleet *checkstream.Fleet, ended chan error, log *syncBuffer, ops string) {
	t.Helper()
	says := func(state string) func() bool {
		return func() bool {
			probers, err := fleet.Probers(t.Context())
			return err == nil && len(probers) == 1 && probers[0].State == state
		}
	}
	if changed, err := fleet.DrainProber(t.Context(), "eu", "eu-1", "user:1"); err != nil || !changed {
		t.Fatal(changed, err)
	}
	awaitOrEnd(t, "the prober to be drained", ended, log, says(checkstream.Drained))
	if text := healthz(t, ops); !strings.Contains(text, `"status":"ok"`) || !strings.Contains(text, `drain: drained, as somebody asked`) {
		t.Errorf("/healthz of a drained prober: %s", text)
	}
	if text := get(t, "http://"+ops+"/readyz"); text != "ready\n" {
		t.Errorf("/readyz of a drained prober: %s", text)
	}
	if changed, err := fleet.ResumeProber(t.Context(), "eu", "eu-1"); err != nil || !changed {
		t.Fatal(changed, err)
	}
	awaitOrEnd(t, "the prober to go on", ended, log, says(""))
	if text := healthz(t, ops); strings.Contains(text, "drain") {
		t.Errorf("/healthz of one that was resumed: %s", text)
	}
}

// startProber starts this binary as the prober eu-1.
func startProber(t *testing.T, env ...string) (prober *exec.Cmd, ended chan error, log *syncBuffer, ops string) {
	t.Helper()
	ops = fmt.Sprint("127.0.0.1:", testbackend.Port(t))
	prober = exec.Command(os.Args[0])
	prober.Env = append(os.Environ(), asProber+"=1", "REGION=eu", "PROBER_NAME=eu-1", "SECRET_KEY="+strings.Repeat("k", 32), "OPS_ADDR="+ops,
		"PROBER_ALLOW_CIDRS=127.0.0.1/32", "PROBER_CANARIES="+testfleet.Canary(t), "PROBER_SPOOL_VOLATILE=true")
	prober.Env = append(prober.Env, env...)
	log = &syncBuffer{}
	prober.Stdout, prober.Stderr = log, log
	if err := prober.Start(); err != nil {
		t.Fatal(err)
	}
	ended = make(chan error, 1)
	over := make(chan struct{})
	go func() {
		ended <- prober.Wait()
		close(over)
	}()
	t.Cleanup(func() {
		_ = prober.Process.Kill()
		<-over
	})
	return prober, ended, log, ops
}

// syncBuffer may be read while the prober writes.
type syncBuffer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

func drain(t *testing.T, prober *exec.Cmd, ended chan error, log fmt.Stringer) {
	t.Helper()
	if err := prober.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("drained with %v\n%s", err, log)
		}
	case <-time.After(hang):
		t.Fatalf("did not drain\n%s", log)
	}
}

func healthz(t *testing.T, ops string) string {
	t.Helper()
	return get(t, "http://"+ops+"/healthz")
}

// metric gives the value of a metric without labels.
func metric(t *testing.T, ops, name string) string {
	t.Helper()
	for line := range strings.Lines(get(t, "http://"+ops+"/metrics")) {
		if value, found := strings.CutPrefix(line, name+" "); found {
			return strings.TrimSpace(value)
		}
	}
	return "no " + name
}

func get(t *testing.T, url string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// hang bounds every wait: longer means that it never comes.
const hang = 2 * time.Minute

func awaitOrEnd(t *testing.T, what string, ended chan error, log fmt.Stringer, ready func() bool) {
	t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(hang)
	for !ready() {
		select {
		case err := <-ended:
			t.Fatalf("the prober ended with %v\n%s", err, log)
		case <-limit:
			t.Fatalf("waited in vain for %s", what)
		case <-tick.C:
		}
	}
}
