package maintenancestore_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
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

// wall is a time of that day, in UTC, as windows say it.
func wall(hour, minute int) string { return fmt.Sprintf("2026-03-01T%02d:%02d:00", hour, minute) }

func hours(from, to float64) availability.Span {
	at := func(hour float64) time.Time {
		return noon.Add(time.Duration((hour - 12) * float64(time.Hour)))
	}
	return availability.Span{From: at(from), To: at(to)}
}

// A change counts from then on: what was covered stays covered, and what is over is not covered by it.
func TestAChangeCountsFromThenOn(t *testing.T) {
	t.Parallel()
	one, two := maintenance.Scope{TargetID: 1}, maintenance.Scope{TargetID: 2}
	for name, c := range map[string]struct {
		before, after maintenance.Window // changed at noon
		want          map[int64]availability.Spans
		begins        float64 // of what holds then, or next; 0: nothing does
		begun         bool
	}{
		"longer": {
			before: maintenance.Window{Scope: one, StartsAt: wall(11, 0), DurationS: 2 * 3600},
			after:  maintenance.Window{Scope: one, StartsAt: wall(11, 0), DurationS: 4 * 3600},
			want:   map[int64]availability.Spans{1: {hours(11, 15)}}, begins: 11, begun: true,
		},
		"shorter": {
			before: maintenance.Window{Scope: one, StartsAt: wall(11, 0), DurationS: 2 * 3600},
			after:  maintenance.Window{Scope: one, StartsAt: wall(11, 0), DurationS: 90 * 60},
			want:   map[int64]availability.Spans{1: {hours(11, 12.5)}}, begins: 11, begun: true,
		},
		"shorter than it was already": {
			before: maintenance.Window{Scope: one, StartsAt: wall(11, 0), DurationS: 2 * 3600},
			after:  maintenance.Window{Scope: one, StartsAt: wall(11, 0), DurationS: 30 * 60},
			want:   map[int64]availability.Spans{1: {hours(11, 12)}}, begun: true,
		},
		"later, while it holds": {
			before: maintenance.Window{Scope: one, StartsAt: wall(11, 0), DurationS: 2 * 3600},
			after:  maintenance.Window{Scope: one, StartsAt: wall(13, 0), DurationS: 2 * 3600},
			want:   map[int64]availability.Spans{1: {hours(11, 12), hours(13, 15)}}, begins: 13, begun: true,
		},
		"earlier, while it holds": {
			before: maintenance.Window{Scope: one, StartsAt: wall(11, 0), DurationS: 2 * 3600},
			after:  maintenance.Window{Scope: one, StartsAt: wall(9, 0), DurationS: 4 * 3600},
			want:   map[int64]availability.Spans{1: {hours(11, 13)}}, begins: 11, begun: true,
		},
		"begun meanwhile by its new terms": {
			before: maintenance.Window{Scope: one, StartsAt: wall(14, 0), DurationS: 3600},
			after:  maintenance.Window{Scope: one, StartsAt: wall(11, 0), DurationS: 2 * 3600},
			want:   map[int64]availability.Spans{1: {hours(12, 13)}}, begins: 12, begun: true,
		},
		"over by its new terms": {
			before: maintenance.Window{Scope: one, StartsAt: wall(14, 0), DurationS: 3600},
			after:  maintenance.Window{Scope: one, StartsAt: wall(9, 0), DurationS: 2 * 3600},
			want:   map[int64]availability.Spans{},
		},
		"for another target": {
			before: maintenance.Window{Scope: one, StartsAt: wall(11, 0), DurationS: 2 * 3600},
			after:  maintenance.Window{Scope: two, StartsAt: wall(11, 0), DurationS: 2 * 3600},
			want:   map[int64]availability.Spans{1: {hours(11, 12)}, 2: {hours(12, 13)}}, begins: 12, begun: true,
		},
		"what came daily comes once": {
			before: maintenance.Window{Scope: one, StartsAt: "2026-02-01T10:00:00", DurationS: 3600, RRule: "FREQ=DAILY"},
			after:  maintenance.Window{Scope: one, StartsAt: wall(15, 0), DurationS: 3600},
			want:   map[int64]availability.Spans{1: {hours(10, 11), hours(15, 16)}}, begins: 15, begun: true,
		},
		"by the clock of another zone": {
			before: maintenance.Window{Scope: one, StartsAt: "2026-02-01T10:00:00", Zone: "UTC", DurationS: 3600, RRule: "FREQ=DAILY"},
			after:  maintenance.Window{Scope: one, StartsAt: "2026-02-01T10:00:00", Zone: "America/New_York", DurationS: 3600, RRule: "FREQ=DAILY"},
			want:   map[int64]availability.Spans{1: {hours(10, 11), hours(15, 16)}}, begins: 15, begun: true,
		},
		"planned for another time": {
			before: maintenance.Window{Scope: one, StartsAt: wall(14, 0), DurationS: 3600},
			after:  maintenance.Window{Scope: one, StartsAt: wall(16, 0), DurationS: 3600},
			want:   map[int64]availability.Spans{1: {hours(16, 17)}}, begins: 16,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			databasetest.Each(t, func(t *testing.T, db *database.DB) {
				s := maintenancestore.New(db)
				made, err := s.Create(t.Context(), "move", c.before, noon.Add(-24*time.Hour))
				if err != nil {
					t.Fatal(err)
				}
				changed, err := s.Update(t.Context(), made.ID, 1, noon, func(w *maintenancestore.Window) error {
					w.Name, w.Terms = "moved", c.after
					return nil
				})
				if err != nil || changed.Version != 2 || changed.Name != "moved" || !changed.ChangedAt.Equal(noon) || !changed.CreatedAt.Equal(made.CreatedAt) {
					t.Fatalf("%+v, %v", changed, err)
				}
				read, err := s.Get(t.Context(), made.ID)
				if diff := cmp.Diff(c.after, read.Terms); err != nil || diff != "" {
					t.Error(err, diff)
				}
				got, err := s.Maintenance(t.Context(), []int64{1, 2}, hours(0, 0).From, hours(24, 24).From)
				if diff := cmp.Diff(c.want, got); err != nil || diff != "" {
					t.Error(err, diff)
				}
				soon := noon.Add(time.Minute)
				if next, found := read.Next(soon); found != (c.begins != 0) || found && !next.From.Equal(hours(c.begins, c.begins).From) {
					t.Errorf("it holds next %v, %v; want %v o'clock", next, found, c.begins)
				}
				if begun := read.Begun(hours(24, 24).From); begun != (len(c.want) > 0) {
					t.Errorf("that day it has held: %t", begun)
				}
				if begun := read.Begun(soon); begun != c.begun {
					t.Errorf("it has begun: %t", begun)
				}
				if err := s.Remove(t.Context(), made.ID, 2, soon); err != nil {
					t.Fatal(err)
				}
				if _, err := s.Get(t.Context(), made.ID); errors.Is(err, maintenancestore.ErrNotFound) == c.begun {
					t.Errorf("removed, it is there: %v", err)
				}
			})
		})
	}
}

