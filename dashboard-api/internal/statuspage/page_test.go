package statuspage_test

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
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
	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/internal/uptime"
)

// contains fails for what is not in a text, or is after a "!".
func contains(t testing.TB, text string, wanted ...string) {
	t.Helper()
	for _, want := range wanted {
		if not, is := strings.CutPrefix(want, "!"); is == strings.Contains(text, not) && is || !is && !strings.Contains(text, want) {
			t.Errorf("%s: in\n%s", want, text)
		}
	}
}

var instant = regexp.MustCompile(`<time [^>]*>([^<]*)</time>`)

// read is a page as it is read: instants are among the words, not elements.
func read(page string) string { return instant.ReplaceAllString(page, "$1") }

func TestPageSaysHowItIs(t *testing.T) {
	t.Parallel()
	r := newRig(t, testbackend.SQLite(t))
	site, api := r.target("site"), r.target("api")
	r.page(pagestore.Page{Slug: "main", Terms: pagestore.Terms{Title: "Acme", Groups: components(
		pagestore.Component{Name: "Site", Rule: pagestore.RuleWorst, Targets: []int64{site}}, pagestore.Component{Name: "API", Rule: pagestore.RuleWorst, Targets: []int64{api, site}},
	)}})
	words := func(want string) {
		t.Helper()
		r.pass(3 * time.Second)
		if got := r.get("/s/main"); got.Code != http.StatusOK || !strings.Contains(got.Body.String(), `<p class="words">`+want+`</p>`) {
			t.Errorf("want %q: %d %s", want, got.Code, got.Body)
		}
	}
	words("There is no current data for some systems")
	r.result(site, uptime.StatusUp)
	words("There is no current data for some systems")
	r.result(api, uptime.StatusUp)
	words("All systems are operational")
	contains(t, r.get("/s/main").Body.String(), "Updated 8 seconds ago", "100.000 % uptime", `aria-label="90 days: 90 operational, 0 degraded`)
	r.pass(time.Minute)
	r.result(api, uptime.StatusDown)
	words("Some systems are down")
	r.result(api, uptime.StatusUp)
	words("All systems are operational")
	r.pass(10 * time.Minute) // nothing is measured: the hub's own state is as old
	words("There is no current data for some systems")
	contains(t, r.get("/s/main").Body.String(), "Updated 10 minutes ago", "!Operational</b>")
	if err := r.targets.Delete(t.Context(), site, 0); err != nil {
		t.Fatal(err)
	}
	r.hub.Remove(site)
	words("There is no current data for some systems")
}

// The icon of the tab is that of the state, and the one for when nothing is heard any more is named, too.
func TestIcons(t *testing.T) {
	t.Parallel()
	r := newRig(t, testbackend.SQLite(t))
	id := r.target("site")
	r.page(pagestore.Page{Slug: "main", Terms: pagestore.Terms{Title: "Acme", Groups: components(pagestore.Component{Name: "Site", Rule: pagestore.RuleWorst, Targets: []int64{id}})}})
	r.page(pagestore.Page{Slug: "empty", Terms: pagestore.Terms{Title: "Nothing yet"}})
	shows := func(slug, state string) {
		t.Helper()
		r.pass(3 * time.Second)
		contains(t, r.get("/s/"+slug).Body.String(), `<link rel="icon" href="/s/-/icon-`+state+`.svg?`, `data-cut="/s/-/icon-no_data.svg?`)
	}
	shows("empty", "no_data")
	shows("main", "no_data")
	r.result(id, uptime.StatusUp)
	shows("main", "up")
	r.result(id, uptime.StatusDown)
	shows("main", "down")
	looks := map[string]bool{}
	for _, state := range []string{"up", "degraded", "down", "maintenance", "no_data"} {
		got := r.get("/s/-/icon-" + state + ".svg?1")
		looks[got.Body.String()] = true
		if got.Code != http.StatusOK || got.Header().Get("Content-Type") != "image/svg+xml" || !strings.Contains(got.Header().Get("Cache-Control"), "immutable") {
			t.Errorf("%s: %d %v", state, got.Code, got.Header())
		}
	}
	if len(looks) != 5 {
		t.Errorf("%d of 5 icons differ", len(looks))
	}
	for _, name := range []string{"icon-.svg", "icon-up", "icon-paused.svg", "icon-../page.css"} {
		if got := r.get("/s/-/" + name); got.Code != http.StatusNotFound {
			t.Errorf("%s: %d", name, got.Code)
		}
	}
}

