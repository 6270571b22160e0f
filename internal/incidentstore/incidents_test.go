package incidentstore_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"gorm.io/gorm"

	"github.com/probefleet/probefleet/internal/incidentstore"
	"github.com/probefleet/probefleet/internal/targetstore"
)

func TestIncidentIsOpenedOnce(t *testing.T) {
	each(t, planner{}, func(r *rig) {
		want := r.open(0, 0)
		again, created := incidentstore.Incident{}, true
		r.tx(func(ctx context.Context, tx *gorm.DB) (err error) {
			o := opening(r.targets[0], 0)
			o.Severity, o.At = incidentstore.Degraded, noon.Add(time.Hour)
			again, created, err = r.Open(ctx, tx, o)
			return err
		})
		if diff := cmp.Diff(want, again); created || diff != "" {
			r.Errorf("opened again: %v %s", created, diff)
		}
		o := opening(r.targets[0], 0)
		if got, _, err := r.Get(r.Context(), want.ID); err != nil || got.FirstSlot != o.FirstSlot || got.OpenedAt != o.At || !cmp.Equal(got.Subject, o.Subject) || !cmp.Equal(got.Cause, o.Cause) || !got.Open() {
			r.Errorf("%+v %v", got, err)
		}
		equal(r.T, "timeline", r.timeline(want.ID), "opened")
		equal(r.T, "told", r.drain(0, 0), r.told(want.ID, "opened"))
		if other := r.open(0, time.Hour); other.ID == want.ID {
			r.Error("another first slot is another incident")
		}
		if _, _, err := r.Get(r.Context(), 4711); !errors.Is(err, incidentstore.ErrNotFound) {
			r.Error(err)
		}
	})
}

// What is rolled back is told nobody.
func TestChangeAndWhatIsToldAreOne(t *testing.T) {
	each(t, planner{}, func(r *rig) {
		err := r.db.Tx(r.Context(), func(tx *gorm.DB) error {
			if _, _, err := r.Open(r.Context(), tx, opening(r.targets[0], 0)); err != nil {
				return err
			}
			return errBack
		})
		if !errors.Is(err, errBack) {
			r.Fatal(err)
		}
		if _, found := r.claim("x", 0, time.Hour); found {
			r.Error("told of nothing")
		}
		i := r.open(0, 0)
		equal(r.T, "told", r.drain(0, 0), r.told(i.ID, "opened"))
	})
}

func TestResolvedAndAcknowledgedOnce(t *testing.T) {
	each(t, planner{}, func(r *rig) {
		i := r.open(0, 0)
		equal(r.T, "first", r.drain(0, 0), r.told(i.ID, "opened"))
		r.must(r.Acknowledge(r.Context(), i.ID, "user:1", "on it", noon.Add(time.Minute)))
		r.must(r.Acknowledge(r.Context(), i.ID, "user:2", "me too", noon.Add(2*time.Minute)))
		got, _, err := r.Get(r.Context(), i.ID)
		if err != nil || got.AcknowledgedBy != "user:1" || got.AcknowledgedAt != noon.Add(time.Minute) {
			r.Errorf("%+v %v", got, err)
		}
		equal(r.T, "resolved", r.resolve(i.ID, time.Hour), true)
		equal(r.T, "resolved again", r.resolve(i.ID, 2*time.Hour), false)
		// The escalation at ten minutes was cancelled: nobody hears of it.
		equal(r.T, "told after", r.drain(0, 2*time.Hour), r.told(i.ID, "acknowledged")+" "+r.told(i.ID, "resolved"))
		equal(r.T, "timeline", r.timeline(i.ID), "opened notified notified notified acknowledged resolved") // the test delivers by the clock of noon
		if err := r.Acknowledge(r.Context(), i.ID, "user:2", "", noon); err != nil {
			r.Error(err)
		}
		over := r.open(1, 0)
		r.resolve(over.ID, time.Minute)
		if err := r.Acknowledge(r.Context(), over.ID, "user:2", "", noon); !errors.Is(err, incidentstore.ErrResolved) {
			r.Error(err)
		}
	})
}

func TestEscalationIsToldUnlessAcknowledged(t *testing.T) {
	each(t, planner{}, func(r *rig) {
		i := r.open(0, 0)
		equal(r.T, "at once", r.drain(1, 9*time.Minute), r.told(i.ID, "opened"))
		equal(r.T, "later", r.drain(1, 10*time.Minute), r.told(i.ID, "escalated"))
	})
}

