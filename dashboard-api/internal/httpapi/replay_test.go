package httpapi

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	diff "github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/probefleet/probefleet/internal/maintenance"
	"github.com/probefleet/probefleet/internal/maintenancestore"
	"github.com/probefleet/probefleet/internal/replay"
	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/internal/verdict"
	"github.com/probefleet/probefleet/migrations"
)

// replayJSON is the answer as callers see it.
type replayJSON struct {
	From, To  time.Time
	KeptSince time.Time `json:"kept_since"`
	Results   int
	Proposed  replayedJSON
	Current   replayedJSON
	Targets   []struct {
		TargetID          int64      `json:"target_id"`
		Since             *time.Time `json:"results_since"`
		Results           int
		Proposed, Current replayedJSON
	}
}

type replayedJSON struct {
	Incidents, Pages int
	FalseAlarms      int      `json:"false_alarms"`
	P50              *float64 `json:"delay_p50_s"`
	P99              *float64 `json:"delay_p99_s"`
	Most             *float64 `json:"delay_most_s"`
	DowntimeS        float64  `json:"downtime_s"`
	StillOpen        int      `json:"still_open"`
	Items            []struct {
		FirstSlot  time.Time  `json:"first_slot"`
		EndedAt    *time.Time `json:"ended_at"`
		PagedAt    *time.Time `json:"paged_at"`
		FalseAlarm bool       `json:"false_alarm"`
	}
}

func (r replayedJSON) line() string {
	line := fmt.Sprintf("%d incidents, %d pages, %d false, %gs down, %d open", r.Incidents, r.Pages, r.FalseAlarms, r.DowntimeS, r.StillOpen)
	if r.P50 != nil {
		line += fmt.Sprintf(", after %g, %g, %g", *r.P50, *r.P99, *r.Most)
	}
	return line
}

// onResults is a bench whose results are in a real ClickHouse, by the clock of now.
func onResults(t *testing.T) (*bench, *resultstore.Store) {
	t.Helper()
	url := testbackend.ClickHouse(t)
	if err := migrations.UpClickHouse(t.Context(), url, nil); err != nil {
		t.Fatal(err)
	}
	store, err := resultstore.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	b := newBenchOn(t, testbackend.SQLite(t), func(b *bench, o *Options) {
		b.now, o.Results = time.Now().UTC(), store
		b.hub.SetRegions([]string{"eu", "us"}, nil)
	})
	return b, store
}

func store(t *testing.T, s *resultstore.Store, rows []uptime.Result) {
	t.Helper()
	for chunk := range slices.Chunk(rows, 5000) {
		if err := s.Insert(t.Context(), resultstore.Batch{Token: uuid.Must(uuid.NewV7()).String(), Attempt: 1, Rows: chunk}); err != nil {
			t.Fatal(err)
		}
	}
}

// aMinute are the results of a slot, known after one and two seconds.
func aMinute(id int64, slot time.Time, eu, us uptime.Status) (rows []uptime.Result) {
	for i, region := range []string{"eu", "us"} {
		r := uptime.Result{TargetID: id, Region: region, ScheduledAt: slot, CheckedAt: slot.Add(5 * time.Millisecond), Status: []uptime.Status{eu, us}[i], TotalUS: 40_000, Prober: "p", IngestedAt: slot.Add(time.Duration(i+1)*time.Second - 300*time.Millisecond)}
		if r.Status == uptime.StatusDown {
			r.Failure = uptime.FailureTimeout
		}
		rows = append(rows, r)
	}
	return rows
}

