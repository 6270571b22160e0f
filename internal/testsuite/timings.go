package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// timings are seconds, as the last run of each package and test took them.
type timings struct {
	mu   sync.Mutex
	path string

	Packages map[string]float64            `json:"packages"` // by `stage package`
	Tests    map[string]map[string]float64 `json:"tests"`    // by package, then test
}

// readTimings gives what is known, which is nothing on a fresh machine.
func readTimings(dir string) *timings {
	t := &timings{path: filepath.Join(dir, "timings.json")}
	if content, err := os.ReadFile(t.path); err == nil {
		_ = json.Unmarshal(content, t) // a damaged file is replaced at the end
	}
	if t.Packages == nil {
		t.Packages = map[string]float64{}
	}
	if t.Tests == nil {
		t.Tests = map[string]map[string]float64{}
	}
	return t
}

func (t *timings) test(pack, name string, seconds float64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.Tests[pack] == nil {
		t.Tests[pack] = map[string]float64{}
	}
	t.Tests[pack][name] = seconds
}

func (t *timings) pack(stage, name string, seconds float64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.Packages[stage+" "+name] = seconds
}

// slowestFirst orders packages: the slowest one would run alone if it came last. Packages that never
// ran come before all.
func (t *timings) slowestFirst(stage string, packages []string) {
	seconds := func(p string) float64 {
		if s, known := t.Packages[stage+" "+p]; known {
			return s
		}
		return 1e9
	}
	slices.SortStableFunc(packages, func(a, b string) int {
		switch x, y := seconds(a), seconds(b); {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	})
}

// write keeps them for the next run, which needs them for nothing but its order.
func (t *timings) write() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if content, err := json.MarshalIndent(t, "", "\t"); err == nil {
		_ = os.WriteFile(t.path, content, 0o644)
	}
}
