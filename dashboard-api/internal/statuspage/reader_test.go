package statuspage_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/probefleet/probefleet/dashboard-api/internal/statuspage"
	"github.com/probefleet/probefleet/internal/pagestore"
)

var wallTime = regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d`)

func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// A browser can write every instant of a page in another zone: each is an element that says which it is.
func TestInstantsAreElements(t *testing.T) {
	t.Parallel()
	r := demo(t, pagestore.ThemeAuto)
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for _, lang := range statuspage.Languages() {
		root, err := html.Parse(strings.NewReader(r.get("/s/demo?lang=" + lang).Body.String()))
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for node := range root.Descendants() {
			if node.Type != html.TextNode || !wallTime.MatchString(node.Data) {
				continue
			}
			n++
			at, err := time.Parse(time.RFC3339, attribute(node.Parent, "datetime"))
			if node.Parent.Data != "time" || attribute(node.Parent, "dir") != "ltr" || err != nil || !strings.HasPrefix(at.In(berlin).Format(time.DateTime), node.Data) {
				t.Errorf("%s: %q in <%s %v>: %v", lang, node.Data, node.Parent.Data, node.Parent.Attr, err)
			}
		}
		if n != 10 { // of the evidence, two that began, one that ended, four updates, and both ends of a window
			t.Errorf("%s: %d instants", lang, n)
		}
	}
}

// Readers choose by scripts alone: without them there is nothing to choose by, and in a copy neither.
func TestChoicesOfReaders(t *testing.T) {
	t.Parallel()
	r := demo(t, pagestore.ThemeDark)
	seen := map[string]bool{}
	for _, lang := range statuspage.Languages() {
		page := r.get("/s/demo?lang=" + lang)
		_, rest, _ := strings.Cut(page.Body.String(), `<p class="choices" hidden>`)
		choices, _, found := strings.Cut(rest, "</p>")
		seen[choices] = true
		contains(t, choices, `<select name="zone"`, `<option value="page">`, "(Europe/Berlin)", `<option value="utc">UTC`, `<option value="browser">`, `<select name="theme"`, `<option value="auto">`, `<option value="light">`, `<option value="dark">`)
		contains(t, page.Body.String(), `data-theme="dark"`)
		if !found || strings.Count(choices, "<label>") != 2 {
			t.Errorf("%s: %s", lang, page.Body)
		}
	}
	if len(seen) != len(statuspage.Languages()) {
		t.Errorf("%d languages have words of their own", len(seen))
	}
	utc := r.page(pagestore.Page{Slug: "utc", Terms: pagestore.Terms{Title: "Acme"}})
	contains(t, r.get("/s/utc").Body.String(), "(UTC)", `!<option value="utc">`)
	whole, _ := r.pages.Copy(t.Context(), utc.ID)
	contains(t, string(whole.Files["index.html"]), "Times are in UTC.", "!choices", "!<select")
}
