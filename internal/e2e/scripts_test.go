//go:build browser

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestNothingWrittenRuns fills every field that people may write in with scripts, and shows it in
// a browser: none runs, and the policy has none to keep from running.
func TestNothingWrittenRuns(t *testing.T) {
	s := newSystem(t, "--regions", "eu")
	s.env = append(s.env, "API_SMTP_URL=smtp://127.0.0.1:9?security=none", "API_SMTP_FROM=status@example.com")
	s.start()
	link, err := os.ReadFile(filepath.Join(s.dir, "setup_link"))
	if err != nil {
		t.Fatal(err)
	}
	node := exec.Command("node", "--test", "--test-concurrency=1", "--test-reporter=spec", "e2e/xss.test.mjs")
	node.Dir = filepath.Join("..", "..", "dashboard-api", "web")
	node.Env = append(os.Environ(), "BASE_URL="+s.url, "API_KEY="+apiKey, "SETUP_LINK="+strings.TrimSpace(string(link)))
	out, err := node.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Fatal(err)
	}
}
