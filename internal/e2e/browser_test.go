//go:build browser

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestBrowser runs the browser tests of the dashboard against the real programs:
// a fresh installation with two regions, and a local lab to watch. Then a third
// region joins and its only prober is killed, for those of what to do about that.
func TestBrowser(t *testing.T) {
	server := startLab(t)
	s := newSystem(t, "--regions", "eu,us")
	s.start()
	link, err := os.ReadFile(filepath.Join(s.dir, "setup_link"))
	if err != nil {
		t.Fatal(err)
	}
	web, err := filepath.Abs(filepath.Join("..", "..", "dashboard-api", "web"))
	if err != nil {
		t.Fatal(err)
	}
	run := func(script string) {
		t.Helper()
		node := exec.Command("npm", "run", "--silent", script)
		node.Dir = web
		node.Env = append(os.Environ(), "BASE_URL="+s.url, "API_KEY="+apiKey, "SETUP_LINK="+strings.TrimSpace(string(link)), "LAB_URL="+server.URL(), "GONE_REGION=gone")
		out, err := node.CombinedOutput()
		t.Logf("%s", out)
		if err != nil {
			t.Error(err)
		}
	}
	run("e2e")

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
	if err := prober.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = prober.Wait()
	run("e2e:fleet")
}
