package statuspage_test

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/probefleet/probefleet/dashboard-api/internal/wsconn/wsconntest"
	"github.com/probefleet/probefleet/internal/incidentstore"
	"github.com/probefleet/probefleet/internal/pagestore"
	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/internal/uptime"
	"gorm.io/gorm"
)

// surfaces are all that is said of a page, by where: documents, a copy, and the first words of both
// ways of the live channel.
func (r *rig) surfaces(page pagestore.Page) map[string]string {
	r.Helper()
	all := map[string]string{}
	for _, path := range []string{
		"", "/feed.atom", "/feed.rss", "/feed.json", "/calendar.ics", "/state.json", "/badge.svg", "/badge.json", "/components/1/badge.svg", "/components/1/badge.json",
		"/api/v2/summary.json", "/api/v2/status.json", "/api/v2/components.json", "/api/v2/incidents.json", "/api/v2/incidents/unresolved.json",
		"/api/v2/scheduled-maintenances.json", "/api/v2/scheduled-maintenances/upcoming.json", "/api/v2/scheduled-maintenances/active.json",
	} {
		got := r.get("/s/" + page.Slug + path)
		if got.Code != http.StatusOK {
			r.Errorf("%s: %d", path, got.Code)
		}
		all[path] = got.Body.String()
	}
	for _, path := range others(page.Slug) {
		got := r.get(path)
		if got.Code != http.StatusOK {
			r.Errorf("%s: %d", path, got.Code)
		}
		all[path] = got.Body.String()
	}
	whole, found := r.pages.Copy(context.Background(), page.ID)
	if !found {
		r.Fatal("there is no copy")
	}
	for name, content := range whole.Files {
		all["copy of "+name] = string(content)
	}

	ctx, url, stop := r.live(r.pages)
	defer stop()
	lines := r.events(ctx, url+"/s/"+page.Slug+"/events")
	conn, err := wsconntest.Dial(ctx, url, "/s/"+page.Slug+"/live")
	if err != nil {
		r.Fatal(err)
	}
	defer conn.Close()
	if err := conn.Write(ctx, `{"t":"sub","id":"1","ch":"page:`+page.Slug+`"}`); err != nil {
		r.Fatal(err)
	}
	until := func(where string, next func() (string, error)) {
		for !strings.Contains(all[where], `"t":"delta"`) {
			text, err := next()
			if err != nil {
				r.Fatalf("%s: %v", where, err)
			}
			all[where] += text + "\n"
		}
	}
	until("/events", func() (string, error) {
		if !lines.Scan() {
			return "", fmt.Errorf("it has ended: %w", lines.Err())
		}
		return lines.Text(), nil
	})
	until("/live", func() (string, error) { return conn.Read(ctx) })
	return all
}

var (
	hashes = regexp.MustCompile(`[0-9a-f]{12,}`) // a figure may be in one by chance
	named  = regexp.MustCompile(`\beu\b`)        // the region that measures
)

