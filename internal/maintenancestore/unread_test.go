package maintenancestore_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/probefleet/probefleet/internal/availability"
	"github.com/probefleet/probefleet/internal/database"
	"github.com/probefleet/probefleet/internal/database/databasetest"
	"github.com/probefleet/probefleet/internal/maintenance"
	"github.com/probefleet/probefleet/internal/maintenancestore"
)

// A window of another release, or a broken one, takes no other one with it. By what cannot be read of
// it, it holds nobody; it is not changed, and is ended rather than removed.
func TestWindowsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		column, text string
		covered      bool // by what it was before it was changed
	}{
		"more than this release knows": {"terms", `{"target_id":1,"starts_at":"2026-03-01T11:00:00","zone":"","duration_s":36000,"regions":["eu"]}`, true},
		"no JSON":                      {"terms", `{`, true},
		"not in its limits":            {"terms", `{"target_id":1,"starts_at":"2026-03-01T11:00:00","zone":"Mars/Base","duration_s":36000}`, true},
		"what it was":                  {"past", `[{"name":"w","terms":{"weather":"rain"},"until_ms":1772366400000}]`, false},
		"all that it was":              {"past", `{`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			databasetest.Each(t, func(t *testing.T, db *database.DB) {
				s := maintenancestore.New(db)
				w, err := s.Create(t.Context(), "w", maintenance.Window{Scope: maintenance.Scope{TargetID: 1}, StartsAt: wall(11, 0), DurationS: 36_000}, noon)
				if err == nil {
					_, err = s.Update(t.Context(), w.ID, 0, noon, func(w *maintenancestore.Window) error { w.Terms.DurationS = 7200; return nil })
				}
				if err == nil {
					_, err = s.Create(t.Context(), "other", maintenance.Window{Scope: maintenance.Scope{TargetID: 2}, StartsAt: wall(11, 0), DurationS: 3600}, noon)
				}
				if err == nil {
					err = db.Write().Exec("UPDATE maintenance_windows SET "+c.column+" = ? WHERE id = ?", c.text, w.ID).Error
				}
				if err != nil {
					t.Fatal(err)
				}
				want := map[int64]availability.Spans{2: {hours(11, 12)}}
				switch {
				case c.covered:
					want[1] = availability.Spans{hours(11, 12)}
				case name == "what it was": // what it is can be read
					want[1] = availability.Spans{hours(12, 13)}
				}
				got, err := s.Maintenance(t.Context(), []int64{1, 2}, hours(0, 0).From, hours(24, 24).From)
				if diff := cmp.Diff(want, got); err != nil || diff != "" {
					t.Error(err, diff)
				}
				all, err := s.List(t.Context(), 0, 10)
				if err != nil || len(all) != 2 || all[0].Unread == "" || all[1].Unread != "" {
					t.Fatalf("%+v, %v", all, err)
				}
				if next, found := all[0].Next(noon); c.column == "terms" && found {
					t.Errorf("it holds %v", next)
				}
				if _, err := s.Update(t.Context(), w.ID, 0, noon, func(w *maintenancestore.Window) error { w.Name = "x"; return nil }); !errors.Is(err, maintenancestore.ErrUnreadable) {
					t.Error(err)
				}
				if err := s.Remove(t.Context(), w.ID, 0, noon); err != nil {
					t.Error(err)
				}
				if ended, err := s.Get(t.Context(), w.ID); err != nil || !ended.EndedAt.Equal(noon) {
					t.Errorf("%+v, %v", ended, err)
				}
			})
		})
	}
}
