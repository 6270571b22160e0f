package statuspage_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/probefleet/probefleet/dashboard-api/internal/statuspage"
	"github.com/probefleet/probefleet/internal/availability"
	"github.com/probefleet/probefleet/internal/incidentstore"
	"github.com/probefleet/probefleet/internal/pagestore"
	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/internal/uptime"
)

// Without scripts, too, a page says of when its evidence is; nothing in between may hand out an
// old one for ten minutes.
func TestPageSaysOfWhenItIs(t *testing.T) {
	t.Parallel()
	r := newRig(t, testbackend.SQLite(t))
	id := r.target("site")
	r.page(pagestore.Page{Slug: "main", Terms: pagestore.Terms{Title: "Acme", Zone: "Europe/Berlin", Groups: components(pagestore.Component{Name: "Site", Rule: pagestore.RuleWorst, Targets: []int64{id}})}})
	contains(t, r.get("/s/main").Body.String(), "No measurement yet", `!<time id="at"`)
	r.result(id, uptime.StatusUp)
	r.pass(3 * time.Second)
	got := r.get("/s/main")
	contains(t, got.Body.String(), `<time id="at" dir="ltr" datetime="2026-03-01T11:59:55Z" title="2026-03-01T11:59:55Z">2026-03-01 12:59:55</time>`, `data-made="2026-03-01T12:00:03Z"`)
	contains(t, got.Header().Get("Cache-Control"), "max-age=2", "!stale")
}

// What somebody says is marked so wherever the state is, and not only on the page.
func TestStatedByHandEverywhere(t *testing.T) {
	t.Parallel()
	r := newRig(t, testbackend.SQLite(t))
	id := r.target("site")
	hotline := pagestore.Component{Name: "Hotline", Description: "By telephone", Rule: pagestore.RuleManual, State: pagestore.Up}
	r.page(pagestore.Page{Slug: "hand", Terms: pagestore.Terms{Title: "Acme", Groups: components(hotline)}})
	r.page(pagestore.Page{Slug: "both", Terms: pagestore.Terms{Title: "Acme", Groups: components(hotline, pagestore.Component{Name: "Site", Rule: pagestore.RuleWorst, Targets: []int64{id}})}})
	r.result(id, uptime.StatusUp)
	const stated = "Operational (stated by the operator)"
	for path, want := range map[string][]string{
		"hand/state.json":               {`"state":"up","by_hand":true,"evidence_at":null`, `{"id":1,"state":"up","by_hand":true}`},
		"both/state.json":               {`"state":"up","evidence_at":"`, `{"id":1,"state":"up","by_hand":true},{"id":2,"state":"up"}`},
		"hand/badge.svg":                {`aria-label="Acme: ` + stated + `"`},
		"both/badge.svg":                {`aria-label="Acme: Operational"`},
		"hand/badge.json":               {`"message":"` + stated + `"`},
		"both/components/1/badge.svg":   {`aria-label="Hotline: ` + stated + `"`},
		"both/components/1/badge.json":  {`"message":"` + stated + `"`},
		"both/components/2/badge.json":  {`"message":"Operational"`},
		"hand/badge.json?lang=de":       {`"message":"In Betrieb (vom Betreiber angegeben)"`},
		"hand/api/v2/status.json":       {`"description":"All systems are operational (stated by the operator)"`},
		"both/api/v2/status.json":       {`"description":"All systems are operational"`},
		"both/api/v2/components.json":   {`"description":"By telephone (stated by the operator)"`, `"name":"Site","status":"operational","description":null`},
		"both/api/v2/summary.json":      {"By telephone (stated by the operator)"},
		"hand/components/1/badge.json?": {stated},
	} {
		contains(t, r.get("/s/"+path).Body.String(), want...)
	}
}

// A page that shows nothing does not say that all is well.
//
// Promise: a page without evidence is not green
func TestAnEmptyPageIsNotWell(t *testing.T) {
	t.Parallel()
	r := newRig(t, testbackend.SQLite(t))
	r.page(pagestore.Page{Slug: "main", Terms: pagestore.Terms{Title: "Acme"}})
	contains(t, r.get("/s/main/api/v2/status.json").Body.String(), `"indicator":"minor"`, "Nothing is shown here yet")
	contains(t, r.get("/s/main/state.json").Body.String(), `"state":""`, "!by_hand")
}

