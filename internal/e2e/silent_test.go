//go:build !load && !faults && !browser && !bench

package e2e

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/lab"
)

// TestKilledProber kills the only prober of a region, which nobody starts again. By the API the region
// is silent once three heartbeats did not come; what it watches alone turns no data, and is down at no
// time; and what another region watches, too, is up all the same.
func TestKilledProber(t *testing.T) {
	t.Parallel()
	server, err := lab.Start("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	s := newSystem(t, "--regions", "eu")
	s.start()
	prober := s.prober("far-away")

	type region struct {
		Region      string    `json:"region"`
		Live        bool      `json:"live"`
		HeartbeatAt time.Time `json:"heartbeat_at"`
	}
	var snapshot struct {
		Now   time.Time `json:"now"`
		Items []struct {
			ID    int64  `json:"id"`
			State string `json:"state"`
			Why   string `json:"why"`
		} `json:"items"`
		Regions []region `json:"regions"`
	}
	var far region
	states := map[int64]string{}
	look := func() {
		if status := s.call("GET", "/api/v1/live/snapshot", nil, &snapshot); status != http.StatusOK {
			t.Fatalf("the snapshot: %d", status)
		}
		far = region{}
		if i := slices.IndexFunc(snapshot.Regions, func(r region) bool { return r.Region == "far-away" }); i >= 0 {
			far = snapshot.Regions[i]
		}
		for _, item := range snapshot.Items {
			states[item.ID] = item.State
			if item.State == "down" {
				t.Errorf("%d is down: %s", item.ID, item.Why)
			}
		}
	}
	s.await(40*time.Second, "far-away is heard", func() bool { look(); return far.Live })
	alone := s.create(target{Name: "alone", URL: server.URL() + "/ok", IntervalS: 10, TimeoutMS: 1000, Regions: []string{"far-away"}})
	both := s.create(target{Name: "both", URL: server.URL() + "/ok", IntervalS: 10, TimeoutMS: 1000})
	s.await(time.Minute, "both are up, one of them from two regions", func() bool {
		regions := map[string]bool{}
		for _, r := range s.results(both.ID) {
			regions[r.Region] = regions[r.Region] || r.Status == "up"
		}
		look()
		return regions["eu"] && regions["far-away"] && states[alone.ID] == "up" && states[both.ID] == "up"
	})

	if err := prober.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = prober.Wait()
	s.await(30*time.Second, "far-away is silent", func() bool { look(); return !far.Live })
	t.Logf("silent %v after its last heartbeat", snapshot.Now.Sub(far.HeartbeatAt))
	s.await(90*time.Second, "what it watched alone has no data", func() bool { look(); return states[alone.ID] == "no_data" })
	if far.Live {
		t.Error("the region is not silent any more")
	}
	s.await(30*time.Second, "the other one is up", func() bool { look(); return states[both.ID] == "up" })
	if found := s.every("/api/v1/incidents?limit=1000"); len(found) > 0 {
		t.Errorf("incidents: %v", found)
	}
	for _, r := range s.results(alone.ID) {
		if r.Status == "down" {
			t.Errorf("a result: %+v", r)
		}
	}
}

// every gives the items of a list.
func (s *system) every(path string) []map[string]any {
	s.t.Helper()
	var page struct {
		Items []map[string]any `json:"items"`
	}
	if status := s.call("GET", path, nil, &page); status != http.StatusOK {
		s.t.Fatalf("%s: %d", path, status)
	}
	return page.Items
}
