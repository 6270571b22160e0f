package main

import (
	"fmt"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/database/databasetest"
	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/rollupstore"
	"github.com/probefleet/probefleet/internal/schedulestore"
	"github.com/probefleet/probefleet/internal/targetstore"
	"github.com/probefleet/probefleet/internal/testhistory"
	"github.com/probefleet/probefleet/internal/uptime"
)

// The same results, sent in every way they can arrive, and the rollups computed over and over:
// after each step the API says of every row, hour and day what a model of them says. (With the
// publisher's own job, and three programs instead of one: internal/e2e.)
func TestAPICountsOnce(t *testing.T) {
	t.Parallel()
	site := newSite(t)
	db := databasetest.Open(t, site.database)
	regions := schedulestore.New(db)
	for _, region := range testhistory.Regions() {
		if _, err := regions.AddRegion(t.Context(), region); err != nil {
			t.Fatal(err)
		}
	}
	target, err := targetstore.New(db).Create(t.Context(), uptime.Target{Name: "b", URL: "https://example.org/", Kind: uptime.KindHTTP, Interval: testhistory.Interval, Timeout: time.Second, Active: true})
	if err != nil {
		t.Fatal(err)
	}
	store, err := resultstore.Open(t.Context(), site.clickHouseURL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	notes := rollupstore.New(db)
	node := start(t, site.database, site.redisURL, site.clickHouseURL)
	h := testhistory.New(t, store, target.ID, func(path string) (int, string) { return node.call("GET", path, "") })
	for _, step := range h.Steps() {
		step.Send()
		for n := range 3 {
			computeRollups(t, store, notes)
			h.Computed()
			h.Check(fmt.Sprintf("%s, run %d", step.What, n+1))
		}
	}
	h.End()
}

// computeRollups computes what is marked, as the publisher's job does.
func computeRollups(t *testing.T, store *resultstore.Store, notes *rollupstore.Store) {
	t.Helper()
	ctx := t.Context()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	now, err := store.ServerTime(ctx)
	check(err)
	state, err := notes.State(ctx)
	check(err)
	marked := time.UnixMilli(1)
	if !state.Succeeded.IsZero() {
		marked = state.Succeeded.Add(-2 * time.Minute)
	}
	run, err := notes.Start(ctx, now, marked)
	check(err)
	const day = 24 * time.Hour
	dirty, err := store.DirtyHours(ctx, marked, now.Add(-7*day), now.Truncate(day).Add(-day))
	check(err)
	days := map[time.Time]bool{}
	for _, d := range dirty {
		_, err := store.RecomputeHour(ctx, resultstore.Rollup{Bucket: d.Hour, Marked: marked, Version: run.Version, Closed: !state.Succeeded.IsZero()})
		check(err)
		days[d.Hour.Truncate(day)] = true
	}
	for d := range days {
		_, err := store.RecomputeDay(ctx, resultstore.Rollup{Bucket: d, Marked: marked, Version: run.Version})
		check(err)
	}
	check(notes.Finish(ctx, run))
}