// A store that hangs holds up who comes first for five seconds, all of them together, and then
// nobody for longer than a moment.
func TestDaysThatHang(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		page := pagestore.Page{ID: 1, Slug: "main", Terms: pagestore.Terms{Title: "Acme", Groups: components(pagestore.Component{ID: 1, Name: "Site", Rule: pagestore.RuleWorst, Targets: []int64{1}})}}
		var asked atomic.Int32
		options := inMemory(&shelved{page: page}).Options
		options.Daily = func(ctx context.Context, _ []int64, _ availability.Span, _ []availability.Period) (map[int64]*availability.Account, error) {
			asked.Add(1)
			<-ctx.Done()
			return nil, ctx.Err()
		}
		pages := statuspage.New(options)
		took := make(chan time.Duration)
		read := func(n int, within time.Duration) {
			t.Helper()
			begun := time.Now()
			for range n {
				go func() {
					answer := httptest.NewRecorder()
					pages.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/s/main", nil))
					contains(t, answer.Body.String(), "The daily history cannot be read")
					took <- time.Since(begun)
				}()
			}
			for range n {
				if d := <-took; d > within {
					t.Errorf("somebody waited %v, want at most %v", d, within)
				}
			}
		}
		read(5, 5*time.Second)
		time.Sleep(2 * time.Second)
		read(5, 0) // the same try goes on
		time.Sleep(6 * time.Second)
		read(5, 400*time.Millisecond) // it has failed, and there is another one
		time.Sleep(3 * time.Second)
		read(5, 0)
		if n := asked.Load(); n != 2 {
			t.Errorf("asked %d times", n)
		}
		time.Sleep(10 * time.Second) // the last try ends
	})
}

// Slots of which nobody knows what came of them make no day green: neither that in which it began
// nor those after it. What was seen to be bad stays.
func TestDaysThatNobodyAccountsForAreNotGreen(t *testing.T) {
	t.Parallel()
	r := newRig(t, testbackend.SQLite(t))
	id := r.target("site")
	r.day = func(_ int64, n int) availability.Counts {
		if n == 89 {
			return availability.Counts{Down: 1}
		}
		return availability.Counts{Up: 100}
	}
	r.page(pagestore.Page{Slug: "main", Terms: pagestore.Terms{Title: "Acme", Groups: components(pagestore.Component{Name: "Site", Rule: pagestore.RuleWorst, Targets: []int64{id}})}})
	contains(t, r.get("/s/main").Body.String(), `aria-label="90 days: 89 operational, 0 degraded, 1 down, 0 in maintenance, 0 without data"`, "!The daily history is as of")
	r.behind = noon.Add(-52 * time.Hour) // the day before yesterday
	r.pass(30 * time.Second)
	r.get("/s/main") // has the days read again
	r.pass(3 * time.Second)
	contains(t, r.get("/s/main").Body.String(), `aria-label="90 days: 87 operational, 0 degraded, 1 down, 0 in maintenance, 2 without data"`, "The daily history is as of 2026-02-27 08:00:00 UTC")
	contains(t, r.get("/compat/uptime-kuma/api/status-page/heartbeat/main").Body.String(), "2026-02-27")
}

// What the days were is kept through an edit, and shown with its age; but not as days of another zone.
func TestEditWhileDaysAreAway(t *testing.T) {
	t.Parallel()
	r := newRig(t, testbackend.SQLite(t))
	a, b := r.target("a"), r.target("b")
	site := pagestore.Component{Name: "Site", Rule: pagestore.RuleWorst, Targets: []int64{a}}
	page := r.page(pagestore.Page{Slug: "main", Terms: pagestore.Terms{Title: "Acme", Groups: components(site)}})
	contains(t, r.get("/s/main").Body.String(), "100.000 % uptime")
	r.historyFails(errAway)
	r.pass(time.Minute)
	const old = "The daily history is as of 2026-03-01 12:00:00 UTC"
	for _, change := range []func(*pagestore.Terms){
		func(t *pagestore.Terms) { t.Title = "Acme Corporation" },
		func(t *pagestore.Terms) {
			t.Groups[0].Components = append(t.Groups[0].Components, pagestore.Component{Name: "API", Rule: pagestore.RuleWorst, Targets: []int64{b}})
		},
	} {
		r.edit(page, change)
		contains(t, r.get("/s/main").Body.String(), "Acme Corporation", "100.000 % uptime", old, "!The daily history cannot be read")
	}
	r.edit(page, func(t *pagestore.Terms) { t.Zone = "Europe/Berlin" })
	contains(t, r.get("/s/main").Body.String(), "The daily history cannot be read", "!% uptime")
	r.historyFails(nil)
	r.pass(3 * time.Second)
	contains(t, r.get("/s/main").Body.String(), "100.000 % uptime", "!The daily history")
}

