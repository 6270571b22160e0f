package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/asknown"
	"github.com/probefleet/probefleet/internal/availability"
	"github.com/probefleet/probefleet/internal/maintenance"
	"github.com/probefleet/probefleet/internal/maintenancestore"
	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/internal/verdictstore"
)

// alsoCorrected has corrections beside those that are kept.
type alsoCorrected struct {
	keptCorrections
	more map[int64][]availability.Correction
}

type keptCorrections = Corrections

func (c *alsoCorrected) Corrections(ctx context.Context, ids []int64, from, to time.Time) (map[int64][]availability.Correction, error) {
	all, err := c.keptCorrections.Corrections(ctx, ids, from, to)
	for id, more := range c.more {
		all[id] = append(all[id], more...)
	}
	return all, err
}

// pastPageJSON is a page as it was known.
type pastPageJSON struct {
	State  string
	Groups []struct {
		State      string
		Components []struct {
			Name, State string
			Uptime      *string `json:"uptime_percent"`
			Days        []struct {
				State       string
				DownMinutes float64 `json:"down_minutes"`
			}
		}
	}
	Limits []struct{ Code string }
}

func (p pastPageJSON) downMinutes() (all float64) {
	for _, d := range p.Groups[0].Components[0].Days {
		all += d.DownMinutes
	}
	return all
}

func (p pastPageJSON) codes() (all []string) {
	for _, l := range p.Limits {
		all = append(all, l.Code)
	}
	return all
}

func (p *pastBench) createPage(components string) string {
	p.Helper()
	now := p.now
	p.now = p.minute(-50)
	defer func() { p.now = now }()
	made := p.do("POST", "/api/v1/status-pages", `{"slug":"a","title":"Acme","published":true,"groups":[{"name":"Web","components":[`+components+`]}]}`, as(editorKey))
	if made.Code != http.StatusCreated {
		p.Fatal(made.text)
	}
	return made.Header().Get("Location")
}

func (p *pastBench) pageAt(page string, at time.Time) (got pastPageJSON) {
	p.Helper()
	answer := p.do("GET", page+"/known?at="+url.QueryEscape(at.Format(time.RFC3339Nano)), "", as(viewerKey))
	if answer.Code != http.StatusOK {
		p.Fatalf("%d %s", answer.Code, answer.text)
	}
	answer.into(p, &got)
	return got
}

func (p *pastBench) exec(query string, args ...any) {
	p.Helper()
	if err := p.db.Write().Exec(query, args...).Error; err != nil {
		p.Fatal(err)
	}
}

// A component shows who carried its tags then, and what was deleted since cannot be told.
func TestPageShowsWhoCarriedItsTags(t *testing.T) {
	t.Parallel()
	p := newPastBench(t)
	page := p.createPage(`{"name":"Old","tags":["old"]},{"name":"New","tags":["new"]}`)
	carry := "INSERT INTO target_tags (target_id, tag, from_ms, to_ms) VALUES (?, ?, ?, ?)"
	p.exec(carry, p.target.ID, "old", p.minute(-60).UnixMilli(), p.minute(-10).UnixMilli())
	p.exec(carry, p.target.ID, "new", p.minute(-10).UnixMilli(), nil)
	other := p.create(`{"url":"https://example.org/"}`)
	states := func(at time.Time) (all []string) {
		got := p.pageAt(page, at)
		for _, c := range got.Groups[0].Components {
			all = append(all, fmt.Sprint(c.Name, " ", c.State, " ", len(c.Days)))
		}
		return append(all, got.codes()...)
	}
	if got := states(p.minute(-27).Add(30 * time.Second)); !slices.Equal(got, []string{"Old down 90", "New no_data 0"}) {
		t.Errorf("then: %q", got)
	}
	if got := p.do("DELETE", fmt.Sprintf("/api/v1/targets/%d", other.ID), "", as(editorKey)); got.Code/100 != 2 {
		t.Fatal(got.text)
	}
	if got := states(p.minute(-27).Add(30 * time.Second)); !slices.Equal(got, []string{"Old down 90", "New no_data 0", "targets_removed"}) {
		t.Errorf("then, and something was deleted since: %q", got)
	}
	p.now = time.Now().UTC().Add(time.Second)
	if got := states(p.now); !slices.Equal(got, []string{"Old no_data 0", "New up 90", "unsettled"}) {
		t.Errorf("now: %q", got)
	}
}

