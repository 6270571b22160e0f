package statuspage_test

import (
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
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

// Forms and refusals follow what a reader chose on the page: by the same file, before anything is drawn,
// and by nothing else. They have no instants, so there is no zone to follow.
func TestFormsFollowTheReader(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.open(pagestore.Terms{Theme: pagestore.ThemeDark})
	hash, err := cheap.Hash(t.Context(), "open sesame")
	if err != nil {
		t.Fatal(err)
	}
	o.page(pagestore.Page{Slug: "locked", Terms: pagestore.Terms{Title: "Locked", Theme: pagestore.ThemeLight, PasswordHash: hash}})
	o.page(pagestore.Page{Slug: "office", Terms: pagestore.Terms{Title: "Office", Theme: pagestore.ThemeDark, Allow: []string{"198.51.100.0/24"}}})
	reader := regexp.MustCompile(`/s/-/reader\.js\?[0-9a-f]+`).FindString(o.get("/s/main").Body.String())
	if got := o.get(reader); reader == "" || got.Header().Get("Content-Type") != "text/javascript; charset=utf-8" {
		t.Fatalf("%q: %v", reader, got.Header())
	}
	asked := header("Accept", browser)
	for name, c := range map[string]struct {
		got   *httptest.ResponseRecorder
		code  int
		theme string
	}{
		"password":        {o.get("/s/locked", asked), 401, "light"},
		"wrong password":  {o.do("/s/locked", url.Values{"password": {"guess"}}, asked), 401, "light"},
		"subscribe":       {o.get("/s/main/subscribe", asked), 200, "dark"},
		"bad address":     {o.do("/s/main/subscribe", url.Values{"by": {"email"}, "address": {"x"}}, asked), 422, "dark"},
		"asked":           {o.do("/s/main/subscribe", url.Values{"by": {"email"}, "address": {"ann@example.com"}}, asked), 200, "dark"},
		"confirm":         {o.get("/s/-/confirm/x", asked), 200, "auto"},
		"confirm, old":    {o.do("/s/-/confirm/x", nil, asked), 410, "auto"},
		"unsubscribe":     {o.get("/s/-/unsubscribe/x", asked), 404, "auto"},
		"nothing of it":   {o.get("/s/main/nothing", asked), 404, "dark"},
		"nothing":         {o.get("/s/nobody", asked), 404, "auto"},
		"another address": {o.get("/s/office", asked), 403, "auto"},
		"not allowed":     {o.do("/s/main", nil, asked), 405, "dark"},
	} {
		root, err := html.Parse(strings.NewReader(c.got.Body.String()))
		if err != nil || c.got.Code != c.code {
			t.Fatalf("%s: %d %v", name, c.got.Code, err)
		}
		var loads []string
		for n := range root.Descendants() {
			if n.Type != html.ElementNode {
				continue
			}
			switch n.Data {
			case "script":
				if loads = append(loads, attribute(n, "src")); n.FirstChild != nil || len(n.Attr) != 1 {
					t.Errorf("%s: a script: %+v", name, n.Attr)
				}
			case "link":
				file, _, _ := strings.Cut(attribute(n, "href"), "?")
				loads = append(loads, file)
			case "html":
				if got := attribute(n, "data-theme"); got != c.theme {
					t.Errorf("%s: without scripts the theme is %q, want %q", name, got, c.theme)
				}
			case "time":
				t.Errorf("%s: an instant", name)
			}
		}
		if !slices.Equal(loads, []string{reader, "/s/-/page.css"}) {
			t.Errorf("%s: loads %q", name, loads)
		}
		contains(t, c.got.Header().Get("Content-Security-Policy"), "default-src 'none'", "script-src 'self';", "!unsafe", "!connect-src", "!sha256", "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'")
	}
}
