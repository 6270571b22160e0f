package statuspage_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/probefleet/probefleet/internal/availability"
	"github.com/probefleet/probefleet/internal/pagestore"
	"github.com/probefleet/probefleet/internal/testbackend"
)

// aged makes a page of a target that was first watched sixty days into the ninety, and had days of
// every kind since.
func aged(t *testing.T) *rig {
	r := newRig(t, testbackend.SQLite(t))
	id := r.target("site")
	r.day = func(_ int64, n int) availability.Counts {
		switch {
		case n < 60, n == 70:
			return availability.Counts{}
		case n == 71:
			return availability.Counts{Missed: 1440}
		case n == 75:
			return availability.Counts{Missed: 1440}
		case n == 76:
			return availability.Counts{Up: 1400, Down: 40}
		case n == 77:
			return availability.Counts{Missed: 1440}
		case n == 80:
			return availability.Counts{Up: 1400, Degraded: 40}
		}
		return availability.Counts{Up: 1440}
	}
	r.page(pagestore.Page{Slug: "main", Terms: pagestore.Terms{Title: "Acme", Groups: components(pagestore.Component{Name: "Site", Rule: pagestore.RuleWorst, Targets: []int64{id}})}})
	return r
}

// texts are those of the elements of a name, in their order.
func texts(t *testing.T, page, name string) (all []string) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	for n := range root.Descendants() {
		if n.Type != html.ElementNode || n.Data != name {
			continue
		}
		var text strings.Builder
		for inner := range n.Descendants() {
			if inner.Type == html.TextNode {
				text.WriteString(inner.Data)
			}
		}
		all = append(all, strings.Trim(text.String(), " \n"))
	}
	return all
}

// The table has every day that was different, also those without data: of several in a row one line.
func TestDaysThatWereDifferent(t *testing.T) {
	t.Parallel()
	r := aged(t)
	for lang, want := range map[string][]string{
		"en": {
			"2025-12-02 to 2026-01-30", "No data", "",
			"2026-02-10 to 2026-02-11", "No data", "",
			"2026-02-15", "No data", "", "2026-02-16", "Down", "40", "2026-02-17", "No data", "",
			"2026-02-20", "Degraded", "",
		},
		"ar": {
			"من \u20662025-12-02\u2069 إلى \u20662026-01-30\u2069", "لا بيانات", "",
			"من \u20662026-02-10\u2069 إلى \u20662026-02-11\u2069", "لا بيانات", "",
			"2026-02-15", "لا بيانات", "", "2026-02-16", "متوقف", "40", "2026-02-17", "لا بيانات", "",
			"2026-02-20", "متدهور", "",
		},
	} {
		if got := texts(t, r.get("/s/main?lang="+lang).Body.String(), "td"); !slices.Equal(got, want) {
			t.Errorf("%s: %q", lang, got)
		}
	}
	r.day = nil
	r.pass(time.Minute)
	r.get("/s/main")
	r.pass(3 * time.Second)
	contains(t, r.get("/s/main").Body.String(), "90 days: 90 operational", "!<details")
}

// Every tick that is different says which day it is and what that came to, without a script; days
// without data say it together. The bar says where it begins.
func TestTicksSayTheirDays(t *testing.T) {
	t.Parallel()
	r := aged(t)
	for lang, want := range map[string][]string{
		"en": {
			"0+300 2025-12-02 to 2026-01-30 · No data", "350+10 2026-02-10 to 2026-02-11 · No data", "375+5 2026-02-15 · No data",
			"380+5 2026-02-16 · Down", "385+5 2026-02-17 · No data", "400+5 2026-02-20 · Degraded",
		},
		"he": {3: "380+5 \u20662026-02-16\u2069 · מושבת", 5: ""},
	} {
		page := r.get("/s/main?lang=" + lang).Body.String()
		var got []string
		for _, m := range regexp.MustCompile(`<rect x="(\d+)" width="(\d+)"><title>([^<]*)</title></rect>`).FindAllStringSubmatch(page, -1) {
			got = append(got, m[1]+"+"+m[2]+" "+m[3])
		}
		if len(got) != 6 || lang == "en" && !slices.Equal(got, want) || got[3] != want[3] {
			t.Errorf("%s: %q", lang, got)
		}
	}
	if begins := texts(t, r.get("/s/main").Body.String(), "span"); !slices.Contains(begins, "2025-12-02 · 90 days") {
		t.Errorf("%q", begins)
	}
	contains(t, r.get("/s/-/page.css").Body.String(), ".ticks rect{height:34px;fill:none;pointer-events:all}")
}

// Days without data that are not the same are not said together: of one of three targets it is known
// that it was down.
func TestDaysWithoutDataThatDiffer(t *testing.T) {
	t.Parallel()
	r := newRig(t, testbackend.SQLite(t))
	ids := []int64{r.target("a"), r.target("b"), r.target("c")}
	r.day = func(id int64, n int) availability.Counts {
		switch {
		case n < 87:
			return availability.Counts{Up: 1440}
		case n == 88 && id == ids[0]:
			return availability.Counts{Up: 1400, Down: 40}
		}
		return availability.Counts{Missed: 1440}
	}
	r.page(pagestore.Page{Slug: "main", Terms: pagestore.Terms{Title: "Acme", Groups: components(pagestore.Component{Name: "Site", Rule: pagestore.RuleMajority, Targets: ids})}})
	want := []string{"2026-02-27", "No data", "", "2026-02-28", "No data", "40", "2026-03-01", "No data", ""}
	if got := texts(t, r.get("/s/main").Body.String(), "td"); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
