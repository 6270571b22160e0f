package architecture

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/probefleet/probefleet/internal/testfigures"
)

const (
	readersStart = "<!-- readers: written by `make generate` from docs/bench-readers.json -->\n"
	readersEnd   = "<!-- end of readers -->\n"
)

// readers is the README's section of how many can read one node.
func readers(t *testing.T) string {
	t.Helper()
	all, err := testfigures.Read(filepath.Join("..", "..", testfigures.File))
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	text.WriteString("The real dashboard-api and its stores; the readers share its two cores (`make bench-live`, `make bench-page`).\n\n")
	text.WriteString("| | measured | aim | | when |\n|---|--:|--:|---|---|\n")
	for _, name := range slices.Sorted(maps.Keys(all)) {
		part := all[name]
		for _, l := range part.Lines {
			verdict, bound := "met", "≤"
			if l.Least {
				bound = "≥"
			}
			if !l.Met() {
				verdict = "**not met**"
			}
			is, aim := fmt.Sprintf("%.1f %s", l.Is, l.Unit), fmt.Sprintf("%s %.0f %s", bound, l.Bound, l.Unit)
			if l.Unit == "" { // they are counted
				is, aim = fmt.Sprintf("%.0f", l.Is), fmt.Sprintf("%s %.0f", bound, l.Bound)
			}
			fmt.Fprintf(&text, "| %s | %s | %s | %s | %s, %s, load %.2f |\n", l.What, is, aim, verdict, part.CPU, part.At.Format("2006-01-02 15:04"), part.Load)
		}
	}
	return text.String()
}
