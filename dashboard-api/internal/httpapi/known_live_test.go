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
	"github.com/probefleet/probefleet/internal/blindstore"
	"github.com/probefleet/probefleet/internal/maintenance"
	"github.com/probefleet/probefleet/internal/maintenancestore"
	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/schedulestore"
	"github.com/probefleet/probefleet/internal/selfdoubt"
	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/internal/verdict"
	"github.com/probefleet/probefleet/internal/verdictstore"
	"github.com/probefleet/probefleet/migrations"
)

// journey drives targets through what can happen to them, one after the other, on a clock of its own:
// the hub, the database and ClickHouse hear of everything when it happens. After each step what is
// known now is compared with what is live.
type journey struct {
	*bench
	store   *resultstore.Store
	regions []string
	target  uptime.Target
	page    string
	slot    time.Time // the newest
	said    []saying
}

// saying is what was known of a target at an instant.
type saying struct {
	target int64
	at     time.Time
	text   string
}

func newJourney(t *testing.T) *journey {
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
	j := &journey{store: store}
	j.bench = newBenchOn(t, testbackend.SQLite(t), func(b *bench, o *Options) {
		b.hub = live.New(live.Options{Now: func() time.Time { return b.now }})
		o.Hub, o.Results, o.History, o.Corrections = b.hub, store, store, store
	})
	j.now = time.Now().UTC().Truncate(time.Minute).Add(-20 * time.Hour)
	j.join("eu", true)
	j.join("us", true)
	return j
}

// dated gives what was written just now the time of the journey.
func (j *journey) dated() {
	j.Helper()
	for _, what := range []string{"targets SET created_at_ms", "targets SET updated_at_ms", "targets SET visited_since_ms", "schedule_versions SET created_at_ms", "region_versions SET created_at_ms", "status_pages SET created_at_ms", "status_pages SET updated_at_ms"} {
		table, column, _ := strings.Cut(what, " SET ")
		if err := j.db.Write().Exec(fmt.Sprintf("UPDATE %s SET %s = ? WHERE %s > ?", table, column, column), j.now.UnixMilli(), j.now.UnixMilli()).Error; err != nil {
			j.Fatal(err)
		}
	}
}

func (j *journey) join(region string, joins bool) {
	j.Helper()
	schedules, change := schedulestore.New(j.db), schedulestore.New(j.db).AddRegion
	j.regions = slices.DeleteFunc(j.regions, func(name string) bool { return name == region })
	if joins {
		j.regions = append(j.regions, region)
	} else {
		change = schedules.RetireRegion
	}
	if _, err := change(j.Context(), region); err != nil {
		j.Fatal(err)
	}
	j.dated()
	j.hub.SetRegions(slices.Clone(j.regions), nil)
}

// begin makes a target, and a page that shows it.
func (j *journey) begin(name string, interval time.Duration, policy verdict.Policy) {
	j.Helper()
	j.hub.Remove(j.target.ID) // the one before
	j.until(j.now.Truncate(time.Minute).Add(10 * time.Minute))
	target, err := j.targets.Create(j.Context(), uptime.Target{Name: name, URL: fmt.Sprintf("https://%s.example.com/", uuid.NewString()), Kind: uptime.KindHTTP, Interval: interval, Timeout: 5 * time.Second, Active: true, Policy: policy.Text()})
	if err != nil {
		j.Fatal(err)
	}
	j.page = j.do("POST", "/api/v1/status-pages", fmt.Sprintf(`{"slug":"p%d","title":"P","groups":[{"name":"G","components":[{"name":"C","target_ids":[%d]}]}]}`, target.ID, target.ID), as(editorKey)).Header().Get("Location")
	j.dated()
	j.heard(target.ID)
	j.slot = j.now
	j.look("made")
}

func (j *journey) heard(id int64) {
	j.Helper()
	target, err := j.targets.Get(j.Context(), id)
	if err != nil {
		j.Fatal(err)
	}
	j.target = target
	j.hub.Upsert(target)
}

