package statuspage_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gorm.io/gorm"

	"github.com/probefleet/probefleet/dashboard-api/internal/statuspage"
	"github.com/probefleet/probefleet/internal/availability"
	"github.com/probefleet/probefleet/internal/incidentstore"
	"github.com/probefleet/probefleet/internal/maintenance"
	"github.com/probefleet/probefleet/internal/pagestore"
	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/internal/uptime"
)

// others are the paths at which a page answers as other programs do.
func others(slug string) []string {
	return []string{"/compat/uptime-kuma/api/status-page/" + slug, "/compat/uptime-kuma/api/status-page/heartbeat/" + slug, "/compat/gatus/" + slug + "/api/v1/endpoints/statuses"}
}

type kumaBeat struct {
	Status int
	Time   string
	Msg    string
	Ping   any
}

type kumaHeartbeats struct {
	Beats  map[string][]kumaBeat `json:"heartbeatList"`
	Uptime map[string]float64    `json:"uptimeList"`
	Stale  string                `json:"stale_since"`
}

type gatusEndpoint struct {
	Name, Group, Key string
	Results          []struct {
		Duration   any
		Success    bool
		Timestamp  time.Time
		Conditions []struct {
			Condition string
			Success   bool
		} `json:"conditionResults"`
	}
}

// document reads one of JSON that is there.
func document[T any](r *rig, path string, options ...option) (read T) {
	r.Helper()
	got := r.get(path, options...)
	if err := json.Unmarshal(got.Body.Bytes(), &read); err != nil || got.Code != http.StatusOK {
		r.Fatalf("%s: %d %v %s", path, got.Code, err, got.Body)
	}
	return read
}

// said is what the others' documents say of a page's components, by their ids: the last status of
// Kuma's, and what Gatus's condition says, with a ! before it unless that is a success.
func (r *rig) said(slug string) map[string]string {
	r.Helper()
	all := map[string]string{}
	for id, beats := range document[kumaHeartbeats](r, others(slug)[1]).Beats {
		all[id] = fmt.Sprint(beats[len(beats)-1].Status)
	}
	for _, endpoint := range document[[]gatusEndpoint](r, others(slug)[2]) {
		result := endpoint.Results[len(endpoint.Results)-1]
		if result.Success != result.Conditions[0].Success {
			r.Errorf("%s: %+v", endpoint.Name, result)
		}
		if !result.Success {
			all[strings.TrimPrefix(endpoint.Key, "component-")] += " !"
		}
		all[strings.TrimPrefix(endpoint.Key, "component-")] += " " + result.Conditions[0].Condition
	}
	return all
}

// Only what the page shows as up is up elsewhere.
func TestOthersSayUpOfWhatIsUp(t *testing.T) {
	t.Parallel()
	r := newRig(t, testbackend.SQLite(t))
	var all []pagestore.Component
	ids := map[string]int64{}
	for _, name := range []string{"up", "degraded", "down", "no_data", "maintenance"} {
		ids[name] = r.target(name)
		all = append(all, pagestore.Component{Name: name, Rule: pagestore.RuleWorst, Targets: []int64{ids[name]}})
	}
	all = append(all, pagestore.Component{Name: "hotline", Rule: pagestore.RuleManual, State: pagestore.Up})
	r.page(pagestore.Page{Slug: "main", Terms: pagestore.Terms{Title: "Acme", Groups: components(all...)}})
	r.page(pagestore.Page{Slug: "empty", Terms: pagestore.Terms{Title: "Nothing yet"}})
	if _, err := r.windows.Create(t.Context(), "Upgrade", maintenance.Window{Scope: maintenance.Scope{TargetID: ids["maintenance"]}, StartsAt: "2026-03-01T11:00:00", DurationS: 7200}, noon); err != nil {
		t.Fatal(err)
	}
	r.pages.Changed()
	for name, status := range map[string]uptime.Status{"up": uptime.StatusUp, "degraded": uptime.StatusDegraded, "down": uptime.StatusDown, "maintenance": uptime.StatusUp} {
		r.result(ids[name], status)
	}
	want := map[string]string{
		"1": "1 [STATE] (up) == up", "2": "2 ! [STATE] (degraded) == up", "3": "0 ! [STATE] (down) == up", "4": "2 ! [STATE] (no_data) == up", "5": "3 ! [STATE] (maintenance) == up",
		"6": "1 [STATE] (up, by hand) == up",
	}
	if got := r.said("main"); !maps.Equal(got, want) {
		t.Errorf("%q", got)
	}
	r.pass(10 * time.Minute) // nothing is measured: what was up, or down, is not known any more
	want["1"], want["2"], want["3"] = want["4"], want["4"], want["4"]
	if got := r.said("main"); !maps.Equal(got, want) {
		t.Errorf("after ten minutes: %q", got)
	}
	if got := r.said("empty"); len(got) != 0 {
		t.Errorf("%q", got)
	}
	if got := r.get(others("empty")[2]).Body.String(); got != "[]\n" {
		t.Errorf("a page that shows nothing: %s", got)
	}
}

