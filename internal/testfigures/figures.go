// Package testfigures keeps what benchmarks of many readers measured, each beside its aim, in
// docs/bench-readers.json. The README has a table of it.
package testfigures

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/testfleet"
	"github.com/probefleet/probefleet/internal/testusage"
)

// File is where they are, from the project's root.
const File = "docs/bench-readers.json"

// Part is what one benchmark measured last.
type Part struct {
	At    time.Time `json:"at"`
	CPU   string    `json:"cpu"`
	Load  float64   `json:"load"` // of the machine when it had ended, over the last minute
	Lines []Line    `json:"lines"`
}

// Line is a figure and its aim: at most Bound, or at least, if Least says so.
type Line struct {
	What  string  `json:"what"`
	Is    float64 `json:"is"`
	Unit  string  `json:"unit"`
	Bound float64 `json:"bound"`
	Least bool    `json:"least,omitempty"`
}

// Met says whether the aim is reached.
func (l Line) Met() bool { return l.Is == l.Bound || l.Is < l.Bound != l.Least }

// Note keeps the lines of a part in place of those of its last run, and fails the test for each
// that is not what was aimed at.
func Note(t testing.TB, part string, lines []Line) {
	t.Helper()
	for _, l := range lines {
		if t.Logf("%s: %.1f %s", l.What, l.Is, l.Unit); !l.Met() {
			t.Errorf("%s: %.1f %s, and %.0f were aimed at", l.What, l.Is, l.Unit, l.Bound)
		}
	}
	root, err := testfleet.Root()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(root, File)
	all, err := Read(file)
	if err != nil {
		t.Fatal(err)
	}
	all[part] = Part{At: time.Now().UTC().Truncate(time.Second), CPU: testusage.CPUName(), Load: testusage.Load(), Lines: lines}
	content, err := json.MarshalIndent(all, "", "  ")
	if err == nil {
		err = os.WriteFile(file, append(content, '\n'), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Read gives all parts of a file; without one, none.
func Read(file string) (map[string]Part, error) {
	all := map[string]Part{}
	content, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	if err == nil {
		err = json.Unmarshal(content, &all)
	}
	return all, err
}