func (j *journey) edit(what string, change func(*uptime.Target)) {
	j.Helper()
	if _, err := j.targets.Update(j.Context(), j.target.ID, 0, func(t *uptime.Target) error { change(t); return nil }); err != nil {
		j.Fatal(err)
	}
	j.dated()
	j.heard(j.target.ID)
	j.look(what)
}

// until lets time pass as hubs do, second by second.
func (j *journey) until(then time.Time) {
	for ; j.now.Add(time.Second).Before(then); j.now = j.now.Add(time.Second) {
		j.hub.Refold()
	}
	j.now = then
	j.hub.Refold()
}

func (j *journey) pass(d time.Duration) {
	j.Helper()
	j.until(j.now.Add(d))
	j.look(fmt.Sprint("after ", d))
}

// checked has the next slot of each word looked at by the regions in order, a second apart: up, slow
// (degraded), down, missed, or not at all (-).
func (j *journey) checked(words ...string) {
	j.Helper()
	for _, word := range words {
		j.slot = j.slot.Add(j.target.Interval)
		for !j.slot.After(j.now) {
			j.slot = j.slot.Add(j.target.Interval)
		}
		for i, letter := range word {
			if letter == '-' {
				continue
			}
			region := []string{"eu", "us", "ap"}[i]
			j.until(j.slot.Add(time.Duration(i+1) * time.Second))
			r := uptime.Result{TargetID: j.target.ID, Region: region, ScheduledAt: j.slot, CheckedAt: j.slot, HTTPStatus: 200, TotalUS: 1000, Attempt: 1, Prober: "p", IngestedAt: j.now}
			r.Status = map[rune]uptime.Status{'u': uptime.StatusUp, 's': uptime.StatusDegraded, 'd': uptime.StatusDown, 'm': uptime.StatusMissed}[letter]
			switch letter {
			case 's':
				r.Failure = uptime.FailureLatency
			case 'd':
				r.Failure, r.HTTPStatus = uptime.FailureStatusCode, 503
			case 'm':
				r.Reason, r.HTTPStatus, r.TotalUS, r.CheckedAt = uptime.ReasonExpired, 0, 0, time.Time{}
			}
			j.hub.Apply([]uptime.Result{r})
			if err := j.store.Insert(j.Context(), resultstore.Batch{Token: uuid.NewString(), Prober: "p", Region: region, Attempt: 1, Rows: []uptime.Result{r}}); err != nil {
				j.Fatal(err)
			}
			j.look(fmt.Sprintf("%s %c", region, letter))
		}
	}
}

// asked has a region look again, which takes a second.
func (j *journey) asked(region string, status uptime.Status) {
	j.Helper()
	l := uptime.Look{Region: region, CheckedAt: j.now, Status: status, TotalUS: 1_000_000}
	if status == uptime.StatusDown {
		l.Failure, l.HTTPStatus = uptime.FailureStatusCode, 503
	}
	j.until(j.now.Add(time.Second))
	j.hub.Confirm(j.target.ID, j.slot, &l)
	saved, err := j.verdicts.Load(j.Context())
	if err != nil {
		j.Fatal(err)
	}
	c := verdictstore.Confirmation{TargetID: j.target.ID, Slot: j.slot, Region: region, CheckedAt: l.CheckedAt, Status: l.Status, Failure: l.Failure, HTTPStatus: l.HTTPStatus, TotalUS: l.TotalUS}
	if _, err := j.verdicts.Commit(j.Context(), verdictstore.Commit{Entry: fmt.Sprintf("%d-0", j.now.UnixMilli()), Turn: saved.Turn, At: j.now, Confirmations: []verdictstore.Confirmation{c}}); err != nil {
		j.Fatal(err)
	}
	j.look(fmt.Sprint(region, " asked: ", status))
}