// members lists what a document of JSON has, at any depth, with what is by id under one name.
func members(at string, value any, found map[string]bool) {
	switch value := value.(type) {
	case map[string]any:
		for name, one := range value {
			if at == ".heartbeatList" || at == ".uptimeList" {
				name = "ID" + strings.TrimLeft(name, "0123456789")
			}
			found[at+"."+name] = true
			members(at+"."+name, one, found)
		}
	case []any:
		for _, one := range value {
			members(at+"[]", one, found)
		}
	}
}

// Whatever is known of targets, the documents have these members and no others.
func TestMembersOfOthersDocuments(t *testing.T) {
	t.Parallel()
	r := demo(t, "dark")
	r.clock.Store(time.Date(2026, 3, 3, 3, 0, 0, 0, time.UTC).Unix()) // in the maintenance
	r.result(1, uptime.StatusUp)
	const config, incident, group, slot = ".config", ".incident", ".publicGroupList[]", ".maintenanceList[]"
	for path, want := range map[string][]string{
		others("demo")[0]: {
			config, config + ".slug", config + ".title", config + ".description", config + ".icon", config + ".autoRefreshInterval", config + ".theme", config + ".published", config + ".showTags",
			config + ".customCSS", config + ".footerText", config + ".showPoweredBy", config + ".googleAnalyticsId", config + ".showCertificateExpiry",
			incident, incident + ".id", incident + ".style", incident + ".title", incident + ".content", incident + ".pin", incident + ".active", incident + ".createdDate", incident + ".lastUpdatedDate",
			".publicGroupList", group + ".id", group + ".name", group + ".weight", group + ".monitorList",
			group + ".monitorList[].id", group + ".monitorList[].name", group + ".monitorList[].sendUrl", group + ".monitorList[].type",
			".maintenanceList", slot + ".title", slot + ".description", slot + ".strategy", slot + ".active", slot + ".status", slot + ".timeslotList",
		},
		others("demo")[1]: {
			".heartbeatList", ".heartbeatList.ID", ".heartbeatList.ID[].status", ".heartbeatList.ID[].time", ".heartbeatList.ID[].msg", ".heartbeatList.ID[].ping", ".uptimeList", ".uptimeList.ID_24",
		},
		others("demo")[2]: {
			"[].name", "[].group", "[].key", "[].results", "[].results[].success", "[].results[].duration", "[].results[].timestamp",
			"[].results[].conditionResults", "[].results[].conditionResults[].condition", "[].results[].conditionResults[].success",
		},
	} {
		found := map[string]bool{}
		members("", document[any](r, path), found)
		slices.Sort(want)
		if got := slices.Sorted(maps.Keys(found)); !slices.Equal(got, want) {
			t.Errorf("%s has\n%q\nand not\n%q", path, got, want)
		}
	}
}

type kumaDocument struct {
	Config struct {
		Slug, Title, Description, Icon, Theme string
		Published                             bool
	}
	Incident *struct {
		ID                           int64
		Style, Title, Content        string
		CreatedDate, LastUpdatedDate string
	}
	Groups []struct {
		ID       int64
		Name     string
		Monitors []struct {
			ID   int64
			Name string
			Type string
		} `json:"monitorList"`
	} `json:"publicGroupList"`
	Maintenance []struct{ Title, Status string } `json:"maintenanceList"`
}