// What is not to be changed is refused, and says why.
func TestChangesThatAreRefused(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		s := maintenancestore.New(db)
		w, err := s.Create(t.Context(), "move", maintenance.Window{Scope: maintenance.Scope{Everything: true}, StartsAt: wall(11, 0), DurationS: 7200}, noon)
		if err != nil {
			t.Fatal(err)
		}
		named := func(name string) func(*maintenancestore.Window) error {
			return func(w *maintenancestore.Window) error { w.Name = name; return nil }
		}
		no := errors.New("no")
		if _, err := s.Update(t.Context(), w.ID, 0, noon, func(w *maintenancestore.Window) error { w.Name = "x"; return no }); !errors.Is(err, no) {
			t.Error(err)
		}
		if same, err := s.Update(t.Context(), w.ID, 1, noon, named("move")); err != nil || same.Version != 1 || !same.ChangedAt.IsZero() {
			t.Errorf("a change of nothing: %+v, %v", same, err)
		}
		if _, err := s.Update(t.Context(), w.ID, 2, noon, named("x")); !errors.Is(err, maintenancestore.ErrConflict) {
			t.Error(err)
		}
		if err := s.Remove(t.Context(), w.ID, 2, noon); !errors.Is(err, maintenancestore.ErrConflict) {
			t.Error(err)
		}
		if _, err := s.Update(t.Context(), w.ID+1, 0, noon, named("x")); !errors.Is(err, maintenancestore.ErrNotFound) {
			t.Error(err)
		}
		for i := range maintenancestore.MostChanges {
			// Several at one instant, and one by a clock that was put back, are kept as one.
			for j, at := range []time.Duration{0, 0, -time.Hour} {
				at += time.Duration(i) * time.Minute
				if w, err = s.Update(t.Context(), w.ID, w.Version, noon.Add(at), named(fmt.Sprint(i, j))); err != nil {
					t.Fatal(i, err)
				}
			}
		}
		if _, err := s.Update(t.Context(), w.ID, 0, noon.Add(24*time.Hour), named("x")); !errors.Is(err, maintenancestore.ErrTooOften) {
			t.Error(err)
		}
		if err := s.Remove(t.Context(), w.ID, 0, noon.Add(24*time.Hour)); err != nil {
			t.Fatal(err)
		}
		if ended, err := s.Get(t.Context(), w.ID); err != nil || ended.Version != w.Version+1 || ended.Name != w.Name {
			t.Errorf("%+v, %v", ended, err)
		}
		if _, err := s.Update(t.Context(), w.ID, 0, noon.Add(25*time.Hour), named("x")); !errors.Is(err, maintenancestore.ErrEnded) {
			t.Error(err)
		}
	})
}