// Worked out by hand: two outages, of ten minutes and of three, a blip of one slot that both
// regions saw, one that only one of them saw, and an outage in maintenance.
func TestReplayWorkedOutByHand(t *testing.T) {
	t.Parallel()
	b, results := onResults(t)
	id := b.create(`{"url":"https://example.com/","interval_s":60,"regions":["eu","us"]}`).ID
	start := b.now.Truncate(time.Hour).Add(-8 * time.Hour)
	at := func(minute int) time.Time { return start.Add(time.Duration(minute) * time.Minute) }
	terms := maintenance.Window{Scope: maintenance.Scope{TargetID: id}, StartsAt: at(300).Format("2006-01-02T15:04:05"), DurationS: 3600}
	if _, err := maintenancestore.New(b.db).Create(t.Context(), "works", terms, at(0)); err != nil {
		t.Fatal(err)
	}
	terms.StartsAt = at(120).Format("2006-01-02T15:04:05") // written down when it was over: it held nobody back
	if _, err := maintenancestore.New(b.db).Create(t.Context(), "afterwards", terms, at(400)); err != nil {
		t.Fatal(err)
	}
	const up, down = uptime.StatusUp, uptime.StatusDown
	var rows []uptime.Result
	for minute := range 420 {
		eu, us := up, up
		switch {
		case minute >= 60 && minute < 70, minute >= 120 && minute < 123, minute == 180, minute >= 310 && minute < 320:
			eu, us = down, down
		case minute == 240:
			eu = down
		}
		rows = append(rows, aMinute(id, at(minute), eu, us)...)
	}
	store(t, results, rows)
	ask := func(body string) (got replayJSON) {
		t.Helper()
		answer := b.do("POST", "/api/v1/policies:replay", fmt.Sprintf(`{"target_ids":[%d],"from":%q,"to":%q,%s}`, id, at(0).Format(time.RFC3339), at(420).Format(time.RFC3339), body), as(viewerKey))
		if answer.Code != http.StatusOK {
			t.Fatalf("%d %s", answer.Code, answer.text)
		}
		answer.into(t, &got)
		return got
	}
	got := ask(`"policy":{"down_after":2}`)
	want := map[string][2]string{
		"now":      {got.Current.line(), "3 incidents, 3 pages, 1 false, 840s down, 0 open, after 2, 2, 2"},
		"proposed": {got.Proposed.line(), "2 incidents, 2 pages, 0 false, 780s down, 0 open, after 62, 62, 62"},
		"whole":    {fmt.Sprint(got.Results, got.Targets[0].Results, got.Targets[0].Since.Equal(at(0))), "840 840 true"},
		"slots":    {fmt.Sprint(got.Targets[0].Current.Items[0].FirstSlot.Sub(start), got.Targets[0].Current.Items[1].FirstSlot.Sub(start), got.Targets[0].Current.Items[2].FirstSlot.Sub(start)), "1h0m0s 2h0m0s 3h0m0s"},
		"alarms":   {fmt.Sprint(got.Targets[0].Current.Items[0].FalseAlarm, got.Targets[0].Current.Items[1].FalseAlarm, got.Targets[0].Current.Items[2].FalseAlarm), "false false true"},
		"paged":    {fmt.Sprint(got.Targets[0].Proposed.Items[1].PagedAt.Sub(start), got.Targets[0].Proposed.Items[1].EndedAt.Sub(start)), "2h1m2s 2h3m0s"},
	}
	any := ask(`"policy":{"quorum":{"rule":"count","count":1},"for_s":120},"short_s":0`)
	want["any region, for two minutes"] = [2]string{any.Proposed.line(), "2 incidents, 2 pages, 0 false, 780s down, 0 open, after 120, 120, 120"}
	none := ask(`"policy":{"quorum":{"rule":"count","count":3,"firm":true}}`)
	want["never"] = [2]string{none.Proposed.line(), "0 incidents, 0 pages, 0 false, 0s down, 0 open"}
	for name, pair := range want {
		if pair[0] != pair[1] {
			t.Errorf("%s: %s\nwant %s", name, pair[0], pair[1])
		}
	}
	// What began before is known, and is none of the answer.
	later := b.do("POST", "/api/v1/policies:replay", fmt.Sprintf(`{"target_ids":[%d],"from":%q,"to":%q,"policy":{}}`, id, at(65).Format(time.RFC3339), at(100).Format(time.RFC3339)), as(viewerKey))
	var part replayJSON
	later.into(t, &part)
	if part.Proposed.line() != "0 incidents, 0 pages, 0 false, 0s down, 0 open" || part.Results != 70 {
		t.Errorf("%d results, %s", part.Results, part.Proposed.line())
	}
}

