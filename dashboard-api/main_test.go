package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/database/databasetest"
	"github.com/probefleet/probefleet/internal/livefeed"
	"github.com/probefleet/probefleet/internal/schedulestore"
	"github.com/probefleet/probefleet/internal/seal"
	"github.com/probefleet/probefleet/internal/service"
	"github.com/probefleet/probefleet/internal/targetstore"
	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/migrations"
)

func TestMain(m *testing.M) { testbackend.Main(m) }

const testKey = "pf_test_0123456789abcdef0123456789abcdef"

// hang bounds every wait: longer means that it never comes.
const hang = 2 * time.Minute

// node is one running API.
type node struct {
	*testing.T
	url, link string
	health    *service.Health
	stop      func() error
}

func start(t *testing.T, databaseURL, redisURL, clickHouseURL string) *node {
	t.Helper()
	return startLogging(t, slog.New(slog.DiscardHandler), databaseURL, redisURL, clickHouseURL)
}

func startLogging(t *testing.T, log *slog.Logger, databaseURL, redisURL, clickHouseURL string) *node {
	t.Helper()
	return startWith(t, log, nil, databaseURL, redisURL, clickHouseURL)
}

// startWith starts a node with settings besides those that every one needs.
func startWith(t *testing.T, log *slog.Logger, extra map[string]string, databaseURL, redisURL, clickHouseURL string) *node {
	t.Helper()
	port := strconv.Itoa(testbackend.Port(t))
	link := filepath.Join(t.TempDir(), "link")
	env := map[string]string{
		"DATABASE_URL": databaseURL, "REDIS_URL": redisURL, "CLICKHOUSE_URL": clickHouseURL, "SECRET_KEY": strings.Repeat("k", 32), "PORT": port, "API_BIND": "127.0.0.1",
		"BOOTSTRAP_API_KEY": testKey, "API_SETUP_LINK_FILE": link,
		"API_SPOOL_DIR": filepath.Join(t.TempDir(), "spool"), "API_SPOOL_VOLATILE": "true",
	}
	maps.Copy(env, extra)
	s := &service.Service{Name: "dashboard-api", Version: "test", Log: log, Metrics: prometheus.NewRegistry(), Health: service.NewHealth("dashboard-api", "test")}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, s, func(name string) string { return env[name] }) }()
	n := &node{T: t, url: "http://127.0.0.1:" + port, link: link, health: s.Health}
	stopped := false
	n.stop = func() error {
		stopped = true
		cancel()
		select {
		case err := <-ended:
			return err
		case <-time.After(hang):
			return fmt.Errorf("does not stop")
		}
	}
	t.Cleanup(func() {
		if !stopped {
			if err := n.stop(); err != nil {
				t.Error(err)
			}
		}
	})
	n.await("the node answers", func() bool {
		select {
		case err := <-ended:
			t.Fatalf("ended at start: %v", err)
		default:
		}
		code, _ := n.call("GET", "/api/v1/targets", "")
		return code == http.StatusOK
	})
	return n
}

func (n *node) call(method, path, body string) (code int, answer string) {
	n.Helper()
	r, err := http.NewRequestWithContext(n.Context(), method, n.url+path, bytes.NewReader([]byte(body)))
	if err != nil {
		n.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+testKey)
	r.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err.Error()
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, err.Error()
	}
	return response.StatusCode, string(text)
}

func (n *node) await(what string, done func() bool) {
	n.Helper()
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for deadline := time.Now().Add(hang); !done(); <-ticker.C {
		if time.Now().After(deadline) {
			n.Fatalf("never: %s", what)
		}
	}
}

// state gives the live state of a target.
func (n *node) state(id int64) string {
	n.Helper()
	_, text := n.call("GET", "/api/v1/live/snapshot", "")
	var snapshot struct {
		Items []struct {
			ID    int64
			State string
		}
	}
	if err := json.Unmarshal([]byte(text), &snapshot); err != nil {
		n.Fatalf("%v: %s", err, text)
	}
	for _, item := range snapshot.Items {
		if item.ID == id {
			return item.State
		}
	}
	return "absent"
}

func (n *node) healthz() string {
	answer := httptest.NewRecorder()
	service.OpsHandler(n.health, prometheus.NewRegistry()).ServeHTTP(answer, httptest.NewRequestWithContext(n.Context(), "GET", "/healthz", nil))
	return answer.Body.String()
}

