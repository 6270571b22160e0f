//go:build !load && !faults && !browser && !bench

package e2e

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/lab"
	"github.com/probefleet/probefleet/internal/testbackend"
)

// publicPage is what a stranger reads of a status page.
type publicPage struct {
	html  string
	State string    `json:"state"`
	At    time.Time `json:"evidence_at"`
}

// read asks for the page and its state, and fails when either is refused or when it says that all
// is well by evidence that is older than its target may go without.
func (s *system) read(t *testing.T, slug string) (p publicPage) {
	t.Helper()
	for _, rest := range []string{"", "/state.json"} {
		response, err := http.Get(s.url + "/s/" + slug + rest)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if err != nil || response.StatusCode != http.StatusOK {
			t.Fatalf("%s: %d, %v: %s", rest, response.StatusCode, err, body)
		}
		if rest == "" {
			p.html = string(body)
		} else if err := json.Unmarshal(body, &p); err != nil {
			t.Fatalf("%v: %s", err, body)
		}
	}
	if age := time.Since(p.At); p.State == "up" && age > 30*time.Second {
		t.Fatalf("up by evidence of %v ago", age)
	}
	return p
}

// TestStatusPageWithoutStores stops the three stores one by one: the page is answered all the time,
// says what of it is old, and is never green without fresh evidence.
func TestStatusPageWithoutStores(t *testing.T) {
	t.Parallel()
	server, err := lab.Start("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	clickhouse, redis, postgres := testbackend.ClickHouseServer(t), testbackend.RedisServer(t), testbackend.PostgresServer(t)
	s := newSystem(t)
	s.env = append(s.env, "CLICKHOUSE_URL="+clickhouse.URL(), "REDIS_URL="+redis.URL(), "DATABASE_URL="+postgres.URL())
	s.start()
	watched := s.create(target{Name: "Shop", URL: server.URL() + "/ok", IntervalS: 2, TimeoutMS: 10_000})
	component := map[string]any{"name": "Shop", "rule": "worst", "target_ids": []int64{watched.ID}}
	page := map[string]any{"slug": "all", "title": "All", "published": true, "groups": []any{map[string]any{"name": "", "components": []any{component}}}}
	if status, text := s.try("POST", "/api/v1/status-pages", page); status != http.StatusCreated {
		t.Fatalf("%d %s", status, text)
	}
	const oldDays, oldWords = "The daily history is as of", "Reports and maintenance are as of"
	whole := func() bool {
		p := s.read(t, "all")
		return p.State == "up" && !strings.Contains(p.html, oldDays) && !strings.Contains(p.html, oldWords)
	}
	s.await(2*time.Minute, "the page is green", whole)
	for _, c := range []struct {
		name  string
		store *testbackend.Server
		says  func(p publicPage, stopped time.Time) bool
	}{
		{"ClickHouse", clickhouse, func(p publicPage, stopped time.Time) bool {
			return strings.Contains(p.html, oldDays) && p.State == "up" && p.At.After(stopped)
		}},
		{"Redis", redis, func(p publicPage, _ time.Time) bool { return p.State == "no_data" }},
		{"Postgres", postgres, func(p publicPage, stopped time.Time) bool {
			return strings.Contains(p.html, oldWords) && p.State == "up" && p.At.After(stopped)
		}},
	} {
		c.store.Stop()
		stopped := time.Now()
		s.await(2*time.Minute, "the page says what it lacks without "+c.name, func() bool { return c.says(s.read(t, "all"), stopped) })
		c.store.Restart()
		s.await(2*time.Minute, "the page is green again with "+c.name, whole)
	}
}
