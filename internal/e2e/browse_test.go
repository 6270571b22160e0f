//go:build browser

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// browse runs scripts in a real browser against the installation: a file of them, or one of the
// names in package.json. It fails the test when they do.
func (s *system) browse(scripts string, env ...string) {
	s.t.Helper()
	link, err := os.ReadFile(filepath.Join(s.dir, "setup_link"))
	if err != nil {
		s.t.Fatal(err)
	}
	command := []string{"npm", "run", "--silent", scripts}
	if strings.HasSuffix(scripts, ".mjs") {
		command = []string{"node", "--test", "--test-concurrency=1", "--test-reporter=spec", scripts}
	}
	node := exec.Command(command[0], command[1:]...)
	node.Dir = filepath.Join("..", "..", "dashboard-api", "web")
	node.Env = append(os.Environ(), append(env, "BASE_URL="+s.url, "API_KEY="+apiKey, "SETUP_LINK="+strings.TrimSpace(string(link)))...)
	out, err := node.CombinedOutput()
	s.t.Logf("%s", out)
	if err != nil {
		s.t.Error(err)
	}
}
