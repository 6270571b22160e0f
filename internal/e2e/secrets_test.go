//go:build !load && !faults && !browser && !bench

package e2e

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/testfleet"
)

// Everything that is secret of a check or a channel holds this.
const canary = "cnry7f3a91"

// shown is in the URL of each check: a place in which it is not was not searched.
const shown = "shown5d20"

// search is where secrets must not be: what was seen there, by the name of the place.
type search struct {
	mu   sync.Mutex
	seen map[string]bool // place -> something of a check was there
	bad  map[string]bool
}

// in looks at a text of a place, also as basic authentication would have it.
func (s *search) in(place string, text []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if bytes.Contains(text, []byte(shown)) {
		s.seen[place] = true
	}
	for _, secret := range []string{canary, base64.StdEncoding.EncodeToString([]byte("ann:" + canary + "-password"))} {
		if at := bytes.Index(text, []byte(secret)); at >= 0 {
			s.bad[fmt.Sprintf("%s: %q", place, text[max(0, at-60):min(len(text), at+60)])] = true
		}
	}
}

// redis looks at every key.
func (s *search) redis(t *testing.T, r *checkstream.Redis) {
	t.Helper()
	do := func(args ...any) any {
		reply, err := r.Commands().Do(t.Context(), args...).Result()
		if err != nil {
			return err // the key is gone, or its kind is another
		}
		return reply
	}
	keys, _ := do("KEYS", "*").([]any)
	for _, key := range keys {
		for _, read := range [][]any{{"XRANGE", key, "-", "+"}, {"GET", key}, {"HGETALL", key}, {"ZRANGE", key, 0, -1}, {"SMEMBERS", key}, {"LRANGE", key, 0, -1}} {
			s.in("redis", fmt.Append(nil, key, do(read...)))
		}
	}
}

