package statuspage_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/maintenance"
	"github.com/probefleet/probefleet/internal/maintenancestore"
	"github.com/probefleet/probefleet/internal/pagestore"
	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/internal/uptime"
)

// A window for a tag holds the components of the targets that carry it, and no others.
func TestMaintenanceOfATag(t *testing.T) {
	t.Parallel()
	r := newRig(t, testbackend.SQLite(t))
	r.clock.Store(time.Now().Add(time.Hour).Unix()) // tags are carried from when they are given
	plain := r.target("plain")
	tagged, err := r.targets.Create(t.Context(), uptime.Target{Name: "tagged", URL: "https://tagged.example/", Kind: uptime.KindHTTP, Interval: time.Minute, Timeout: time.Second, Active: true, Tags: []string{"db"}})
	if err != nil {
		t.Fatal(err)
	}
	r.hub.Upsert(tagged)
	r.page(pagestore.Page{Slug: "main", Terms: pagestore.Terms{Title: "x", Groups: components(
		pagestore.Component{Name: "Plain", Rule: pagestore.RuleWorst, Targets: []int64{plain}}, pagestore.Component{Name: "Tagged", Rule: pagestore.RuleWorst, Targets: []int64{tagged.ID}})}})
	begins := r.now().Add(time.Hour)
	window, err := r.windows.Create(t.Context(), "Upgrade", maintenance.Window{Scope: maintenance.Scope{Tags: []string{"db"}}, StartsAt: begins.Format("2006-01-02T15:04:05"), DurationS: 3600}, r.now())
	if err != nil {
		t.Fatal(err)
	}
	r.pages.Changed()
	for _, active := range []bool{false, true} {
		r.result(plain, uptime.StatusUp)
		r.pass(3 * time.Second)
		page := r.get("/s/main").Body.String()
		contains(t, page, "Upgrade")
		if named := strings.Count(page, "Tagged") > 1 && strings.Count(page, "Plain") == 1; !named {
			t.Errorf("active %t: the page does not name the component with the window, and only that", active)
		}
		if held := strings.Contains(page, `<section class="banner maintenance"`); held != active {
			t.Errorf("active %t: the page is in maintenance: %t", active, held)
		}
		if summary := r.get("/s/main/api/v2/summary.json").Body.String(); !strings.Contains(summary, `"scheduled_for":"`+begins.UTC().Format("2006-01-02T15:04:05")) || !strings.Contains(summary, fmt.Sprintf(`"maintenance-%d-%d"`, window.ID, begins.Unix())) {
			t.Errorf("active %t: the window began with the view of it: %s", active, summary)
		}
		r.pass(90 * time.Minute)
		r.pages.Changed()
	}
}

// One that is made longer while it is under way is the same one to readers, and one that is made to
// be for another component leaves the first.
func TestMaintenanceThatIsChanged(t *testing.T) {
	t.Parallel()
	r := newRig(t, testbackend.SQLite(t))
	one, two := r.target("one"), r.target("two")
	r.page(pagestore.Page{Slug: "main", Terms: pagestore.Terms{Title: "x", Groups: components(
		pagestore.Component{Name: "Apples", Rule: pagestore.RuleWorst, Targets: []int64{one}}, pagestore.Component{Name: "Pears", Rule: pagestore.RuleWorst, Targets: []int64{two}})}})
	begins := r.now()
	window, err := r.windows.Create(t.Context(), "Upgrade", maintenance.Window{Scope: maintenance.Scope{TargetID: one}, StartsAt: begins.Format("2006-01-02T15:04:05"), DurationS: 3600}, begins)
	if err != nil {
		t.Fatal(err)
	}
	shown := func(id, named, other string) {
		t.Helper()
		r.pages.Changed()
		r.result(one, uptime.StatusUp)
		r.result(two, uptime.StatusUp)
		r.pass(3 * time.Second)
		if summary := r.get("/s/main/api/v2/summary.json").Body.String(); !strings.Contains(summary, id) {
			t.Errorf("%s is not in %s", id, summary)
		}
		if page := r.get("/s/main").Body.String(); strings.Count(page, named) < 2 || strings.Count(page, other) != 1 {
			t.Errorf("%s is not named with the window, or %s is: %s", named, other, page)
		}
	}
	change := func(how func(*maintenance.Window)) time.Time {
		t.Helper()
		r.pass(10 * time.Minute)
		if _, err := r.windows.Update(t.Context(), window.ID, 0, r.now(), func(w *maintenancestore.Window) error { how(&w.Terms); return nil }); err != nil {
			t.Fatal(err)
		}
		return r.now()
	}
	same := fmt.Sprintf(`"maintenance-%d-%d"`, window.ID, begins.Unix())
	shown(same, "Apples", "Pears")
	change(func(w *maintenance.Window) { w.DurationS *= 2 })
	shown(same, "Apples", "Pears")
	at := change(func(w *maintenance.Window) { w.TargetID = two })
	shown(fmt.Sprintf(`"maintenance-%d-%d"`, window.ID, at.Unix()), "Pears", "Apples")
}
