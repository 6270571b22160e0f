package incidentstore_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/probefleet/probefleet/internal/incidentstore"
)

// Incidents that were opened silently are told as one, once, however often they are gathered, and
// so is the end of the last; what was told alone before has its own end told, too.
func TestGroups(t *testing.T) {
	each(t, planner{}, func(r *rig) {
		silent := incidentstore.New(r.db, nil)
		o := incidentstore.Opening{FirstSlot: noon.Add(-time.Minute), Severity: incidentstore.Down, At: noon, Group: incidentstore.Group{Kind: "address", Value: "192.0.2.7", FirstSlot: noon.Add(-time.Minute)}, Subject: incidentstore.Subject{Name: "3 targets", Kind: incidentstore.KindGroup}}
		var members []incidentstore.Member
		var opened []int64
		for n := range 3 {
			r.tx(func(ctx context.Context, tx *gorm.DB) error {
				i, _, err := silent.Open(ctx, tx, opening(r.targets[n], time.Duration(n)*time.Second))
				members, opened = append(members, incidentstore.Member{TargetID: i.TargetID, FirstSlot: i.FirstSlot}), append(opened, i.ID)
				return err
			})
		}
		equal(r.T, "told", r.drain(0, time.Minute), "")
		for range 2 {
			r.tx(func(ctx context.Context, tx *gorm.DB) error { return r.Tell(ctx, tx, opened[0], noon.Add(time.Second)) })
		}
		equal(r.T, "alone", r.drain(0, time.Minute), fmt.Sprintf("%d:opened", opened[0]))
		gather := func(some []incidentstore.Member, after time.Duration) {
			o.At = noon.Add(after)
			r.tx(func(ctx context.Context, tx *gorm.DB) error { return r.Gather(ctx, tx, o, some) })
		}
		gather(members[:2], 0)
		gather(members[:2], 0)
		gather(members[2:], time.Second)
		group := opened[2] + 1
		equal(r.T, "as one", r.drain(0, time.Minute), fmt.Sprintf("%d:opened", group))
		all, err := r.List(t.Context(), incidentstore.Filter{GroupID: 1, Limit: 10})
		r.must(err)
		equal(r.T, "members and the incident of the group", len(all), 4)
		end := func() {
			r.tx(func(ctx context.Context, tx *gorm.DB) error { return r.EndGroups(ctx, tx, noon.Add(time.Hour)) })
		}
		equal(r.T, "resolved", r.resolve(opened[0], time.Minute), true)
		equal(r.T, "resolved", r.resolve(opened[1], time.Minute), true)
		end()
		equal(r.T, "that was told alone", r.drain(0, 2*time.Minute), fmt.Sprintf("%d:resolved", opened[0]))
		equal(r.T, "resolved", r.resolve(opened[2], 2*time.Minute), true)
		end()
		end()
		equal(r.T, "the last one", r.drain(0, 3*time.Minute), fmt.Sprintf("%d:resolved", group))
		i, _, err := r.Get(t.Context(), group)
		r.must(err)
		equal(r.T, "ended", i.ResolvedAt, noon.Add(2*time.Minute))
	})
}
