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

// TestPages runs the browser tests of the dashboard against the real programs: a fresh installation
// with two regions, from its set-up on. Then a third region joins whose only prober is held up for a
// while, for those of open pages, and then killed, for those of what to do about that.
func TestPages(t *testing.T) {
	t.Parallel()
	lab := labForPages(t)
	s := newSystem(t, "--regions", "eu,us")
	s.start()
	s.browse("e2e:pages", lab...)

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
	lab = append(lab, "GONE_REGION=gone")
	s.browse("e2e/regions.test.mjs", append(lab, "PROBER_PID="+strconv.Itoa(prober.Process.Pid))...)
	if err := prober.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = prober.Wait()
	s.browse("e2e:fleet", slices.Concat(s.proberEnv(), lab, []string{"PROGRAMS=" + testfleet.Programs(t, testfleet.Build{})})...)
}

// TestPublicPages runs those of status pages: how they are written, and what readers see.
func TestPublicPages(t *testing.T) { browseAnew(t, "e2e:public") }

// TestTargetPages runs those of the pages where targets are written, found and changed.
func TestTargetPages(t *testing.T) { browseAnew(t, "e2e:targets") }

// TestIncidentPages runs those of what went wrong: rules, incidents, evidence, channels, the past.
func TestIncidentPages(t *testing.T) { browseAnew(t, "e2e:incidents") }

// TestAccountPages runs those of people, their ways in and their keys.
func TestAccountPages(t *testing.T) { browseAnew(t, "e2e:accounts") }

// browseAnew runs scripts on an installation of their own.
func browseAnew(t *testing.T, scripts string) {
	t.Parallel()
	s := newSystem(t, "--regions", "eu,us")
	s.start()
	s.browse(scripts, labForPages(t)...)
}

// labForPages starts what pages have watched, and gives it as the browser tests' environment.
func labForPages(t *testing.T) []string {
	server := startLab(t)
	env := []string{"LAB_URL=" + server.URL()}
	for _, name := range []string{"smtp", "dns"} {
		addr, err := server.Addr(name)
		if err != nil {
			t.Fatal(err)
		}
		env = append(env, "LAB_"+strings.ToUpper(name)+"="+addr)
	}
	return env
}