// The same results, stepped one by one as they were announced, and read back and replayed,
// come to the same decisions, bit for bit. Instants are to the second.
func TestReplayedIsWhatWasLive(t *testing.T) {
	t.Parallel()
	b, results := onResults(t)
	decided := 0
	for seed := range uint64(8) {
		random := rand.New(rand.NewPCG(3, seed))
		id := b.create(fmt.Sprintf(`{"url":"https://host%d.example/","interval_s":20,"regions":["eu","us"]}`, seed)).ID
		start := b.now.Add(-20 * time.Hour).Truncate(time.Minute)
		rows := aStretch(random, id, start, 1500)
		store(t, results, rows)
		policy := verdict.Policy{DownAfter: 1 + random.IntN(3), UpAfter: 1 + random.IntN(2), ForS: random.IntN(2) * 45, Degraded: verdict.Degraded{LatencyMS: random.IntN(2) * 500, CertificateDays: 14}, OpenOn: verdict.SeverityDegraded}
		target, err := b.targets.Get(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		a := &api{Options: b.options}
		past, err := a.pastOf(t.Context(), target, nil, start, replayQuestion{policy: policy, to: b.now})
		if err != nil {
			t.Fatal(err)
		}
		state, got := replay.Target(t.Context(), past.History, policy)

		rules := b.hub.Rules(target)
		rules.Policy = policy
		live := verdict.NewState(id)
		var want []verdict.Decision
		for _, e := range announced(rows) {
			next, all := verdict.Step(live, rules, verdict.Conditions{}, e)
			live, want = next, append(want, all...)
		}
		for i, d := range want {
			if i >= len(got) || text(t, d) != text(t, got[i]) {
				t.Fatalf("seed %d, %d of %d runs: decision %d of %d is %s\nwant %s", seed, len(past.Runs), len(rows), i, len(want), text(t, got[min(i, len(got)):]), text(t, d))
			}
		}
		if len(got) != len(want) || state.State != live.State || !state.Since.Equal(live.Since) {
			t.Fatalf("seed %d: %d decisions, %s since %v; want %d, %s since %v", seed, len(got), state.State, state.Since, len(want), live.State, live.Since)
		}
		decided += len(want)
	}
	if decided < 200 {
		t.Errorf("%d decisions: this proves little", decided)
	}
}

// aStretch has outages, slow answers, certificates that end, gaps, results that were long on
// the way, and rows that are no evidence.
func aStretch(random *rand.Rand, id int64, start time.Time, slots int) (rows []uptime.Result) {
	words := []uptime.Status{uptime.StatusUp, uptime.StatusUp, uptime.StatusUp, uptime.StatusDown, uptime.StatusDegraded, uptime.StatusMissed}
	word, word2 := uptime.StatusUp, uptime.StatusUp
	for n := range slots {
		if random.IntN(15) == 0 {
			word = words[random.IntN(len(words))]
			if word2 = word; random.IntN(3) == 0 {
				word2 = words[random.IntN(len(words))]
			}
		}
		for i, r := range aMinute(id, start.Add(time.Duration(n)*20*time.Second), word, word2) {
			switch random.IntN(40) {
			case 0:
				continue
			case 1:
				r.IngestedAt = r.IngestedAt.Add(time.Duration(random.IntN(300)) * time.Second)
			case 2:
				r.TotalUS = 900_000
			case 3:
				r.Late = r.Status.Measured()
			}
			if r.Status == uptime.StatusMissed {
				r.Reason, r.CheckedAt = uptime.ReasonLost, time.Time{}
			}
			if i == 0 && r.Status.Measured() {
				r.CertNotAfter = start.AddDate(0, 0, 14).Add(4 * time.Hour).Truncate(time.Second)
			}
			r.IngestedAt = time.UnixMicro(r.IngestedAt.UnixMicro() &^ 1023).UTC() // as exact as rows keep it
			rows = append(rows, r)
		}
	}
	return rows
}

// announced is what the evaluator is handed, in order.
func announced(rows []uptime.Result) (events []verdict.Event) {
	for _, r := range rows {
		if !r.Status.Measured() || r.Late {
			continue
		}
		o := verdict.Observed(&r)
		o.CheckedAt, o.Revision = time.Time{}, 1 // neither decides
		events = append(events, verdict.Event{At: r.ScheduledAt.Add((r.IngestedAt.Sub(r.ScheduledAt) + time.Second - 1).Truncate(time.Second)), Result: &o})
	}
	slices.SortFunc(events, func(a, b verdict.Event) int {
		return cmp.Or(a.At.Compare(b.At), strings.Compare(a.Result.Region, b.Result.Region), a.Result.ScheduledAt.Compare(b.Result.ScheduledAt))
	})
	return events
}

func text(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestReplayMistakes(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.hub.SetRegions([]string{"ap", "eu", "us"}, nil)
	b.create(`{"url":"https://example.com/","interval_s":10}`)
	b.create(`{"url":"https://example.com/b","interval_s":10}`)
	b.create(`{"url":"https://example.com/c","interval_s":10}`)
	b.create(`{"url":"https://example.com/d","interval_s":10}`)
	long := strings.Repeat("1,", maxReplayTargets) + "1"
	for body, want := range map[string][]string{
		`{}`: {"/policy required", "/target_ids required"},
		`{"target_ids":[1],"policy":{"down_after":11,"quorum":{"n":1}}}`:                           {"/policy/quorum/n unknown_field", "/policy/down_after out_of_range"},
		`{"target_ids":[1,99],"policy":{}}`:                                                        {"/target_ids/1 not_found"},
		`{"target_ids":[` + long + `],"policy":{}}`:                                                {"/target_ids too_long"},
		`{"target_ids":[1],"policy":{},"from":"2026-02-28","short_s":-1}`:                          {"/short_s out_of_range", "/from invalid_text"},
		`{"target_ids":[1],"policy":{},"to":"2026-03-02T00:00:00Z"}`:                               {"/to invalid_range"},
		`{"target_ids":[1],"policy":{},"from":"2026-02-28T00:00:00Z","to":"2026-02-28T00:00:00Z"}`: {"/from invalid_range"},
		`{"target_ids":[1],"policy":{},"from":"2025-11-01T00:00:00Z"}`:                             {"/from invalid_range"},
		`{"target_ids":[1],"policy":{},"from":"2026-01-01T00:00:00Z","to":"2026-01-10T00:00:00Z"}`: {"/to invalid_range"},
		`{"target_ids":[1,2,3,4],"policy":{}}`:                                                     {"/from too_large"},
		`{"target_ids":[1],"policy":{},"compare_with":"another"}`:                                  {"/compare_with unknown_field"},
		`{"target_ids":[1],"policy":null}`:                                                         {"/policy required"},
	} {
		got := b.do("POST", "/api/v1/policies:replay", body, as(viewerKey))
		var found []string
		for _, m := range got.problem(t).Errors {
			found = append(found, m.Pointer+" "+m.Code)
		}
		if d := diff.Diff(want, found); d != "" {
			t.Errorf("%.80s: %d %s", body, got.Code, d)
		}
	}
	if got := b.do("POST", "/api/v1/policies:replay", `{"target_ids":[1],"policy":{}}`, as(viewerKey)); got.Code != http.StatusOK {
		t.Errorf("one target: %d %s", got.Code, got.text)
	}
	b.results.err = errors.New("dial secret-host")
	if got := b.do("POST", "/api/v1/policies:replay", `{"target_ids":[1],"policy":{}}`, as(viewerKey)); got.Code != http.StatusServiceUnavailable || strings.Contains(got.text, "secret-host") {
		t.Errorf("an outage: %d %s", got.Code, got.text)
	}
	b.results.err = nil
	b.fleet.down.Store(true)
	if got := b.do("POST", "/api/v1/policies:replay", `{"target_ids":[1],"policy":{}}`, as(viewerKey)); got.Code != http.StatusServiceUnavailable {
		t.Errorf("a known outage: %d %s", got.Code, got.text)
	}
}

// hanging results never come.
type hanging struct {
	*fakeResults
	asked chan struct{}
	ended chan error
}

func (h *hanging) Measured(ctx context.Context, _ []int64, _, _ time.Time, _ func(*uptime.Result) error) error {
	h.asked <- struct{}{}
	<-ctx.Done()
	h.ended <- context.Cause(ctx)
	return ctx.Err()
}

// A replay ends with its caller, and no more than two are worked on at a time.
func TestReplaysEndWithTheirCaller(t *testing.T) {
	t.Parallel()
	h := &hanging{asked: make(chan struct{}), ended: make(chan error, maxReplays)}
	b := newBenchOn(t, testbackend.SQLite(t), func(b *bench, o *Options) { h.fakeResults = b.results; o.Results = h })
	b.create(`{"url":"https://example.com/"}`)
	ask := func(ctx context.Context) reply {
		return b.do("POST", "/api/v1/policies:replay", `{"target_ids":[1],"policy":{}}`, as(viewerKey), func(r *http.Request) { *r = *r.WithContext(ctx) })
	}
	ctx, leave := context.WithCancel(t.Context())
	answers := make(chan reply, maxReplays)
	for range maxReplays {
		go func() { answers <- ask(ctx) }()
		<-h.asked
	}
	if got := ask(t.Context()); got.Code != http.StatusServiceUnavailable || got.Header().Get("Retry-After") == "" {
		t.Errorf("one too many: %d %s", got.Code, got.text)
	}
	leave()
	for range maxReplays {
		if err := <-h.ended; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if got := <-answers; got.Code != 499 {
			t.Errorf("%d %s", got.Code, got.text)
		}
	}
}
