//go:build !load && !faults && !browser && !bench

package e2e

import (
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/probefleet/probefleet/internal/lab"
	"github.com/probefleet/probefleet/internal/testbackend"
)

// TestInstallation is what people do with an installation that runs, on a Postgres of their own: nothing of
// it needs one of its own.
//
// Promise: targets are exported to a file and imported from it
// Promise: a prober on another machine needs four settings
// Promise: the API works behind Caddy and nginx
// Promise: an outage is notified once, and so is its end
func TestInstallation(t *testing.T) {
	t.Parallel()
	s := newSystem(t, "--regions", "eu,us", "--bind", "127.0.0.1")
	s.env = append(s.env, "DATABASE_URL="+testbackend.Postgres(t), "API_TRUST_PROXY=true", "API_ALLOW_CIDRS=127.0.0.0/8")
	s.start()
	site, err := lab.Start("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer site.Close()
	t.Run("targets come back from a file", func(t *testing.T) { targetsComeBackFromAFile(t, s.at(t)) })
	t.Run("region on another machine", func(t *testing.T) { regionOnAnotherMachine(t, s.at(t), site.URL()) })
	t.Run("at once", func(t *testing.T) {
		t.Run("killed prober", func(t *testing.T) { t.Parallel(); killedProber(t, s.at(t), site.URL()) })
		t.Run("behind proxies", func(t *testing.T) { t.Parallel(); behindProxies(t, s.at(t)) })
	})
	t.Run("outage is told once", func(t *testing.T) { outageIsToldOnce(t, s.at(t)) })
}

// regionOnAnotherMachine adds a prober that has nothing but the four settings of the README (and leave to
// visit the lab), sees its results, and retires it.
func regionOnAnotherMachine(t *testing.T, s *system, site string) {
	watched := s.create(target{URL: site + "/ok", IntervalS: 1})
	prober := s.prober("far-away")
	s.await(hang, "results of every region", func() bool { return len(s.regionsOf(watched.ID, "up")) == 3 })
	if err := prober.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := prober.Wait(); err != nil {
		t.Errorf("drained prober: %v", err)
	}
	tool := func(args ...string) string {
		code, out, errOut := s.tool(args...)
		if code != 0 {
			t.Errorf("%v: exit code %d\n%s%s", args, code, out, errOut)
		}
		return out
	}
	tool("region", "retire", "far-away")
	s.await(hang, "far-away is retired", func() bool {
		for line := range strings.Lines(tool("region", "list")) {
			if strings.Contains(line, "far-away") {
				return strings.Contains(line, "retired")
			}
		}
		return false
	})
	if out := tool("doctor"); strings.Contains("\n"+out, "\nfail") || !strings.Contains(out, "noeviction") {
		t.Errorf("doctor:\n%s", out)
	}
	if out := tool("migrate", "status"); strings.Count(out, "up to date") != 2 {
		t.Errorf("migrate status:\n%s", out)
	}
}

// killedProber kills the only prober of a region, which nobody starts again. By the API the region is silent
// once three heartbeats did not come; what it watches alone turns no data, and is down at no time; and what
// another region watches, too, is up all the same.
func killedProber(t *testing.T, s *system, site string) {
	prober := s.prober("elsewhere")
	var snapshot struct {
		Items []struct {
			ID    int64  `json:"id"`
			State string `json:"state"`
			Why   string `json:"why"`
		} `json:"items"`
		Regions []struct {
			Region string `json:"region"`
			Live   bool   `json:"live"`
		} `json:"regions"`
	}
	live := func() bool {
		return slices.ContainsFunc(snapshot.Regions, func(r struct {
			Region string `json:"region"`
			Live   bool   `json:"live"`
		}) bool {
			return r.Region == "elsewhere" && r.Live
		})
	}
	var alone, both target
	states := map[int64]string{}
	look := func() {
		if status := s.call("GET", "/api/v1/live/snapshot", nil, &snapshot); status != http.StatusOK {
			t.Fatalf("the snapshot: %d", status)
		}
		for _, item := range snapshot.Items {
			states[item.ID] = item.State
			if item.State == "down" && (item.ID == alone.ID || item.ID == both.ID) {
				t.Errorf("%d is down: %s", item.ID, item.Why)
			}
		}
	}
	s.await(hang, "the region is heard", func() bool { look(); return live() })
	alone = s.create(target{Name: "alone", URL: site + "/ok", IntervalS: 1, TimeoutMS: 1000, Regions: []string{"elsewhere"}})
	both = s.create(target{Name: "both", URL: site + "/ok", IntervalS: 1, TimeoutMS: 1000, Regions: []string{"eu", "elsewhere"}})
	s.await(hang, "both are up, one of them from two regions", func() bool {
		look()
		return len(s.regionsOf(both.ID, "up")) == 2 && states[alone.ID] == "up" && states[both.ID] == "up"
	})

	if err := prober.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = prober.Wait()
	s.await(hang, "the region is silent", func() bool { look(); return !live() })
	s.await(hang, "what it watched alone has no data", func() bool { look(); return states[alone.ID] == "no_data" })
	if live() {
		t.Error("the region is not silent any more")
	}
	s.await(hang, "the other one is up", func() bool { look(); return states[both.ID] == "up" })
	for _, one := range []target{alone, both} {
		if found := s.incidentsOf(one.ID); len(found) > 0 {
			t.Errorf("incidents: %+v", found)
		}
	}
	if len(s.regionsOf(alone.ID, "down")) > 0 {
		t.Error("a result of it is down")
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
