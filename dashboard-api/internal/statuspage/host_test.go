package statuspage_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/probefleet/probefleet/dashboard-api/internal/statuspage"
	"github.com/probefleet/probefleet/internal/maintenance"
	"github.com/probefleet/probefleet/internal/pagestore"
	"github.com/probefleet/probefleet/internal/testbackend"
)

// Whatever a stored page says, the dashboard is where it is: at the public URL, at addresses and
// on this machine.
func TestNoPageTakesTheDashboardsHost(t *testing.T) {
	t.Parallel()
	r := newRig(t, testbackend.SQLite(t))
	for slug, own := range map[string]string{"a": "pf.example", "b": "203.0.113.7", "c": "localhost", "d": "127.1", "e": "dev.localhost"} {
		r.page(pagestore.Page{Slug: slug, Host: own, Terms: pagestore.Terms{Title: "Thief"}})
		if got := r.get("/", host(own)); got.Code != http.StatusOK || got.Body.String() != "the dashboard" {
			t.Errorf("%s: %d %s", own, got.Code, got.Body)
		}
		if got := r.get("/s/"+slug, host(own)); got.Code != http.StatusOK || !strings.Contains(got.Body.String(), "Thief") {
			t.Errorf("%s: the page is not at its path: %d", own, got.Code)
		}
	}
}

// The own host of a page that is not published is no other way into the dashboard.
func TestOwnHostOfADraft(t *testing.T) {
	t.Parallel()
	r := newRig(t, testbackend.SQLite(t))
	page := r.page(pagestore.Page{Slug: "main", Host: "status.example.com", Terms: pagestore.Terms{Title: "Acme"}})
	r.page(pagestore.Page{Slug: "other", Terms: pagestore.Terms{Title: "Other"}})
	if got := r.get("/", host("status.example.com")); got.Code != http.StatusOK || !strings.Contains(got.Body.String(), "Acme") {
		t.Errorf("%d %s", got.Code, got.Body)
	}
	if _, err := r.store.Update(t.Context(), page.ID, r.now(), nil, func(p *pagestore.Page) error { p.Published = false; return nil }); err != nil {
		t.Fatal(err)
	}
	r.pages.Changed()
	for _, path := range []string{"/", "/settings", "/s/main", "/s/other"} {
		if got := r.get(path, host("status.example.com")); got.Code != http.StatusNotFound {
			t.Errorf("%s: %d %s", path, got.Code, got.Body)
		}
	}
	if got := r.get("/", host("elsewhere.example.com")); got.Body.String() != "the dashboard" {
		t.Errorf("%d %s", got.Code, got.Body)
	}
}

// Programs that read Atlassian Statuspage ask for its documents at the root of a host. A page's own
// host has them there, for whom the page is; on others those paths are the API's, which has none.
func TestStatuspageDocumentsAtThePagesOwnHost(t *testing.T) {
	t.Parallel()
	r := newRig(t, testbackend.SQLite(t))
	r.page(pagestore.Page{Slug: "main", Host: "status.example.com", Terms: pagestore.Terms{Title: "Acme"}})
	r.page(pagestore.Page{Slug: "second", Host: "second.example.com", Terms: pagestore.Terms{Title: "Second"}})
	r.page(pagestore.Page{Slug: "locked", Host: "locked.example.com", Terms: pagestore.Terms{Title: "Locked", PasswordHash: "x"}})
	r.page(pagestore.Page{Slug: "office", Host: "office.example.com", Terms: pagestore.Terms{Title: "Office", Allow: []string{"198.51.100.0/24"}}})
	r.page(pagestore.Page{Slug: "thief", Host: "pf.example", Terms: pagestore.Terms{Title: "Thief"}})
	draft := r.page(pagestore.Page{Slug: "draft", Host: "draft.example.com", Terms: pagestore.Terms{Title: "Draft"}})
	if _, err := r.store.Update(t.Context(), draft.ID, r.now(), nil, func(p *pagestore.Page) error { p.Published = false; return nil }); err != nil {
		t.Fatal(err)
	}
	r.pages.Changed()
	api := r.api()
	get := func(path string, options ...option) *httptest.ResponseRecorder {
		return r.ask(api, path, options...)
	}
	const notOurs = "there is no such route"
	for _, c := range []struct {
		host, path string
		code       int
		has        string
	}{
		{"status.example.com", "/api/v2/summary.json", 200, `"name":"Acme"`},
		{"STATUS.example.com.:8443", "/api/v2/incidents/unresolved.json", 200, `"name":"Acme"`},
		{"second.example.com", "/api/v2/status.json", 200, `"name":"Second"`},
		{"status.example.com", "/api/v2/users.json", 404, "There is no such page"},
		{"status.example.com", "/feed.atom", 404, "There is no such page"},
		{"status.example.com", "/api/v1/nothing", 404, notOurs},
		{"status.example.com", "/api/v2", 404, notOurs},
		{"draft.example.com", "/api/v2/summary.json", 404, "There is no such page"},
		{"locked.example.com", "/api/v2/summary.json", 401, "is protected"},
		{"office.example.com", "/api/v2/summary.json", 403, "not for your address"},
		{"pf.example", "/api/v2/summary.json", 404, notOurs},
		{"elsewhere.example.com", "/api/v2/summary.json", 404, notOurs},
	} {
		if got := get(c.path, host(c.host)); got.Code != c.code || !strings.Contains(got.Body.String(), c.has) {
			t.Errorf("%s%s: %d %s", c.host, c.path, got.Code, got.Body)
		}
	}
	there, here := get("/s/main/api/v2/summary.json"), get("/api/v2/summary.json", host("status.example.com"))
	for _, name := range []string{"Cache-Control", "Access-Control-Allow-Origin", "Content-Security-Policy", "ETag"} {
		if here.Header().Get(name) != there.Header().Get(name) {
			t.Errorf("%s: %q, and %q below the page's path", name, here.Header().Get(name), there.Header().Get(name))
		}
	}
	if here.Body.String() != there.Body.String() {
		t.Errorf("%s, and %s below the page's path", here.Body, there.Body)
	}
	if got := get("/api/v2/summary.json", host("status.example.com"), header("If-None-Match", here.Header().Get("ETag"))); got.Code != http.StatusNotModified {
		t.Errorf("known: %d", got.Code)
	}
}

