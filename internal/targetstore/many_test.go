package targetstore_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/probefleet/probefleet/internal/database"
	"github.com/probefleet/probefleet/internal/database/databasetest"
	"github.com/probefleet/probefleet/internal/schedulestore"
	"github.com/probefleet/probefleet/internal/targetstore"
	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/internal/uptime"
)

func pause(t *uptime.Target) error { t.Active = false; return nil }

func askFor(targets ...uptime.Target) []targetstore.Asked {
	var asked []targetstore.Asked
	for _, target := range targets {
		asked = append(asked, targetstore.Asked{ID: target.ID})
	}
	return asked
}

func versions(t *testing.T, db *database.DB, after int64) (all []schedulestore.Version) {
	t.Helper()
	err := schedulestore.New(db).EachVersion(t.Context(), after, func(v schedulestore.Version) error { all = append(all, v); return nil })
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// More than one statement takes: everything is stored, with versions as of saves one after the other.
func TestManyAreChangedAtOnce(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		store, schedules := targetstore.New(db), schedulestore.New(db)
		const n = 603 // more than one statement takes
		all := make([]uptime.Target, n)
		for i := range all {
			target := example(fmt.Sprint("t", i))
			target.Tags = []string{"kept"}
			target.Active = i != 555 // paused already
			all[i] = create(t, store, target)
		}
		asked := askFor(all...)
		asked[3].IfVersion, asked[4].IfVersion = all[3].SpecVersion, all[4].SpecVersion+1
		asked = append(asked, targetstore.Asked{ID: 99_999})
		no := errors.New("not this one")
		edit := func(target *uptime.Target) error {
			if target.ID == all[5].ID {
				return no
			}
			target.Active, target.Interval, target.Timeout, target.Regions = false, time.Hour, 3*time.Second, []string{"us"}
			if target.ID == all[555].ID {
				target.Interval, target.Timeout, target.Regions = all[555].Interval, all[555].Timeout, all[555].Regions
			}
			target.Name, target.URL, target.Kind = "of all", "tcp://elsewhere.example:1", uptime.KindTCP // none of the business of many
			return nil
		}
		before, err := schedules.Seq(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var stored []targetstore.Outcome
		for _, dry := range []bool{true, false} {
			outcomes, err := store.UpdateMany(t.Context(), asked, dry, edit)
			stored = outcomes
			if err != nil || len(outcomes) != n+1 {
				t.Fatalf("%d outcomes, %v", len(outcomes), err)
			}
			for i, o := range outcomes {
				var refusal error
				switch i {
				case 4:
					refusal = targetstore.ErrConflict
				case 5:
					refusal = no
				case n:
					refusal = targetstore.ErrNotFound
				}
				if o.ID != asked[i].ID || !errors.Is(o.Err, refusal) || (o.Err == nil) != (refusal == nil) || o.Changed != (refusal == nil && i != 555) {
					t.Fatalf("dry %v: outcome %d: %+v", dry, i, o)
				}
			}
			seq, err := schedules.Seq(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			want := before
			if !dry {
				want += n - 3
			}
			if seq != want || len(versions(t, db, before)) != int(want-before) {
				t.Fatalf("dry %v: seq %d, want %d; %d new versions", dry, seq, want, len(versions(t, db, before)))
			}
		}
		next := before
		for i, o := range stored {
			got, err := store.Get(t.Context(), o.ID)
			if diff := cmp.Diff(got, o.Target); o.Err == nil && (diff != "" || err != nil) {
				t.Fatalf("what was answered of %d is not what is stored: %s %v", i, diff, err)
			}
		}
		for i, was := range all {
			got, err := store.Get(t.Context(), was.ID)
			if err != nil {
				t.Fatal(err)
			}
			want := was
			if i != 4 && i != 5 && i != 555 {
				next++
				want.Active, want.Interval, want.Timeout, want.Regions, want.SpecVersion = false, time.Hour, 3*time.Second, []string{"us"}, next
				if got.UpdatedAt.Before(was.UpdatedAt) {
					t.Errorf("changed at %v, made at %v", got.UpdatedAt, was.UpdatedAt)
				}
				want.UpdatedAt = got.UpdatedAt
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("target %d: %s", i, diff)
			}
		}
		for i, v := range versions(t, db, before) {
			if v.Seq != before+int64(i)+1 || v.Schedule.Active || v.Schedule.Interval != time.Hour || !v.EffectiveFrom.IsZero() || v.Deleted {
				t.Fatalf("version %d: %+v", i, v)
			}
		}
		one, err := store.Update(t.Context(), all[0].ID, 0, func(t *uptime.Target) error { t.Active = true; return nil })
		if err != nil || one.SpecVersion != next+1 {
			t.Errorf("the save after them: version %d, want %d (%v)", one.SpecVersion, next+1, err)
		}
	})
}

// What is not of the schedule is stored too, each as a save of its own would have.
func TestManyAreGivenAParentAndTags(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		store := targetstore.New(db)
		router := create(t, store, example("router"))
		above := create(t, store, example("above"))
		if _, err := store.Update(t.Context(), router.ID, 0, func(target *uptime.Target) error { target.ParentID = above.ID; return nil }); err != nil {
			t.Fatal(err)
		}
		a, b := create(t, store, example("a")), create(t, store, example("b"))
		parent := router.ID
		edit := func(target *uptime.Target) error {
			target.ParentID, target.Tags, target.Policy, target.Spec.Family = parent, []string{"shop"}, `{"down_after":3}`, uptime.FamilyV4
			return nil
		}
		tagged := func() (n int) {
			t.Helper()
			all, err := store.List(t.Context(), targetstore.Filter{Tags: []string{"shop"}})
			if err != nil {
				t.Fatal(err)
			}
			return len(all)
		}
		for _, dry := range []bool{true, false} {
			outcomes, err := store.UpdateMany(t.Context(), askFor(a, router, above, b), dry, edit)
			if err != nil {
				t.Fatal(err)
			}
			for i, o := range outcomes {
				if cycle := i == 1 || i == 2; cycle != errors.Is(o.Err, targetstore.ErrParentCycle) || cycle == o.Changed {
					t.Errorf("dry %v: outcome %d: %+v", dry, i, o)
				}
				if got, err := store.Get(t.Context(), o.ID); !dry && o.Changed && (err != nil || cmp.Diff(got, o.Target) != "" || got.ParentID != parent || got.Policy == "" || got.Spec.Family != uptime.FamilyV4) {
					t.Errorf("outcome %d: %v %s %+v", i, err, cmp.Diff(got, o.Target), got)
				}
			}
			if n, want := tagged(), map[bool]int{true: 0, false: 2}[dry]; n != want {
				t.Errorf("dry %v: %d have the tag", dry, n)
			}
		}
		if written := versions(t, db, b.SpecVersion); len(written) != 2 {
			t.Errorf("%d versions of two targets", len(written))
		}
		parent = 4711
		outcomes, err := store.UpdateMany(t.Context(), askFor(a), false, edit)
		if err != nil || !errors.Is(outcomes[0].Err, targetstore.ErrNoParent) {
			t.Errorf("a parent that is not there: %+v, %v", outcomes, err)
		}
	})
}