// Whatever is done to windows: each covers, at each instant, what its terms of that instant say, and
// what was known at an instant stays what was known at it.
func TestWindowsAreWhatTheyWere(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		s, targets := maintenancestore.New(db), targetstore.New(db)
		random := rand.New(rand.NewPCG(7, 11))
		var ids []int64
		for i := range 3 {
			target, err := targets.Create(t.Context(), uptime.Target{Name: fmt.Sprint(i), URL: fmt.Sprint("https://example.com/", i), Kind: uptime.KindHTTP, Interval: time.Minute, Timeout: time.Second})
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, target.ID)
		}
		day := hours(0, 24)
		carries := map[int64]map[string]availability.Span{} // by target and tag
		for _, id := range ids[:2] {
			carries[id] = map[string]availability.Span{}
			for _, tag := range []string{"db", "eu"} {
				from := random.IntN(20)
				carries[id][tag] = hours(float64(from), float64(from+1+random.IntN(8)))
				if err := db.Write().Exec("INSERT INTO target_tags (target_id, tag, from_ms, to_ms) VALUES (?, ?, ?, ?)", id, tag, carries[id][tag].From.UnixMilli(), carries[id][tag].To.UnixMilli()).Error; err != nil {
					t.Fatal(err)
				}
			}
		}
		terms := func() maintenance.Window {
			w := maintenance.Window{
				Scope:    []maintenance.Scope{{Everything: true}, {TargetID: ids[0]}, {TargetID: ids[1]}, {Tags: []string{"db"}}, {Tags: []string{"db", "eu"}}}[random.IntN(5)],
				StartsAt: wall(random.IntN(24), random.IntN(60)), DurationS: 60 * (10 + random.IntN(600)), RRule: []string{"", "FREQ=DAILY"}[random.IntN(2)],
			}
			if w.RRule != "" {
				w.StartsAt = "2026-02-2" + w.StartsAt[9:]
			}
			return w
		}
		type said struct {
			id    int64 // of the window
			at    time.Time
			name  string
			spans map[int64][]verdict.Span
		}
		type since struct {
			at       time.Time
			terms    maintenance.Window
			schedule *maintenance.Schedule
		}
		from := func(at time.Time, terms maintenance.Window) since {
			schedule, _ := maintenance.New(terms)
			return since{at, terms, schedule}
		}
		known := func(id int64, at time.Time) (name string, spans map[int64][]verdict.Span) {
			t.Helper()
			all, err := s.Holding(t.Context(), day.From)
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range all {
				if w, is := w.KnownAt(at); is && w.ID == id {
					spans = map[int64][]verdict.Span{}
					for _, target := range ids {
						spans[target] = w.Between(target, day.From, day.To)
					}
					return w.Name, spans
				}
			}
			t.Fatalf("window %d was not known at %v", id, at)
			return "", nil
		}
		windows, look := 12, time.Minute
		if testing.Short() {
			windows, look = 6, 7*time.Minute
		}
		for n := range windows {
			now := day.From
			w, err := s.Create(t.Context(), "0", terms(), now)
			if err != nil {
				t.Fatal(err)
			}
			model, end, book := []since{from(time.Time{}, w.Terms)}, time.Time{}, []said{}
			for i := range 6 {
				name, spans := known(w.ID, now)
				book = append(book, said{w.ID, now, name, spans})
				now = now.Add(time.Duration(1+random.IntN(240)) * time.Minute)
				if i == 5 && n%2 == 0 && w.Begun(now) {
					end = now
					if err := s.Remove(t.Context(), w.ID, 0, now); err != nil {
						t.Fatal(err)
					}
					continue
				}
				next := terms()
				if w, err = s.Update(t.Context(), w.ID, w.Version, now, func(w *maintenancestore.Window) error { w.Name, w.Terms = fmt.Sprint(i+1), next; return nil }); err != nil {
					t.Fatal(err)
				}
				model = append(model, from(now, next))
			}
			for _, b := range book {
				name, spans := known(b.id, b.at)
				if diff := cmp.Diff(b.spans, spans); diff != "" || b.name != name {
					t.Errorf("window %d: what was known of %s at %v changed, %s: %s", b.id, b.name, b.at, name, diff)
				}
			}
			all, err := s.Holding(t.Context(), day.From)
			if err != nil {
				t.Fatal(err)
			}
			for _, id := range ids {
				spans := all[n].Between(id, day.From, day.To)
				for at := day.From.Add(30 * time.Second); at.Before(day.To); at = at.Add(look) {
					then := model[0]
					for _, m := range model {
						if !m.at.After(at) {
							then = m
						}
					}
					active := then.schedule.Active(at)
					want := active && then.terms.Names(id) && (end.IsZero() || at.Before(end))
					for _, tag := range then.terms.Tags {
						c := carries[id][tag]
						want = want || active && !at.Before(c.From) && at.Before(c.To) && (end.IsZero() || at.Before(end))
					}
					got := false
					for _, span := range spans {
						got = got || span.Holds(at)
					}
					if got != want {
						t.Fatalf("window %d, target %d at %v: %t, want %t: %+v", n, id, at, got, want, model)
					}
				}
			}
		}
	})
}

// Whoever follows the windows hears of every change.
func TestAChangedWindowIsAnotherOne(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		s := maintenancestore.New(db)
		w, err := s.Create(t.Context(), "move", maintenance.Window{Scope: maintenance.Scope{Everything: true}, StartsAt: wall(11, 0), DurationS: 7200}, noon)
		if err != nil {
			t.Fatal(err)
		}
		longer, err := s.Update(t.Context(), w.ID, 0, noon, func(w *maintenancestore.Window) error { w.Terms.DurationS *= 2; return nil })
		if err != nil || w.Alike(longer) || !longer.Alike(longer) {
			t.Errorf("%v: %+v is like %+v", err, w, longer)
		}
		again, err := s.Update(t.Context(), w.ID, 0, noon, func(w *maintenancestore.Window) error { w.Terms.DurationS *= 2; return nil })
		if err != nil || longer.Alike(again) { // at the same instant
			t.Errorf("%v: %+v is like %+v", err, longer, again)
		}
	})
}