func redisVersion(t *testing.T, redis *checkstream.Redis) string {
	t.Helper()
	server, err := checkstream.NewFleet(redis).Server(t.Context())
	if err != nil || server.Version == "" || server.Embedded {
		t.Fatalf("%+v %v", server, err)
	}
	return server.Version
}

func TestTwoNodesShowTheSame(t *testing.T) {
	t.Parallel()
	databaseURL, redisURL, clickHouseURL := testbackend.SQLite(t), testbackend.Redis(t), testbackend.ClickHouse(t)
	if err := migrations.UpClickHouse(t.Context(), clickHouseURL, func(string) {}); err != nil {
		t.Fatal(err)
	}
	db := databasetest.Open(t, databaseURL)
	if _, err := schedulestore.New(db).AddRegion(t.Context(), "eu"); err != nil { // as a publisher does once a prober is heard
		t.Fatal(err)
	}
	one, two := start(t, databaseURL, redisURL, clickHouseURL), start(t, databaseURL, redisURL, clickHouseURL)

	link, err := os.ReadFile(two.link)
	if info, statErr := os.Stat(two.link); err != nil || statErr != nil || info.Mode().Perm() != 0o600 || !strings.Contains(string(link), "/setup?token=") {
		t.Errorf("set-up link %q: %v %v", link, err, statErr)
	}

	code, text := one.call("POST", "/api/v1/targets", `{"url":"https://example.com/","interval_s":10}`)
	var target struct{ ID int64 }
	if err := json.Unmarshal([]byte(text), &target); err != nil || code != http.StatusCreated {
		t.Fatalf("create: %d %s", code, text)
	}
	if got := one.state(target.ID); got != "no_data" {
		t.Errorf("the node that wrote shows %q", got)
	}
	two.await("the other node hears of the target", func() bool { return two.state(target.ID) == "no_data" })

	redis, err := checkstream.Open(redisURL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = redis.Close() })
	prober := checkstream.NewConsumer(redis, "eu", "p1")
	open := checkstream.Heartbeat{Region: "eu", Name: "p1", ClickHouse: "ok", AllowCIDRs: []string{"127.0.0.0/8"}}
	if _, err := prober.Beat(t.Context(), open); err != nil {
		t.Fatal(err)
	}
	one.await("the fleet shows the prober", func() bool {
		code, text := one.call("GET", "/api/v1/fleet", "")
		return code == http.StatusOK && strings.Contains(text, `"name":"p1"`)
	})
	one.await("a range that a prober opens is open", func() bool {
		if _, err := prober.Beat(t.Context(), open); err != nil {
			t.Fatal(err)
		}
		code, _ := one.call("POST", "/api/v1/targets", `{"url":"http://127.0.0.1:9/","regions":["eu"]}`)
		return code == http.StatusCreated
	})

	box, err := seal.New(strings.Repeat("k", 32)) // a prober's: it has the same SECRET_KEY
	if err != nil {
		t.Fatal(err)
	}
	if code, text := one.call("POST", "/api/v1/targets", `{"url":"https://example.org/","http":{"token":"canary"}}`); code != http.StatusCreated {
		t.Fatalf("create: %d %s", code, text)
	}
	stored, err := targetstore.New(db).List(t.Context(), targetstore.Filter{Search: "example.org"})
	if err != nil || len(stored) != 1 || stored[0].Spec.HTTP == nil {
		t.Fatalf("%+v %v", stored, err)
	}
	if text, err := box.Open(stored[0].Spec.HTTP.Token); err != nil || text.Reveal() != "canary" {
		t.Errorf("a prober cannot open the secret: %v", err)
	}

	now := time.Now()
	err = livefeed.NewAnnouncer(redis).Announce(t.Context(), []uptime.Result{{
		TargetID: target.ID, Region: "eu", ScheduledAt: now, CheckedAt: now, Status: uptime.StatusUp, HTTPStatus: 200, TotalUS: 1000, Attempt: 1, Prober: "p1", IngestedAt: now,
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []*node{one, two} {
		n.await("the result turns the target up", func() bool { return n.state(target.ID) != "no_data" })
	}

	one.await("/healthz says which Redis this is", func() bool { return strings.Contains(one.healthz(), `"redis":{"version":"`+redisVersion(t, redis)) })

	if err := one.stop(); err != nil {
		t.Errorf("stop: %v", err)
	}
}

// What makes cookies weaker than people think is said once at start.
func TestStartWarnsOfCookiesInClear(t *testing.T) {
	t.Parallel()
	for public, trusted := range map[string]bool{"https://pf.example": false, "HTTPS://pf.example": false, "https://proxied.example": true, "http://pf.example": false} {
		var log bytes.Buffer
		s := &service.Service{Log: slog.New(slog.NewTextHandler(&log, nil)), Metrics: prometheus.NewRegistry(), Health: service.NewHealth("dashboard-api", "test")}
		env := map[string]string{ // enough to be told of a database that is not migrated
			"DATABASE_URL": testbackend.SQLite(t), "REDIS_URL": "redis://127.0.0.1:1", "CLICKHOUSE_URL": "clickhouse://127.0.0.1:1/x", "SECRET_KEY": strings.Repeat("k", 32),
			"PORT": strconv.Itoa(testbackend.Port(t)), "API_BIND": "127.0.0.1", "API_PUBLIC_URL": public, "API_TRUST_PROXY": strconv.FormatBool(trusted),
		}
		err := run(t.Context(), s, func(name string) string { return env[name] })
		if service.Code(err) != service.ExitDependency {
			t.Errorf("%s: %v", public, err)
		}
		want := 0
		if strings.EqualFold(public, "https://pf.example") {
			want = 1
		}
		if got := strings.Count(log.String(), "Set API_TRUST_PROXY=true"); got != want {
			t.Errorf("%s, trusted %v: warned %d times, want %d: %s", public, trusted, got, want, log.String())
		}
	}
}

func TestStartSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	s := func() *service.Service {
		return &service.Service{Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry(), Health: service.NewHealth("dashboard-api", "test")}
	}
	err := run(t.Context(), s(), func(string) string { return "" })
	if service.Code(err) != service.ExitConfig || !strings.Contains(err.Error(), "DATABASE_URL") || !strings.Contains(err.Error(), "SECRET_KEY") {
		t.Errorf("nothing set: %v", err)
	}
	env := map[string]string{
		"DATABASE_URL": testbackend.SQLite(t), "REDIS_URL": "redis://127.0.0.1:1", "CLICKHOUSE_URL": "clickhouse://127.0.0.1:1/x", "SECRET_KEY": strings.Repeat("k", 32),
		"PORT": strconv.Itoa(testbackend.Port(t)), "API_BIND": "127.0.0.1",
	}
	err = run(t.Context(), s(), func(name string) string { return env[name] })
	if service.Code(err) != service.ExitDependency || !strings.Contains(err.Error(), "probefleet migrate up") {
		t.Errorf("not migrated: %v", err)
	}
	if err := migrations.UpRelational(t.Context(), env["DATABASE_URL"], func(string) {}); err != nil {
		t.Fatal(err)
	}
	env["CLICKHOUSE_URL"] = testbackend.ClickHouse(t)
	err = run(t.Context(), s(), func(name string) string { return env[name] })
	if service.Code(err) != service.ExitDependency || !strings.Contains(err.Error(), "probefleet migrate up") {
		t.Errorf("ClickHouse not migrated: %v", err)
	}
	env["CLICKHOUSE_URL"] = "http://user:hunter2@127.0.0.1:8123/x"
	err = run(t.Context(), s(), func(name string) string { return env[name] })
	if service.Code(err) != service.ExitConfig || !strings.Contains(err.Error(), "CLICKHOUSE_URL") || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("not a URL of ClickHouse: %v", err)
	}
	env["API_PUBLIC_URL"], env["DATABASE_URL"], env["SECRET_KEY"] = "example.com", "mysql://root:hunter2@db/x", "short"
	err = run(t.Context(), s(), func(name string) string { return env[name] })
	for _, name := range []string{"API_PUBLIC_URL", "DATABASE_URL", "SECRET_KEY"} {
		if service.Code(err) != service.ExitConfig || !strings.Contains(err.Error(), name) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s is wrong: %v", name, err)
		}
	}
}
