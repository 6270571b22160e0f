package maintenancestore_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/probefleet/probefleet/internal/availability"
	"github.com/probefleet/probefleet/internal/database"
	"github.com/probefleet/probefleet/internal/database/databasetest"
	"github.com/probefleet/probefleet/internal/maintenance"
	"github.com/probefleet/probefleet/internal/maintenancestore"
	"github.com/probefleet/probefleet/internal/testbackend"
)

func TestMain(m *testing.M) { testbackend.Main(m) }

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// What has held stays, whatever is done to its window; what has not is gone.
func TestWindowsThatHaveHeldStay(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		s := maintenancestore.New(db)
		create := func(name string, terms maintenance.Window) maintenancestore.Window {
			t.Helper()
			w, err := s.Create(t.Context(), name, terms, noon)
			if err != nil {
				t.Fatal(err)
			}
			return w
		}
		nightly := create("nightly", maintenance.Window{Scope: maintenance.Scope{TargetID: 1}, StartsAt: "2026-02-01T02:00:00", DurationS: 3600, RRule: "FREQ=DAILY"})
		later := create("later", maintenance.Window{Scope: maintenance.Scope{Everything: true}, StartsAt: "2026-03-02T00:00:00", Zone: "Europe/Berlin", DurationS: 7200})
		spans := func(from, to time.Time) map[int64]availability.Spans {
			t.Helper()
			got, err := s.Maintenance(t.Context(), []int64{1, 2}, from, to)
			if err != nil {
				t.Fatal(err)
			}
			return got
		}
		at := func(day, hour int) time.Time { return time.Date(2026, 3, day, hour, 0, 0, 0, time.UTC) }
		night := func(day int) availability.Span { return availability.Span{From: at(day, 2), To: at(day, 3)} }
		berlin := availability.Span{From: at(1, 23), To: at(2, 1)}
		want := map[int64]availability.Spans{1: {night(1), berlin, night(2)}, 2: {berlin}}
		if diff := cmp.Diff(want, spans(at(1, 0), at(3, 0))); diff != "" {
			t.Error(diff)
		}
		if next, found := nightly.Next(at(1, 2).Add(time.Minute)); !found || !next.From.Equal(at(1, 2)) || !next.To.Equal(at(1, 3)) {
			t.Errorf("within a window: %v %v", next, found)
		}
		for _, w := range []maintenancestore.Window{nightly, later} {
			if err := s.Remove(t.Context(), w.ID, 0, noon); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(map[int64]availability.Spans{1: {night(1)}}, spans(at(1, 0), at(3, 0))); diff != "" {
			t.Error(diff)
		}
		left, err := s.List(t.Context(), 0, 10)
		if err != nil || len(left) != 1 || !left[0].EndedAt.Equal(noon) || left[0].Name != "nightly" {
			t.Fatalf("%+v, %v", left, err)
		}
		if next, found := left[0].Next(noon); found {
			t.Errorf("ended, and next at %v", next)
		}
		if _, err := s.Get(t.Context(), later.ID); !errors.Is(err, maintenancestore.ErrNotFound) {
			t.Error(err)
		}
		if err := s.Remove(t.Context(), later.ID, 0, noon); !errors.Is(err, maintenancestore.ErrNotFound) {
			t.Error(err)
		}
	})
}

// A window that would not be accepted any more takes no other one with it.
func TestWindowsOfOlderRulesAreRead(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		s := maintenancestore.New(db)
		for _, rule := range []string{"FREQ=YEARLY;INTERVAL=20;COUNT=1", "FREQ=DAILY;BYDAY=MO,MO", ""} {
			if _, err := s.Create(t.Context(), "w", maintenance.Window{Scope: maintenance.Scope{Everything: true}, StartsAt: "2026-03-02T00:00:00", DurationS: 60, RRule: rule}, noon); err != nil {
				t.Error(rule, err)
			}
		}
		if all, err := s.List(t.Context(), 0, 10); err != nil || len(all) != 3 {
			t.Errorf("%d windows, %v", len(all), err)
		}
	})
}
