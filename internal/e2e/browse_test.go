//go:build browser

package e2e

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// browserEvent is a line of dashboard-api/web/e2e/reporter.mjs.
type browserEvent struct {
	Is   string // begun, passed, failed, skipped or said
	Name string // of the test, and "" of the file itself
	Why  string
}

// browse runs files of dashboard-api/web/e2e in a real browser against the installation, one after
// the other. Each of their tests is a subtest of t.
func (s *system) browse(t *testing.T, env []string, files ...string) {
	t.Helper()
	link, err := os.ReadFile(filepath.Join(s.dir, "setup_link"))
	if err != nil {
		t.Fatal(err)
	}
	env = append(env, "BASE_URL="+s.url, "API_KEY="+apiKey, "SETUP_LINK="+strings.TrimSpace(string(link)))
	if testing.Short() {
		env = append(env, "SHORT=1")
	}
	for _, name := range files {
		browseFile(t, name, env)
	}
}

// browseFile runs one file; node itself would run several by the order of their names. It ends when
// the tests have: what a hook that fails leaves open does not hold it.
func browseFile(t *testing.T, name string, env []string) {
	t.Helper()
	node := exec.Command("node", "--test", "--test-force-exit", "--test-reporter=./e2e/reporter.mjs", "e2e/"+name+".test.mjs")
	node.Dir = filepath.Join("..", "..", "dashboard-api", "web")
	node.Env = append(os.Environ(), env...)
	node.Stderr = os.Stderr
	node.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := node.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := node.Start(); err != nil {
		t.Fatal(err)
	}
	failed := t.Failed()
	events := json.NewDecoder(out)
	for event := range eventsOf(t, events) {
		if event.Is == "begun" {
			t.Run(name+": "+event.Name, func(t *testing.T) { followTest(t, events) })
		} else {
			event.tell(t)
		}
	}
	if err := node.Wait(); err != nil && t.Failed() == failed {
		t.Errorf("%s: node: %v", name, err)
	}
}

// followTest tells t what becomes of the browser test that has begun.
func followTest(t *testing.T, events *json.Decoder) {
	for event := range eventsOf(t, events) {
		event.tell(t)
		switch event.Is {
		case "passed", "failed":
			return
		case "skipped":
			t.SkipNow()
		}
	}
	t.Error("it has no end: node ended before")
}

// eventsOf gives the events until there are no more.
func eventsOf(t *testing.T, events *json.Decoder) func(yield func(browserEvent) bool) {
	return func(yield func(browserEvent) bool) {
		for {
			var event browserEvent
			err := events.Decode(&event)
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				t.Errorf("what node prints: %v", err)
				return
			}
			if !yield(event) {
				return
			}
		}
	}
}

func (e browserEvent) tell(t *testing.T) {
	switch {
	case e.Is == "failed":
		t.Errorf("%s\n%s", e.Name, e.Why)
	case e.Why != "":
		t.Log(strings.TrimRight(e.Why, "\n"))
	}
}
