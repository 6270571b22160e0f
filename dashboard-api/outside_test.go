package main

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// sent makes a batch of n results, a second apart, that end now.
func sent(n int, region, status, message string) string {
	items := make([]string, n)
	for i := range items {
		at := time.Now().Add(-time.Duration(n-i) * time.Second).UTC().Format("2006-01-02T15:04:05.000Z")
		items[i] = fmt.Sprintf(`{"at":%q,"region":%q,%s,"latency_ms":3,"message":%q}`, at, region, status, message)
	}
	return `{"items":[` + strings.Join(items, ",") + `]}`
}

const (
	itIsUp   = `"status":"up"`
	itIsDown = `"status":"down","failure":"timeout"`
)

// stored counts the rows that the API shows of a target in a region.
func (n *node) stored(id int64, region string) (total int, statuses map[string]int) {
	n.Helper()
	statuses = map[string]int{}
	for cursor := ""; ; {
		_, code, text, _ := n.get(fmt.Sprintf("/api/v1/targets/%d/results?limit=1000&region=%s&cursor=%s", id, region, cursor))
		var page struct {
			StaleSince *time.Time `json:"stale_since"`
			Items      []struct{ Status, Failure string }
			NextCursor string `json:"next_cursor"`
		}
		if err := json.Unmarshal([]byte(text), &page); err != nil || code != http.StatusOK || page.StaleSince != nil {
			return -1, nil
		}
		for _, item := range page.Items {
			statuses[strings.TrimSpace(item.Status+" "+item.Failure)]++
		}
		total += len(page.Items)
		if cursor = page.NextCursor; cursor == "" {
			return total, statuses
		}
	}
}

// account gives the ledger's line of a region of the last hour, "" without one; of no
// region anything may be unexplained.
func (n *node) account(region string) (line map[string]any) {
	n.Helper()
	_, _, text, _ := n.get("/api/v1/ledger")
	var ledger struct{ Items []map[string]any }
	if err := json.Unmarshal([]byte(text), &ledger); err != nil {
		n.Fatalf("%v: %s", err, text)
	}
	for _, item := range ledger.Items {
		if item["unexplained"] != 0.0 {
			n.Errorf("unexplained: %v", item)
		}
		if item["region"] == region {
			line = item
		}
	}
	return line
}

func TestResultsFromOutside(t *testing.T) {
	t.Parallel()
	site := newSite(t)
	one, two := start(t, site.database, site.redisURL, site.clickHouseURL), start(t, site.database, site.redisURL, site.clickHouseURL)
	path := fmt.Sprintf("/api/v1/targets/%d/results", site.target.ID)
	two.await("it is up in eu", func() bool { return two.state(site.target.ID) == "up" })
	one.await("eu is known", func() bool {
		code, text := one.call("POST", path, sent(1, "eu", itIsUp, ""))
		return code == http.StatusUnprocessableEntity && strings.Contains(text, "region_of_probers")
	})
	batch := sent(1000, "office", itIsDown, "no answer")
	if code, text := one.call("POST", path, batch); code != http.StatusOK || !strings.Contains(text, `"accepted":1000`) {
		t.Fatalf("%d %s", code, text)
	}
	if total, found := one.stored(site.target.ID, "ext-office"); total != 1000 || found["down timeout"] != 1000 {
		t.Errorf("answered, and stored are %d: %v", total, found)
	}
	two.await("the other node shows it live", func() bool { return two.state(site.target.ID) == "degraded" })

	// Once more, as a sender does whose answer was lost when the node that took it was killed.
	if code, text := two.call("POST", path, batch); code != http.StatusOK {
		t.Errorf("%d %s", code, text)
	}
	if total, _ := two.stored(site.target.ID, "ext-office"); total != 1000 {
		t.Errorf("sent twice: %d rows", total)
	}
	if line := one.account("ext-office"); line["planned"] != 1000.0 || line["down"] != 1000.0 {
		t.Errorf("account: %v", line)
	}
}