func TestRules(t *testing.T) {
	t.Parallel()
	r := newRig(t, testbackend.SQLite(t))
	ids := []int64{r.target("a"), r.target("b"), r.target("c")}
	manual := pagestore.Component{Name: "Hotline", Rule: pagestore.RuleManual, State: pagestore.Up}
	r.page(pagestore.Page{Slug: "worst", Terms: pagestore.Terms{Title: "x", Groups: components(pagestore.Component{Name: "c", Rule: pagestore.RuleWorst, Targets: ids}, manual)}})
	r.page(pagestore.Page{Slug: "majority", Terms: pagestore.Terms{Title: "x", Groups: components(pagestore.Component{Name: "c", Rule: pagestore.RuleMajority, Targets: ids}, manual)}})
	state := func(slug, want string) {
		t.Helper()
		contains(t, r.get("/s/"+slug).Body.String(), `<section class="banner `+want+`"`)
	}
	for _, step := range []struct {
		states          [3]uptime.Status
		worst, majority string
	}{
		{[3]uptime.Status{0, 0, 0}, "no_data", "no_data"},
		{[3]uptime.Status{uptime.StatusUp, 0, 0}, "no_data", "no_data"},
		{[3]uptime.Status{0, uptime.StatusUp, 0}, "no_data", "up"},
		{[3]uptime.Status{0, 0, uptime.StatusDown}, "down", "degraded"},
		{[3]uptime.Status{0, uptime.StatusDown, 0}, "down", "down"},
	} {
		r.pass(3 * time.Second)
		for i, s := range step.states {
			if s != 0 {
				r.result(ids[i], s)
			}
		}
		state("worst", step.worst)
		state("majority", step.majority)
	}
}

func TestWhoMaySee(t *testing.T) {
	t.Parallel()
	r := newRig(t, testbackend.SQLite(t))
	if _, err := r.store.Create(t.Context(), pagestore.Page{Slug: "draft"}, noon); err != nil {
		t.Fatal(err)
	}
	hash, err := cheap.Hash(t.Context(), "open sesame")
	if err != nil {
		t.Fatal(err)
	}
	r.page(pagestore.Page{Slug: "locked", Host: "status.example.com", Terms: pagestore.Terms{Title: "Locked", PasswordHash: hash}})
	r.page(pagestore.Page{Slug: "office", Terms: pagestore.Terms{Title: "Office", Allow: []string{"192.0.2.0/24"}}})
	for path, want := range map[string]int{"/s/draft": 404, "/s/nobody": 404, "/s/": 404, "/s/locked": 401, "/s/locked/feed.atom": 401, "/s/office": 200, "/s/office/none": 404, "/s/-/page.css": 200, "/s/-/none": 404, "/anything": 200} {
		if got := r.get(path); got.Code != want {
			t.Errorf("%s: %d, want %d", path, got.Code, want)
		}
	}
	from := func(address string) option { return func(r *http.Request) { r.RemoteAddr = address } }
	if got := r.get("/s/office", from("198.51.100.1:1")); got.Code != http.StatusForbidden || strings.Contains(got.Body.String(), "Office") {
		t.Errorf("%d %s", got.Code, got.Body)
	}
	if got := r.get("/s/office", from("198.51.100.1:1"), header("X-Forwarded-For", "192.0.2.1")); got.Code != http.StatusForbidden {
		t.Errorf("believed who asks: %d", got.Code)
	}
	try := func(password string) *httptest.ResponseRecorder {
		request := httptest.NewRequestWithContext(t.Context(), "POST", "/s/locked", strings.NewReader(url.Values{"password": {password}}.Encode()))
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		answer := httptest.NewRecorder()
		r.pages.ServeHTTP(answer, request)
		return answer
	}
	if got := try("wrong"); got.Code != 401 || !strings.Contains(got.Body.String(), "not the password") {
		t.Errorf("%d %s", got.Code, got.Body)
	}
	got := try("open sesame")
	if got.Code != http.StatusSeeOther {
		t.Fatalf("%d %s", got.Code, got.Body)
	}
	cookie := got.Result().Cookies()[0]
	if !cookie.HttpOnly || cookie.SameSite != http.SameSiteLaxMode {
		t.Errorf("%+v", cookie)
	}
	if got := r.get("/s/locked", header("Cookie", cookie.String())); got.Code != 200 || got.Header().Get("Cache-Control") != "private, no-cache" {
		t.Errorf("%d %v", got.Code, got.Header())
	}
	for _, forged := range []string{cookie.Value + "0", "99999999999." + strings.SplitN(cookie.Value, ".", 2)[1], ""} {
		if got := r.get("/s/locked", header("Cookie", cookie.Name+"="+forged)); got.Code != 401 {
			t.Errorf("%q: %d", forged, got.Code)
		}
	}
	r.pass(8 * 24 * time.Hour)
	if got := r.get("/s/locked", header("Cookie", cookie.String())); got.Code != 401 {
		t.Errorf("the cookie never ends: %d", got.Code)
	}
	for range 40 {
		if got = try("guess"); got.Code == http.StatusTooManyRequests {
			break
		}
	}
	if got.Code != http.StatusTooManyRequests || got.Header().Get("Retry-After") == "" {
		t.Errorf("guessing is free: %d", got.Code)
	}
	// On a page's own host there is nothing else.
	for path, want := range map[string]int{"/": 401, "/settings": 404, "/s/office": 404} {
		if got := r.get(path, host("status.example.com:443")); got.Code != want {
			t.Errorf("%s: %d, want %d", path, got.Code, want)
		}
	}
}

