//go:build load

package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestConfirmed lets TARGETS (100) sites, looked at once a minute from two regions, fail just
// after one of those has found them well, and measures the time from the end of the first
// failing visit to the incident. Without confirmation it would be a minute.
func TestConfirmed(t *testing.T) {
	targets := number("TARGETS", 100)
	var armed atomic.Bool
	var mu sync.Mutex
	visits, failed := map[int]int{}, map[int]time.Time{}
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/n/"))
		if err != nil {
			http.NotFound(w, r)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		if !armed.Load() {
			return
		}
		if visits[n]++; visits[n] > 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
			if failed[n].IsZero() {
				failed[n] = time.Now()
			}
		}
	}))
	defer site.Close()
	s := newSystem(t, "--regions", "eu,us")
	s.start()
	numbers := map[int64]int{}
	for n, id := range s.createMany(site.URL, targets, 60) {
		numbers[id] = n
	}
	s.await(3*time.Minute, "all are well in both regions", func() bool {
		_, body := s.try("GET", "/api/v1/results/current?limit=1000", nil)
		return strings.Count(string(body), `"status":"up"`) == 2*targets
	})
	armed.Store(true)
	opened := func() (all []openedIncident) {
		status, body := s.try("GET", "/api/v1/incidents?limit=1000", nil)
		var page struct{ Items []openedIncident }
		if status != http.StatusOK || json.Unmarshal(body, &page) != nil {
			return nil
		}
		return page.Items
	}
	s.await(5*time.Minute, "every outage is found", func() bool { return len(opened()) == targets })
	var took []time.Duration
	for _, i := range opened() {
		delay := i.OpenedAt.Sub(failed[numbers[i.TargetID]])
		took = append(took, delay)
		if delay > 5*time.Second {
			_, incident := s.try("GET", fmt.Sprintf("/api/v1/incidents/%d", i.ID), nil)
			_, results := s.try("GET", fmt.Sprintf("/api/v1/targets/%d/results?limit=20", i.TargetID), nil)
			t.Logf("after %v: %s\n%s", delay, incident, results)
		}
	}
	slices.Sort(took)
	at := func(q float64) time.Duration { return took[int(q*float64(len(took)-1))].Round(time.Millisecond) }
	t.Logf("from the first failure to the incident, %d outages: p50 %v, p90 %v, p99 %v, most %v", len(took), at(.5), at(.9), at(.99), at(1))
	if at(.99) > 5*time.Second {
		t.Error("more than five seconds")
	}
}

type openedIncident struct {
	ID       int64     `json:"id"`
	TargetID int64     `json:"target_id"`
	OpenedAt time.Time `json:"opened_at"`
}
