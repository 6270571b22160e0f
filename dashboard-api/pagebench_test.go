//go:build bench

package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/database/databasetest"
	"github.com/probefleet/probefleet/internal/livefeed"
	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/targetstore"
	"github.com/probefleet/probefleet/internal/testfigures"
	"github.com/probefleet/probefleet/internal/uptime"
)

// Bounds of TestPageUnderLoad.
const (
	benchComponents = 50
	benchFor        = 20 * time.Second
	benchReaders    = 32
	leastRate       = 2000 // requests a second
	mostDelay       = 50 * time.Millisecond
	mostSize        = 10_000 // bytes, gzipped
)

// TestPageUnderLoad has many readers ask for a page of 50 components over loopback, each as
// soon as it is answered, while results come in. The readers share the machine with the API.
func TestPageUnderLoad(t *testing.T) {
	s := newSite(t)
	db := databasetest.Open(t, s.database)
	targets := targetstore.New(db)
	var ids []int64
	var rows []uptime.Result
	var lines []string
	for i := range benchComponents {
		created, err := targets.Create(t.Context(), uptime.Target{Name: fmt.Sprint("t", i), URL: fmt.Sprintf("https://%d.example.com/", i), Kind: uptime.KindHTTP, Interval: time.Minute, Timeout: time.Second, Active: true})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, created.ID)
		rows = append(rows, up(created.ID, time.Now()))
		lines = append(lines, fmt.Sprintf(`{"name":"Component number %d","target_ids":[%d]}`, i, created.ID))
	}
	store, err := resultstore.Open(t.Context(), s.clickHouseURL)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if err := store.Insert(t.Context(), resultstore.Batch{Token: "bench", Prober: "p1", Region: "eu", Rows: rows}); err != nil {
		t.Fatal(err)
	}
	n := start(t, s.database, s.redisURL, s.clickHouseURL)
	if code, text := n.call("POST", "/api/v1/status-pages", `{"slug":"main","title":"Acme","published":true,"groups":[{"components":[`+strings.Join(lines, ",")+`]}]}`); code != http.StatusCreated {
		t.Fatalf("%d %s", code, text)
	}
	n.await("the page with its history", func() bool {
		_, code, body, _ := n.get("/s/main")
		return code == http.StatusOK && strings.Count(body, "% uptime") == benchComponents && strings.Contains(body, "All systems are operational")
	})
	announcer := livefeed.NewAnnouncer(openRedis(t, s.redisURL))
	stop := make(chan struct{})
	var feeding sync.WaitGroup
	feeding.Go(func() { // a result of each target in a minute, as fleets have them
		ticker := time.NewTicker(time.Minute / benchComponents)
		defer ticker.Stop()
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			case <-ticker.C:
				if err := announcer.Announce(t.Context(), []uptime.Result{up(ids[i%len(ids)], time.Now())}); err != nil {
					t.Error(err)
					return
				}
			}
		}
	})
	readAll := func(long time.Duration) (took []time.Duration, size int) {
		var mu sync.Mutex
		var reading sync.WaitGroup
		end := time.Now().Add(long)
		for range benchReaders {
			reading.Go(func() {
				mine, bytes, err := readPage(strings.TrimPrefix(n.url, "http://"), end)
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					t.Error(err)
				}
				took, size = append(took, mine...), max(size, bytes)
			})
		}
		reading.Wait()
		return took, size
	}
	readAll(2 * time.Second) // what the first ones cost is not what this is about
	took, size := readAll(benchFor)
	close(stop)
	feeding.Wait()
	slices.Sort(took)
	if len(took) == 0 {
		t.Fatal("nothing was answered")
	}
	rate, p50, p99 := float64(len(took))/benchFor.Seconds(), took[len(took)/2], took[len(took)*99/100]
	t.Logf("slowest %v", took[len(took)-1])
	what := fmt.Sprintf("status page of %d components, %d readers: ", benchComponents, benchReaders)
	testfigures.Note(t, "page", []testfigures.Line{
		{What: what + "requests a second", Is: rate, Bound: leastRate, Least: true},
		{What: "… p50", Is: milliseconds(p50), Unit: "ms", Bound: milliseconds(mostDelay)},
		{What: "… p99", Is: milliseconds(p99), Unit: "ms", Bound: milliseconds(mostDelay)},
		{What: "… gzipped", Is: float64(size) / 1e3, Unit: "kB", Bound: mostSize / 1e3},
	})
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1e3 }

// readPage asks for the page over one connection until then.
func readPage(address string, end time.Time) (took []time.Duration, size int, err error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return nil, 0, err
	}
	defer conn.Close()
	request := "GET /s/main HTTP/1.1\r\nHost: " + address + "\r\nAccept-Encoding: gzip\r\n\r\n"
	in := bufio.NewReader(conn)
	for time.Now().Before(end) {
		asked := time.Now()
		if _, err := io.WriteString(conn, request); err != nil {
			return took, size, err
		}
		answer, err := http.ReadResponse(in, nil)
		if err != nil {
			return took, size, err
		}
		bytes, err := io.Copy(io.Discard, answer.Body)
		_ = answer.Body.Close()
		if err != nil || answer.StatusCode != http.StatusOK || answer.Header.Get("Content-Encoding") != "gzip" {
			return took, size, fmt.Errorf("%s %w", answer.Status, err)
		}
		took, size = append(took, time.Since(asked)), int(bytes)
	}
	return took, size, nil
}