// Whatever people write: no script element, no handler, no address that is a script.
func TestNoScriptOfOthers(t *testing.T) {
	t.Parallel()
	r := newRig(t, testbackend.SQLite(t))
	corpus := []string{
		`<script>alert(1)</script>`, `"><script src=//evil.example></script>`, `<img src=x onerror=alert(1)>`, `[x](javascript:alert(1))`, `[x](  JaVaScRiPt:alert(1))`, `<a href="jav&#x09;ascript:alert(1)">x</a>`,
		`<svg onload=alert(1)>`, `</title><script>1</script>`, `' onmouseover='alert(1)`, `<style>*{background:url(//evil.example)}</style>`, `![x](https://evil.example/pixel.png)`, `<iframe srcdoc="<script>1</script>">`,
		`<math><mi xlink:href="data:x,<script>1</script>">`, `[x](data:text/html;base64,PHNjcmlwdD4=)`, `<a href="vbscript:x">x</a>`, "```\n</code><script>1</script>\n```", `<form action=//evil.example><input name=password>`, `<base href=//evil.example>`,
		"{{.}}", "${1}", "]]><script>1</script>", "<!--><script>1</script>-->", "\u202e<script>",
	}
	for i, text := range corpus {
		target := r.target(fmt.Sprint("t", i))
		slug := fmt.Sprint("p", i)
		page := r.page(pagestore.Page{Slug: slug, Terms: pagestore.Terms{Title: text, Description: text, Groups: []pagestore.Group{{Name: text, Components: []pagestore.Component{{Name: text, Description: text, Rule: pagestore.RuleWorst, Targets: []int64{target}}}}}}})
		r.post(page, pagestore.Body{Title: text, Kind: pagestore.KindIncident, Components: []int64{1}, Updates: []pagestore.Update{{At: noon, State: pagestore.Investigating, Text: text}}}, time.Time{})
		got := r.get("/s/" + slug)
		root, err := html.Parse(strings.NewReader(got.Body.String()))
		if err != nil || got.Code != 200 {
			t.Fatalf("%d %v", got.Code, err)
		}
		var scripts []string
		for n := range root.Descendants() {
			if n.Type != html.ElementNode {
				continue
			}
			switch n.Data {
			case "script":
				file, hash, _ := strings.Cut(n.Attr[0].Val, "?")
				if scripts = append(scripts, file); n.FirstChild != nil || hash == "" {
					t.Errorf("%q: a script: %+v", text, n.Attr)
				}
			case "style", "iframe", "img", "form", "base", "object", "embed", "input", "math":
				t.Errorf("%q: <%s>", text, n.Data)
			}
			for _, a := range n.Attr {
				value := strings.ToLower(strings.TrimSpace(a.Val))
				if strings.HasPrefix(a.Key, "on") || a.Key == "style" || a.Key == "srcdoc" || strings.HasPrefix(value, "javascript:") || strings.HasPrefix(value, "vbscript:") || (a.Key == "href" || a.Key == "src") && strings.HasPrefix(value, "data:") {
					t.Errorf("%q: %s=%q on <%s>", text, a.Key, a.Val, n.Data)
				}
				if a.Key == "src" && strings.Contains(value, "evil") {
					t.Errorf("%q: loads %s", text, a.Val)
				}
			}
		}
		if !slices.Equal(scripts, []string{"/s/-/reader.js", "/s/-/page.js"}) {
			t.Errorf("%q: scripts %v", text, scripts)
		}
		policy := got.Header().Get("Content-Security-Policy")
		contains(t, policy, "default-src 'none'", "script-src 'self'", "!unsafe", "frame-ancestors 'none'")
	}
}

