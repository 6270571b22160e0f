package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/database/databasetest"
	"github.com/probefleet/probefleet/internal/livefeed"
	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/schedulestore"
	"github.com/probefleet/probefleet/internal/service"
	"github.com/probefleet/probefleet/internal/targetstore"
	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/migrations"
)

// backAgain is how soon everything is as it was once a store is back.
const backAgain = 5 * time.Second

// Durations are judged by make verify. A machine that is busy with other tests gets three times as long, and an
// answer that waits for no store is far from the 15 s of one that does.
const (
	slowness = 3
	promptly = 4 * time.Second
)

// late says that something took longer than it may.
func late(took, limit time.Duration) bool { return took > limit && !testing.Short() }

// site is the stores of an installation with one target, recorded up a moment ago.
type site struct {
	database, redisURL, clickHouseURL string

	redis, clickHouse *testbackend.Server // nil: shared with other tests
	target            uptime.Target
}

// newSite has stores that other tests use, too.
func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{redisURL: testbackend.Redis(t), clickHouseURL: testbackend.ClickHouse(t)}
	s.prepare(t)
	return s
}

// breakable is a site whose stores may be stopped.
func breakable(t *testing.T) *site {
	t.Helper()
	s := &site{redis: testbackend.RedisServer(t), clickHouse: testbackend.ClickHouseServer(t)}
	s.redisURL, s.clickHouseURL = s.redis.URL(), s.clickHouse.URL()
	s.prepare(t)
	return s
}

func (s *site) prepare(t *testing.T) {
	t.Helper()
	s.database = testbackend.SQLite(t)
	if err := migrations.UpClickHouse(t.Context(), s.clickHouseURL, func(string) {}); err != nil {
		t.Fatal(err)
	}
	db := databasetest.Open(t, s.database)
	if _, err := schedulestore.New(db).AddRegion(t.Context(), "eu"); err != nil {
		t.Fatal(err)
	}
	var err error
	s.target, err = targetstore.New(db).Create(t.Context(), uptime.Target{Name: "a", URL: "https://example.com/", Kind: uptime.KindHTTP, Interval: 10 * time.Minute, Timeout: time.Second, Active: true})
	if err != nil {
		t.Fatal(err)
	}
	store, err := resultstore.Open(t.Context(), s.clickHouseURL)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if err := store.Insert(t.Context(), resultstore.Batch{Token: "one", Prober: "p1", Region: "eu", Rows: []uptime.Result{up(s.target.ID, time.Now())}}); err != nil {
		t.Fatal(err)
	}
}

func up(target int64, at time.Time) uptime.Result {
	at = at.Truncate(time.Millisecond)
	return uptime.Result{TargetID: target, Region: "eu", ScheduledAt: at, CheckedAt: at, Status: uptime.StatusUp, HTTPStatus: 200, TotalUS: 1000, Attempt: 1, Prober: "p1", IngestedAt: at}
}

// openRedis gives a prober's and announcer's connection.
func openRedis(t *testing.T, url string) *checkstream.Redis {
	t.Helper()
	redis, err := checkstream.Open(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = redis.Close() })
	return redis
}

// get asks and says how long the answer took.
func (n *node) get(path string) (header http.Header, code int, body string, took time.Duration) {
	n.Helper()
	r, err := http.NewRequestWithContext(n.Context(), http.MethodGet, n.url+path, nil)
	if err != nil {
		n.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+testKey)
	asked := time.Now()
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		n.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		n.Fatal(err)
	}
	return response.Header, response.StatusCode, string(text), time.Since(asked)
}

// within awaits and fails when it took longer.
func (n *node) within(limit time.Duration, what string, done func() bool) {
	n.Helper()
	began := time.Now()
	n.await(what, done)
	if took := time.Since(began); late(took, slowness*limit) {
		n.Errorf("%s: only after %v, want %v", what, took, limit)
	}
}

func (n *node) ready() int {
	answer := httptest.NewRecorder()
	service.OpsHandler(n.health, prometheus.NewRegistry()).ServeHTTP(answer, httptest.NewRequestWithContext(n.Context(), http.MethodGet, "/readyz", nil))
	return answer.Code
}

// refused expects 503 and when to come back.
func (n *node) refused(path string) {
	n.Helper()
	if header, code, text, took := n.get(path); code != http.StatusServiceUnavailable || header.Get("Retry-After") == "" || late(took, slowness*backAgain) {
		n.Errorf("%s: %d %v %s after %v", path, code, header, text, took)
	}
}