// A new target says nothing of the days before it: they stay what they were by the others.
func TestNewTargetKeepsTheDaysOfTheOthers(t *testing.T) {
	t.Parallel()
	r := newRig(t, testbackend.SQLite(t))
	old, young := r.target("old"), r.target("young")
	r.day = func(id int64, n int) availability.Counts {
		switch {
		case id == young && n < 80, n < 10:
			return availability.Counts{}
		case n == 85:
			return availability.Counts{Missed: 1440}
		}
		return availability.Counts{Up: 1440}
	}
	for _, rule := range []string{pagestore.RuleWorst, pagestore.RuleMajority} {
		r.page(pagestore.Page{Slug: rule, Terms: pagestore.Terms{Title: "Acme", Groups: components(pagestore.Component{Name: "Site", Rule: rule, Targets: []int64{old, young}})}})
		contains(t, r.get("/s/"+rule).Body.String(), `aria-label="90 days: 79 operational, 0 degraded, 0 down, 0 in maintenance, 11 without data"`)
	}
}

// incidents gives incidents from memory, the newest first, as the store does.
type incidents []incidentstore.Incident

func (all incidents) List(_ context.Context, f incidentstore.Filter) (found []incidentstore.Incident, err error) {
	asked := map[int64]bool{}
	for _, id := range f.Targets {
		asked[id] = true
	}
	for _, i := range all {
		if (len(f.Targets) == 0 || asked[i.TargetID]) && (f.State == "" || i.Open() == (f.State == incidentstore.StateOpen)) && (i.Open() || !i.ResolvedAt.Before(f.From)) && len(found) < f.Limit {
			found = append(found, i)
		}
	}
	return found, nil
}

// However many incidents there are elsewhere, a page shows its own: those that go on before all.
// Where there are too many of its own it says so.
func TestIncidentsOfABigInstallation(t *testing.T) {
	t.Parallel()
	r := newRig(t, testbackend.SQLite(t))
	ours, other, noisy := r.target("ours"), r.target("other"), r.target("noisy")
	var all incidents
	add := func(target int64, begun time.Time, resolved time.Time) {
		all = append(all, incidentstore.Incident{ID: int64(len(all) + 1), TargetID: target, Severity: incidentstore.Down, FirstSlot: begun, OpenedAt: begun, ResolvedAt: resolved})
	}
	for n := range 2500 {
		at := noon.Add(-time.Duration(n) * time.Minute)
		add(other, at, at.Add(time.Minute))
		add(noisy, at, at.Add(time.Minute))
	}
	add(noisy, noon.Add(-100*time.Hour), time.Time{})
	add(ours, noon.Add(-100*time.Hour), noon.Add(-99*time.Hour))
	add(ours, noon.Add(-500*time.Hour), time.Time{})
	options := r.pages.Options
	options.Incidents = all
	r.pages = statuspage.New(options)
	for slug, target := range map[string]int64{"ours": ours, "noisy": noisy} {
		r.page(pagestore.Page{Slug: slug, Terms: pagestore.Terms{Title: "Acme", ShowIncidents: slug == "ours", Groups: components(pagestore.Component{Name: "Shop", Rule: pagestore.RuleWorst, Targets: []int64{target}})}})
	}
	const cut = "older ones may be missing here"
	text := read(r.get("/s/ours").Body.String())
	contains(t, text, "Since 2026-02-08 16:00", "2026-02-25 08:00 to 2026-02-25 09:00", "!"+cut)
	if n := strings.Count(text, `class="event"`); n != 2 {
		t.Errorf("%d incidents", n)
	}
	contains(t, r.get("/s/noisy").Body.String(), "!Shop: down", "!"+cut)
	r.page(pagestore.Page{Slug: "loud", Terms: pagestore.Terms{Title: "Acme", ShowIncidents: true, Groups: components(pagestore.Component{Name: "Shop", Rule: pagestore.RuleWorst, Targets: []int64{noisy}})}})
	text = read(r.get("/s/loud").Body.String())
	contains(t, text, "Since 2026-02-25 08:00", cut)
	if n := strings.Count(text, `class="event"`); n != 2001 {
		t.Errorf("%d incidents", n)
	}
	contains(t, r.get("/s/loud?lang=de").Body.String(), "ältere können hier fehlen")
}