// What is not on the list of what is public is nowhere, whatever is known.
//
// Promise: a status page shows nothing that is not on it
func TestNothingElseIsPublic(t *testing.T) {
	t.Parallel()
	r := newRig(t, testbackend.SQLite(t))
	shown, hidden := r.target("internal name"), r.target("hidden name")
	r.result(shown, uptime.StatusDown)
	draft := pagestore.Page{Slug: "main", Terms: pagestore.Terms{
		Title: "Acme", ShowIncidents: true, Allow: []string{"192.0.2.0/24", "127.0.0.0/8", "::1", "198.51.100.0/24"},
		Groups: components(pagestore.Component{Name: "Shop", Rule: pagestore.RuleWorst, Targets: []int64{shown}, Tags: []string{"secret-tag"}}),
	}}
	page := r.page(draft)
	draft.Slug, draft.Terms.ShowIncidents = "quiet", false
	quiet := r.page(draft)
	for _, id := range []int64{shown, hidden} {
		if err := r.db.Tx(t.Context(), func(tx *gorm.DB) error {
			_, _, err := r.incidents.Open(t.Context(), tx, incidentstore.Opening{TargetID: id, FirstSlot: noon, Severity: incidentstore.Down, At: noon,
				Subject: incidentstore.Subject{Name: "internal name", URL: "https://secret-path.example"}, Cause: incidentstore.Cause{Explanation: "secret-explanation", Regions: []string{"secret-region"}}})
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	text := r.get("/s/main").Body.String()
	contains(t, text, "Shop: down", "!internal", "!secret", "!hidden name", "!503", "!status_code", "!example/", "!>eu<")
	if n := strings.Count(text, `class="event"`); n != 1 {
		t.Errorf("%d incidents", n)
	}
	contains(t, r.get("/s/quiet").Body.String(), "!Shop: down", "No incidents in the last 14 days")

	told := 0
	for where, text := range r.surfaces(page) {
		if strings.Contains(text, "Shop: down") {
			told++
		}
		text = hashes.ReplaceAllString(text, "")
		for _, ours := range []string{"internal", "secret", "hidden name", "503", "status_code", "198.51.100", named.FindString(text)} {
			if ours != "" && strings.Contains(text, ours) {
				t.Errorf("%s tells %q: %s", where, ours, text)
			}
		}
	}
	if told < 9 {
		t.Errorf("only %d tell of the incident", told)
	}
	for where, text := range r.surfaces(quiet) {
		if strings.Contains(text, "Shop: down") && !strings.Contains(where, "badge") {
			t.Errorf("%s tells of an incident: %s", where, text)
		}
	}
}

// Readers see what a post says: not of which incident it tells, nor who wrote it.
func TestPostsTellNothingOfOurs(t *testing.T) {
	t.Parallel()
	r := newRig(t, testbackend.SQLite(t))
	for _, statement := range []string{"DELETE FROM sqlite_sequence WHERE name = 'incidents'", "INSERT INTO sqlite_sequence (name, seq) VALUES ('incidents', 4711)"} {
		if err := r.db.Write().Exec(statement).Error; err != nil {
			t.Fatal(err)
		}
	}
	page := r.page(pagestore.Page{Slug: "main", Terms: pagestore.Terms{Title: "Acme", Groups: components(pagestore.Component{Name: "Shop", Rule: pagestore.RuleWorst, Targets: []int64{r.target("internal name")}})}})
	if err := r.db.Tx(t.Context(), func(tx *gorm.DB) error {
		_, _, err := r.incidents.Open(t.Context(), tx, incidentstore.Opening{TargetID: 1, FirstSlot: noon, Severity: incidentstore.Down, At: noon})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.store.CreatePost(t.Context(), pagestore.Post{PageID: page.ID, IncidentID: 4712, BegunAt: noon, Body: pagestore.Body{Title: "Shop is away", Kind: pagestore.KindIncident, Updates: update(noon, "We look.")}}); err != nil {
		t.Fatal(err)
	}
	r.pages.Changed()
	surfaces := map[string]string{}
	for _, path := range []string{"", "/feed.atom", "/feed.rss", "/feed.json", "/calendar.ics", "/state.json", "/api/v2/summary.json", "/api/v2/incidents.json", "/api/v2/incidents/unresolved.json"} {
		surfaces[path] = r.get("/s/main" + path).Body.String()
	}
	whole, found := r.pages.Copy(t.Context(), page.ID)
	if !found {
		t.Fatal("there is no copy")
	}
	for name, content := range whole.Files {
		surfaces["copy "+name] = string(content)
	}
	told := 0
	for surface, text := range surfaces {
		if strings.Contains(text, "Shop is away") {
			told++
		}
		for _, ours := range []string{"4712", "secret-author", "internal name"} {
			if strings.Contains(text, ours) {
				t.Errorf("%s tells %q: %s", surface, ours, text)
			}
		}
	}
	if told < 7 {
		t.Errorf("only %d of %d tell of the post", told, len(surfaces))
	}
}