// TestResultsFromOutsideWithoutClickHouse: what was accepted is on disk, survives the end of
// the node and is stored once when ClickHouse is back.
func TestResultsFromOutsideWithoutClickHouse(t *testing.T) {
	t.Parallel()
	site := breakable(t)
	settings := map[string]string{"API_SPOOL_DIR": filepath.Join(t.TempDir(), "kept"), "API_SPOOL_MAX_BYTES": "1MiB"}
	log := slog.New(slog.DiscardHandler)
	path := fmt.Sprintf("/api/v1/targets/%d/results", site.target.ID)
	first := startWith(t, log, settings, site.database, site.redisURL, site.clickHouseURL)
	site.clickHouse.Kill()
	if code, text := first.call("POST", path, sent(100, "office", itIsUp, "")); code != http.StatusOK {
		t.Fatalf("without ClickHouse: %d %s", code, text)
	}
	first.await("/healthz says so", func() bool { return strings.Contains(first.healthz(), "recording: 100 rows wait on disk") })
	other := startWith(t, log, nil, site.database, site.redisURL, site.clickHouseURL)
	for name, n := range map[string]*node{"the node that has it": first, "another": other} {
		n.await(name+" shows what waits", func() bool {
			_, _, text, _ := n.get("/api/v1/fleet")
			return strings.Contains(text, `"outside":[{"region":"ext-office","spooled":100,"spool_first":"`)
		})
	}

	accepted, code, text := 100, http.StatusOK, ""
	for i := 0; i < 30 && code == http.StatusOK && !testing.Short(); i++ { // that there is 503 without room: TestReceiveDurableOrNot of httpapi
		if code, text = first.call("POST", path, noisy(900, fmt.Sprintf("noise-%d", i))); code == http.StatusOK {
			accepted += 900
		}
	}
	if !testing.Short() && (code != http.StatusServiceUnavailable || !strings.Contains(text, `"code":"unavailable"`)) {
		t.Errorf("the spool is full after %d: %d %s", accepted, code, text)
	}
	if err := first.stop(); err != nil {
		t.Fatal(err)
	}
	second := startWith(t, log, settings, site.database, site.redisURL, site.clickHouseURL)
	site.clickHouse.Restart()
	second.await("what was accepted is stored", func() bool {
		total, found := second.stored(site.target.ID, "ext-office")
		return total == 100 && found["up"] == 100
	})
	second.await("all that was accepted is on the account", func() bool { return second.upOutside() >= accepted }) // what was refused may be there, too
	second.await("nothing waits, and all of it is on the account", func() bool {
		line := second.account("ext-office")
		_, _, text, _ := other.get("/api/v1/fleet")
		return line["planned"] == 100.0 && line["up"] == 100.0 && line["spooled"] == 0.0 && strings.Contains(text, `"outside":[]`)
	})
}

// upOutside counts the results that came from outside and are up, by the ledger.
func (n *node) upOutside() (sum int) {
	n.Helper()
	_, _, text, _ := n.get("/api/v1/ledger")
	var ledger struct {
		Items []struct {
			Region string
			Up     int
		}
	}
	if err := json.Unmarshal([]byte(text), &ledger); err != nil {
		n.Fatalf("%v: %s", err, text)
	}
	for _, item := range ledger.Items {
		if strings.HasPrefix(item.Region, "ext-") {
			sum += item.Up
		}
	}
	return sum
}

// noisy makes a batch that hardly compresses.
func noisy(n int, region string) string {
	words := strings.Split(sent(n, region, itIsUp, "NOISE"), "NOISE")
	var text strings.Builder
	for i, word := range words {
		if i > 0 {
			for range 28 {
				fmt.Fprintf(&text, "%016x", rand.Uint64())
			}
		}
		text.WriteString(word)
	}
	return text.String()
}

func TestHeartbeats(t *testing.T) {
	t.Parallel()
	site := breakable(t)
	n := start(t, site.database, site.redisURL, site.clickHouseURL)
	_, text := n.call("POST", "/api/v1/targets", `{"kind":"heartbeat","name":"job","heartbeat":{"period_s":10,"grace_s":1}}`)
	var job struct{ ID int64 }
	if err := json.Unmarshal([]byte(text), &job); err != nil {
		t.Fatal(text)
	}
	_, text = n.call("GET", fmt.Sprintf("/api/v1/targets/%d/heartbeat", job.ID), "")
	var h struct{ Path string }
	if err := json.Unmarshal([]byte(text), &h); err != nil || h.Path == "" {
		t.Fatal(text)
	}
	site.clickHouse.Kill() // a ping needs the database alone
	response, err := http.Get(n.url + h.Path)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusOK || response.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("%d %v", response.StatusCode, response.Header)
	}
	n.await("it is up", func() bool { return n.state(job.ID) == "up" })
	site.clickHouse.Restart()
	n.await("it is down without another ping", func() bool { return n.state(job.ID) == "down" })
	n.await("its rows are stored", func() bool {
		_, found := n.stored(job.ID, "push")
		return found["up"] == 1 && found["down timeout"] >= 1
	})
	if line := n.account("push"); line == nil || line["up"] != 1.0 || line["planned"] != line["up"].(float64)+line["down"].(float64)+line["in_flight"].(float64)+line["spooled"].(float64) {
		t.Errorf("account: %v", line)
	}
}