func TestStartsWithoutRedisAndClickHouse(t *testing.T) {
	t.Parallel()
	site := breakable(t)
	site.redis.Kill()
	site.clickHouse.Kill()
	n := start(t, site.database, site.redisURL, site.clickHouseURL)
	if n.ready() != http.StatusOK {
		t.Error("it serves and says it is not ready")
	}
	n.await("/healthz names both and since when", func() bool {
		text := n.healthz()
		return strings.Contains(text, `"status":"degraded"`) && strings.Contains(text, "clickhouse: history is") && strings.Contains(text, "redis: live results") && strings.Count(text, "(since ") == 2
	})
	if got := n.state(site.target.ID); got != "no_data" {
		t.Errorf("a target nothing is known of is shown as %s", got)
	}
	n.refused(fmt.Sprintf("/api/v1/targets/%d/results", site.target.ID))
	n.refused("/api/v1/ledger")
	n.refused("/api/v1/fleet")
	if code, text := n.call("POST", "/api/v1/targets", `{"url":"https://example.org/"}`); code != http.StatusCreated {
		t.Errorf("a write without Redis and ClickHouse: %d %s", code, text)
	}

	site.clickHouse.Restart()
	n.within(backAgain, "the last results are taken in once ClickHouse is there", func() bool { return n.state(site.target.ID) == "up" })
	n.within(backAgain, "history is answered", func() bool { _, code, _, _ := n.get("/api/v1/ledger"); return code == http.StatusOK })
	site.redis.Restart()
	n.within(backAgain, "the fleet is known once Redis is there", func() bool { _, code, _, _ := n.get("/api/v1/fleet"); return code == http.StatusOK })
	redis := openRedis(t, site.redisURL)
	if err := livefeed.NewAnnouncer(redis).Announce(t.Context(), []uptime.Result{up(site.target.ID+1, time.Now())}); err != nil {
		t.Fatal(err)
	}
	n.within(backAgain, "results are followed", func() bool { return n.state(site.target.ID+1) == "up" })
	n.within(backAgain, "/healthz is ok", func() bool { return strings.Contains(n.healthz(), `"status":"ok"`) })
}

func TestHistoryWithoutClickHouse(t *testing.T) {
	t.Parallel()
	began := time.Now().Truncate(time.Second)
	site := breakable(t)
	n := start(t, site.database, site.redisURL, site.clickHouseURL)
	paths := func() map[string]string {
		now := time.Now().UTC()
		last := "from=" + now.Add(-time.Hour).Format(time.RFC3339) + "&to=" + now.Format(time.RFC3339)
		of := fmt.Sprintf("/api/v1/targets/%d/", site.target.ID)
		return map[string]string{
			"results": of + "results?limit=30", "series": of + "series?step_s=60&" + last, "uptime": of + "uptime?" + last,
			"latest": fmt.Sprintf("/api/v1/results/latest?n=90&ids=%d", site.target.ID), "ledger": "/api/v1/ledger?" + last,
		}
	}
	fresh := func() bool {
		all := true
		for _, path := range paths() {
			header, code, text, _ := n.get(path)
			all = all && code == http.StatusOK && header.Get("X-Probefleet-Stale") == "" && !strings.Contains(text, "stale_since")
		}
		return all
	}
	n.within(backAgain, "all is answered at first", fresh)

	for _, outage := range []struct {
		name       string
		begin, end func()
		patience   time.Duration // the longest one answer may take
	}{
		{"killed", site.clickHouse.Kill, site.clickHouse.Restart, backAgain},
		{"frozen", func() { signal(t, site.clickHouse, syscall.SIGSTOP) }, func() { signal(t, site.clickHouse, syscall.SIGCONT) }, 15 * time.Second},
	} {
		if outage.name == "frozen" && testing.Short() {
			continue // make verify: only timeouts tell a frozen store from a slow one
		}
		outage.begin()
		for name, path := range paths() {
			header, code, text, took := n.get(path)
			var body struct {
				StaleSince time.Time `json:"stale_since"`
			}
			if err := json.Unmarshal([]byte(text), &body); err != nil || code != http.StatusOK || body.StaleSince.Before(began) || body.StaleSince.IsZero() ||
				header.Get("X-Probefleet-Stale") != "since="+body.StaleSince.Truncate(time.Second).Format(time.RFC3339) || header.Get("Age") == "" {
				t.Errorf("%s, %s: %d %v %v %.200s", outage.name, name, code, header, err, text)
			}
			if late(took, slowness*outage.patience) {
				t.Errorf("%s: %s took %v", outage.name, name, took)
			}
		}
		n.within(2*backAgain, "/healthz says that ClickHouse is down", func() bool { return strings.Contains(n.healthz(), "clickhouse: history is answered with copies") })
		if _, _, _, took := n.get(paths()["series"]); late(took, promptly) {
			t.Errorf("%s: once that is known an answer still takes %v", outage.name, took)
		}
		n.refused("/api/v1/ledger?to=" + time.Now().Add(-48*time.Hour).UTC().Format(time.RFC3339))
		if _, code, text, _ := n.get("/api/v1/fleet"); code != http.StatusOK || !strings.Contains(text, `"clickhouse":{"ok":false,"down_since":"20`) || strings.Contains(text, "stale_since") {
			t.Errorf("%s: fleet %d %s", outage.name, code, text)
		}
		if got := n.state(site.target.ID); got != "up" {
			t.Errorf("%s: live state is %s", outage.name, got)
		}
		outage.end()
		n.within(backAgain, outage.name+": answers are fresh again", fresh)
	}
}

