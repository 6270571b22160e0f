package httpapi

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/availability"
	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/uptime"
)

// quarterOf is a cell of the quarter hour that begins at an instant.
func quarterOf(id int64, region, from string, c availability.Counts) fakeCell {
	at, err := time.Parse(time.RFC3339, from)
	if err != nil {
		panic(err)
	}
	return fakeCell{id, region, availability.Cell{Span: availability.Span{From: at, To: at.Add(availability.Quarter)}, Counts: c}}
}

func span(from, to string) availability.Span {
	return availability.Span{From: quarterOf(0, "", from, availability.Counts{}).From, To: quarterOf(0, "", to, availability.Counts{}).From}
}

// troubled is a target with two days of history in February, and what happened to it.
func troubled(b *bench) {
	b.create(`{"name":"=cmd()","url":"https://example.com/","interval_s":300}`)
	b.results.cells = []fakeCell{
		quarterOf(1, "eu", "2026-02-09T18:00:00Z", availability.Counts{Up: 3}),
		quarterOf(1, "us", "2026-02-09T18:00:00Z", availability.Counts{Up: 3}),
		quarterOf(1, "", "2026-02-09T18:00:00Z", availability.Counts{Up: 3}),
		quarterOf(1, "eu", "2026-02-09T18:15:00Z", availability.Counts{Down: 2, Up: 1}), // the 10th, in Kathmandu
		quarterOf(1, "us", "2026-02-09T18:15:00Z", availability.Counts{Down: 2, Missed: 1}),
		quarterOf(1, "", "2026-02-09T18:15:00Z", availability.Counts{Down: 2, Up: 1}),
		quarterOf(1, "eu", "2026-02-09T20:00:00Z", availability.Counts{Down: 3}), // maintained
		quarterOf(1, "us", "2026-02-09T20:00:00Z", availability.Counts{Down: 3}),
		quarterOf(1, "", "2026-02-09T20:00:00Z", availability.Counts{Down: 3}),
	}
	b.past.maintenance = map[int64]availability.Spans{1: availability.NewSpans(span("2026-02-09T19:55:00Z", "2026-02-09T20:20:00Z"))}
	b.past.corrections = map[int64][]availability.Correction{1: {
		{Region: "us", Hour: quarterOf(0, "", "2026-02-09T18:00:00Z", availability.Counts{}).From, RevisedAt: testNow.Add(-time.Hour), Old: availability.Counts{Down: 3}, New: availability.Counts{Down: 2, Missed: 1}},
		{Region: "", Hour: quarterOf(0, "", "2026-02-09T18:00:00Z", availability.Counts{}).From, RevisedAt: testNow.Add(-2 * time.Hour), Old: availability.Counts{Down: 3}, New: availability.Counts{Down: 2, Up: 1}},
	}}
}

