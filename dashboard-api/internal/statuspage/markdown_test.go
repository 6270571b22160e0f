package statuspage

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// TestMarkdownOfPreview holds the texts by which the dashboard's preview is tested to what pages show.
func TestMarkdownOfPreview(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile(filepath.Join("..", "..", "web", "src", "statuspages", "markdown.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all []struct{ Text, HTML string }
	if err := json.Unmarshal(content, &all); err != nil || len(all) == 0 {
		t.Fatalf("%d texts, %v", len(all), err)
	}
	w := newWriter()
	for _, one := range all {
		if html, _ := w.write(one.Text); string(html) != one.HTML {
			t.Errorf("%q is shown as %q, and the file says %q", one.Text, html, one.HTML)
		}
	}
}
