//go:build bench

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/testfleet"
	"github.com/probefleet/probefleet/internal/testusage"
)

// Sizes of the overview that is measured: the first with results as fast as they come, the second
// with what people do to all of them.
const (
	liveTargets, liveEvery = 2_000, 10
	manyTargets, manyEvery = 10_000, 60
	flips, brokenTargets   = 24, 50

	ticksOfRow = 90 // that the overview shows of a target
)

// TestBenchWeb measures the dashboard in a real Chromium against the real programs, and writes
// docs/bench-web.json. Results come by the product's own way: the publisher, one prober, Redis, the
// API and its websocket; they, the lab and the browser share the machine's cores.
//
// MINUTES (10) is how long the heap is watched; CHANGES (200) how many changes of a state are
// timed; LOADS (9) how often a page is opened anew. PART (first, chart, live, changes, heap or many) measures that
// alone: the rest stays as docs/bench-web.json has it.
func TestBenchWeb(t *testing.T) {
	site := startLab(t)
	flipping := startFlips(t)
	began := time.Now()
	s := newSystem(t)
	s.start()
	link, err := os.ReadFile(filepath.Join(s.dir, "setup_link"))
	if err != nil {
		t.Fatal(err)
	}
	only := os.Getenv("PART")
	var longKnown int64 // a target of which there are three months
	measure := func(part string, into any) {
		t.Helper()
		if only != "" && only != part {
			return
		}
		script := exec.Command("node", "e2e/bench.mjs", part)
		script.Dir = filepath.Join("..", "..", "dashboard-api", "web")
		script.Env = append(os.Environ(), "BASE_URL="+s.url, "API_KEY="+apiKey, "SETUP_LINK="+strings.TrimSpace(string(link)), "LAB_URL="+site.URL(), "FLIP_URL="+flipping, fmt.Sprint("CHART_ID=", longKnown))
		var out bytes.Buffer
		script.Stdout, script.Stderr = &out, os.Stderr
		t.Logf("%s: measuring %s", time.Now().Format("15:04:05"), part)
		if err := script.Run(); err != nil {
			t.Fatalf("%s: %v", part, err)
		}
		if err := json.Unmarshal(out.Bytes(), into); err != nil {
			t.Fatalf("%s: %v in %s", part, err, &out)
		}
	}
	file := filepath.Join("..", "..", "docs", "bench-web.json")
	now := time.Now().UTC().Truncate(time.Second)
	f := webFigures{At: now, CPU: testusage.CPUName(), Load: fmt.Sprint(testusage.Load())}
	if only != "" {
		before, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(before, &f); err != nil {
			t.Fatal(err)
		}
		f.Partly = &now
	}

	if only == "" || only == "first" {
		f.First.UpSeconds = float64(time.Since(began).Round(10*time.Millisecond)) / float64(time.Second)
	}
	measure("first", &f.First)

	if only == "" || only == "chart" {
		longKnown = s.create(target{Name: "long known", URL: site.URL() + "/ok?long", IntervalS: 300}).ID
		s.remember(longKnown, 95)
		measure("chart", &f.Chart)
	}

	created := time.Now()
	ids := s.createMany(site.URL(), liveTargets-flips-brokenTargets, liveEvery)
	for i := range brokenTargets {
		s.create(target{Name: fmt.Sprintf("broken %d", i), URL: fmt.Sprintf("%s/status/503?n=%d", site.URL(), i), IntervalS: liveEvery})
	}
	for i := range flips {
		flip := map[string]any{"name": fmt.Sprintf("flip %d", i), "url": fmt.Sprintf("%s/%s/%d", flipping, []string{"dim", "out"}[i%2], i), "interval_s": liveEvery,
			"assertions": []map[string]string{
				{"source": "status", "op": "in", "value": "200-299"},
				{"source": "status", "op": "not_equals", "value": strconv.Itoa(dimmed), "severity": "degrade"}}}
		if status, text := s.try("POST", "/api/v1/targets", flip); status != http.StatusCreated {
			t.Fatalf("creating %v: %d %s", flip, status, text)
		}
	}
	s.settled(2 * liveEvery * time.Second)
	measure("live", &f.Live)
	f.Live.Targets, f.Chromium = liveTargets, f.Live.Chromium
	measure("changes", &f.Changes)
	if only == "" || only == "heap" {
		<-time.After(time.Until(created.Add(ticksOfRow * liveEvery * time.Second)))
	}
	measure("heap", &f.Heap)

	s.setInterval(ids, manyEvery)
	s.createMany(site.URL(), manyTargets-liveTargets, manyEvery)
	s.settled(manyEvery * time.Second)
	measure("many", &f.Many)

	lines, missed := f.table()
	t.Logf("%s\n\n%s", f.Chromium, lines)
	encoded, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if !t.Failed() {
		if err := os.WriteFile(file, append(encoded, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, aim := range missed {
		t.Errorf("aim missed: %s", aim)
	}
}

// remember puts figures of whole days into the history of a target: a check every five minutes,
// of which some were down.
func (s *system) remember(id int64, days int) {
	s.t.Helper()
	results, err := testfleet.NewAuditor(s.run().DatabaseURL, s.run().ClickHouseURL)
	if err != nil {
		s.t.Fatal(err)
	}
	defer results.Close()
	err = results.Exec(s.t.Context(), fmt.Sprintf(`INSERT INTO rollup_1d (target_id, region, bucket, up, down, dns_us_sum, connect_us_sum, tls_us_sum, wait_us_sum, transfer_us_sum, total_us_sum, total_us_min, total_us_max, latency, version)
SELECT %d, arrayJoin(['', 'local']), toStartOfDay(now('UTC')) - toIntervalDay(number + 1), 288 - down, rand(1) %% 5 AS down,
    288 * (1000 + rand(2) %% 4000) AS dns, 288 * (5000 + rand(3) %% 9000) AS connect, 288 * (9000 + rand(4) %% 9000) AS tls, 288 * (30000 + rand(5) %% 90000) AS wait, 288 * (2000 + rand(6) %% 9000) AS transfer,
    dns + connect + tls + wait + transfer AS total, intDiv(total, 600), intDiv(total, 100),
    arrayReduce('quantilesDDState(0.02, 0.5, 0.95, 0.99)', [toUInt32(intDiv(total, 288))]), now('UTC')
FROM numbers(%d)`, id, days))
	if err != nil {
		s.t.Fatal(err)
	}
}

// settled waits until all targets have a state, and the first rush is over.
func (s *system) settled(rest time.Duration) {
	s.t.Helper()
	s.await(4*time.Minute, "every target has a state", func() bool {
		status, body := s.try("GET", "/api/v1/live/snapshot", nil)
		return status == http.StatusOK && !bytes.Contains(body, []byte(`"state":"no_data"`))
	})
	<-time.After(rest)
}

// setInterval changes the interval of targets, eight at a time.
func (s *system) setInterval(ids []int64, seconds int) {
	s.t.Helper()
	next := make(chan int64)
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for id := range next {
				if status, text := s.try("PATCH", fmt.Sprintf("/api/v1/targets/%d", id), map[string]any{"interval_s": seconds}); status != http.StatusOK {
					s.t.Errorf("interval of %d: %d %s", id, status, text)
				}
			}
		})
	}
	for _, id := range ids {
		next <- id
	}
	close(next)
	wait.Wait()
}

