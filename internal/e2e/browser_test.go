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

// TestBrowser runs the browser tests of the dashboard against the real programs, on two installations
// at a time. In short each promise is looked at once; the rest is for `make verify`.
func TestBrowser(t *testing.T) {
	for _, part := range []struct {
		name string
		run  func(*testing.T)
	}{
		{"pages", fromSetUpOn},
		{"people", people},
		{"scripts", nothingWrittenRuns},
	} {
		t.Run(part.name, func(t *testing.T) {
			t.Parallel()
			part.run(t)
		})
	}
}

// fromSetUpOn looks at a fresh installation with two regions and a provider of single sign-on, and at
// how targets are written, found and changed. Then a third region joins whose only prober is held up
// for a while, for the tests of open pages, and then killed, for those of what to do about that.
func fromSetUpOn(t *testing.T) {
	lab := labForPages(t)
	s := newSystem(t, "--regions", "eu,us")
	s.env = append(s.env, providerForPages(t, s.url)...)
	s.start()
	s.browse(t, lab, "dashboard", "heartbeat", "settings", "tags", "form", "keyboard", "many", "paste", "import",
		"overview", "viewer", "provider")
	if !testing.Short() {
		s.browse(t, lab, "greyscale", "lists")
	}

	prober := s.prober("gone")
	s.await(2*time.Minute, "the prober is heard", func() bool {
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
	if !testing.Short() {
		s.browse(t, append(lab, "PROBER_PID="+strconv.Itoa(prober.Process.Pid)), "regions")
	}
	if err := prober.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = prober.Wait()
	programs := testfleet.Programs(t, variant)
	s.browse(t, slices.Concat(s.proberEnv(), lab, []string{"PROGRAMS=" + programs}), "fleet")
}

// people looks at people and their ways in, at what went wrong, at status pages and at languages.
func people(t *testing.T) {
	s := newSystem(t, "--regions", "eu,us")
	s.start()
	s.browse(t, labForPages(t), "signon", "people", "account", "passkeys", "keys", "rule", "incidents", "past", "evidence",
		"alerts", "pages", "public", "appearance", "languages", "lost")
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