func signal(t *testing.T, server *testbackend.Server, s syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(server.PID(), s); err != nil {
		t.Fatal(err)
	}
}

func TestLiveStateWithoutRedis(t *testing.T) {
	t.Parallel()
	site := breakable(t)
	n := start(t, site.database, site.redisURL, site.clickHouseURL)
	redis := openRedis(t, site.redisURL)
	beat := checkstream.Heartbeat{Region: "eu", Name: "p1", ClickHouse: "ok", Spooled: 3, SpoolFirst: time.Now().Add(-time.Hour), SpoolLast: time.Now(), Breaker: "open"}
	prober := checkstream.NewConsumer(redis, "eu", "p1")
	n.await("the fleet shows the prober and what it keeps", func() bool {
		if _, err := prober.Beat(t.Context(), beat); err != nil {
			t.Fatal(err)
		}
		_, _, text, _ := n.get("/api/v1/fleet")
		return strings.Contains(text, `"region":"eu","live":true`) && strings.Contains(text, `"breaker":"open","spooled":3,"spool_first":"20`)
	})
	var quick struct{ ID int64 }
	if code, text := n.call("POST", "/api/v1/targets", `{"url":"https://example.com/quick","interval_s":10,"timeout_ms":1000}`); code != http.StatusCreated || json.Unmarshal([]byte(text), &quick) != nil {
		t.Fatalf("create: %d %s", code, text)
	}
	n.await("the result arrives", func() bool {
		if err := livefeed.NewAnnouncer(redis).Announce(t.Context(), []uptime.Result{up(quick.ID, time.Now().Add(-12*time.Second))}); err != nil { // evidence for 9 s more
			t.Fatal(err)
		}
		return n.state(quick.ID) == "up"
	})

	for _, outage := range []struct {
		name       string
		begin, end func()
	}{
		{"frozen", func() { signal(t, site.redis, syscall.SIGSTOP) }, func() { signal(t, site.redis, syscall.SIGCONT) }},
		{"killed", site.redis.Kill, site.redis.Restart},
	} {
		if outage.name == "frozen" && testing.Short() {
			continue // make verify: only timeouts tell a frozen store from a slow one
		}
		outage.begin()
		n.within(backAgain, outage.name+": the fleet says since when it is not known", func() bool {
			header, code, text, took := n.get("/api/v1/fleet")
			if code != http.StatusOK || late(took, promptly) {
				t.Fatalf("fleet: %d after %v", code, took)
			}
			return strings.HasPrefix(text, `{"stale_since":"20`) && header.Get("X-Probefleet-Stale") != "" && header.Get("Age") != "" && strings.Contains(n.healthz(), "redis: live results and the fleet are not followed")
		})
		n.within(2*checkstream.HeartbeatTTL, outage.name+": nobody is called live on old news", func() bool {
			_, _, fleet, _ := n.get("/api/v1/fleet")
			_, _, snapshot, _ := n.get("/api/v1/live/snapshot")
			return strings.Contains(fleet, `"region":"eu","live":false`) && strings.Contains(snapshot, `"region":"eu","probers":0,"live":false`)
		})
		n.within(15*time.Second, outage.name+": evidence ages", func() bool { return n.state(quick.ID) == "no_data" })
		var gone struct{ ID int64 }
		if _, text := n.call("POST", "/api/v1/targets", `{"url":"https://example.com/gone","name":"gone"}`); json.Unmarshal([]byte(text), &gone) != nil {
			t.Fatal(text)
		}
		asked := time.Now()
		if code, text := n.call("DELETE", fmt.Sprint("/api/v1/targets/", gone.ID), ""); code != http.StatusNoContent || late(time.Since(asked), promptly) {
			t.Errorf("%s: delete answered %d %s after %v", outage.name, code, text, time.Since(asked))
		}
		if !strings.Contains(n.healthz(), `"embedded":false`) {
			t.Error("/healthz forgot which Redis it was")
		}
		outage.end()
		n.within(backAgain, outage.name+": the fleet is known again", func() bool { _, _, text, _ := n.get("/api/v1/fleet"); return !strings.Contains(text, "stale_since") })
	}
	announcer := livefeed.NewAnnouncer(openRedis(t, site.redisURL))
	if err := announcer.Announce(t.Context(), []uptime.Result{up(quick.ID, time.Now())}); err != nil {
		t.Fatal(err)
	}
	n.within(backAgain, "results are followed again", func() bool { return n.state(quick.ID) == "up" })
}