func TestUptimeByDaysOfAZone(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	troubled(b)
	got := b.do("GET", "/api/v1/targets/1/uptime?from=2026-02-08T18:15:00Z&to=2026-02-10T00:00:00Z&zone=Asia/Kathmandu&by=day", "", as(viewerKey))
	const (
		none  = `{"up":0,"degraded":0,"down":0,"unknown":0,"missed":0,"planned":0,"uptime":null,"coverage":null,"low":null,"high":null,"uptime_percent":null,"checks":0,"excluded":0,"downtime_minutes":0,"revised_at":null}`
		fine  = `"up":3,"degraded":0,"down":0,"unknown":0,"missed":0,"planned":3,"uptime":1,"coverage":1,"low":1,"high":1,"uptime_percent":"100.000","checks":3,"excluded":0,"downtime_minutes":0,"revised_at":`
		bad   = `"up":1,"degraded":0,"down":2,"unknown":0,"missed":0,"planned":3,"uptime":0.3333333333333333,"coverage":1,"low":0.3333333333333333,"high":0.3333333333333333,"uptime_percent":"33.333","checks":3,"excluded":3,"downtime_minutes":10,"revised_at":`
		badUS = `"up":0,"degraded":0,"down":2,"unknown":0,"missed":1,"planned":3,"uptime":0,"coverage":0.6666666666666666,"low":0,"high":0.3333333333333333,"uptime_percent":"0.000","checks":2,"excluded":3,"downtime_minutes":10,"revised_at":"2026-03-01T11:00:00.000Z"}`
		whole = `"up":4,"degraded":0,"down":2,"unknown":0,"missed":0,"planned":6,"uptime":0.6666666666666666,"coverage":1,"low":0.6666666666666666,"high":0.6666666666666666,"uptime_percent":"66.666","checks":6,"excluded":3,"downtime_minutes":10,"revised_at":`
	)
	want := `{"from":"2026-02-08T18:15:00.000Z","to":"2026-02-10T00:00:00.000Z",` +
		`"up":7,"degraded":0,"down":4,"unknown":0,"missed":1,"planned":12,"uptime":0.6363636363636364,"coverage":0.9166666666666666,"low":0.5833333333333334,"high":0.6666666666666666,"uptime_percent":"63.636","checks":11,"excluded":6,"downtime_minutes":10,"revised_at":"2026-03-01T11:00:00.000Z",` +
		`"zone":"Asia/Kathmandu","by":"day","folded":{` + whole + `"2026-03-01T10:00:00.000Z"},"regions":[{"region":"eu",` + whole + `null},` +
		`{"region":"us","up":3,"degraded":0,"down":2,"unknown":0,"missed":1,"planned":6,"uptime":0.6,"coverage":0.8333333333333334,"low":0.5,"high":0.6666666666666666,"uptime_percent":"60.000","checks":5,"excluded":3,"downtime_minutes":10,"revised_at":"2026-03-01T11:00:00.000Z"}],"periods":[` +
		`{"name":"2026-02-09","from":"2026-02-08T18:15:00.000Z","to":"2026-02-09T18:15:00.000Z","partial":false,"state":"up","folded":{` + fine + `"2026-03-01T10:00:00.000Z"},"regions":[{"region":"eu",` + fine + `null},{"region":"us",` + fine + `"2026-03-01T11:00:00.000Z"}]},` +
		`{"name":"2026-02-10","from":"2026-02-09T18:15:00.000Z","to":"2026-02-10T00:00:00.000Z","partial":true,"state":"down","folded":{` + bad + `"2026-03-01T10:00:00.000Z"},"regions":[{"region":"eu",` + bad + `null},{"region":"us",` + badUS + `]}]}`
	if text := strings.TrimSpace(got.text); text != want {
		t.Errorf("%d\n%s, want\n%s", got.Code, text, want)
	}
	var cuts []string
	for _, cut := range b.results.cuts[0] {
		cuts = append(cuts, cut.Format("02T15:04"))
	}
	if !slices.Equal(cuts, []string{"09T18:15", "09T19:55", "09T20:20"}) {
		t.Errorf("counts were asked for with cuts at %v", cuts)
	}
	empty := b.do("GET", "/api/v1/targets/1/uptime?from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z&by=day", "", as(viewerKey))
	if want := `"state":"no_data","folded":` + none; empty.Code != 200 || !strings.Contains(empty.text, want) {
		t.Errorf("a day without anything: %s", empty.text)
	}
}

// A job that is due on weekdays and failed on a Tuesday was down until Wednesday, not for as
// long as a weekend.
func TestDowntimeByCronIsUntilTheNextSlot(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.create(`{"url":"heartbeat://backup","heartbeat":{"cron":"30 2 * * 1-5","grace_s":600}}`)
	for _, at := range []string{"2026-02-03T02:30:00Z", "2026-02-06T02:30:00Z"} { // a Tuesday and a Friday
		for _, region := range []string{"", "push"} {
			b.results.cells = append(b.results.cells, quarterOf(1, region, at, availability.Counts{Down: 1}))
		}
	}
	for query, want := range map[string]string{"from=2026-02-02T00:00:00Z&to=2026-02-05T00:00:00Z": "1440", "from=2026-02-02T00:00:00Z&to=2026-02-28T00:00:00Z": "5760"} {
		got := b.do("GET", "/api/v1/targets/1/uptime?"+query, "", as(viewerKey))
		if want := `"downtime_minutes":` + want + `,`; strings.Count(got.text, want) != 3 {
			t.Errorf("%s: %d %s, want %s", query, got.Code, got.text, want)
		}
	}
	if got := b.do("GET", "/api/v1/reports/2026-02", "", as(viewerKey)); !strings.Contains(got.text, `"downtime_minutes":5760,`) || !strings.Contains(got.text, `"down_slots":2,"downtime_minutes":5760}`) {
		t.Errorf("report: %d %s", got.Code, got.text)
	}
}

func TestUptimeQuestionsThatAreRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.create(`{"url":"https://example.com/"}`)
	for query, want := range map[string]string{
		"zone=Europe/Nowhere":             "422 unknown_zone",
		"zone=Local":                      "422 unknown_zone",
		"zone=../passwd":                  "422 unknown_zone",
		"zone=" + strings.Repeat("x", 65): "422 invalid_parameter",
		"by=week":                         "422 invalid_parameter",
		"from=2020-01-01T00:00:00Z":       "422 invalid_range",
		"by=day&from=2024-01-01T00:00:00Z&to=2025-02-06T00:00:00Z":   "422 invalid_range",
		"by=day&from=2024-01-01T00:00:00Z&to=2025-02-04T00:00:00Z":   "200",
		"by=month&from=2021-03-01T00:00:00Z&to=2026-03-01T00:00:00Z": "200",
		"zone=America/St_Johns&by=month":                             "200",
		"from=2026-02-01T00:00:00.000000001Z":                        "200",
	} {
		got := b.do("GET", "/api/v1/targets/1/uptime?"+query, "", as(viewerKey))
		said := fmt.Sprint(got.Code)
		if got.Code != 200 {
			said += " " + got.problem(t).Code
		}
		if said != want {
			t.Errorf("%s: %s, want %s", query, said, want)
		}
	}
	for path, want := range map[string]int{
		"2026-13": 422, "march": 422, "2026-02?zone=Nowhere": 422, "2026-02?format=pdf": 422, "2026-02?ids=x": 422, "2026-02": 200, "1990-01": 200, "2030-01": 200, "2026-02?ids=77": 422, "2026-02?ids=1,1": 200,
	} {
		if got := b.do("GET", "/api/v1/reports/"+path, "", as(viewerKey)); got.Code != want {
			t.Errorf("reports/%s: %d, want %d: %s", path, got.Code, want, got.text)
		}
	}
}

// However often hours of a target changed, that of long ago is said to be revised.
func TestOldRevisionsAreTold(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	troubled(b)
	hour := quarterOf(0, "", "2026-02-20T00:00:00Z", availability.Counts{}).From
	many := make([]availability.Correction, resultstore.MaxCorrections)
	for i := range many {
		many[i] = availability.Correction{Region: "eu", Hour: hour, RevisedAt: testNow}
	}
	b.past.corrections[1] = append(many, b.past.corrections[1]...)
	const path = "/api/v1/targets/1/uptime?from=2026-02-09T00:00:00Z&to=2026-02-10T00:00:00Z"
	if got := b.do("GET", path, "", as(viewerKey)); !strings.Contains(got.text, `"revised_at":"2026-03-01T11:00:00.000Z"`) {
		t.Errorf("%d %s", got.Code, got.text)
	}
	var report struct {
		Targets []struct{ Corrections []any }
	}
	got := b.do("GET", "/api/v1/reports/2026-02", "", as(viewerKey))
	got.into(t, &report)
	if !strings.Contains(got.text, `"revised_at":"2026-03-01T10:00:00.000Z"`) || len(report.Targets[0].Corrections) != resultstore.MaxCorrections {
		t.Errorf("report: %d, %d corrections", got.Code, len(report.Targets[0].Corrections))
	}
}

// Where nothing is kept any more an answer says so: it would look like silence.
func TestRangesOlderThanWhatIsKept(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.create(`{"url":"https://example.com/"}`)
	const says = `"kept_since":"2021-03-01T12:00:00.000Z"`
	for path, want := range map[string]bool{
		"/api/v1/targets/1/uptime?from=2020-01-01T00:00:00Z&to=2020-02-01T00:00:00Z": true,
		"/api/v1/targets/1/uptime?from=2021-03-01T12:00:00Z&to=2021-04-01T00:00:00Z": false,
		"/api/v1/targets/1/series?from=2020-01-01T00:00:00Z&to=2020-02-01T00:00:00Z": true,
		"/api/v1/targets/1/series?from=2026-01-01T00:00:00Z&to=2026-02-01T00:00:00Z": false,
		"/api/v1/reports/2021-03": true, "/api/v1/reports/2021-04": false, "/api/v1/reports/1990-01": true,
	} {
		if got := b.do("GET", path, "", as(viewerKey)); got.Code != 200 || strings.Contains(got.text, says) != want {
			t.Errorf("%s: %d %.300s", path, got.Code, got.text)
		}
	}
}

// Who asks for a target that is not there is told which.
func TestReportsNameTargetsThatAreNotThere(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.create(`{"url":"https://example.com/"}`)
	got := b.do("GET", "/api/v1/reports/2026-02?ids=78,1,77&format=csv", "", as(viewerKey))
	if p := got.problem(t); got.Code != 422 || len(p.Errors) != 2 || p.Errors[0].Parameter != "ids" || p.Errors[0].Message != "there is no target 77" || p.Errors[1].Message != "there is no target 78" {
		t.Errorf("%d %s", got.Code, got.text)
	}
}

