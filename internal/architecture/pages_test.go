package architecture

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const (
	pagesStart = "<!-- pages: written by `make generate` from docs/bench-web.json -->\n"
	pagesEnd   = "<!-- end of pages -->\n"
)

// pages is the README's section of how fast the dashboard is: see internal/e2e.
func pages(t *testing.T) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", "..", "docs", "bench-web.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return "Not measured yet: `make bench-web`.\n"
	}
	if err != nil {
		t.Fatal(err)
	}
	var f struct {
		At                  time.Time
		Partly              *time.Time `json:"partly_at"`
		CPU, Load, Chromium string
		Aims                []struct {
			What, Unit string
			Is, Bound  float64
			Met        bool
		}
	}
	if err := json.Unmarshal(content, &f); err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	when := f.At.Format("2006-01-02 15:04")
	if f.Partly != nil {
		when += ", in part again " + f.Partly.Format("2006-01-02 15:04")
	}
	fmt.Fprintf(&text, "The real programs, stores and Chromium %s on the same two cores of %s (`make bench-web`, %s, load %s).\n\n", f.Chromium, f.CPU, when, f.Load)
	text.WriteString("| | measured | aim | |\n|---|--:|--:|---|\n")
	for _, a := range f.Aims {
		verdict := "met"
		if !a.Met {
			verdict = "**not met**"
		}
		fmt.Fprintf(&text, "| %s | %.1f %s | ≤ %.0f %s | %s |\n", a.What, a.Is, a.Unit, a.Bound, a.Unit, verdict)
	}
	return text.String()
}