// What a page is made of is said as Uptime Kuma does, the newest incident that goes on with it.
func TestKumaPage(t *testing.T) {
	t.Parallel()
	r := demo(t, "dark")
	read := func() string { return fmt.Sprintf("%+v", document[kumaDocument](r, others("demo")[0])) }
	contains(t, read(), "{Slug:demo Title:Acme Status Description:How our services are, measured from outside every minute. Icon:https://pf.example/s/-/icon-down.svg Theme:dark Published:true}",
		"{ID:1 Name:Shop Monitors:[{ID:1 Name:Website Type:group} {ID:2 Name:Checkout Type:group}", "{ID:5 Name:Developers Monitors:[{ID:5 Name:Public API Type:group}", "{ID:7 Name:Support hotline Type:manual}", "Maintenance:[]")
	pinned := document[kumaDocument](r, others("demo")[0]).Incident
	if pinned == nil || fmt.Sprintf("%+v", *pinned) != "{ID:2 Style:danger Title:Payments are failing Content:A provider of ours is down; see their page. We are switching over. CreatedDate:2026-03-01 11:10:00 LastUpdatedDate:2026-03-01 11:40:00}" {
		t.Errorf("%+v", pinned)
	}
	r.post(pagestore.Page{ID: 1}, pagestore.Body{Title: "We move", Kind: pagestore.KindAnnouncement, Updates: update(noon, "Soon.")}, time.Time{})
	if again := document[kumaDocument](r, others("demo")[0]).Incident; again == nil || again.ID != pinned.ID {
		t.Errorf("an announcement hides an incident: %+v", again)
	}
	r.clock.Store(time.Date(2026, 3, 3, 3, 0, 0, 0, time.UTC).Unix())
	r.pages.Changed()
	contains(t, read(), "Maintenance:[{Title:Database upgrade Status:under-maintenance}]")

	id := r.target("shop")
	page := r.page(pagestore.Page{Slug: "quiet", Terms: pagestore.Terms{Title: "x", ShowIncidents: true, Groups: components(pagestore.Component{Name: "Shop", Rule: pagestore.RuleWorst, Targets: []int64{id}})}})
	if got := document[kumaDocument](r, others("quiet")[0]).Incident; got != nil {
		t.Errorf("of nothing that happened: %+v", got)
	}
	r.post(page, pagestore.Body{Title: "We move", Kind: pagestore.KindAnnouncement, Updates: update(noon, "Soon.")}, time.Time{})
	if got := document[kumaDocument](r, others("quiet")[0]).Incident; got == nil || got.Style != "info" || got.Title != "We move" || got.LastUpdatedDate != "" {
		t.Errorf("an announcement: %+v", got)
	}
	if err := r.db.Tx(t.Context(), func(tx *gorm.DB) error {
		_, _, err := r.incidents.Open(t.Context(), tx, incidentstore.Opening{TargetID: id, FirstSlot: noon, Severity: incidentstore.Down, At: noon})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	r.pages.Changed()
	if got := document[kumaDocument](r, others("quiet")[0]).Incident; got == nil || got.ID%2 != 1 || got.Style != "danger" || got.Title != "Shop: down" || got.Content != "Investigating" {
		t.Errorf("what was found: %+v", got)
	}
}

// Ids are those of the page's components, wherever these are moved and whatever they are called.
func TestIdsOfOthersStay(t *testing.T) {
	t.Parallel()
	r := newRig(t, testbackend.SQLite(t))
	one, two := pagestore.Component{Name: "One", Rule: pagestore.RuleManual, State: pagestore.Up}, pagestore.Component{Name: "Two", Rule: pagestore.RuleManual, State: pagestore.Down}
	page := r.page(pagestore.Page{Slug: "main", Terms: pagestore.Terms{Title: "x", Groups: []pagestore.Group{{Name: "A", Components: []pagestore.Component{one}}, {Name: "B", Components: []pagestore.Component{two}}}}})
	r.edit(page, func(terms *pagestore.Terms) {
		slices.Reverse(terms.Groups)
		terms.Groups[0].Name, terms.Groups[0].Components[0].Name = "C", "Three"
		terms.Groups = append(terms.Groups, pagestore.Group{Name: "Nothing"})
	})
	contains(t, fmt.Sprintf("%+v", document[kumaDocument](r, others("main")[0]).Groups), "[{ID:2 Name:C Monitors:[{ID:2 Name:Three Type:manual}]} {ID:1 Name:A Monitors:[{ID:1 Name:One Type:manual}]}]")
	if got := document[kumaHeartbeats](r, others("main")[1]).Beats; got["1"][0].Status != 1 || got["2"][0].Status != 0 {
		t.Errorf("%+v", got)
	}
	if got := document[[]gatusEndpoint](r, others("main")[2]); got[0].Key != "component-2" || got[0].Name != "Three" || got[0].Group != "C" || got[1].Key != "component-1" {
		t.Errorf("%+v", got)
	}
}

// measured has the last day of targets be something else than the days of the calendar, and counts
// how often either is asked for.
func (r *rig) measured(lastDay func(id int64) (availability.Counts, error)) (days, last *atomic.Int32) {
	options, daily := r.pages.Options, r.pages.Daily
	days, last = new(atomic.Int32), new(atomic.Int32)
	options.Daily = func(ctx context.Context, ids []int64, window availability.Span, periods []availability.Period) (map[int64]*availability.Account, error) {
		if window.To.Sub(window.From) > 24*time.Hour {
			days.Add(1)
			return daily(ctx, ids, window, periods)
		}
		last.Add(1)
		if !window.To.Equal(r.now()) || window.To.Sub(window.From) != 24*time.Hour {
			r.Errorf("the last day is %v", window)
		}
		all := map[int64]*availability.Account{}
		for _, id := range ids {
			counts, err := lastDay(id)
			if err != nil {
				return nil, err
			}
			all[id] = availability.NewAccount(availability.Terms{Window: window, Every: availability.NewIntervals(availability.Interval{From: window.From, Every: time.Minute})}, periods)
			all[id].Add(availability.Cell{Span: window, Counts: counts})
		}
		return all, nil
	}
	r.pages = statuspage.New(options)
	return days, last
}

// Beats are the days that the page shows and then how it is now; uptimes are of the last 24 hours.
// What was not measured has none: nothing is made up. Both are as they were read last, which is said,
// while they cannot be read.
func TestKumaHeartbeats(t *testing.T) {
	t.Parallel()
	r := newRig(t, testbackend.SQLite(t))
	site, fresh := r.target("site"), r.target("fresh")
	r.day = func(id int64, n int) availability.Counts {
		switch {
		case id == fresh:
			return availability.Counts{}
		case n == 88:
			return availability.Counts{Up: 1400, Down: 40}
		case n == 87:
			return availability.Counts{Up: 1400, Degraded: 40}
		}
		return availability.Counts{Up: 1440}
	}
	var failing atomic.Bool
	days, last := r.measured(func(id int64) (availability.Counts, error) {
		switch {
		case failing.Load():
			return availability.Counts{}, errAway
		case id == fresh:
			return availability.Counts{}, nil
		}
		return availability.Counts{Up: 1080, Down: 360}, nil
	})
	r.page(pagestore.Page{Slug: "main", Terms: pagestore.Terms{Title: "x", Zone: "Europe/Berlin", Groups: components(
		pagestore.Component{Name: "Site", Rule: pagestore.RuleWorst, Targets: []int64{site}}, pagestore.Component{Name: "Fresh", Rule: pagestore.RuleWorst, Targets: []int64{fresh}},
		pagestore.Component{Name: "Hotline", Rule: pagestore.RuleManual, State: pagestore.Up},
	)}})
	r.result(site, uptime.StatusUp)
	for _, path := range []string{"/s/main", others("main")[0], others("main")[2], others("main")[0]} {
		r.get(path)
	}
	if days.Load() != 1 || last.Load() != 0 {
		t.Errorf("days were read %d times, the last day %d times by who does not ask for it", days.Load(), last.Load())
	}
	read := func() kumaHeartbeats { return document[kumaHeartbeats](r, others("main")[1]) }
	got := read()
	if again := read(); !maps.Equal(again.Uptime, got.Uptime) || days.Load() != 1 || last.Load() != 1 {
		t.Errorf("days were read %d times, the last day %d times", days.Load(), last.Load())
	}
	if want := map[string]float64{"1_24": 0.75}; !maps.Equal(got.Uptime, want) || got.Stale != "" {
		t.Errorf("uptimes %v, %q", got.Uptime, got.Stale)
	}
	if len(got.Beats["1"]) != 91 || len(got.Beats["2"]) != 91 || len(got.Beats["3"]) != 1 {
		t.Fatalf("%d, %d and %d beats", len(got.Beats["1"]), len(got.Beats["2"]), len(got.Beats["3"]))
	}
	for i, want := range map[int]kumaBeat{86: {Status: 1, Time: "2026-02-25 23:00:00.000"}, 87: {Status: 2, Time: "2026-02-26 23:00:00.000"}, 88: {Status: 0, Time: "2026-02-27 23:00:00.000"}, 89: {Status: 1, Time: "2026-02-28 23:00:00.000"}, 90: {Status: 1, Time: "2026-03-01 12:00:00.000"}} {
		if got.Beats["1"][i] != want {
			t.Errorf("beat %d: %+v, want %+v", i, got.Beats["1"][i], want)
		}
	}
	if i := slices.IndexFunc(got.Beats["2"], func(beat kumaBeat) bool { return beat.Status != 2 }); i >= 0 {
		t.Errorf("nothing was ever measured, and beat %d is %+v", i, got.Beats["2"][i])
	}

	failing.Store(true)
	r.pass(time.Minute)
	if stale := read(); !maps.Equal(stale.Uptime, got.Uptime) || stale.Stale != "2026-03-01T12:00:00.000Z" {
		t.Errorf("while the last day alone cannot be read: %v, stale since %q", stale.Uptime, stale.Stale)
	}
	r.historyFails(errAway)
	r.pass(time.Hour)
	stale := read()
	if !maps.Equal(stale.Uptime, got.Uptime) || len(stale.Beats["1"]) != 91 || stale.Stale != "2026-03-01T12:00:00.000Z" || stale.Beats["1"][90].Status != 2 {
		t.Errorf("while ClickHouse is away: %v, %d beats, stale since %q, now %+v", stale.Uptime, len(stale.Beats["1"]), stale.Stale, stale.Beats["1"][90])
	}
}

// Whoever comes first waits for the days and the last day at once, not for one after the other.
func TestOthersWaitOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		page := pagestore.Page{ID: 1, Slug: "main", Terms: pagestore.Terms{Title: "Acme", Groups: components(pagestore.Component{ID: 1, Name: "Site", Rule: pagestore.RuleWorst, Targets: []int64{1}})}}
		options := inMemory(&shelved{page: page}).Options
		options.Daily = func(ctx context.Context, _ []int64, _ availability.Span, _ []availability.Period) (map[int64]*availability.Account, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		pages, begun, answer := statuspage.New(options), time.Now(), httptest.NewRecorder()
		pages.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, others("main")[1], nil))
		if took := time.Since(begun); took != 5*time.Second || answer.Code != http.StatusOK {
			t.Errorf("%d after %v: %s", answer.Code, took, answer.Body)
		}
		contains(t, answer.Body.String(), `"uptimeList":{}`, `{"status":2,`, `!"status":1`)
		time.Sleep(20 * time.Second) // both tries end
	})
}