// A range that begins within a millisecond begins at the next one, also before 1970.
func TestRangesAreOfWholeMilliseconds(t *testing.T) {
	t.Parallel()
	for _, at := range []time.Time{testNow, time.Unix(-5, 0)} {
		for beyond, want := range map[time.Duration]time.Duration{0: 0, 1: time.Millisecond, time.Millisecond - 1: time.Millisecond, time.Millisecond: time.Millisecond} {
			if got := wholeMilli(at.Add(beyond)); !got.Equal(at.Add(want)) {
				t.Errorf("%v after %v: %v", beyond, at, got)
			}
		}
	}
}

// One slot that several regions report is one check of the target as a whole, and one interval of
// downtime where most of those that measured found it down, by a cron expression, too. The sums of the
// regions count each report; their downtime is that of the target.
func TestSlotsThatSeveralRegionsReport(t *testing.T) {
	t.Parallel()
	j := newJourney(t)
	day := time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, -4)
	spec := uptime.HeartbeatSpec{Cron: "0 0,6 * * *", GraceS: 60} // six and eighteen hours apart
	target, err := j.targets.Create(t.Context(), uptime.Target{Name: "backup", URL: "heartbeat://backup", Kind: uptime.KindHeartbeat, Interval: 18 * time.Hour, Timeout: 10 * time.Second, Active: true, Spec: uptime.Spec{Heartbeat: &spec}})
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"targets", "schedule_versions"} {
		if err := j.db.Write().Exec("UPDATE "+table+" SET created_at_ms = ?", day.AddDate(0, 0, -1).UnixMilli()).Error; err != nil {
			t.Fatal(err)
		}
	}
	row := func(hour int, region string, status uptime.Status) uptime.Result {
		slot := day.Add(time.Duration(hour) * time.Hour)
		r := uptime.Result{TargetID: target.ID, Region: region, ScheduledAt: slot, CheckedAt: slot, Status: status, Attempt: 1, Prober: "p", IngestedAt: slot.Add(time.Second)}
		switch status {
		case uptime.StatusDown:
			r.Failure = uptime.FailureTimeout
		case uptime.StatusMissed:
			r.Reason, r.CheckedAt = uptime.ReasonLost, time.Time{}
		}
		return r
	}
	err = j.store.Insert(t.Context(), resultstore.Batch{Token: "slots", Prober: "p", Region: uptime.RegionPush, Attempt: 1, Rows: []uptime.Result{
		row(0, uptime.RegionPush, uptime.StatusDown), row(0, "ext-a", uptime.StatusDown), // down
		row(6, uptime.RegionPush, uptime.StatusDown), row(6, "ext-a", uptime.StatusUp), // half is no majority: degraded
		row(24, uptime.RegionPush, uptime.StatusMissed), row(24, "ext-a", uptime.StatusDown), // down for all that measured
		row(30, uptime.RegionPush, uptime.StatusUp), row(30, "ext-a", uptime.StatusUp), row(30, "ext-b", uptime.StatusMissed),
	}})
	if err != nil {
		t.Fatal(err)
	}
	type figures struct {
		Checks, Planned, Up, Degraded, Down uint64
		Minutes                             float64 `json:"downtime_minutes"`
	}
	var got struct {
		figures
		Folded  figures
		Regions []struct {
			Region string
			figures
		}
	}
	path := fmt.Sprintf("/api/v1/targets/%d/uptime?from=%s&to=%s", target.ID, day.Format(time.RFC3339), day.AddDate(0, 0, 2).Format(time.RFC3339))
	answer := j.do("GET", path, "", as(viewerKey))
	if answer.Code != http.StatusOK {
		t.Fatalf("%d %s", answer.Code, answer.text)
	}
	answer.into(t, &got)
	shown := func(f figures) string {
		return fmt.Sprintf("%d checks of %d, %d up, %d degraded, %d down, %v min", f.Checks, f.Planned, f.Up, f.Degraded, f.Down, f.Minutes)
	}
	lines := []string{"whole: " + shown(got.Folded), "sums: " + shown(got.figures)}
	for _, r := range got.Regions {
		lines = append(lines, r.Region+": "+shown(r.figures))
	}
	want := []string{
		"whole: 4 checks of 4, 1 up, 1 degraded, 2 down, 720 min",
		"sums: 7 checks of 9, 3 up, 0 degraded, 4 down, 720 min",
		"ext-a: 4 checks of 4, 2 up, 0 degraded, 2 down, 720 min", "ext-b: 0 checks of 1, 0 up, 0 degraded, 0 down, 0 min", "push: 3 checks of 4, 1 up, 0 degraded, 2 down, 1440 min",
	}
	if !slices.Equal(lines, want) {
		t.Errorf("%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
	}
}
