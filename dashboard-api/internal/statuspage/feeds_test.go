package statuspage_test

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"gorm.io/gorm"

	"github.com/probefleet/probefleet/internal/incidentstore"
	"github.com/probefleet/probefleet/internal/pagestore"
	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/internal/uptime"
)

// hostile is a page whose every text is made to break out of what holds it.
func hostile(t testing.TB) *rig {
	r := demo(t, "light")
	id := r.target("hostile")
	r.result(id, uptime.StatusDown)
	text := "]]>\"'<script>&amp;\\;,\u202e" + strings.Repeat("Ä", 90)
	page := r.page(pagestore.Page{Slug: "hostile", Terms: pagestore.Terms{Title: text, Description: text, Groups: components(pagestore.Component{Name: text, Rule: pagestore.RuleWorst, Targets: []int64{id}})}})
	r.post(page, pagestore.Body{Title: text, Kind: pagestore.KindIncident, Components: []int64{1}, Updates: []pagestore.Update{{At: noon, State: pagestore.Monitoring, Text: text + "\n\n<b>x</b>\x01"}}}, time.Time{})
	return r
}

func TestFeedsAreWellFormed(t *testing.T) {
	t.Parallel()
	r := hostile(t)
	for _, slug := range []string{"demo", "hostile"} {
		for path, media := range map[string]string{"feed.atom": "application/atom+xml", "feed.rss": "application/rss+xml", "badge.svg": "image/svg+xml", "components/1/badge.svg": "image/svg+xml"} {
			got := r.get("/s/" + slug + "/" + path)
			if got.Code != http.StatusOK || !strings.HasPrefix(got.Header().Get("Content-Type"), media) {
				t.Fatalf("%s/%s: %d %v", slug, path, got.Code, got.Header())
			}
			decoder, elements := xml.NewDecoder(got.Body), 0
			for {
				token, err := decoder.Token()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatalf("%s/%s: %v", slug, path, err)
				}
				if start, is := token.(xml.StartElement); is {
					elements++
					if start.Name.Local == "script" {
						t.Errorf("%s/%s: a script", slug, path)
					}
				}
			}
			if elements < 3 {
				t.Errorf("%s/%s: %d elements", slug, path, elements)
			}
		}
		for _, path := range []string{"feed.json", "badge.json", "components/1/badge.json", "api/v2/summary.json", "api/v2/status.json", "api/v2/components.json", "api/v2/incidents.json", "api/v2/incidents/unresolved.json", "api/v2/scheduled-maintenances.json", "api/v2/scheduled-maintenances/upcoming.json", "api/v2/scheduled-maintenances/active.json"} {
			got := r.get("/s/" + slug + "/" + path)
			var any map[string]any
			if err := json.Unmarshal(got.Body.Bytes(), &any); got.Code != 200 || err != nil || got.Header().Get("Access-Control-Allow-Origin") != "*" {
				t.Errorf("%s/%s: %d %v", slug, path, got.Code, err)
			}
		}
		calendar := r.get("/s/" + slug + "/calendar.ics").Body.String()
		for line := range strings.SplitSeq(strings.TrimSuffix(calendar, "\r\n"), "\r\n") {
			if len(line) > 75 || strings.ContainsAny(line, "\r\n") || !utf8.ValidString(line) {
				t.Errorf("%s: line %q", slug, line)
			}
		}
	}
	for _, path := range []string{"components/99/badge.svg", "components/x/badge.svg", "api/v2/users.json", "api/v2/summary", "feed.xml"} {
		if got := r.get("/s/demo/" + path); got.Code != http.StatusNotFound {
			t.Errorf("%s: %d", path, got.Code)
		}
	}
}