// files looks at what lies in a folder.
func (s *search) files(t *testing.T, place, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return nil // gone meanwhile
		}
		text, err := os.ReadFile(path)
		if err == nil && bytes.HasPrefix(text, []byte("PFSB")) { // of a spool: deflated behind a header of 20 bytes
			text, err = io.ReadAll(flate.NewReader(bytes.NewReader(text[20:])))
		}
		if err == nil {
			s.in(place, text)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestSecretsAreNowhereInClear has a site fail that repeats whatever it is sent, and searches
// all that an installation keeps, says and leaves behind for what it was sent in secret.
//
// Promise: no secret is in clear in any store, log or answer
func TestSecretsAreNowhereInClear(t *testing.T) {
	t.Parallel()
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Server", r.Header.Get("X-Key"))
		w.Header().Set("Content-Type", "text/plain")
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = fmt.Fprintln(w, r.Header, r.URL, string(body))
		if user, password, ok := r.BasicAuth(); ok {
			_, _ = fmt.Fprintln(w, user, password)
		}
	}))
	defer site.Close()
	s := newSystem(t)
	s.env = append(s.env, "API_ALLOW_CIDRS=127.0.0.0/8", "LOG_LEVEL=debug")
	s.start()
	url, hidden := site.URL+"/"+shown, func(what string) string { return canary + "-" + what }
	parts := []map[string]any{
		{"http": map[string]any{"method": "POST", "username": "ann", "password": hidden("password"), "body_secret": "pin=" + hidden("body"), "query_secret": "token=" + hidden("query"), "headers": []map[string]any{{"name": "X-Key", "secret": hidden("header")}}}},
		{"http": map[string]any{"token": hidden("token")}},
		{"kind": "tcp", "url": "tcp://" + site.Listener.Addr().String(), "tcp": map[string]any{"send_secret": "GET /" + hidden("send") + " HTTP/1.0\r\n\r\n"}, "assertions": []map[string]any{{"source": "received", "op": "contains", "value": "200 OK"}}},
		{"kind": "websocket", "url": "ws" + strings.TrimPrefix(url, "http"), "websocket": map[string]any{"headers": []map[string]any{{"name": "X-Key", "secret": hidden("header")}}}},
	}
	var ids []int64
	for n, part := range parts {
		body := map[string]any{"name": fmt.Sprint(shown, n), "url": url, "interval_s": 1}
		maps.Copy(body, part)
		status, answer := s.try("POST", "/api/v1/targets", body)
		var made target
		if err := json.Unmarshal(answer, &made); err != nil || status != http.StatusCreated {
			t.Fatalf("target %d: %d %s", n, status, answer)
		}
		ids = append(ids, made.ID)
	}
	var channel struct{ ID int64 }
	if status := s.call("POST", "/api/v1/channels", map[string]any{"name": "ops", "webhook": map[string]string{"url": url + "?key=" + hidden("channel"), "secret": hidden("signatures")}}, &channel); status != http.StatusCreated {
		t.Fatalf("channel: %d", status)
	}
	s.call("POST", "/api/v1/notification-rules", map[string]any{"name": "all", "channel_ids": []int64{channel.ID}}, nil)
	found := &search{seen: map[string]bool{}, bad: map[string]bool{}}
	said := func(method, path string, body any) {
		_, answer := s.try(method, path, body)
		found.in("API", answer)
	}
	said("POST", fmt.Sprintf("/api/v1/channels/%d:test", channel.ID), map[string]any{})
	said("POST", "/api/v1/targets", map[string]any{"name": "refused", "url": "http://ann:" + hidden("user-info") + "@" + strings.TrimPrefix(url, "http://") + "?x=" + shown, "interval_s": 1})
	said("POST", "/api/v1/checks", map[string]any{"url": url, "http": parts[0]["http"]})

	run := s.run()
	redis, err := checkstream.Open(run.RedisURL)
	if err != nil {
		t.Fatal(err)
	}
	defer redis.Close()
	results, err := testfleet.NewAuditor(run.DatabaseURL, run.ClickHouseURL)
	if err != nil {
		t.Fatal(err)
	}
	defer results.Close()
	down := func() (n int) {
		found.redis(t, redis)
		for _, id := range ids {
			if all := s.results(id); len(all) > 0 && all[0].Status == "down" {
				n++
			}
		}
		return n
	}
	s.await(hang, "every target is down", func() bool { return down() == len(ids) })

	tables, err := results.Texts(t.Context(), "SELECT name FROM system.tables WHERE database = currentDatabase() AND engine NOT LIKE '%View'")
	if err != nil || len(tables) < 5 {
		t.Fatalf("tables: %v, %v", tables, err)
	}
	for _, table := range tables {
		rows, err := results.Texts(t.Context(), "SELECT toString(tuple(*)) FROM "+table+" LIMIT 10000")
		if err != nil {
			t.Fatal(err)
		}
		found.in("clickhouse", []byte(strings.Join(rows, "\n")))
	}

	// While ClickHouse answers nobody rows wait on disk.
	engine := s.signal("clickhouse", syscall.SIGSTOP)
	s.await(hang, "a row waits in the spool", func() bool {
		found.redis(t, redis)
		found.files(t, "spool", filepath.Join(s.dir, "spool"))
		return found.seen["spool"]
	})
	_ = syscall.Kill(engine, syscall.SIGCONT)

	for _, path := range []string{"/targets", "/channels", "/checks", "/audit", "/incidents", "/fleet", "/live/snapshot", "/notification-rules", fmt.Sprintf("/channels/%d/deliveries", channel.ID)} {
		said("GET", "/api/v1"+path, nil)
	}
	for _, id := range ids {
		for _, path := range []string{"", "/evidence", "/results", "/revisions", "/deliveries"} {
			said("GET", fmt.Sprintf("/api/v1/targets/%d%s", id, path), nil)
		}
	}
	for name, addr := range run.Ops {
		for _, path := range []string{"/metrics", "/healthz", "/debug/pprof/goroutine?debug=2"} {
			if response, err := http.Get("http://" + addr + path); err == nil {
				text, _ := io.ReadAll(response.Body)
				_ = response.Body.Close()
				found.in("ops of "+name, text)
			}
		}
	}
	// What is printed as a program dies.
	for _, name := range []string{"prober-local", "dashboard-api", "publisher"} {
		before := s.signal(name, syscall.SIGQUIT)
		s.await(hang, name+" is started again", func() bool { pid := s.pid(name); return pid != 0 && pid != before })
	}
	s.stop()
	found.files(t, "files", s.dir)
	dumps, _ := filepath.Glob(filepath.Join(s.dir, "logs", "*"))
	dumped := 0
	for _, path := range dumps {
		text, _ := os.ReadFile(path)
		if bytes.Contains(text, []byte("SIGQUIT")) && bytes.Contains(text, []byte("goroutine 1 ")) {
			dumped++
		}
	}
	if dumped != 3 {
		t.Errorf("%d of 3 programs left a dump in %v", dumped, dumps)
	}
	for _, place := range []string{"API", "redis", "clickhouse", "spool", "files"} {
		if !found.seen[place] {
			t.Errorf("%s: nothing of a check was there, so it was not searched", place)
		}
	}
	if bad := slices.Sorted(maps.Keys(found.bad)); len(bad) > 0 {
		t.Errorf("secrets in clear:\n%s", strings.Join(bad, "\n"))
	}
}
