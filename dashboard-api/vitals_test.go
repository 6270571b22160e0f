package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/database/databasetest"
	"github.com/probefleet/probefleet/internal/incidentstore"
	"github.com/probefleet/probefleet/internal/ledger"
	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/migrations"
)

type books struct {
	lines []ledger.Line
	err   error
}

func (b *books) Report(context.Context, time.Time, time.Time) ([]ledger.Line, error) {
	return b.lines, b.err
}

func TestWhatIsWrongIsSaid(t *testing.T) {
	t.Parallel()
	now := time.Now()
	long := now.Add(-time.Minute)
	for _, c := range []struct {
		name string
		harm func(v *vitals, s *seen, b *books)
		want string // part of the only sentence; "": all is well
	}{
		{"nothing", func(*vitals, *seen, *books) {}, ""},
		{"Redis never answered", func(_ *vitals, s *seen, _ *books) { *s = seen{} }, "Redis has not answered"},
		{"Redis", func(_ *vitals, s *seen, _ *books) { s.at = long }, "Redis does not answer"},
		{"Redis for a moment", func(_ *vitals, s *seen, _ *books) { s.at = now.Add(-5 * time.Second) }, ""},
		{"publisher", func(_ *vitals, s *seen, _ *books) { s.tick = long }, "does not publish"},
		{"publisher changes", func(_ *vitals, s *seen, _ *books) { s.tick = now.Add(-8 * time.Second) }, ""},
		{"a region's only prober", func(_ *vitals, s *seen, _ *books) { s.probers = s.probers[:1] }, "region us"},
		{"a prober that is silent", func(_ *vitals, s *seen, _ *books) { s.probers[1].Age = checkstream.HeartbeatTTL }, "region us"},
		{"one prober of two", func(_ *vitals, s *seen, _ *books) {
			s.probers = append(s.probers, checkstream.Heartbeat{Region: "us", Name: "p3", Age: time.Hour})
		}, ""},
		{"a region that was not adopted", func(_ *vitals, s *seen, _ *books) {
			s.probers = append(s.probers, checkstream.Heartbeat{Region: "new", Name: "p3", Age: time.Hour})
		}, ""},
		{"evaluator", func(v *vitals, _ *seen, _ *books) { v.judged = func() time.Time { return long } }, "does not judge"},
		{"slots", func(_ *vitals, _ *seen, b *books) { b.lines[1].Unexplained = 3 }, "3 slots of the region us"},
		{"no account", func(_ *vitals, _ *seen, b *books) { b.err = errors.New("away") }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := seen{at: now, tick: now.Add(time.Second), probers: []checkstream.Heartbeat{{Region: "eu", Name: "p1"}, {Region: "us", Name: "p2"}}}
			b := &books{lines: []ledger.Line{{Region: "eu"}, {Region: "us"}}}
			v := &vitals{now: time.Now, judged: func() time.Time { return now }, account: b}
			c.harm(v, &s, b)
			v.watch = &fleetWatch{seen: s, adopted: []string{"eu", "us"}}
			got := v.wrong(t.Context())
			if c.want == "" && len(got) > 0 || c.want != "" && (len(got) != 1 || !strings.Contains(got[0], c.want)) {
				t.Errorf("said %q, not %q", got, c.want)
			}
			if _, known := v.troubles(t.Context()); known == strings.HasPrefix(c.want, "Redis ") {
				t.Errorf("known: %v", known)
			}
			if again := v.wrong(t.Context()); !slices.Equal(again, got) {
				t.Errorf("then said %q", again)
			}
		})
	}
}

// An account that cannot be read does not take back what it said.
func TestWhatWasLostStaysLost(t *testing.T) {
	t.Parallel()
	now := time.Now()
	b := &books{lines: []ledger.Line{{Region: "eu", Unexplained: 1}}}
	v := &vitals{now: time.Now, judged: func() time.Time { return now }, account: b, watch: &fleetWatch{seen: seen{at: now, tick: now}}}
	if got := v.wrong(t.Context()); len(got) != 1 {
		t.Fatalf("said %q", got)
	}
	b.err, v.counted = errors.New("away"), now.Add(-accountEvery-time.Second)
	if got := v.wrong(t.Context()); len(got) != 1 {
		t.Errorf("while nothing can be read: %q", got)
	}
	b.err, b.lines[0].Unexplained = nil, 0
	if got := v.wrong(t.Context()); len(got) != 0 {
		t.Errorf("when all is explained: %q", got)
	}
}

// A node without publisher and probers does not keep the alarm outside silent, and has an incident
// about it a minute later.
func TestAlarmOutsideHearsWhatIsWrong(t *testing.T) {
	t.Parallel()
	said := make(chan string, 100)
	outside := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		said <- r.URL.Path + " " + string(text)
	}))
	t.Cleanup(outside.Close)
	databaseURL, clickHouseURL := testbackend.SQLite(t), testbackend.ClickHouse(t)
	if err := migrations.UpClickHouse(t.Context(), clickHouseURL, func(string) {}); err != nil {
		t.Fatal(err)
	}
	db := databasetest.Open(t, databaseURL)
	settings := map[string]string{"API_DEADMAN_URL": outside.URL + "/well", "API_DEADMAN_FAIL_URL": outside.URL + "/wrong"}
	startWith(t, slog.New(slog.DiscardHandler), settings, databaseURL, testbackend.Redis(t), clickHouseURL)
	select {
	case got := <-said:
		if !strings.HasPrefix(got, "/wrong ") || !strings.Contains(got, "does not publish") {
			t.Errorf("said %q", got)
		}
	case <-time.After(hang):
		t.Error("nothing was said")
	}
	if testing.Short() {
		return // the incident comes a minute later: make verify; the rule is proven by dashboard-api/internal/troubles
	}
	incidents, look := incidentstore.New(db, nil), time.NewTicker(time.Second)
	defer look.Stop()
	for deadline := time.After(3 * time.Minute); ; {
		all, err := incidents.List(t.Context(), incidentstore.Filter{Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		if len(all) > 0 {
			if i := all[0]; len(all) != 1 || i.Subject.Kind != incidentstore.KindFleet || i.Subject.Name != "The publisher" || i.OpenedAt.Sub(i.FirstSlot) < time.Minute {
				t.Errorf("%+v", all)
			}
			return
		}
		select {
		case <-look.C:
		case <-deadline:
			t.Fatal("there is no incident")
		}
	}
}