// What cannot be stored as a whole is not stored at all.
func TestManyAreChangedOrNone(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		store := targetstore.New(db)
		a, b := create(t, store, example("a")), create(t, store, example("b"))
		ctx, cancel := context.WithCancel(t.Context())
		_, err := store.UpdateMany(ctx, askFor(a, b), false, func(target *uptime.Target) error {
			if target.ID == b.ID {
				cancel() // the caller went away between two of them
			}
			return pause(target)
		})
		if err == nil {
			t.Fatal("stored")
		}
		for _, target := range []uptime.Target{a, b} {
			if got, err := store.Get(t.Context(), target.ID); err != nil || cmp.Diff(target, got) != "" {
				t.Error(err, cmp.Diff(target, got))
			}
		}
		if left := versions(t, db, b.SpecVersion); len(left) != 0 {
			t.Errorf("versions of what was not stored: %v", left)
		}
	})
}

// Many are judged as they would be one after the other: those that a host cannot bear stay as they are.
func TestHostRateOfManySaves(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		store := targetstore.New(db).WithHostRate(targetstore.HostRate{Limit: 0.35})
		var held []uptime.Target
		for i := range 5 {
			target := visit(fmt.Sprint(i), fmt.Sprintf("https://example.com/%d", i), 10*time.Second, "eu")
			target.Active = i == 0
			held = append(held, create(t, store, target))
		}
		turn := func(target *uptime.Target) error { target.Active = !target.Active; return nil }
		// The first makes room: then 0.1, 0.2, 0.3, and the fifth would be the fourth tenth.
		outcomes, err := store.UpdateMany(t.Context(), askFor(held...), false, turn)
		if err != nil {
			t.Fatal(err)
		}
		for i, o := range outcomes {
			if i < 4 && (o.Err != nil || !o.Changed) {
				t.Errorf("target %d: %+v", i, o)
			}
		}
		refusedAt(t, outcomes[4].Err, "active", 0.3, 0.4)
		for i, was := range held {
			got, err := store.Get(t.Context(), was.ID)
			if err != nil || got.Active != (i >= 1 && i <= 3) {
				t.Errorf("target %d: active %v, %v", i, got.Active, err)
			}
		}
		faster := func(target *uptime.Target) error { target.Interval = 9 * time.Second; return nil }
		outcomes, err = store.UpdateMany(t.Context(), askFor(held[1], held[2]), false, faster)
		if err != nil || outcomes[0].Err != nil || outcomes[1].Err != nil {
			t.Fatal(outcomes, err) // 0.322
		}
		_, err = store.Create(t.Context(), visit("one more", "https://example.com/x", 10*time.Second, "eu"))
		refusedAt(t, err, "url", 2.0/9+0.1, 2.0/9+0.2)
	})
}

func BenchmarkPauseTenThousand(b *testing.B) {
	db := databasetest.Open(b, testbackend.SQLite(b))
	store := targetstore.New(db)
	const n = 10_000
	asked := make([]targetstore.Asked, 0, n)
	for i := range n {
		target, err := store.Create(b.Context(), visit(fmt.Sprint(i), fmt.Sprintf("https://host%d.example/", i), time.Minute))
		if err != nil {
			b.Fatal(err)
		}
		asked = append(asked, targetstore.Asked{ID: target.ID})
	}
	for b.Loop() {
		outcomes, err := store.UpdateMany(b.Context(), asked, false, func(t *uptime.Target) error { t.Active = !t.Active; return nil })
		if err != nil || len(outcomes) != n || !outcomes[n-1].Changed {
			b.Fatal(err)
		}
	}
}
