package statuspage_test

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"io"
	"net/url"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/probefleet/probefleet/internal/pagestore"
	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/internal/uptime"
)

// A copy needs nothing that is not in it, but for links that lead to the installation, and says
// when it was made.
func TestCopyNeedsNoServer(t *testing.T) {
	t.Parallel()
	r := demo(t, pagestore.ThemeAuto)
	c, found := r.pages.Copy(t.Context(), 1)
	if !found || !c.MadeAt.Equal(r.now()) {
		t.Fatalf("%v %v", found, c.MadeAt)
	}
	page := string(c.Files["index.html"])
	contains(t, page, "This is a copy. It was made at 2026-03-01 13:00:00 CET and does not change; its newest measurement: 2026-03-01 12:59:55 CET.", "Payments are failing", "!<script", "!data-at=", "!/s/", "!?lang=", "!seconds ago")
	z := html.NewTokenizer(strings.NewReader(page))
	n := 0
	for z.Next() != html.ErrorToken {
		token := z.Token()
		for _, a := range token.Attr {
			if a.Key != "href" && a.Key != "src" || strings.HasPrefix(a.Val, "#") {
				continue
			}
			n++
			if u, err := url.Parse(a.Val); err != nil || u.Host == "" && len(c.Files[strings.TrimPrefix(a.Val, "./")]) == 0 {
				t.Errorf("<%s> leads to %q", token.Data, a.Val)
			}
		}
	}
	if err := z.Err(); n < 8 || err != io.EOF {
		t.Errorf("%d links, %v", n, err)
	}
	for _, name := range []string{"feed.json", "state.json", "summary.json"} {
		if !json.Valid(c.Files[name]) {
			t.Errorf("%s: %s", name, c.Files[name])
		}
	}
	for _, name := range []string{"feed.atom", "feed.rss", "icon.svg"} {
		var any struct{}
		if err := xml.Unmarshal(c.Files[name], &any); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	contains(t, string(c.Files["calendar.ics"]), "BEGIN:VCALENDAR")
	// What says a state says of when it is, or none.
	contains(t, string(c.Files["state.json"]), `"state":"down"`, `"made_at":"2026-03-01T12:00:00Z"`)
	contains(t, string(c.Files["summary.json"]), `"updated_at":"2026-03-01T12:00:00.000Z"`)
	if got := string(c.Files["icon.svg"]); got != r.get("/s/-/icon-no_data.svg").Body.String() {
		t.Errorf("the icon says how it was then: %s", got)
	}
	for name := range c.Files {
		if strings.Contains(name, "badge") {
			t.Errorf("%s says how it was then, and not when", name)
		}
	}
	if _, found := r.pages.Copy(t.Context(), 99); found {
		t.Error("a copy of a page that is not there")
	}
}

// Members come and go with their tags, also between two versions of a page, and the rule of a
// component is that of its members.
func TestComponentsByTag(t *testing.T) {
	t.Parallel()
	r := newRig(t, testbackend.SQLite(t))
	tagged := func(name string, tags ...string) int64 {
		t.Helper()
		created, err := r.targets.Create(t.Context(), uptime.Target{Name: name, URL: "https://" + name + ".example/", Kind: uptime.KindHTTP, Interval: time.Minute, Timeout: time.Second, Active: true, Tags: tags})
		if err != nil {
			t.Fatal(err)
		}
		r.hub.Upsert(created)
		return created.ID
	}
	a, b, named := tagged("a", "prod", "shop"), tagged("b", "prod"), tagged("c")
	r.page(pagestore.Page{Slug: "worst", Terms: pagestore.Terms{Title: "x", Groups: components(pagestore.Component{Name: "c", Rule: pagestore.RuleWorst, Tags: []string{"prod", "shop"}, Targets: []int64{named}})}})
	r.page(pagestore.Page{Slug: "majority", Terms: pagestore.Terms{Title: "x", Groups: components(pagestore.Component{Name: "c", Rule: pagestore.RuleMajority, Tags: []string{"prod"}})}})
	r.page(pagestore.Page{Slug: "empty", Terms: pagestore.Terms{Title: "x", Groups: components(pagestore.Component{Name: "c", Rule: pagestore.RuleWorst, Tags: []string{"nobody"}})}})
	state := func(slug, want string) {
		t.Helper()
		r.pass(3 * time.Second)
		contains(t, r.get("/s/"+slug).Body.String(), `<section class="banner `+want+`"`)
	}
	for id, status := range map[int64]uptime.Status{a: uptime.StatusUp, b: uptime.StatusDown, named: uptime.StatusUp} {
		r.result(id, status)
	}
	state("worst", pagestore.Up) // b lacks one of the tags
	state("majority", pagestore.Degraded)
	state("empty", pagestore.NoData)
	retag := func(id int64, tags ...string) {
		t.Helper()
		updated, err := r.targets.Update(context.Background(), id, 0, func(x *uptime.Target) error { x.Tags = tags; return nil })
		if err != nil {
			t.Fatal(err)
		}
		r.hub.Upsert(updated)
	}
	retag(b, "prod", "shop")
	state("worst", pagestore.Down)
	contains(t, r.get("/s/worst").Body.String(), "% uptime")
	retag(b)
	state("worst", pagestore.Up)
	state("majority", pagestore.Up)
	if err := r.targets.Delete(t.Context(), a, 0); err != nil {
		t.Fatal(err)
	}
	state("majority", pagestore.NoData) // nobody is left
	// Who edits a page binds no member to it for good.
	page, err := r.store.Update(t.Context(), 1, r.now(), nil, func(p *pagestore.Page) error { p.Terms.Title = "y"; return nil })
	if err != nil || page.Targets() != 1 {
		t.Errorf("%+v %v", page, err)
	}
}
