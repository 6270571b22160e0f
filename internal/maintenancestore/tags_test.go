package maintenancestore_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/probefleet/probefleet/internal/availability"
	"github.com/probefleet/probefleet/internal/database"
	"github.com/probefleet/probefleet/internal/database/databasetest"
	"github.com/probefleet/probefleet/internal/maintenance"
	"github.com/probefleet/probefleet/internal/maintenancestore"
	"github.com/probefleet/probefleet/internal/targetstore"
	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/internal/verdict"
)

// A window for tags holds who carries one of them, while they do: what it covered stays covered
// when the tag is gone, and what was before the tag stays uncovered.
func TestTagsAreThoseOfTheTime(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		s, targets := maintenancestore.New(db), targetstore.New(db)
		at := func(hour, minute int) time.Time { return time.Date(2026, 3, 1, hour, minute, 0, 0, time.UTC) }
		var ids []int64
		for _, name := range []string{"a", "b", "c"} {
			target, err := targets.Create(t.Context(), uptime.Target{Name: name, URL: "https://example.com/" + name, Kind: uptime.KindHTTP, Interval: time.Minute, Timeout: time.Second})
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, target.ID)
		}
		carry := func(id int64, tag string, from time.Time, to any) {
			t.Helper()
			if at, is := to.(time.Time); is {
				to = at.UnixMilli()
			}
			if err := db.Write().Exec("INSERT INTO target_tags (target_id, tag, from_ms, to_ms) VALUES (?, ?, ?, ?)", id, tag, from.UnixMilli(), to).Error; err != nil {
				t.Fatal(err)
			}
		}
		carry(ids[0], "db", at(0, 0), at(2, 30))  // taken off while it holds
		carry(ids[0], "db", at(2, 45), nil)       // and put on again
		carry(ids[0], "eu", at(2, 20), at(2, 40)) // the other one overlaps
		carry(ids[1], "eu", at(3, 30), at(3, 31)) // afterwards
		carry(ids[2], "web", at(0, 0), nil)       // another one
		terms := maintenance.Window{Scope: maintenance.Scope{Tags: []string{"db", "eu"}}, StartsAt: "2026-03-01T02:00:00", DurationS: 3600}
		w, err := s.Create(t.Context(), "databases", terms, noon)
		if err != nil {
			t.Fatal(err)
		}
		want := map[int64]availability.Spans{ids[0]: {{From: at(2, 0), To: at(2, 40)}, {From: at(2, 45), To: at(3, 0)}}}
		got, err := s.Maintenance(t.Context(), ids, at(0, 0), at(12, 0))
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Error(err, diff)
		}
		windows, err := s.Holding(t.Context(), at(2, 35))
		if err != nil || len(windows) != 1 || !windows[0].Alike(windows[0]) || windows[0].Alike(w) {
			t.Fatalf("%+v, %v", windows, err)
		}
		found := availability.Spans{}
		for _, span := range windows[0].Between(ids[0], at(2, 35), at(4, 0)) {
			found = append(found, availability.Span{From: span.From, To: span.To})
		}
		if diff := cmp.Diff(availability.Spans{{From: at(2, 35), To: at(2, 40)}, {From: at(2, 45), To: at(3, 0)}}, found); diff != "" {
			t.Error(diff)
		}
		if none := windows[0].Between(ids[1], at(0, 0), at(12, 0)); none != nil {
			t.Error(none)
		}
		if err := s.Remove(t.Context(), w.ID, 0, at(2, 50)); err != nil { // ended: what it covered stays
			t.Fatal(err)
		}
		want[ids[0]][1].To = at(2, 50)
		got, err = s.Maintenance(t.Context(), ids, at(0, 0), at(12, 0))
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Error(err, diff)
		}
	})
}

// What was known of a window: not before it was made, not its end, and no tag that came or went later.
func TestWindowsAsTheyWereKnown(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		s, targets := maintenancestore.New(db), targetstore.New(db)
		target, err := targets.Create(t.Context(), uptime.Target{Name: "a", URL: "https://example.com/", Kind: uptime.KindHTTP, Interval: time.Minute, Timeout: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		after := func(minutes int) time.Time { return noon.Add(time.Duration(minutes) * time.Minute) }
		for _, tag := range []struct {
			name     string
			from, to int
		}{{"db", 0, 90}, {"eu", 100, 130}} {
			if err := db.Write().Exec("INSERT INTO target_tags (target_id, tag, from_ms, to_ms) VALUES (?, ?, ?, ?)", target.ID, tag.name, after(tag.from).UnixMilli(), after(tag.to).UnixMilli()).Error; err != nil {
				t.Fatal(err)
			}
		}
		made, err := s.Create(t.Context(), "move", maintenance.Window{Scope: maintenance.Scope{Tags: []string{"db", "eu"}}, StartsAt: "2026-03-01T13:00:00", DurationS: 7200}, after(10))
		if err != nil || s.Remove(t.Context(), made.ID, 0, after(120)) != nil {
			t.Fatal(err)
		}
		windows, err := s.Holding(t.Context(), noon)
		if err != nil || len(windows) != 1 {
			t.Fatalf("%+v, %v", windows, err)
		}
		for minutes, want := range map[int][]verdict.Span{
			10:  {{From: after(60), To: after(180)}},
			90:  {{From: after(60), To: after(90)}},
			110: {{From: after(60), To: after(90)}, {From: after(100), To: after(180)}},
			120: {{From: after(60), To: after(90)}, {From: after(100), To: after(120)}},
		} {
			w, is := windows[0].KnownAt(after(minutes))
			if diff := cmp.Diff(want, w.Between(target.ID, noon, after(600))); !is || diff != "" {
				t.Errorf("after %d minutes: %v %s", minutes, is, diff)
			}
		}
		if _, is := windows[0].KnownAt(after(9)); is {
			t.Error("it was known before it was made")
		}
	})
}