// What is learned of maintenance and blindness changes no day of before; what hours were
// corrected by is put back, or it is said that it cannot be.
func TestDaysOfAPageAreThoseOfThen(t *testing.T) {
	t.Parallel()
	p := newPastBench(t)
	page := p.createPage(fmt.Sprintf(`{"name":"Site","target_ids":[%d]},{"name":"By hand","rule":"manual","state":"up"}`, p.target.ID))
	hour := p.minute(-90).Truncate(time.Hour)
	var rows []uptime.Result
	for minute := -150; minute < -30; minute++ {
		if at := p.minute(minute); !at.Before(hour) && at.Before(hour.Add(time.Hour)) {
			rows = append(rows, p.row(minute, "eu", false), p.row(minute, "us", false))
		}
	}
	p.insert(rows...)
	then := p.minute(-27).Add(30 * time.Second)
	before := p.pageAt(page, then)
	if before.Groups[0].Components[0].State != "down" || before.downMinutes() < 2 || len(before.codes()) != 0 {
		t.Fatalf("%+v, %v", before.Groups, before.codes())
	}
	since := p.minute(-5)
	terms := maintenance.Window{Scope: maintenance.Scope{TargetID: p.target.ID}, StartsAt: p.minute(-60).Format("2006-01-02T15:04:05"), DurationS: 3000}
	if _, err := maintenancestore.New(p.db).Create(t.Context(), "later", terms, since); err != nil {
		t.Fatal(err)
	}
	if got := p.pageAt(page, then); fmt.Sprint(got.Groups[0].Components[0].Days, got.Limits) != fmt.Sprint(before.Groups[0].Components[0].Days, before.Limits) {
		t.Errorf("a window that was made later: %v, %v", got.downMinutes(), got.Limits)
	}
	for _, region := range []string{"eu", "us"} {
		p.exec("INSERT INTO blind_windows (region, sign, from_ms, to_ms, why, suspects, opened_at_ms) VALUES (?, 'canaries', ?, ?, 'x', '[]', ?)", region, p.minute(-31).UnixMilli(), p.minute(-20).UnixMilli(), since.UnixMilli())
	}
	if got := p.pageAt(page, then); fmt.Sprint(got.Groups[0].Components[0].Days, got.Limits) != fmt.Sprint(before.Groups[0].Components[0].Days, before.Limits) {
		t.Errorf("blindness that was found later: %v, %v", got.downMinutes(), got.Limits)
	}

	p.corrections.more[p.target.ID] = []availability.Correction{{Hour: hour, RevisedAt: since, Old: availability.Counts{Down: 60}, New: availability.Counts{Up: 60}}}
	if got := p.pageAt(page, then); got.downMinutes() != before.downMinutes()+60 || len(got.codes()) != 0 {
		t.Errorf("an hour that was corrected: %v minutes, before %v; %v", got.downMinutes(), before.downMinutes(), got.codes())
	}
	p.corrections.more[4711] = make([]availability.Correction, resultstore.MostCorrections)
	if got := p.pageAt(page, then); !slices.Equal(got.codes(), []string{"days_corrected"}) {
		t.Errorf("more corrections than are read: %v", got.codes())
	}

	if got := p.do("PATCH", page, `{"title":"Acme Ltd"}`, as(editorKey)); got.Code != http.StatusOK {
		t.Fatal(got.text)
	}
	if quiet := p.pageAt(page, p.minute(-31)); quiet.Groups[0].Components[1].State != "no_data" || quiet.State != "no_data" || quiet.Groups[0].State != "no_data" {
		t.Errorf("what is said by hand now: %s, %+v", quiet.State, quiet.Groups)
	}
	p.fleet.down.Store(true)
	if got := p.do("GET", page+"/known?at="+url.QueryEscape(then.Format(time.RFC3339)), "", as(viewerKey)); got.Code != http.StatusServiceUnavailable || got.Header().Get("Retry-After") == "" {
		t.Errorf("nothing of the past is there: %d %s", got.Code, got.text)
	}
}