func (j *journey) maintained(from, length time.Duration) (id int64) {
	j.Helper()
	store := maintenancestore.New(j.db)
	w, err := store.Create(j.Context(), "m", maintenance.Window{Scope: maintenance.Scope{TargetID: j.target.ID}, StartsAt: j.now.Add(from).Format("2006-01-02T15:04:05"), DurationS: int(length / time.Second)}, j.now)
	if err != nil {
		j.Fatal(err)
	}
	j.windows()
	return w.ID
}

// changed has a window begin after a while, and last so long, from now on.
func (j *journey) changed(id int64, from, length time.Duration) {
	j.Helper()
	_, err := maintenancestore.New(j.db).Update(j.Context(), id, 0, j.now, func(w *maintenancestore.Window) error {
		w.Terms.StartsAt, w.Terms.DurationS = j.now.Add(from).Format("2006-01-02T15:04:05"), int(length/time.Second)
		return nil
	})
	if err != nil {
		j.Fatal(err)
	}
	j.windows()
}

func (j *journey) windows() {
	j.Helper()
	found, err := maintenancestore.New(j.db).Holding(j.Context(), j.now.Add(-maintenance.MaxDuration))
	if err != nil {
		j.Fatal(err)
	}
	laid := maintenancestore.Lay(found, j.now.Add(-maintenance.MaxDuration), j.now.Add(48*time.Hour))
	j.hub.SetMaintenance(func(id int64, _ time.Duration) []verdict.Span { return laid.Of(id) })
	j.look("windows")
}

// blind has it found out that a region was blind from an instant to another, or is.
func (j *journey) blind(region string, from, to time.Time) {
	j.Helper()
	w := selfdoubt.Window{Sign: "canaries", Why: "w"}
	w.Region, w.From, w.To = region, from, to
	if err := j.db.Tx(j.Context(), func(tx *gorm.DB) error { return blindstore.Note(j.Context(), tx, j.incidents, w, j.now) }); err != nil {
		j.Fatal(err)
	}
	windows, err := blindstore.New(j.db).Current(j.Context(), j.now.Add(-24*time.Hour))
	if err != nil {
		j.Fatal(err)
	}
	j.hub.SetBlind(windows)
	j.look(fmt.Sprint(region, " blind until ", to))
}

func (j *journey) known(id int64, at time.Time) (got pastJSON) {
	j.Helper()
	answer := j.do("GET", fmt.Sprintf("/api/v1/targets/%d/known?at=%s", id, url.QueryEscape(at.Format(time.RFC3339Nano))), "", as(viewerKey))
	if answer.Code != http.StatusOK {
		j.Fatalf("%d %s", answer.Code, answer.text)
	}
	answer.into(j, &got)
	return got
}

func moment(t *time.Time) string {
	if t == nil {
		return "none"
	}
	return t.UTC().Format("15:04:05.000")
}