// Sockets are bounded by who serves them, and take no places of streams.
func TestSocketsTakeNoPlaceOfStreams(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		options := inMemory(&shelved{page: pagestore.Page{ID: 1, Slug: "main"}}).Options
		options.Socket = func(string, func(context.Context, *http.Request) error, func()) http.Handler { // it stays open
			return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusSwitchingProtocols) })
		}
		pages := statuspage.New(options)
		ask := func(ctx context.Context, what string, n int) *httptest.ResponseRecorder {
			answer := httptest.NewRecorder()
			request := httptest.NewRequestWithContext(ctx, http.MethodGet, "/s/main/"+what, nil)
			request.RemoteAddr = fmt.Sprintf("10.%d.%d.1:1", n/250, n%250)
			pages.ServeHTTP(answer, request)
			return answer
		}
		for n := range 2500 {
			if got := ask(t.Context(), "live", n); got.Code != http.StatusSwitchingProtocols {
				t.Fatalf("the %dth socket: %d", n, got.Code)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		for n := range 2000 {
			go ask(ctx, "events", n)
		}
		synctest.Wait()
		if got := ask(ctx, "events", 2000); got.Code != http.StatusServiceUnavailable {
			t.Errorf("the 2001st stream: %d", got.Code)
		}
		if got := ask(ctx, "live", 2501); got.Code != http.StatusSwitchingProtocols {
			t.Errorf("a socket beside them: %d", got.Code)
		}
		cancel()
		synctest.Wait()
		answer, _, leave := reading(t, pages, "192.0.2.1:1")
		leave()
		if answer.Code != http.StatusOK {
			t.Errorf("where all have left: %d", answer.Code)
		}
	})
}

// A try that nobody could judge is none.
func TestTriesOfAPasswordThatWereNeverJudged(t *testing.T) {
	t.Parallel()
	r := newOffice(t)
	hash, err := cheap.Hash(t.Context(), "open sesame")
	if err != nil {
		t.Fatal(err)
	}
	page := r.page(pagestore.Page{Slug: "main", Terms: pagestore.Terms{Title: "Acme", PasswordHash: "no hash at all"}})
	for n := range 20 {
		if got := r.do("/s/main", url.Values{"password": {"open sesame"}}); got.Code != http.StatusServiceUnavailable {
			t.Fatalf("try %d: %d", n+1, got.Code)
		}
	}
	r.edit(page, func(t *pagestore.Terms) { t.PasswordHash = hash })
	if got := r.do("/s/main", url.Values{"password": {"open sesame"}}); got.Code != http.StatusSeeOther {
		t.Errorf("once they can be: %d", got.Code)
	}
}

// Many addresses together guess the password of a page no faster than that of an account.
func TestGuessingFromManyAddresses(t *testing.T) {
	t.Parallel()
	r := newRig(t, testbackend.SQLite(t))
	hash, err := cheap.Hash(t.Context(), "open sesame")
	if err != nil {
		t.Fatal(err)
	}
	r.page(pagestore.Page{Slug: "main", Terms: pagestore.Terms{Title: "Acme", PasswordHash: hash}})
	try := func(n int, password string) int {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/s/main", strings.NewReader(url.Values{"password": {password}}.Encode()))
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		request.RemoteAddr = fmt.Sprintf("10.0.%d.%d:1", n/250, n%250)
		answer := httptest.NewRecorder()
		r.pages.ServeHTTP(answer, request)
		return answer.Code
	}
	for n := range 100 {
		if got := try(n, "guess"); got != http.StatusUnauthorized {
			t.Fatalf("the %dth address: %d", n+1, got)
		}
	}
	if got := try(100, "guess"); got != http.StatusTooManyRequests {
		t.Errorf("the 101st address: %d", got)
	}
	r.pass(10 * time.Second)
	if got := try(101, "open sesame"); got != http.StatusSeeOther {
		t.Errorf("who knows it, ten seconds later: %d", got)
	}
}