func TestTimelineHasEachThingOnce(t *testing.T) {
	each(t, planner{}, func(r *rig) {
		i := r.open(0, 0)
		for range 2 {
			e, err := r.Note(r.Context(), i.ID, "k", "user:1", "looking", noon.Add(time.Second))
			if err != nil || e.ID == 0 || e.Text != "looking" {
				r.Errorf("%+v %v", e, err)
			}
			r.tx(func(ctx context.Context, tx *gorm.DB) error {
				_, err := r.SetSeverity(ctx, tx, i.ID, "slot1", incidentstore.Degraded, incidentstore.Cause{Explanation: "slow"}, noon.Add(2*time.Second))
				return err
			})
			r.tx(func(ctx context.Context, tx *gorm.DB) error {
				return r.Correct(ctx, tx, i.ID, "c1", incidentstore.Event{At: noon.Add(3 * time.Second), Author: "user:1", Text: "was planned"})
			})
		}
		equal(r.T, "timeline", r.timeline(i.ID), "opened note severity corrected")
		got, _, _ := r.Get(r.Context(), i.ID)
		if got.Severity != incidentstore.Degraded || got.Cause.Explanation != "slow" {
			r.Errorf("%+v", got)
		}
		if _, err := r.Note(r.Context(), 4711, "k", "", "", noon); !errors.Is(err, incidentstore.ErrNotFound) {
			r.Error(err)
		}
		equal(r.T, "told", r.drain(0, time.Minute), r.told(i.ID, "opened")+" "+r.told(i.ID, "severity"))
	})
}

func TestGroupEndsWithItsLast(t *testing.T) {
	each(t, planner{}, func(r *rig) {
		var opened []incidentstore.Incident
		for _, target := range r.targets {
			o := opening(target, 0)
			o.Group = incidentstore.Group{Kind: "host", Value: "example.com", FirstSlot: noon}
			r.tx(func(ctx context.Context, tx *gorm.DB) error {
				i, _, err := r.Open(ctx, tx, o)
				opened = append(opened, i)
				return err
			})
		}
		group := opened[0].GroupID
		found, err := r.List(r.Context(), incidentstore.Filter{GroupID: group, Limit: 10})
		if err != nil || group == 0 || len(found) != 3 {
			r.Fatalf("%+v %v", found, err)
		}
		for n, i := range opened {
			r.resolve(i.ID, time.Duration(n+1)*time.Minute)
			var over bool
			r.must(r.db.Read().Raw("SELECT resolved_at_ms IS NOT NULL FROM incident_groups WHERE id = ?", group).Row().Scan(&over))
			equal(r.T, "group over", over, n == 2)
		}
	})
}

func TestListIsFilteredAndPaged(t *testing.T) {
	each(t, planner{}, func(r *rig) {
		var all []incidentstore.Incident
		for n := range 9 {
			i := r.open(n%3, time.Duration(n)*time.Minute)
			all = append([]incidentstore.Incident{i}, all...)
		}
		r.resolve(all[8].ID, 20*time.Minute)
		r.must(r.Acknowledge(r.Context(), all[7].ID, "user:1", "", noon.Add(30*time.Minute)))
		for name, c := range map[string]struct {
			filter incidentstore.Filter
			want   []int64
		}{
			"all":          {incidentstore.Filter{}, ids(all)},
			"target":       {incidentstore.Filter{TargetID: r.targets[0]}, ids([]incidentstore.Incident{all[2], all[5], all[8]})},
			"of targets":   {incidentstore.Filter{Targets: []int64{r.targets[0], 4711}}, ids([]incidentstore.Incident{all[2], all[5], all[8]})},
			"open":         {incidentstore.Filter{State: incidentstore.StateOpen}, ids(all[:8])},
			"acknowledged": {incidentstore.Filter{State: incidentstore.StateAcknowledged}, ids(all[7:8])},
			"resolved":     {incidentstore.Filter{State: incidentstore.StateResolved}, ids(all[8:])},
			"severity":     {incidentstore.Filter{Severity: incidentstore.Degraded}, nil},
			"still on":     {incidentstore.Filter{From: noon.Add(20*time.Minute + 1e6)}, ids(all[:8])},
			"until":        {incidentstore.Filter{To: noon.Add(2 * time.Minute)}, ids(all[7:])},
		} {
			var got []int64
			f := c.filter
			for f.Limit = 4; ; {
				page, err := r.List(r.Context(), f)
				r.must(err)
				got = append(got, ids(page)...)
				if len(page) < f.Limit {
					break
				}
				last := page[len(page)-1]
				f.Before = &incidentstore.Cursor{OpenedAt: last.OpenedAt, ID: last.ID}
			}
			if !slices.Equal(got, c.want) {
				r.Errorf("%s: %v, want %v", name, got, c.want)
			}
		}
	})
}