func TestWhatFeedsSay(t *testing.T) {
	t.Parallel()
	r := demo(t, "light")
	text := func(path string) string { return r.get("/s/demo/" + path).Body.String() }
	contains(t, text("feed.atom"), `<title>Identified: Payments are failing</title>`, `<updated>2026-03-01T11:40:00Z</updated>`, "https://pf.example/s/demo#post-1", "Slow search")
	contains(t, text("feed.rss"), "<title>Resolved: Slow search</title>", "Fri, 27 Feb 2026 10:00:00 +0000")
	contains(t, text("feed.json"), `"version":"https://jsonfeed.org/version/1.1"`, `"date_published":"2026-03-01T11:10:00Z"`)
	contains(t, text("calendar.ics"), "DTSTART:20260303T020000Z\r\n", "DTEND:20260303T040000Z\r\n", "SUMMARY:Database upgrade\r\n", "DESCRIPTION:Affects: Checkout\r\n")
	contains(t, text("badge.json"), `"schemaVersion":1,"label":"Acme Status","message":"Down"`, `"isError":true`)
	contains(t, text("components/1/badge.svg"), `aria-label="Website: Operational"`)
	contains(t, text("api/v2/status.json"), `"status":{"indicator":"major","description":"Some systems are down"}`)
	contains(t, text("api/v2/components.json"), `"name":"Website","status":"operational"`, `"name":"Nightly export","status":"degraded_performance"`, `"group":true`)
	contains(t, text("api/v2/incidents/unresolved.json"), "Payments are failing", "!Slow search", `"impact":"major"`)
	contains(t, text("api/v2/incidents.json"), "Slow search", `"resolved_at":"2026-02-27T12:00:00.000Z"`)
	contains(t, text("api/v2/scheduled-maintenances.json"), `"scheduled_for":"2026-03-03T02:00:00.000Z"`, `"status":"scheduled"`)
	contains(t, text("api/v2/scheduled-maintenances/upcoming.json"), "Database upgrade")
	contains(t, text("api/v2/scheduled-maintenances/active.json"), `"scheduled_maintenances":[]`)
	contains(t, text("api/v2/summary.json"), `"components":[`, `"incidents":[`, `"scheduled_maintenances":[`, "!internal")
	// What did not change keeps its tag, so that followers fetch it once.
	before := r.get("/s/demo/feed.atom").Header().Get("ETag")
	r.pass(3 * time.Second)
	if after := r.get("/s/demo/feed.atom").Header().Get("ETag"); after != before {
		t.Errorf("%s became %s", before, after)
	}
	r.pass(39 * time.Hour) // to the third of March, at three
	contains(t, text("api/v2/scheduled-maintenances/active.json"), "Database upgrade", `"status":"in_progress"`)
	contains(t, text("api/v2/scheduled-maintenances/upcoming.json"), `"scheduled_maintenances":[]`)
}

// An automatic incident began when the first check failed, though it was told once it was confirmed.
func TestIncidentsBeginWithTheFirstFailure(t *testing.T) {
	t.Parallel()
	r := newRig(t, testbackend.SQLite(t))
	id := r.target("shop")
	r.page(pagestore.Page{Slug: "main", Terms: pagestore.Terms{Title: "Acme", ShowIncidents: true, Groups: components(pagestore.Component{Name: "Shop", Rule: pagestore.RuleWorst, Targets: []int64{id}})}})
	if err := r.db.Tx(t.Context(), func(tx *gorm.DB) error {
		_, _, err := r.incidents.Open(t.Context(), tx, incidentstore.Opening{TargetID: id, FirstSlot: noon.Add(-7 * time.Minute), Severity: incidentstore.Down, At: noon.Add(-4 * time.Minute)})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	text := func(path string) string { return r.get("/s/main" + path).Body.String() }
	contains(t, read(text("")), "Since 2026-03-01 11:53", "!11:56")
	contains(t, text("/feed.atom"), "<published>2026-03-01T11:53:00Z</published>", "<updated>2026-03-01T11:56:00Z</updated>")
	contains(t, text("/feed.rss"), "11:53:00 +0000</pubDate>")
	contains(t, text("/feed.json"), `"date_published":"2026-03-01T11:53:00Z","date_modified":"2026-03-01T11:56:00Z"`)
	contains(t, text("/api/v2/incidents.json"), `"started_at":"2026-03-01T11:53:00.000Z"`, `"created_at":"2026-03-01T11:56:00.000Z"`)
}

// An announcement is not investigated, neither on the page nor in feeds.
func TestAnnouncementsAreAnnounced(t *testing.T) {
	t.Parallel()
	r := newRig(t, testbackend.SQLite(t))
	page := r.page(pagestore.Page{Slug: "main", Terms: pagestore.Terms{Title: "x"}})
	said := pagestore.Update{At: noon, State: pagestore.Investigating, Text: "On Sunday."}
	r.post(page, pagestore.Body{Title: "We move", Kind: pagestore.KindAnnouncement, Updates: []pagestore.Update{said}}, time.Time{})
	for _, path := range []string{"/s/main", "/s/main/feed.atom", "/s/main/feed.json"} {
		contains(t, r.get(path).Body.String(), "On Sunday.", "Announcement", "!Investigating")
	}
	said.State = pagestore.Resolved
	r.post(page, pagestore.Body{Title: "We moved", Kind: pagestore.KindAnnouncement, Updates: []pagestore.Update{said}}, noon)
	r.pass(3 * time.Second)
	contains(t, r.get("/s/main").Body.String(), "We moved", `<b class="tag resolved">Resolved</b>`)
}
