//go:build browser

package e2e

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/testfleet"
)

// TestBrowser runs the browser tests of the dashboard against the real programs:
// a fresh installation with two regions, and a local lab to watch. Then a third
// region joins whose only prober is held up for a while, for those of open pages, and then killed,
// for those of what to do about that.
func TestBrowser(t *testing.T) {
	server := startLab(t)
	s := newSystem(t, "--regions", "eu,us")
	s.start()
	lab := []string{"LAB_URL=" + server.URL()}
	for _, name := range []string{"smtp", "dns"} {
		addr, err := server.Addr(name)
		if err != nil {
			t.Fatal(err)
		}
		lab = append(lab, "LAB_"+strings.ToUpper(name)+"="+addr)
	}
	s.browse("e2e", slices.Concat(lab, []string{"GONE_REGION=gone"})...)

	prober := s.prober("gone")
	s.await(40*time.Second, "the prober is heard", func() bool {
		var fleet struct {
			Regions []struct {
				Region  string
				Probers []struct{ Name string }
			}
		}
		s.call("GET", "/api/v1/fleet", nil, &fleet)
		for _, r := range fleet.Regions {
			if r.Region == "gone" && len(r.Probers) > 0 {
				return true
			}
		}
		return false
	})
	s.browse("e2e/regions.test.mjs", slices.Concat(lab, []string{"GONE_REGION=gone", "PROBER_PID=" + strconv.Itoa(prober.Process.Pid)})...)
	if err := prober.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = prober.Wait()
	s.browse("e2e:fleet", slices.Concat(s.proberEnv(), lab, []string{"GONE_REGION=gone", "PROGRAMS=" + testfleet.Programs(t, testfleet.Build{})})...)
}