// The others' documents are for whom the page is, and are handed out as its own are.
func TestWhoMaySeeOthersDocuments(t *testing.T) {
	t.Parallel()
	r := newRig(t, testbackend.SQLite(t))
	hash, err := cheap.Hash(t.Context(), "open sesame")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.store.Create(t.Context(), pagestore.Page{Slug: "draft"}, noon); err != nil {
		t.Fatal(err)
	}
	r.page(pagestore.Page{Slug: "main", Host: "status.example.com", Terms: pagestore.Terms{Title: "Acme"}})
	r.page(pagestore.Page{Slug: "locked", Terms: pagestore.Terms{Title: "Locked", PasswordHash: hash}})
	r.page(pagestore.Page{Slug: "office", Terms: pagestore.Terms{Title: "Office", Allow: []string{"198.51.100.0/24"}}})
	inside := func(r *http.Request) { r.RemoteAddr = "198.51.100.7:1" }
	request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/s/locked", strings.NewReader(url.Values{"password": {"open sesame"}}.Encode()))
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	entered := httptest.NewRecorder()
	r.pages.ServeHTTP(entered, request)
	cookie, _, _ := strings.Cut(entered.Header().Get("Set-Cookie"), ";")

	for i, document := range []string{"status-page", "heartbeat", "statuses"} {
		for _, c := range []struct {
			slug    string
			want    int
			says    string // what must not be in it after a !
			options []option
		}{
			{"main", 200, "", nil},
			{"main", 200, "", []option{method(http.MethodHead)}},
			{"main", 405, "!Acme", []option{method(http.MethodPost)}},
			{"main", 200, "", []option{host("status.example.com")}},
			{"locked", 404, "There is no such page", []option{host("status.example.com")}}, // nothing but its page is on a page's own host
			{"draft", 404, "There is no such page", nil},
			{"nobody", 404, "There is no such page", nil},
			{"-", 404, "There is no such page", nil},
			{"locked", 401, "!Locked", nil},
			{"locked", 401, "!Locked", []option{method(http.MethodPost)}},
			{"locked", 401, "!Locked", []option{header("Cookie", cookie+"0")}},
			{"locked", 200, "", []option{header("Cookie", cookie)}},
			{"office", 403, "!Office", nil},
			{"office", 403, "!Office", []option{header("X-Forwarded-For", "198.51.100.7")}},
			{"office", 200, "", []option{inside}},
		} {
			path := others(c.slug)[i]
			got := r.get(path, c.options...)
			if got.Code != c.want {
				t.Errorf("%s: %d %s, want %d", path, got.Code, got.Body, c.want)
			}
			contains(t, got.Body.String(), c.says)
			if c.want != http.StatusOK {
				continue
			}
			own := r.get("/s/"+c.slug+"/api/v2/summary.json", c.options...)
			for _, name := range []string{"Content-Type", "Cache-Control", "Access-Control-Allow-Origin", "Content-Security-Policy", "X-Content-Type-Options", "Vary"} {
				if got.Header().Get(name) != own.Header().Get(name) {
					t.Errorf("%s: %s is %q, and %q of the page's summary", path, name, got.Header().Get(name), own.Header().Get(name))
				}
			}
		}
		known := r.get(others("main")[i]).Header().Get("ETag")
		if got := r.get(others("main")[i], header("If-None-Match", known)); known == "" || got.Code != http.StatusNotModified {
			t.Errorf("%s: %d for who knows %q", document, got.Code, known)
		}
	}
	for _, path := range []string{"/compat/", "/compat/x", "/compat/gatus/main", "/compat/gatus/main/api/v1/endpoints", "/compat/uptime-kuma/api/status-page/main/manifest.json", "/compat/uptime-kuma/api/status-page/", "/s/main/compat/gatus/main/api/v1/endpoints/statuses", "/s/main/uptime-kuma%20heartbeat"} {
		if got := r.get(path); got.Code != http.StatusNotFound || strings.Contains(got.Body.String(), "the dashboard") {
			t.Errorf("%s: %d %s", path, got.Code, got.Body)
		}
	}
	if got := r.get("/compatible"); got.Body.String() != "the dashboard" {
		t.Errorf("%d %s", got.Code, got.Body)
	}
}