// look compares what is known now with what is live.
func (j *journey) look(step string) {
	j.Helper()
	known := j.known(j.target.ID, j.now)
	if n := len(j.said); n > 0 && j.said[n-1].target == j.target.ID && j.said[n-1].at.Equal(j.now) {
		j.said = j.said[:n-1] // what happens at an instant is known at it
	}
	j.said = append(j.said, saying{j.target.ID, j.now, known.learned()})
	items := j.hub.Snapshot().Items
	item := items[slices.IndexFunc(items, func(t live.Target) bool { return t.ID == j.target.ID })]
	shown := fmt.Sprintf("%s since %s, last %s, fresh until %s: %s", item.State, moment(item.Since), moment(item.LastResultAt), moment(item.FreshUntil), item.Why)
	told := fmt.Sprintf("%s since %s, last %s, fresh until %s: %s", known.State, moment(known.Since), moment(known.LastResultAt), moment(known.FreshUntil), known.Why)
	for _, s := range item.Maintained {
		if len(known.Slots) > 0 && (s.To == nil || s.To.After(known.Slots[0].At)) {
			shown += fmt.Sprintf("\n  maintained from %s to %s", moment(&s.From), moment(s.To))
		}
	}
	for _, s := range known.Maintained {
		told += fmt.Sprintf("\n  maintained from %s to %s", moment(&s.From), moment(s.To))
	}
	for _, r := range item.RegionStates {
		shown += fmt.Sprintf("\n  %s %s %s %d %v", r.Region, r.Status, moment(&r.ScheduledAt), r.TotalUS, r.Fresh)
	}
	for _, r := range known.RegionStates {
		told += fmt.Sprintf("\n  %s %s %s %d %v", r.Region, r.Status, moment(&r.ScheduledAt), r.TotalUS, r.Fresh)
	}
	oldest := j.now.Add(-91 * j.target.Interval) // that are told
	for _, tick := range item.Ticks {
		if !tick.At.Before(oldest) {
			shown += fmt.Sprintf("\n  %s %s %s", moment(&tick.At), tick.Region, tick.Status)
		}
	}
	for _, slot := range known.Slots {
		for _, r := range slot.Rows {
			told += fmt.Sprintf("\n  %s %s %s", moment(&slot.At), r.Region, r.Status)
		}
	}
	if shown != told {
		j.Errorf("%s, %s at %s: live is\n%s\nknown is\n%s", j.target.Name, step, moment(&j.now), shown, told)
	}
}

// shown compares what is known of its page now with what is live of it.
func (j *journey) shown(state string) {
	j.Helper()
	var page struct {
		Groups []struct{ Components []struct{ State string } }
	}
	answer := j.do("GET", j.page+"/known?at="+url.QueryEscape(j.now.Format(time.RFC3339Nano)), "", as(viewerKey))
	if answer.Code != http.StatusOK {
		j.Fatalf("%d %s", answer.Code, answer.text)
	}
	answer.into(j, &page)
	if state == string(verdict.StatePaused) {
		state = string(verdict.StateNoData) // as pages say
	}
	if got := page.Groups[0].Components[0].State; got != state {
		j.Errorf("%s: the page is known to be %s, it is %s", j.target.Name, got, state)
	}
}