// Whoever follows a page by its own host is led there, and not to the installation's.
func TestLinksLeadToThePagesOwnHost(t *testing.T) {
	t.Parallel()
	for dashboard, want := range map[string]string{"https://pf.example": "https://status.example.com/s/main", "http://pf.example:8080": "http://status.example.com:8080/s/main", "http://[::1]:8080": "http://status.example.com:8080/s/main"} {
		r := newRig(t, testbackend.SQLite(t))
		options := r.pages.Options
		options.PublicURL = dashboard
		r.pages = statuspage.New(options)
		page := r.page(pagestore.Page{Slug: "main", Host: "status.example.com", Terms: pagestore.Terms{Title: "Acme", Groups: components(pagestore.Component{Name: "Site", Rule: pagestore.RuleWorst, Targets: []int64{r.target("site")}})}})
		r.post(page, pagestore.Body{Title: "Slow", Kind: pagestore.KindIncident, Updates: update(noon, "We look.")}, time.Time{})
		if _, err := r.windows.Create(t.Context(), "Upgrade", maintenance.Window{Scope: maintenance.Scope{TargetID: 1}, StartsAt: "2026-03-03T02:00:00", DurationS: 7200}, noon); err != nil {
			t.Fatal(err)
		}
		r.pages.Changed()
		for _, path := range []string{"feed.atom", "feed.rss", "feed.json", "calendar.ics", "api/v2/summary.json"} {
			contains(t, r.get("/s/main/"+path).Body.String(), want, "!"+dashboard)
		}
	}
}

// What subscribers are sent leads there, too: to confirm, to read, and to end it.
func TestLettersLeadToThePagesOwnHost(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	page := o.page(pagestore.Page{Slug: "main", Host: "status.example.com", Terms: pagestore.Terms{Title: "Acme", ByEmail: true, ByWebhook: true}})
	const key = "a signing key of tests"
	hook := newReceiver(t, key)
	o.ask("ann@example.com", "192.0.2.1")
	o.askHook(hook.URL, key, "192.0.2.2")
	o.work("email")
	o.work("webhook")
	_, link, _ := strings.Cut(o.letters()[0].text, "https://status.example.com/s/-/confirm/")
	token, _, _ := strings.Cut(link, "?")
	if got := o.do("/s/-/confirm/"+token, nil, host("status.example.com")); got.Code != http.StatusOK {
		t.Fatalf("%d %s", got.Code, o.letters()[0].text)
	}
	o.post(page, pagestore.Body{Title: "Slow", Kind: pagestore.KindIncident, Updates: update(o.now(), "We look.")}, time.Time{})
	o.work("email")
	o.work("webhook")
	told := o.letters()[1]
	contains(t, told.text, "https://status.example.com/s/main#post-1", "https://status.example.com/s/-/unsubscribe/", "!pf.example")
	contains(t, told.Get("List-Unsubscribe"), "https://status.example.com/s/-/unsubscribe/")
	heard, _ := hook.state()
	contains(t, fmt.Sprint(heard), "url:https://status.example.com/s/main#post-1", "unsubscribe:https://status.example.com/s/-/unsubscribe/", "!pf.example")
}