// The whole API in front of them takes nothing away, nor asks who it is.
func TestOthersDocumentsNeedNoAccount(t *testing.T) {
	t.Parallel()
	r := newRig(t, testbackend.SQLite(t))
	r.page(pagestore.Page{Slug: "main", Terms: pagestore.Terms{Title: "Acme"}})
	api := r.api()
	for _, path := range others("main") {
		if got := r.ask(api, path); got.Code != http.StatusOK || got.Header().Get("Content-Type") != "application/json; charset=utf-8" {
			t.Errorf("%s: %d %v", path, got.Code, got.Header())
		}
	}
}

// When nothing could be read yet there is no document that says that nothing is wrong.
func TestOthersUnreadable(t *testing.T) {
	t.Parallel()
	r := newRig(t, testbackend.SQLite(t))
	if err := r.db.Close(); err != nil {
		t.Fatal(err)
	}
	for _, path := range others("main") {
		if got := r.get(path); got.Code != http.StatusServiceUnavailable || got.Header().Get("Retry-After") == "" {
			t.Errorf("%s: %d %s", path, got.Code, got.Body)
		}
	}
}

// Names that are made to break out of what holds them are text of JSON, and nothing a browser
// would take for a page.
func TestOthersTakeNamesAsText(t *testing.T) {
	t.Parallel()
	r := hostile(t)
	var want string
	for _, component := range document[struct{ Components []struct{ Name string } }](r, "/s/hostile/api/v2/components.json").Components {
		want = component.Name
	}
	if !strings.Contains(want, "<script>") {
		t.Fatalf("it is called %q", want)
	}
	for _, path := range others("hostile") {
		got := r.get(path)
		contains(t, got.Body.String(), "!<", "!>", "!&")
		if !json.Valid(got.Body.Bytes()) || got.Header().Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %v %s", path, got.Header(), got.Body)
		}
	}
	page, endpoints := document[kumaDocument](r, others("hostile")[0]), document[[]gatusEndpoint](r, others("hostile")[2])
	if page.Groups[0].Monitors[0].Name != want || page.Config.Title != want || page.Incident.Title != want || endpoints[0].Name != want {
		t.Errorf("%+v, %+v", page, endpoints)
	}
}