// What is known now is what is live, whatever happens to a target; and what was known at each of
// these instants is told in the same way when everything that came later is there.
func TestWhatIsKnownNowIsWhatIsLiveInEverySituation(t *testing.T) {
	t.Parallel()
	j := newJourney(t)
	for _, s := range []struct {
		name     string
		interval time.Duration
		policy   verdict.Policy
		state    string // in the end
		happens  func()
	}{
		{name: "never checked", state: "no_data", happens: func() { j.pass(time.Minute); j.pass(time.Hour) }},
		{name: "up", state: "up", happens: func() { j.checked("uu", "uu", "uu"); j.pass(20 * time.Second) }},
		{name: "degraded", state: "degraded", happens: func() { j.checked("uu", "su", "su", "uu", "us", "ss") }},
		{name: "one of two", state: "degraded", happens: func() { j.checked("uu", "du", "du", "uu", "ud") }},
		{name: "down, confirmed", state: "down", happens: func() {
			j.checked("uu", "d-")
			j.asked("us", uptime.StatusDown)
			j.checked("dd", "dd")
		}},
		{name: "a failure that others do not confirm", state: "up", happens: func() {
			j.checked("uu", "uu", "d-")
			j.asked("us", uptime.StatusUp)
			j.checked("uu", "uu")
		}},
		{name: "down, and up again", state: "up", happens: func() { j.checked("uu", "dd", "dd", "ud", "uu", "uu") }},
		{name: "missed slots", state: "up", happens: func() { j.checked("uu", "um", "mm", "mu", "uu") }},
		{name: "missed for longer than a result counts", state: "no_data", happens: func() { j.checked("uu", "mm", "mm", "mm", "mm"); j.pass(time.Minute) }},
		{name: "a region falls silent", state: "up", happens: func() { j.checked("uu", "du", "-u", "-u", "-u", "-u") }},
		{name: "silent for an hour", interval: 10 * time.Second, state: "no_data", happens: func() {
			j.checked("uu", "ud")
			j.pass(2 * time.Minute)
			j.pass(time.Hour)
		}},
		{name: "silent for an hour, and back", interval: 10 * time.Second, state: "up", happens: func() {
			j.checked("uu", "uu")
			j.pass(time.Hour)
			j.checked("-u", "-u", "uu")
		}},
		{name: "maintenance", state: "down", happens: func() {
			j.checked("uu", "dd")
			j.maintained(30*time.Second, 3*time.Minute)
			j.checked("dd", "ud", "dd", "dd", "dd")
		}},
		{name: "maintenance that began before it was told", state: "up", happens: func() {
			j.checked("uu", "uu")
			id := j.maintained(-time.Minute, time.Hour)
			j.checked("dd", "uu")
			if err := maintenancestore.New(j.db).Remove(j.Context(), id, 0, j.now.Add(time.Second)); err != nil {
				j.Fatal(err)
			}
			j.until(j.now.Add(time.Second))
			j.windows()
			j.checked("uu")
		}},
		{name: "maintenance that is changed while it holds", state: "maintenance", happens: func() {
			j.checked("uu")
			id := j.maintained(0, 3*time.Minute)
			j.checked("dd")
			j.changed(id, -5*time.Minute, 7*time.Minute)
			j.checked("dd", "dd", "dd")
			j.changed(id, 2*time.Minute, time.Hour)
			j.checked("uu", "dd")
			j.changed(id, -time.Minute, time.Hour)
			j.checked("dd")
		}},
		{name: "maintenance that is planned for later, and begun earlier", state: "up", happens: func() {
			j.checked("uu")
			id := j.maintained(10*time.Minute, time.Hour)
			j.checked("uu")
			j.until(j.now.Add(10 * time.Second))
			j.changed(id, -time.Hour, 63*time.Minute)
			j.checked("dd", "dd", "uu", "uu")
			j.changed(id, -time.Hour, 2*time.Minute)
			j.checked("uu")
		}},
		{name: "one maintenance after the other", state: "maintenance", happens: func() {
			j.checked("uu")
			j.maintained(0, 3*time.Minute)
			j.maintained(2*time.Minute, 10*time.Minute)
			j.checked("uu", "dd", "dd", "dd")
		}},
		{name: "paused and resumed", state: "up", happens: func() {
			j.checked("uu", "uu")
			j.until(j.now.Add(10 * time.Second))
			j.edit("paused", func(t *uptime.Target) { t.Active = false })
			j.pass(20 * time.Second)
			j.edit("paused, edited", func(t *uptime.Target) { t.Interval = 2 * time.Minute })
			j.pass(20 * time.Second)
			j.edit("resumed", func(t *uptime.Target) { t.Active = true })
			j.checked("uu")
			j.edit("paused again", func(t *uptime.Target) { t.Active = false })
			j.pass(time.Hour)
			j.edit("resumed after long", func(t *uptime.Target) { t.Active = true })
			j.checked("uu", "uu")
		}},
		{name: "paused while it is down", state: "paused", happens: func() {
			j.checked("uu", "dd")
			j.edit("paused", func(t *uptime.Target) { t.Active = false })
			j.pass(time.Minute)
		}},
		{name: "its regions change", state: "up", happens: func() {
			j.checked("uu", "ud", "ud")
			j.edit("eu alone", func(t *uptime.Target) { t.Regions = []string{"eu"} })
			j.checked("u-", "u-")
			j.edit("both", func(t *uptime.Target) { t.Regions = nil })
			j.checked("uu", "uu")
		}},
		{name: "a region joins and leaves", state: "up", happens: func() {
			j.checked("uu", "uu")
			j.until(j.now.Add(10 * time.Second))
			j.join("ap", true)
			j.look("ap joined")
			j.checked("uud", "uuu", "udd")
			j.until(j.now.Add(10 * time.Second))
			j.join("ap", false)
			j.look("ap left")
			j.checked("uu")
		}},
		{name: "edited", state: "degraded", happens: func() {
			j.checked("uu", "du")
			j.edit("twice as often", func(t *uptime.Target) { t.Interval = 30 * time.Second })
			j.pass(50 * time.Second)
			j.checked("uu", "du")
			j.edit("half as often", func(t *uptime.Target) { t.Interval = 2 * time.Minute })
			j.checked("du")
		}},
		{name: "another URL", state: "degraded", happens: func() {
			j.checked("uu", "uu")
			j.until(j.now.Add(54 * time.Second))
			j.edit("another URL", func(t *uptime.Target) { t.URL += "other" })
			j.checked("uu") // handed out before
			j.pass(20 * time.Second)
			j.checked("-d", "ud")
			j.edit("other headers", func(t *uptime.Target) { t.Spec.Family = uptime.FamilyV6 })
			j.pass(10 * time.Second)
			j.checked("du")
		}},
		{name: "another URL, counting", policy: verdict.Policy{DownAfter: 2, UpAfter: 2}, state: "down", happens: func() {
			j.checked("uu", "dd")
			j.until(j.now.Add(54 * time.Second))
			j.edit("another URL", func(t *uptime.Target) { t.URL += "other" })
			j.checked("dd") // handed out before
			j.pass(20 * time.Second)
			j.checked("dd", "ud", "dd", "dd")
		}},
		{name: "one region is blind", state: "up", happens: func() {
			j.checked("uu", "du", "du")
			from := j.slot.Add(-30 * time.Second)
			j.until(j.now.Add(10 * time.Second))
			j.blind("eu", from, time.Time{})
			j.checked("du", "du")
			j.until(j.now.Add(10 * time.Second))
			j.blind("eu", from, j.now)
			j.checked("uu", "uu")
		}},
		{name: "all regions are blind", state: "up", happens: func() {
			j.checked("uu", "uu")
			j.until(j.now.Add(20 * time.Second))
			eu, us := j.now.Add(-10*time.Second), j.now.Add(-5*time.Second)
			j.blind("eu", eu, time.Time{})
			j.blind("us", us, time.Time{})
			j.pass(20 * time.Second)
			j.blind("eu", eu, j.now)
			j.blind("us", us, j.now)
			j.checked("uu", "uu")
		}},
		{name: "two in a row", policy: verdict.Policy{DownAfter: 2, UpAfter: 2}, state: "up", happens: func() {
			j.checked("uu", "uu", "dd", "dd", "dd", "uu", "uu", "uu")
		}},
		{name: "slower than allowed", policy: verdict.Policy{Degraded: verdict.Degraded{LatencyMS: 0, IgnoreMinority: true}}, state: "up", happens: func() { j.checked("uu", "du", "du") }},
	} {
		interval := s.interval
		if interval == 0 {
			interval = time.Minute
		}
		j.begin(s.name, interval, s.policy)
		s.happens()
		if got := j.known(j.target.ID, j.now).State; got != s.state {
			t.Errorf("%s: it is %s in the end, want %s", s.name, got, s.state)
		}
		j.shown(s.state)
	}
	every := 1
	if testing.Short() {
		every = 7
	}
	for i, s := range j.said {
		if i%every > 0 {
			continue
		}
		if got := j.known(s.target, s.at).learned(); got != s.text {
			t.Errorf("target %d at %s: what was known changed:\n%s\nwas\n%s", s.target, moment(&s.at), got, s.text)
		}
	}
	t.Logf("%d instants", len(j.said))
}
