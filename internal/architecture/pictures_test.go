package architecture

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const (
	mostOfSheet  = 150_000   // bytes of a picture of a page in its modes
	mostOfSheets = 3_000_000 // of all of them: whoever clones the repository fetches them
)

// TestPicturesAreShown: a picture that no document shows is not renewed, and one that is not there is
// a hole in a document. Every page of the dashboard has one of all its modes.
func TestPicturesAreShown(t *testing.T) {
	t.Parallel()
	read := func(path string) string {
		content, err := os.ReadFile(filepath.Join("..", "..", path))
		if err != nil {
			t.Fatal(err)
		}
		return string(content)
	}
	shown := map[string]bool{}
	for _, doc := range []string{"README.md", "docs/pages.md"} {
		for _, found := range regexp.MustCompile(`images/([\w/-]+\.\w+)`).FindAllStringSubmatch(read(doc), -1) {
			shown[found[1]] = true
		}
	}
	root, sheets := filepath.Join("..", "..", "docs", "images"), int64(0)
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if name = filepath.ToSlash(name); !shown[name] {
			t.Errorf("%s is in no document", name)
		}
		delete(shown, name)
		if strings.HasPrefix(name, "modes/") {
			if sheets += info.Size(); info.Size() > mostOfSheet {
				t.Errorf("%s has %d bytes, of at most %d", name, info.Size(), mostOfSheet)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range shown {
		t.Errorf("%s is shown, and not there", name)
	}
	if sheets > mostOfSheets {
		t.Errorf("pictures of pages in their modes have %d bytes, of at most %d", sheets, mostOfSheets)
	}
	pages := regexp.MustCompile("(?m)^ {2,4}\"?([a-z-]+)\"?: [\"`]/").FindAllStringSubmatch(read("dashboard-api/web/e2e/places.mjs"), -1)
	if len(pages) < 20 {
		t.Fatalf("%d pages", len(pages))
	}
	for _, found := range pages {
		if _, err := os.Stat(filepath.Join(root, "modes", found[1]+".webp")); err != nil {
			t.Errorf("the page %s has no picture: %v", found[1], err)
		}
	}
}
