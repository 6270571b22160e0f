package architecture

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestTestsSleepOnlyInVirtualTime: a sleep in a test is a guess about how fast a
// machine is. Packages that use testing/synctest sleep in its virtual time.
func TestTestsSleepOnlyInVirtualTime(t *testing.T) {
	t.Parallel()
	files := sources(t)
	virtual := map[string]bool{}
	for _, f := range files {
		if f.test && slices.Contains(f.imports, "testing/synctest") {
			virtual[path.Dir(f.path)] = true
		}
	}
	for _, f := range files {
		if !f.test || virtual[path.Dir(f.path)] || f.path == "internal/architecture/sleep_test.go" {
			continue
		}
		content, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(f.path)))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(content), "time.Sleep(") {
			t.Errorf("%s sleeps: await a condition instead", f.path)
		}
	}
}