// answer is what the flipping site said and when its answer ended, by the clock that the browser has too.
type answer struct {
	Path  string  `json:"path"`
	State string  `json:"state"`
	At    float64 `json:"at"` // ms
}

// dimmed is the status of an answer that makes a target degraded.
const dimmed = http.StatusNonAuthoritativeInfo

// startFlips serves a site of which every path is well and not well in turn, from visit to visit:
// degraded below /dim/, down below /out/. What comes within three seconds of the last request is of
// the same visit: a prober looks twice before it says that something is down.
func startFlips(t *testing.T) string {
	t.Helper()
	var mu sync.Mutex
	var answers []answer
	newest := map[string]time.Time{}
	well := map[string]bool{}
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/answers" {
			mu.Lock()
			defer mu.Unlock()
			_ = json.NewEncoder(w).Encode(answers)
			return
		}
		mu.Lock()
		if time.Since(newest[r.URL.Path]) > 3*time.Second {
			well[r.URL.Path] = !well[r.URL.Path]
		}
		newest[r.URL.Path] = time.Now()
		state, status := "up", http.StatusOK
		if !well[r.URL.Path] {
			state, status = "down", http.StatusServiceUnavailable
			if strings.HasPrefix(r.URL.Path, "/dim/") {
				state, status = "degraded", dimmed
			}
		}
		mu.Unlock()
		w.WriteHeader(status)
		_ = http.NewResponseController(w).Flush()
		mu.Lock()
		defer mu.Unlock()
		answers = append(answers, answer{r.URL.Path, state, float64(time.Now().UnixMicro()) / 1000})
	}))
	t.Cleanup(site.Close)
	return site.URL
}
