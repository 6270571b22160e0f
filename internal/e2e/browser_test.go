//go:build browser

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestBrowser runs the browser tests of the dashboard against the real programs:
// a fresh installation with two regions, and a local lab to watch.
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
	node := exec.Command("npm", "run", "--silent", "e2e")
	node.Dir = web
	node.Env = append(os.Environ(), "BASE_URL="+s.url, "API_KEY="+apiKey, "SETUP_LINK="+strings.TrimSpace(string(link)), "LAB_URL="+server.URL())
	out, err := node.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Fatal(err)
	}
}
