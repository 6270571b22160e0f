package testfleet

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/probefleet/probefleet/internal/testbackend"
)

// Build is a variant of the programs.
type Build struct {
	Race       bool   // with the race detector
	Failpoints bool   // with the edges at which PROBEFLEET_FAILPOINTS stops a process
	Overlay    string // file of `go build -overlay`: source files to replace
}

// built are the variants of this test binary, and what has to be removed. Tests
// have no other place for what outlives one test.
var built struct { //nolint:gochecknoglobals // one build for all tests of a binary
	mu   sync.Mutex
	dirs map[Build]string
}

// Name is that of the variant's folder below TEST_PROGRAMS.
func (b Build) Name() string {
	name := "plain"
	if b.Race {
		name = "race"
	}
	if b.Failpoints {
		name += "-failpoints"
	}
	return name
}

// Programs is the folder of the built publisher, prober, dashboard-api and
// probefleet: PROBEFLEET_BIN (an absolute path) if that is set, that of the variant
// below TEST_PROGRAMS if there is one, else built now.
func Programs(t testing.TB, b Build) string {
	t.Helper()
	if dir := os.Getenv("PROBEFLEET_BIN"); dir != "" {
		return dir
	}
	if all := os.Getenv("TEST_PROGRAMS"); all != "" && b.Overlay == "" {
		if dir := filepath.Join(all, b.Name()); isFolder(dir) {
			return dir
		}
	}
	built.mu.Lock()
	defer built.mu.Unlock()
	if dir := built.dirs[b]; dir != "" {
		return dir
	}
	dir, err := os.MkdirTemp("", "probefleet-bin-")
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Into(dir); err != nil {
		_ = os.RemoveAll(dir)
		t.Fatal(err)
	}
	if built.dirs == nil {
		built.dirs = map[Build]string{}
	}
	built.dirs[b] = dir
	return dir
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// Into builds the programs into a folder.
func (b Build) Into(dir string) error {
	args := []string{"build", "-o", dir + string(filepath.Separator)}
	if b.Race {
		args = append(args, "-race", "-gcflags=modernc.org/sqlite/lib=-race=false", "-gcflags=modernc.org/memory=-race=false") // as in the Makefile
	}
	if b.Failpoints {
		args = append(args, "-tags", "failpoints")
	}
	if b.Overlay != "" {
		args = append(args, "-overlay", b.Overlay)
	}
	root, err := Root()
	if err != nil {
		return err
	}
	build := exec.Command("go", append(args, "./publisher", "./prober", "./dashboard-api", "./deploy/probefleet")...)
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build the programs: %w\n%s", err, out)
	}
	return nil
}

// Root is the folder of go.mod.
func Root() (string, error) {
	out, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("find go.mod: %w", err)
	}
	return filepath.Dir(strings.TrimSpace(string(out))), nil
}

// Main runs the tests of a package, stops the servers of testbackend, removes
// what was built and exits.
func Main(m *testing.M) {
	code := testbackend.Run(m)
	built.mu.Lock()
	defer built.mu.Unlock()
	for _, dir := range built.dirs {
		_ = os.RemoveAll(dir)
	}
	os.Exit(code)
}
