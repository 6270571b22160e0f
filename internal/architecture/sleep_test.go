package architecture

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
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

// TestNoTimerIsDueWhenMade: two goroutines of one synctest bubble that look at overdue timers at
// once run them with one context of the race detector, which ends the whole test program with
// "ThreadSanitizer: CHECK failed" now and then (https://go.dev/issue/78156). So a loop that does
// its first pass at once does not wait for a timer before it.
func TestNoTimerIsDueWhenMade(t *testing.T) {
	t.Parallel()
	due := regexp.MustCompile(`time\.(NewTimer|After)\(0\)|\.Reset\(0\)`)
	for _, f := range sources(t) {
		content, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(f.path)))
		if err != nil {
			t.Fatal(err)
		}
		if found := due.Find(content); found != nil {
			t.Errorf("%s: %s: do the first pass before the loop waits", f.path, found)
		}
	}
}
