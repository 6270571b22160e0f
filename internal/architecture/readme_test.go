package architecture

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

const (
	figuresStart = "<!-- figures: written by `make generate` from docs/load.json -->\n"
	figuresEnd   = "<!-- end of figures -->"
)

// TestReadmeFiguresAreCurrent keeps the README's figures those of the last `make load`, the
// last `make bench-engine`, `make bench-history`, `make bench-web`, `make bench-live` and `make bench-page`.
func TestReadmeFiguresAreCurrent(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile(filepath.Join("..", "..", "docs", "load.json"))
	if err != nil {
		t.Fatal(err)
	}
	var f struct {
		At                              time.Time
		Targets, Minutes, Planned, Rows int
		Missing, Doubled, Unexplained   int
		P50                             float64            `json:"lateness_p50_ms"`
		P99                             float64            `json:"lateness_p99_ms"`
		Max                             float64            `json:"lateness_max_ms"`
		Memory                          map[string]float64 `json:"memory_peak_mib"`
	}
	if err := json.Unmarshal(content, &f); err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%d targets every 60 s in one region for %d minutes, against a local lab, everything on one machine with two shared cores (`make load`, %s):\n\n",
		f.Targets, f.Minutes, f.At.Format("2006-01-02"))
	fmt.Fprintf(&text, "| | |\n|---|---|\n| planned checks | %d |\n| distinct rows | %d |\n| missing, doubled, unexplained | %d, %d, %d |\n", f.Planned, f.Rows, f.Missing, f.Doubled, f.Unexplained)
	fmt.Fprintf(&text, "| start lateness p50 / p99 / most | %.1f / %.1f / %.0f ms |\n", f.P50, f.P99, f.Max)
	for _, name := range slices.Sorted(maps.Keys(f.Memory)) {
		fmt.Fprintf(&text, "| peak memory, %s | %.0f MiB |\n", name, f.Memory[name])
	}
	readme, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	current := part(t, string(readme), figuresStart, text.String(), figuresEnd)
	current = part(t, current, costsStart, costs(t), costsEnd)
	current = part(t, current, historyStart, history(t), historyEnd)
	current = part(t, current, pagesStart, pages(t), pagesEnd)
	generated(t, "README.md", part(t, current, readersStart, readers(t), readersEnd))
}

// part replaces what is between two marks.
func part(t *testing.T, text, start, content, end string) string {
	t.Helper()
	before, rest, found := strings.Cut(text, start)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("the README has no place for what belongs behind %s", start)
	}
	return before + start + content + end + after
}
