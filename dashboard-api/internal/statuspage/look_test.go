package statuspage_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/availability"
	"github.com/probefleet/probefleet/internal/maintenance"
	"github.com/probefleet/probefleet/internal/pagestore"
	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/internal/uptime"
)

// demo fills a page with one of everything.
func demo(t testing.TB, theme string) *rig {
	r := newRig(t, testbackend.SQLite(t))
	status := []uptime.Status{uptime.StatusUp, uptime.StatusUp, uptime.StatusDegraded, uptime.StatusDown, uptime.StatusUp, uptime.StatusUp}
	names := []string{"Website", "Checkout", "Search", "Payments", "Public API", "Nightly export"}
	var all []pagestore.Component
	var ids []int64
	for i, name := range names {
		id := r.target(name + " target")
		ids = append(ids, id)
		if i != 5 {
			r.result(id, status[i])
		}
		all = append(all, pagestore.Component{Name: name, Rule: pagestore.RuleWorst, Targets: []int64{id}})
	}
	r.day = func(id int64, n int) availability.Counts {
		switch c := (int(id)*31 + n*17) % 97; {
		case c < 2:
			return availability.Counts{Up: 1400, Down: 40}
		case c < 5:
			return availability.Counts{Up: 1400, Degraded: 40}
		case c == 6 || id == 6 && n < 30:
			return availability.Counts{}
		}
		return availability.Counts{Up: 1440}
	}
	all[0].Description = "The shop and everything people see of it"
	page := r.page(pagestore.Page{Slug: "demo", Terms: pagestore.Terms{Title: "Acme Status", Description: "How our services are, measured from outside every minute.", Theme: theme, Zone: "Europe/Berlin", Groups: []pagestore.Group{
		{Name: "Shop", Components: all[:4]}, {Name: "Developers", Components: append(all[4:], pagestore.Component{Name: "Support hotline", Rule: pagestore.RuleManual, State: pagestore.Up})},
	}}})
	r.post(page, pagestore.Body{Title: "Payments are failing", Kind: pagestore.KindIncident, Impact: pagestore.Down, Components: []int64{4}, Updates: []pagestore.Update{
		{At: noon.Add(-50 * time.Minute), State: pagestore.Investigating, Text: "Card payments are being **declined** for some customers. We are looking into it."},
		{At: noon.Add(-20 * time.Minute), State: pagestore.Identified, Text: "A provider of ours is down; see [their page](https://example.com/status). We are switching over."},
	}}, time.Time{})
	r.post(page, pagestore.Body{Title: "Slow search", Kind: pagestore.KindIncident, Impact: pagestore.Degraded, Components: []int64{3}, Updates: []pagestore.Update{{At: noon.Add(-50 * time.Hour), State: pagestore.Investigating, Text: "Searching took longer than usual."}, {At: noon.Add(-48 * time.Hour), State: pagestore.Resolved, Text: "An index was rebuilt:\n\n- it is as fast as before\n- it will not happen again"}}}, noon.Add(-48*time.Hour))
	if _, err := r.windows.Create(context.Background(), "Database upgrade", maintenance.Window{Scope: maintenance.Scope{TargetID: ids[1]}, StartsAt: "2026-03-03T02:00:00", DurationS: 7200}, noon); err != nil {
		t.Fatal(err)
	}
	r.pages.Changed()
	return r
}

// TestLook writes pages to the folder LOOK, for people to look at.
func TestLook(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("LOOK")
	if dir == "" {
		dir = t.TempDir()
	}
	css, err := os.ReadFile("assets/page.css")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "s", "-"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "s", "-", "page.css"), css, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, theme := range []string{"light", "dark"} {
		for _, lang := range []string{"en", "ar"} {
			got := demo(t, theme).get("/s/demo?lang=" + lang)
			if got.Code != 200 {
				t.Fatalf("%d %s", got.Code, got.Body)
			}
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s-%s.html", theme, lang)), got.Body.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}
