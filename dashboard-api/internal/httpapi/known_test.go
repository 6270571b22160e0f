package httpapi

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"github.com/probefleet/probefleet/dashboard-api/internal/live"
	"github.com/probefleet/probefleet/internal/asknown"
	"github.com/probefleet/probefleet/internal/availability"
	"github.com/probefleet/probefleet/internal/incidentstore"
	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/schedulestore"
	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/internal/verdict"
	"github.com/probefleet/probefleet/migrations"
)

// pastBench is a bench on a real ClickHouse whose target, checked each minute from two regions,
// is three hours old. It was down from its 30th to its 26th last minute.
type pastBench struct {
	*bench
	store       *resultstore.Store
	corrections *alsoCorrected
	target      targetJSON
	slot        time.Time // the newest
	incident    int64
}

func newPastBench(t *testing.T) *pastBench {
	t.Helper()
	address := testbackend.ClickHouse(t)
	if err := migrations.UpClickHouse(t.Context(), address, nil); err != nil {
		t.Fatal(err)
	}
	store, err := resultstore.Open(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	p := &pastBench{store: store, corrections: &alsoCorrected{store, map[int64][]availability.Correction{}}}
	p.bench = newBenchOn(t, testbackend.SQLite(t), func(_ *bench, o *Options) {
		o.Results, o.History, o.Corrections = store, store, p.corrections
	})
	p.now = time.Now().UTC()
	p.target = p.create(`{"url":"https://example.com/","interval_s":60,"timeout_ms":5000}`)
	schedules := schedulestore.New(p.db)
	for _, region := range []string{"eu", "us"} {
		if _, err := schedules.AddRegion(t.Context(), region); err != nil {
			t.Fatal(err)
		}
	}
	born := p.now.Add(-3 * time.Hour)
	for _, table := range []string{"targets", "schedule_versions", "region_versions"} {
		if err := p.db.Write().Exec("UPDATE "+table+" SET created_at_ms = ?", born.UnixMilli()).Error; err != nil {
			t.Fatal(err)
		}
	}
	p.slot = p.now.Truncate(time.Minute).Add(-time.Minute)
	p.hub.SetRegions([]string{"eu", "us"}, nil)
	var rows []uptime.Result
	for minute := -60; minute <= 0; minute++ {
		for _, region := range []string{"eu", "us"} {
			if minute != -28 || region != "us" { // which comes much later
				rows = append(rows, p.row(minute, region, minute >= -30 && minute < -25))
			}
		}
	}
	p.insert(rows...)
	p.incident = p.openIncident(incidentstore.Opening{
		TargetID: p.target.ID, FirstSlot: p.minute(-30), Severity: incidentstore.Down, Subject: incidentstore.Subject{Name: "example"},
		Cause: incidentstore.Cause{Explanation: "Down in 2 of 2 regions.", Regions: []string{"eu", "us"}}, At: p.minute(-30).Add(3 * time.Second),
	})
	err = p.db.Tx(t.Context(), func(tx *gorm.DB) error {
		_, err := p.incidents.Resolve(t.Context(), tx, p.incident, p.minute(-25).Add(2*time.Second), "Up again.")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *pastBench) minute(n int) time.Time { return p.slot.Add(time.Duration(n) * time.Minute) }

func (p *pastBench) row(minute int, region string, down bool) uptime.Result {
	at := p.minute(minute)
	r := uptime.Result{TargetID: p.target.ID, Region: region, ScheduledAt: at, CheckedAt: at, Status: uptime.StatusUp, HTTPStatus: 200, TotalUS: 1500, Attempt: 1, Prober: "p", IngestedAt: at.Add(time.Second)}
	if down {
		r.Status, r.Failure, r.HTTPStatus = uptime.StatusDown, uptime.FailureConnectTimeout, 0
	}
	return r
}

func (p *pastBench) insert(rows ...uptime.Result) {
	p.Helper()
	p.hub.Apply(rows)
	if err := p.store.Insert(p.Context(), resultstore.Batch{Token: uuid.Must(uuid.NewV7()).String(), Prober: "p", Region: "eu", Attempt: 1, Rows: rows}); err != nil {
		p.Fatal(err)
	}
}

// slotJSON is a slot as it was known.
type slotJSON struct {
	At   time.Time
	Rows []rowJSON
}

type rowJSON struct {
	Region  string
	Known   bool
	Status  string
	LaterAt *time.Time `json:"later_at"`
}

// pastJSON is a target as it was known.
type pastJSON struct {
	At           time.Time
	State        string
	Since        *time.Time
	Why          string
	Basis        string
	LastResultAt *time.Time `json:"last_result_at"`
	FreshUntil   *time.Time `json:"fresh_until"`
	RegionStates []struct {
		Region      string
		Status      string
		ScheduledAt time.Time `json:"scheduled_at"`
		TotalUS     uint32    `json:"total_us"`
		Fresh       bool
	} `json:"region_states"`
	Slots      []slotJSON
	Maintained []live.Stretch
	Incidents  []struct {
		ID         int64
		State      string
		Severity   string
		ResolvedAt *time.Time `json:"resolved_at"`
		DurationS  int64      `json:"duration_s"`
	}
	Target struct{ Active bool }
	Limits []struct{ Code string }
}

func (p *pastBench) at(at time.Time) (got pastJSON) {
	p.Helper()
	answer := p.do("GET", fmt.Sprintf("/api/v1/targets/%d/known?at=%s", p.target.ID, url.QueryEscape(at.Format(time.RFC3339Nano))), "", as(viewerKey))
	if answer.Code != http.StatusOK {
		p.Fatalf("%d %s", answer.Code, answer.text)
	}
	answer.into(p, &got)
	return got
}

// learned is an answer without what it marks as learned later.
func (got pastJSON) learned() string {
	text := fmt.Sprint(got.State, got.Since, got.Why, got.Basis, got.LastResultAt, got.FreshUntil, got.RegionStates, got.Target)
	for _, s := range got.Slots {
		for _, r := range s.Rows {
			if r.Known {
				text += fmt.Sprint("\n", s.At, r.Region, r.Status)
			}
		}
	}
	for _, i := range got.Incidents {
		text += fmt.Sprint("\n", i.ID, i.State, i.Severity, i.ResolvedAt, i.DurationS)
	}
	return text
}

func TestWhatIsLearnedLaterChangesNoPast(t *testing.T) {
	t.Parallel()
	p := newPastBench(t)
	then := p.minute(-27).Add(30 * time.Second)
	before, now := p.at(then), p.at(p.now)
	if before.State != "down" || before.Since == nil || !before.Since.Equal(p.minute(-30)) || before.Basis != "results" || !strings.Contains(before.Why, "Down in 2 of 2 regions") {
		t.Errorf("then: %+v", before)
	}
	if len(before.Incidents) != 1 || before.Incidents[0].State != "open" || before.Incidents[0].ResolvedAt != nil || before.Incidents[0].DurationS != 210 {
		t.Errorf("incidents then: %+v", before.Incidents)
	}
	if now.State != "up" || len(now.Incidents) != 1 || now.Incidents[0].State != "resolved" || now.Since == nil || !now.Since.Equal(p.minute(-25)) {
		t.Errorf("now: %+v", now)
	}
	if first := p.at(p.minute(-30).Add(2 * time.Second)); first.State != "down" || len(first.Incidents) != 0 {
		t.Errorf("before the decision: %s, %+v", first.State, first.Incidents)
	}

	came := p.minute(-5)
	late, corrected := p.row(-28, "us", true), p.row(-29, "eu", false)
	late.IngestedAt, corrected.IngestedAt = came, came
	p.insert(late, corrected)
	if patched := p.do("PATCH", fmt.Sprintf("/api/v1/targets/%d", p.target.ID), `{"active":false}`, as(editorKey)); patched.Code != http.StatusOK {
		t.Fatal(patched.text)
	}

	again := p.at(then)
	if again.learned() != before.learned() {
		t.Errorf("what was known then changed:\n%s\nwas\n%s", again.learned(), before.learned())
	}
	if !slices.ContainsFunc(again.Limits, func(l struct{ Code string }) bool { return l.Code == "target_changed" }) || !again.Target.Active {
		t.Errorf("limits %+v, %+v", again.Limits, again.Target)
	}
	row := func(got pastJSON, minute int, region string) string {
		for _, s := range got.Slots {
			for _, r := range s.Rows {
				if s.At.Equal(p.minute(minute)) && r.Region == region {
					return fmt.Sprint(r.Known, r.Status, r.LaterAt != nil && r.LaterAt.Sub(came).Abs() < 2*time.Millisecond)
				}
			}
		}
		return "none"
	}
	for want, got := range map[string]string{
		"known then, revised later": row(again, -29, "eu"), "not known then": row(again, -28, "us"), "revised": row(p.at(came), -29, "eu"), "there": row(p.at(came), -28, "us"), "just before": row(p.at(came.Add(-2*time.Millisecond)), -28, "us"),
	} {
		is := map[string]string{"known then, revised later": "true down true", "not known then": "false  true", "revised": "true up false", "there": "true down false", "just before": "false  true"}[want]
		if strings.ReplaceAll(got, " ", "") != strings.ReplaceAll(is, " ", "") {
			t.Errorf("%s: %q, want %q", want, got, is)
		}
	}
	p.now = time.Now().UTC()
	if paused := p.at(p.now); paused.State != "paused" || paused.Since == nil || time.Since(*paused.Since) > hang {
		t.Errorf("paused now: %+v", paused)
	}
}

func TestWhatIsKnownNowIsWhatIsLive(t *testing.T) {
	t.Parallel()
	p := newPastBench(t)
	p.insert(p.row(1, "eu", true)) // one region fails: degraded
	p.now = p.minute(1).Add(2 * time.Second)
	<-time.After(time.Until(p.now)) // a minute may have begun just now
	known := p.at(p.minute(1).Add(time.Second))
	for _, item := range p.hub.Snapshot().Items {
		if known.State != string(item.State) || known.Why != item.Why || !known.LastResultAt.Equal(*item.LastResultAt) || !known.FreshUntil.Equal(*item.FreshUntil) || len(known.RegionStates) != len(item.RegionStates) {
			t.Errorf("known %+v\nlive %+v", known, item)
		}
		for i, r := range item.RegionStates {
			if k := known.RegionStates[i]; k.Region != r.Region || k.Status != r.Status.String() || !k.ScheduledAt.Equal(r.ScheduledAt) || k.TotalUS != r.TotalUS || k.Fresh != r.Fresh {
				t.Errorf("known %+v, live %+v", k, r)
			}
		}
	}
	if known.State != "degraded" {
		t.Errorf("%+v", known)
	}
}

func TestWhatCannotBeToldOfATarget(t *testing.T) {
	t.Parallel()
	at := testNow
	for name, c := range map[string]struct {
		lost, decided bool
		after         time.Duration
		want          string
	}{
		"nothing":                 {after: time.Hour, want: "results []"},
		"lost":                    {lost: true, after: time.Hour, want: "results [rows_lost]"},
		"lost, and decided":       {lost: true, decided: true, after: time.Hour, want: "incident [rows_lost]"},
		"counting, and decided":   {decided: true, after: time.Hour, want: "incident [counted]"},
		"rows are on their way":   {after: 3*time.Minute - time.Millisecond, want: "results [unsettled]"},
		"all of them are there":   {after: 3 * time.Minute, want: "results []"},
		"asked by a slower clock": {after: -time.Second, want: "results [unsettled]"},
	} {
		p := pastTarget{rules: verdict.Rules{Interval: time.Minute}, since: at.Add(-2 * time.Hour), Told: asknown.Told{Lost: c.lost, Decided: c.decided}}
		body := knownTargetOf(p, at, at.Add(c.after))
		var codes []string
		for _, l := range body.Limits {
			codes = append(codes, l.Code)
		}
		if got := fmt.Sprint(body.Basis, " ", codes); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestInstantsThatCannotBeTold(t *testing.T) {
	t.Parallel()
	p := newPastBench(t)
	path := fmt.Sprintf("/api/v1/targets/%d/known?at=", p.target.ID)
	ask := func(at string) Problem { return p.do("GET", path+url.QueryEscape(at), "", as(viewerKey)).problem(t) }
	for at, want := range map[string]string{
		p.now.Add(time.Minute).Format(time.RFC3339):    "in the future",
		p.now.Add(-4 * time.Hour).Format(time.RFC3339): "there was no such target yet: the first instant that can be told is " + stamp(p.now.Add(-3*time.Hour)),
		"yesterday": "", "": "",
	} {
		if got := ask(at); got.Status != http.StatusUnprocessableEntity || len(got.Errors) != 1 || !strings.Contains(got.Errors[0].Message, want) {
			t.Errorf("%q: %+v", at, got)
		}
	}
	if err := p.db.Write().Exec("UPDATE targets SET created_at_ms = 0").Error; err != nil {
		t.Fatal(err)
	}
	first := stamp(p.store.KeptSince().Add(12 * time.Minute)) // what is kept moves on while this is asked
	if got := ask(p.now.Add(-60 * 24 * time.Hour).Format(time.RFC3339)); !strings.Contains(got.Errors[0].Message, "not kept any more") {
		t.Errorf("before what is kept: %+v, first %s", got, first)
	}
	if got := p.do("GET", path+url.QueryEscape(first), "", as(viewerKey)); got.Code != http.StatusOK || !strings.Contains(got.text, `"slots_cut"`) || !strings.Contains(got.text, `"state":"no_data"`) {
		t.Errorf("the first instant: %d %s", got.Code, got.text)
	}
	if got := p.do("GET", "/api/v1/targets/4711/known?at=2026-01-01T00:00:00Z", "", as(viewerKey)); got.Code != http.StatusNotFound {
		t.Errorf("%d", got.Code)
	}
}

func TestPageAsKnown(t *testing.T) {
	t.Parallel()
	p := newPastBench(t)
	now := p.now
	p.now = p.minute(-50)
	page := p.do("POST", "/api/v1/status-pages", fmt.Sprintf(`{"slug":"a","title":"Acme","published":true,"show_incidents":true,
 "groups":[{"name":"Web","components":[{"name":"Site","target_ids":[%d]},{"name":"By hand","rule":"manual","state":"up"}]}]}`, p.target.ID), as(editorKey)).Header().Get("Location")
	p.now = p.minute(-29)
	post := p.do("POST", page+"/posts", `{"title":"Outage","text":"We **look**."}`, as(editorKey)).Header().Get("Location")
	p.now = p.minute(-20)
	if got := p.do("POST", post+"/updates", `{"state":"resolved","text":"Over."}`, as(editorKey)); got.Code != http.StatusOK && got.Code != http.StatusCreated {
		t.Fatalf("%d %s", got.Code, got.text)
	}
	window := fmt.Sprintf(`{"name":"Move","target_id":%d,"starts_at":%q,"duration_s":600}`, p.target.ID, now.Add(time.Hour).Format("2006-01-02T15:04:05"))
	if got := p.do("POST", "/api/v1/maintenance-windows", window, as(editorKey)); got.Code != http.StatusCreated {
		t.Fatalf("%d %s", got.Code, got.text)
	}
	p.now = now
	type pageJSON struct {
		State  string
		Groups []struct {
			State      string
			Components []struct {
				Name, State string
				Days        []struct{ State string }
			}
		}
		Events []struct {
			ID, State string
			BegunAt   time.Time `json:"begun_at"`
			Updates   []struct{ Text string }
		}
		Maintenance []struct{ Name string }
		Limits      []struct{ Code string }
	}
	at := func(at time.Time) (got pageJSON) {
		t.Helper()
		answer := p.do("GET", page+"/known?at="+url.QueryEscape(at.Format(time.RFC3339Nano)), "", as(viewerKey))
		if answer.Code != http.StatusOK {
			t.Fatalf("%d %s", answer.Code, answer.text)
		}
		answer.into(t, &got)
		return got
	}
	then := p.minute(-27).Add(30 * time.Second)
	outage := at(then)
	if site := outage.Groups[0].Components[0]; outage.State != "down" || site.State != "down" || len(site.Days) != 90 || site.Days[89].State != "down" || len(outage.Maintenance) != 0 {
		t.Errorf("in the outage: %+v", outage)
	}
	if len(outage.Events) != 2 || outage.Events[0].State != "investigating" || len(outage.Events[0].Updates) != 1 || outage.Events[0].Updates[0].Text != "We look." || !strings.HasPrefix(outage.Events[1].ID, "incident-") || outage.Events[1].State != "investigating" {
		t.Errorf("events in the outage: %+v", outage.Events)
	}
	number := strings.TrimPrefix(outage.Events[1].ID, "incident-")
	var incident struct {
		BeganAt  time.Time `json:"began_at"`
		OpenedAt time.Time `json:"opened_at"`
	}
	if p.do("GET", "/api/v1/incidents/"+number, "", as(viewerKey)).into(t, &incident); !outage.Events[1].BegunAt.Equal(incident.BeganAt) || !incident.BeganAt.Before(incident.OpenedAt) {
		t.Errorf("the page says that it began at %v, the dashboard at %v, found at %v", outage.Events[1].BegunAt, incident.BeganAt, incident.OpenedAt)
	}
	if quiet := at(p.minute(-31)); quiet.State != "up" || len(quiet.Events) != 0 || quiet.Groups[0].Components[0].Days[89].State != "up" {
		t.Errorf("before: %+v", quiet)
	}
	after := at(now)
	if after.State != "up" || len(after.Events) != 2 || after.Events[0].State != "resolved" || len(after.Events[0].Updates) != 2 || after.Events[1].State != "resolved" || len(after.Maintenance) != 1 || fmt.Sprint(after.Limits) != "[{unsettled}]" {
		t.Errorf("now: %+v", after)
	}

	if got := p.do("PATCH", post, `{"title":"A small outage"}`, as(editorKey)); got.Code != http.StatusOK {
		t.Fatal(got.text)
	}
	if got := p.do("PATCH", page, `{"title":"Acme Ltd"}`, as(editorKey)); got.Code != http.StatusOK {
		t.Fatal(got.text)
	}
	p.insert(func() uptime.Result { r := p.row(-28, "us", false); r.IngestedAt = p.minute(-5); return r }())
	changed := at(then)
	var limits []string
	for _, l := range changed.Limits {
		limits = append(limits, l.Code)
	}
	if changed.State != "down" || fmt.Sprint(changed.Events) != fmt.Sprint(outage.Events) || !slices.Equal(limits, []string{"rows_lost", "page_changed", "posts_edited"}) {
		t.Errorf("after changes: %+v, limits %v", changed, limits)
	}
	if got := p.do("GET", page+"/known?at="+url.QueryEscape(p.minute(-51).Format(time.RFC3339)), "", as(viewerKey)).problem(t); !strings.Contains(got.Errors[0].Message, "there was no such page yet") {
		t.Errorf("before the page: %+v", got)
	}
}