// A deleted target takes its incidents along, and whoever is just telling of one finds nothing to note.
func TestDeletedTarget(t *testing.T) {
	each(t, planner{}, func(r *rig) {
		i := r.open(0, 0)
		b, _ := r.claim("x", 0, 0)
		r.must(targetstore.New(r.db).Delete(r.Context(), r.targets[0], 0))
		r.settle("x", b, incidentstore.OutcomeDelivered, 0)
		if _, _, err := r.Get(r.Context(), i.ID); !errors.Is(err, incidentstore.ErrNotFound) {
			r.Error(err)
		}
		equal(r.T, "told", r.drain(1, time.Hour), "")
	})
}

func TestEntriesSayWhatHasChanged(t *testing.T) {
	each(t, planner{}, func(r *rig) {
		before, err := r.NewestEntry(r.Context())
		r.must(err)
		first, second := r.open(0, 0), r.open(1, time.Second)
		r.resolve(first.ID, time.Minute)
		entries, err := r.EntriesAfter(r.Context(), before, 10)
		r.must(err)
		var of []int64
		for _, e := range entries {
			of = append(of, e.Incident)
		}
		if !slices.Equal(of, []int64{first.ID, second.ID, first.ID}) {
			r.Errorf("entries of %v", of)
		}
		if two, err := r.EntriesAfter(r.Context(), entries[0].ID, 1); err != nil || len(two) != 1 || two[0] != entries[1] {
			r.Errorf("%v %v, want %v", two, err, entries[1])
		}
		if newest, err := r.NewestEntry(r.Context()); err != nil || newest != entries[2].ID {
			r.Errorf("the newest is %d (%v), want %d", newest, err, entries[2].ID)
		}
		some, err := r.Some(r.Context(), []int64{second.ID, first.ID, 4711})
		if err != nil || len(some) != 2 || some[0].ID != first.ID || some[0].Open() || !some[1].Open() {
			r.Errorf("%+v %v", some, err)
		}
	})
}

func TestIncidentsAsTheyWereTold(t *testing.T) {
	each(t, planner{}, func(r *rig) {
		i := r.open(0, 0)
		for n, severity := range []incidentstore.Severity{incidentstore.Degraded, incidentstore.Down} {
			r.tx(func(ctx context.Context, tx *gorm.DB) error {
				_, err := r.SetSeverity(ctx, tx, i.ID, fmt.Sprint(n), severity, incidentstore.Cause{Explanation: "now " + string(severity) + ": eu", Regions: []string{"eu"}}, noon.Add(time.Duration(10*(n+1))*time.Minute))
				return err
			})
		}
		r.must(r.Acknowledge(r.Context(), i.ID, "user:1", "", noon.Add(25*time.Minute)))
		r.resolve(i.ID, 30*time.Minute)
		final, _, err := r.Get(r.Context(), i.ID)
		r.must(err)
		decisions, err := r.Decisions(r.Context(), []int64{i.ID, 4711})
		r.must(err)
		if len(decisions) != 1 || len(decisions[i.ID]) != 3 {
			r.Fatalf("%+v", decisions)
		}
		for minutes, want := range map[int]string{
			-1: "false", 0: "true down answers 500 in eu and us [] open", 9: "true down answers 500 in eu and us [] open", 10: "true degraded now degraded: eu [] open",
			20: "true down now down: eu [eu] open", 25: "true down now down: eu [eu] acknowledged", 30: "true down now down: eu [eu] resolved",
		} {
			then, is := final.KnownAt(decisions[i.ID], noon.Add(time.Duration(minutes)*time.Minute))
			state := "open"
			switch {
			case !then.Open():
				state = "resolved"
			case !then.AcknowledgedAt.IsZero() && then.AcknowledgedBy != "":
				state = "acknowledged"
			}
			got := fmt.Sprint(is)
			if is {
				got = fmt.Sprint(is, " ", then.Severity, " ", then.Cause.Explanation, " ", then.Cause.Regions, " ", state)
			}
			if got != want {
				r.Errorf("after %d minutes: %s, want %s", minutes, got, want)
			}
		}
	})
}
