//go:build !load && !faults && !browser && !bench

package e2e

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/lab"
	"github.com/probefleet/probefleet/internal/testfleet"
)

type resultItem struct {
	Region      string    `json:"region"`
	Status      string    `json:"status"`
	Failure     string    `json:"failure"`
	ScheduledAt time.Time `json:"scheduled_at"`
	HTTPStatus  int       `json:"http_status"`
	TotalUS     int64     `json:"total_us"`
	WaitUS      int64     `json:"wait_us"`
}

func (s *system) results(id int64) []resultItem {
	s.t.Helper()
	var page struct {
		Items []resultItem `json:"items"`
	}
	s.call("GET", fmt.Sprintf("/api/v1/targets/%d/results?limit=1000", id), nil, &page)
	return page.Items
}

// regionsOf are those of which a target has a result with a status.
func (s *system) regionsOf(id int64, status string) map[string]bool {
	s.t.Helper()
	regions := map[string]bool{}
	for _, r := range s.results(id) {
		if r.Status == status {
			regions[r.Region] = true
		}
	}
	return regions
}

// TestOneCommand is the way of a newcomer: up, add targets, see results from two
// regions, crash each program, stop, start again.
//
// Promise: one command runs everything, and a check goes its whole way
func TestOneCommand(t *testing.T) {
	t.Parallel()
	server, err := lab.Start("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	s := newSystem(t, "--regions", "eu,us")
	s.start()
	if out := s.output.String(); !strings.Contains(out, "/setup?token=") {
		t.Errorf("no set-up link in:\n%s", out)
	}

	// The one that names a region is first: the regions of `up` are known as soon as it is ready.
	bad := s.create(target{Name: "bad", URL: server.URL() + "/status/503", IntervalS: 1, Regions: []string{"eu"}})
	good := s.create(target{Name: "good", URL: server.URL() + "/ok", IntervalS: 1})
	start := time.Now()
	s.await(hang, "results of both regions", func() bool {
		regions := map[string]bool{}
		for _, r := range s.results(good.ID) {
			if r.Status == "up" && r.HTTPStatus == 200 && r.TotalUS > 0 && r.WaitUS > 0 {
				regions[r.Region] = true
			}
		}
		down := s.results(bad.ID)
		return len(regions) == 2 && len(down) > 0 && down[0].Status == "down" && down[0].Failure == "status_code" && down[0].Region == "eu"
	})
	var snapshot struct {
		Items []struct {
			ID    int64  `json:"id"`
			State string `json:"state"`
		} `json:"items"`
	}
	s.await(hang, "live states", func() bool {
		s.call("GET", "/api/v1/live/snapshot", nil, &snapshot)
		states := map[int64]string{}
		for _, item := range snapshot.Items {
			states[item.ID] = item.State
		}
		return states[good.ID] == "up" && states[bad.ID] == "down"
	})

	for _, name := range []string{"publisher", "prober-eu", "prober-us", "dashboard-api"} {
		old := s.signal(name, syscall.SIGKILL)
		s.await(hang, name+" runs again", func() bool { pid := s.pid(name); return pid != 0 && pid != old })
	}
	killed := time.Now()
	s.await(hang, "results of both regions after the crashes", func() bool {
		if status, _ := s.try("GET", "/api/v1/session", nil); status != http.StatusOK {
			return false
		}
		regions := map[string]bool{}
		for _, r := range s.results(good.ID) {
			if r.Status == "up" && r.ScheduledAt.After(killed) {
				regions[r.Region] = true
			}
		}
		return len(regions) == 2
	})
	pids := []int{}
	for _, p := range s.run().Processes {
		pids = append(pids, p.PID)
	}
	// What was published is stored by the time everything has drained.
	before := len(s.results(good.ID))
	s.stop()
	for _, pid := range pids {
		if pid != 0 && running(pid) {
			t.Errorf("process %d outlived the installation", pid)
		}
	}

	s.start()
	if out := s.output.String(); !strings.Contains(out, "/setup?token=") {
		t.Errorf("the set-up link is offered until an owner exists:\n%s", out)
	}
	if got := len(s.results(good.ID)); got < before {
		t.Errorf("%d results before the restart, %d after", before, got)
	}
	again := time.Now()
	s.await(hang, "results after the restart", func() bool {
		rs := s.results(good.ID)
		return len(rs) > 0 && rs[0].ScheduledAt.After(again) && rs[0].Status == "up"
	})
	// Crashes and the restart lost nothing: every slot so far gets its row, once.
	var a testfleet.Audit
	s.await(hang, "every slot before the restart has its row", func() bool {
		a = auditWindow(t, s, start, again)
		return a.Missing == 0
	})
	t.Logf("audit: %v", a)
	if a.Doubled != 0 || a.Unplanned != 0 || a.Planned < 4 {
		t.Errorf("audit: %v", a)
	}
}

func running(pid int) bool {
	stat, err := os.ReadFile(filepath.Join("/proc", fmt.Sprint(pid), "stat"))
	return err == nil && !strings.Contains(string(stat), ") Z ")
}
