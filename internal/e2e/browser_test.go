//go:build browser

package e2e

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/testfleet"
)

// lanes is how many installations are looked at at once: two cores carry no more.
const lanes = 3

// TestBrowser runs the browser tests of the dashboard against the real programs. What takes longest
// comes first: at the end it would run alone.
func TestBrowser(t *testing.T) {
	type part struct {
		name string
		run  func(*testing.T)
	}
	parts := []part{
		{"pages", fromSetUpOn},               // the dashboard from its set-up on, and the fleet
		{"targets", anew("e2e:targets")},     // where targets are written, found and changed
		{"accounts", anew("e2e:accounts")},   // people, their ways in and their keys
		{"incidents", anew("e2e:incidents")}, // what went wrong: rules, incidents, evidence, channels, the past
		{"public", anew("e2e:public")},       // status pages: how they are written, and what readers see; and every language
		{"scripts", nothingWrittenRuns},
		{"provider", peopleComeInByTheirProvider},
	}
	next := make(chan part, len(parts))
	for _, one := range parts {
		next <- one
	}
	close(next)
	var running sync.WaitGroup
	for range lanes {
		running.Go(func() {
			for one := range next {
				t.Run(one.name, one.run)
			}
		})
	}
	running.Wait()
}

// fromSetUpOn looks at a fresh installation with two regions. Then a third region joins whose only
// prober is held up for a while, for the tests of open pages, and then killed, for those of what to
// do about that.
func fromSetUpOn(t *testing.T) {
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

// anew runs scripts on an installation of their own.
func anew(scripts string) func(*testing.T) {
	return func(t *testing.T) {
		s := newSystem(t, "--regions", "eu,us")
		s.start()
		s.browse(scripts, labForPages(t)...)
	}
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