func TestCopies(t *testing.T) {
	t.Parallel()
	r := newRig(t, testbackend.SQLite(t))
	var all []pagestore.Component
	for i := range 50 {
		id := r.target(fmt.Sprint("t", i))
		r.result(id, uptime.StatusUp)
		all = append(all, pagestore.Component{Name: fmt.Sprint("Component number ", i), Rule: pagestore.RuleWorst, Targets: []int64{id}})
	}
	r.day = scattered
	page := r.page(pagestore.Page{Slug: "main", Terms: pagestore.Terms{Title: "Acme", Accent: "#0b57d0", AccentDark: "#8ab4f8", Groups: components(all...)}})
	first := r.get("/s/main", header("Accept-Encoding", "br, gzip"))
	if n := first.Body.Len(); n > 10_000 || first.Header().Get("Content-Encoding") != "gzip" {
		t.Errorf("50 components are %d bytes", n)
	} else {
		t.Logf("50 components are %d bytes", n)
	}
	for _, lang := range statuspage.Languages() {
		if n := r.get("/s/main?lang="+lang, header("Accept-Encoding", "gzip")).Body.Len(); n > 10_000 {
			t.Errorf("%s: 50 components are %d bytes", lang, n)
		} else {
			t.Logf("%s: 50 components are %d bytes", lang, n)
		}
	}
	zip, err := gzip.NewReader(first.Body)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(zip)
	if plain := r.get("/s/main"); err != nil || plain.Body.String() != string(text) || plain.Header().Get("ETag") == first.Header().Get("ETag") {
		t.Errorf("%v: another text, or one tag for two", err)
	}
	for tag, want := range map[string]int{first.Header().Get("ETag"): 304, `"other", ` + first.Header().Get("ETag"): 304, `"other"`: 200} {
		if got := r.get("/s/main", header("If-None-Match", tag), header("Accept-Encoding", "gzip")); got.Code != want || want == 304 && got.Body.Len() > 0 {
			t.Errorf("%s: %d", tag, got.Code)
		}
	}
	contains(t, first.Header().Get("Content-Security-Policy"), "style-src 'self' 'sha256-", "!unsafe")
	// A change on this node is there at once.
	if _, err := r.store.Update(t.Context(), page.ID, noon, nil, func(p *pagestore.Page) error { p.Terms.Title = "Renamed"; return nil }); err != nil {
		t.Fatal(err)
	}
	r.pages.Changed()
	contains(t, r.get("/s/main").Body.String(), "<h1>Renamed</h1>")
	if _, err := r.store.Update(t.Context(), page.ID, noon, nil, func(p *pagestore.Page) error { p.Published = false; return nil }); err != nil {
		t.Fatal(err)
	}
	r.pass(3 * time.Second) // and one on another node soon
	if got := r.get("/s/main"); got.Code != http.StatusNotFound {
		t.Errorf("%d", got.Code)
	}
}

