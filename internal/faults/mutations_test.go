//go:build mutations

package faults

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/probefleet/probefleet/internal/testfleet"
)

// TestMutations switches one safety measure off at a time, in a copy of the source
// (go build -overlay), and runs what claims to prove it: that must fail. A test that
// stays green proves nothing. It writes docs/mutations.md; NAME picks one.
func TestMutations(t *testing.T) {
	var table strings.Builder
	table.WriteString("# Safety measures switched off\n\nWritten by `make mutations`: each measure is taken out of the source in turn, and what claims to prove it must fail.\n\n| switched off | in | must fail | failed |\n|---|---|---|---|\n")
	only, ran := os.Getenv("NAME"), 0
	for _, m := range mutations() {
		if only != "" && only != m.name {
			continue
		}
		t.Run(m.name, func(t *testing.T) {
			red := m.run(t)
			ran++
			if !red {
				t.Errorf("%s is switched off, and %s is still green", m.name, m.proof())
			}
			fmt.Fprintf(&table, "| %s | `%s` | `%s` | %s |\n", m.name, m.file, strings.ReplaceAll(m.proof(), "|", `\|`), map[bool]string{true: "yes", false: "**no**"}[red])
		})
	}
	if ran == len(mutations()) {
		if err := os.WriteFile(filepath.Join(root, "docs", "mutations.md"), []byte(table.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// run says whether the proof fails without the measure.
func (m mutation) run(t *testing.T) (red bool) {
	t.Helper()
	dir := t.TempDir()
	overlay := m.overlay(t, dir)
	args, env := []string{"test", "-count=1", "-timeout", "20m"}, os.Environ()
	if m.row != "" {
		// Only the programs are mutated: the judge is not.
		bin := filepath.Join(dir, "bin")
		if err := os.Mkdir(bin, 0o700); err != nil {
			t.Fatal(err)
		}
		b := build()
		b.Overlay = overlay
		if err := b.Into(bin + string(filepath.Separator)); err != nil {
			t.Fatalf("%s does not compile: %v", m.name, err)
		}
		env = append(env, "PROBEFLEET_BIN="+bin, "ROW="+m.row)
		args = append(args, "-short", "-run", "TestRows", "./internal/faults")
	} else {
		args = append(append(args, "-overlay", overlay), m.test...)
	}
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Env = root, env
	out, err := cmd.CombinedOutput()
	if strings.Contains(string(out), "[build failed]") || strings.Contains(string(out), "no tests to run") {
		t.Fatalf("%s: the proof did not run:\n%s", m.name, out)
	}
	t.Logf("the end of what the proof said:\n%s", out[max(0, len(out)-1500):])
	if m.row != "" { // a fleet that does not start proves nothing, and neither does what is wrong beside the sums
		return regexp.MustCompile(m.row + ` n=.* (lost|doubled|unexplained) [1-9]|acknowledged \d+ checks with \d+ durable rows`).Match(out)
	}
	return err != nil && strings.Contains(string(out), "--- FAIL")
}

// overlay writes the mutated file and what replaces what.
func (m mutation) overlay(t *testing.T, dir string) string {
	t.Helper()
	source, err := m.mutated()
	if err != nil {
		t.Fatal(err)
	}
	where, err := testfleet.Root()
	if err != nil {
		t.Fatal(err)
	}
	replacement := filepath.Join(dir, filepath.Base(m.file))
	if err := os.WriteFile(replacement, source, 0o600); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(where, m.file): replacement}})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func (m mutation) proof() string {
	if m.row != "" {
		return "ROW=" + m.row + " go test -short -run TestRows ./internal/faults"
	}
	return "go test " + strings.Join(m.test, " ")
}