func (h *hanging) Known(ctx context.Context, _ []int64, _ int, _, _ time.Time) (map[int64][]asknown.Row, error) {
	h.asked <- struct{}{}
	<-ctx.Done()
	h.ended <- context.Cause(ctx)
	return nil, ctx.Err()
}

// An answer as of an instant ends with its caller, and only a few are worked on at a time.
func TestAnswersAsKnownEndWithTheirCaller(t *testing.T) {
	t.Parallel()
	h := &hanging{asked: make(chan struct{}), ended: make(chan error, maxRecalls)}
	b := newBenchOn(t, testbackend.SQLite(t), func(b *bench, o *Options) { h.fakeResults = b.results; o.Results = h })
	b.create(`{"url":"https://example.com/"}`)
	if err := b.db.Write().Exec("UPDATE targets SET created_at_ms = 0").Error; err != nil {
		t.Fatal(err)
	}
	ask := func(ctx context.Context) reply {
		return b.do("GET", "/api/v1/targets/1/known?at="+stamp(b.now), "", as(viewerKey), func(r *http.Request) { *r = *r.WithContext(ctx) })
	}
	ctx, leave := context.WithCancel(t.Context())
	answers := make(chan reply, maxRecalls)
	for range maxRecalls {
		go func() { answers <- ask(ctx) }()
		<-h.asked
	}
	if got := ask(t.Context()); got.Code != http.StatusServiceUnavailable || got.Header().Get("Retry-After") == "" || !strings.Contains(got.text, "too many") {
		t.Errorf("one too many: %d %s", got.Code, got.text)
	}
	leave()
	for range maxRecalls {
		if err := <-h.ended; !errors.Is(err, context.Canceled) {
			t.Errorf("ended by %v", err)
		}
		<-answers
	}
}

func TestReachesAreAFew(t *testing.T) {
	t.Parallel()
	for reach, want := range map[time.Duration]time.Duration{time.Second: 10 * time.Minute, 10 * time.Minute: 10 * time.Minute, 11 * time.Minute: 40 * time.Minute, 48 * time.Hour: 10 * 1024 * time.Minute} {
		if got := stepped(reach); got != want {
			t.Errorf("%v: %v, want %v", reach, got, want)
		}
	}
}

// What regions saw that were asked to look again stands where it stands live.
func TestConfirmationsAreKnown(t *testing.T) {
	t.Parallel()
	p := newPastBench(t)
	p.insert(p.row(1, "eu", true))
	c := verdictstore.Confirmation{TargetID: p.target.ID, Slot: p.minute(1), Region: "us", CheckedAt: p.minute(1).Add(2 * time.Second), Status: uptime.StatusDown, Failure: uptime.FailureConnectTimeout, TotalUS: 1_000_000}
	others, old := c, c
	others.Region = "ap"
	old.Slot, old.CheckedAt = p.minute(-9), p.minute(-9)
	if _, err := p.verdicts.Commit(t.Context(), verdictstore.Commit{Entry: "1-0", At: p.now, Confirmations: []verdictstore.Confirmation{c, others, old}}); err != nil {
		t.Fatal(err)
	}
	at := c.CheckedAt.Add(time.Second)
	if p.now = at; time.Now().After(at) {
		p.now = time.Now().UTC()
	}
	before, after := p.at(at.Add(-time.Millisecond)), p.at(at)
	if before.State != "degraded" || after.State != "down" || len(after.RegionStates) != 2 || after.RegionStates[1].Status != "down" || !after.RegionStates[1].ScheduledAt.Equal(c.CheckedAt) {
		t.Errorf("%s, then %s: %+v", before.State, after.State, after.RegionStates)
	}
	if !strings.Contains(fmt.Sprint(after.Limits), "unsettled") {
		t.Errorf("%v", after.Limits)
	}
}