// What cannot be read is shown as it was last read, with its age, and nothing turns green by it.
//
// Promise: a status page shows its last good copy and its age while stores are away
func TestStoresAway(t *testing.T) {
	t.Parallel()
	r := newRig(t, testbackend.SQLite(t))
	id := r.target("a")
	r.result(id, uptime.StatusUp)
	page := r.page(pagestore.Page{Slug: "main", Terms: pagestore.Terms{Title: "Acme", Groups: components(pagestore.Component{Name: "Site", Rule: pagestore.RuleWorst, Targets: []int64{id}})}})
	r.historyFails(errAway)
	contains(t, r.get("/s/main").Body.String(), "The daily history cannot be read", "All systems are operational")
	r.historyFails(nil)
	r.pass(3 * time.Second)
	contains(t, r.get("/s/main").Body.String(), "100.000 % uptime", "!cannot be read")
	r.historyFails(errAway)
	r.pass(2 * time.Minute)
	r.result(id, uptime.StatusUp)
	contains(t, r.get("/s/main").Body.String(), "100.000 % uptime", "The daily history is as of 2026-03-01 12:00:03 UTC", "All systems are operational")
	documents := func(want ...string) {
		t.Helper()
		for _, name := range []string{"summary", "status", "components", "incidents", "incidents/unresolved", "scheduled-maintenances", "scheduled-maintenances/upcoming", "scheduled-maintenances/active"} {
			contains(t, r.get("/s/main/api/v2/"+name+".json").Body.String(), want...)
		}
	}
	documents(`"updated_at":"2026-03-01T12:02:03.000Z"`, "!stale_since") // nothing of the days is in them

	if err := r.db.Close(); err != nil {
		t.Fatal(err)
	}
	r.pass(10 * time.Second)
	got := r.get("/s/main")
	contains(t, got.Body.String(), "Acme", "All systems are operational", "Reports and maintenance are as of 2026-03-01 12:02:03 UTC")
	documents(`"updated_at":"2026-03-01T12:02:13.000Z","stale_since":"2026-03-01T12:02:03.000Z"`)
	r.pass(10 * time.Minute)
	got = r.get("/s/main")
	contains(t, got.Body.String(), "There is no current data for some systems", "Reports and maintenance are as of")
	documents(`"updated_at":"2026-03-01T12:12:13.000Z","stale_since":"2026-03-01T12:02:03.000Z"`)
	contains(t, r.get("/s/main/api/v2/summary.json").Body.String(), `"indicator":"minor"`, `"status":"degraded_performance"`)
	if got := r.get("/s/other"); got.Code != http.StatusNotFound {
		t.Errorf("%d", got.Code)
	}
	_ = page
}

func TestContrast(t *testing.T) {
	t.Parallel()
	for pair, want := range map[[2]string]string{{"#000000", "#ffffff"}: "21.00", {"#ffffff", "#ffffff"}: "1.00", {"#767676", "#ffffff"}: "4.54", {"#0b57d0", statuspage.SurfaceLight}: "6.39"} {
		if got, err := statuspage.Contrast(pair[0], pair[1]); err != nil || fmt.Sprintf("%.2f", got) != want {
			t.Errorf("%v: %.2f %v, want %s", pair, got, err, want)
		}
	}
	for _, colour := range []string{"", "red", "#fff", "#gggggg", "#12345\n"} {
		if _, err := statuspage.Contrast(colour, "#ffffff"); err == nil {
			t.Errorf("%q is a colour", colour)
		}
	}
}

func TestLanguageOfAPage(t *testing.T) {
	t.Parallel()
	r := newRig(t, testbackend.SQLite(t))
	r.page(pagestore.Page{Slug: "main", Terms: pagestore.Terms{Title: "Acme", Language: "de", Groups: components(pagestore.Component{Name: "x", Rule: pagestore.RuleManual, State: pagestore.Up})}})
	for _, c := range []struct{ query, accept, want string }{
		{"", "", `<html lang="de" dir="ltr"`}, {"", "sv, fr-CA;q=0.8, en;q=0.5", `<html lang="fr" dir="ltr"`}, {"?lang=he", "fr", `<html lang="he" dir="rtl"`}, {"?lang=ar", "", `<html lang="ar" dir="rtl"`}, {"?lang=ar", "", "جميع الأنظمة تعمل"},
		{"?lang=../en", "", `<html lang="de"`}, {"", "tlh", `<html lang="de"`}, {"?lang=pl", "", "Wszystkie systemy działają"},
	} {
		contains(t, r.get("/s/main"+c.query, header("Accept-Language", c.accept)).Body.String(), c.want)
	}
}
