package incidentstore_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/probefleet/probefleet/internal/incidentstore"
)

// What was told of a target is listed with how far it has come: what waits, what is tried again
// and why, what arrived, what was refused, what became pointless; and nothing of other targets.
func TestTidings(t *testing.T) {
	each(t, planner{}, func(r *rig) {
		read := func(target int) string {
			r.Helper()
			all, err := r.Tidings(r.Context(), r.targets[target], 0, 100)
			r.must(err)
			var lines []string
			for _, one := range all {
				lines = append(lines, fmt.Sprintf("%s %s %s %d %s", one.Channel, one.Event, one.State, one.Attempts, one.Last.Outcome))
			}
			return strings.Join(lines, "\n")
		}
		i := r.open(0, 0)
		r.open(1, 0)
		equal(r.T, "waiting", read(0), "boss escalated pending 0 \nops escalated pending 0 \nboss opened pending 0 \nops opened pending 0 ")
		b, _ := r.claim("a", 0, 0)
		equal(r.T, "sending", read(0), "boss escalated pending 0 \nops escalated pending 0 \nboss opened pending 0 \nops opened sending 1 ")
		r.settle("a", b, incidentstore.OutcomeRetry, 5*time.Minute)
		b, _ = r.claim("a", 1, 0)
		r.settle("a", b, incidentstore.OutcomeFailed, 0)
		all, err := r.Tidings(r.Context(), r.targets[0], 0, 100)
		r.must(err)
		retried, failed := all[3], all[2]
		if retried.State != incidentstore.Pending || retried.Last.Excerpt != "ok" || retried.Last.Status != 200 || !retried.NextAt.Equal(noon.Add(5*time.Minute)) || !retried.SettledAt.IsZero() ||
			retried.IncidentID != i.ID || retried.ChannelID != r.channels[0].ID || retried.ChannelKind != "webhook" || !retried.CreatedAt.Equal(noon) {
			r.Errorf("%+v", retried)
		}
		if failed.State != incidentstore.Failed || !failed.SettledAt.Equal(noon.Add(time.Second)) || !failed.Last.At.Equal(noon) {
			r.Errorf("%+v", failed)
		}
		equal(r.T, "later", r.drain(0, 5*time.Minute), r.told(i.ID, "opened")+" "+r.told(i.ID+1, "opened"))
		r.resolve(i.ID, 6*time.Minute)
		equal(r.T, "resolved", read(0), "ops resolved pending 0 \nboss escalated cancelled 0 \nops escalated cancelled 0 \nboss opened failed 1 failed\nops opened delivered 2 delivered")
		equal(r.T, "the other", read(1), "boss escalated pending 0 \nops escalated pending 0 \nboss opened pending 0 \nops opened delivered 1 delivered")
		equal(r.T, "nothing", read(2), "")
		older, err := r.Tidings(r.Context(), r.targets[0], all[1].ID, 1)
		r.must(err)
		if len(older) != 1 || older[0].ID != failed.ID {
			r.Errorf("%+v", older)
		}
	})
}

// What was told of several targets at once was told of each.
func TestTidingsOfAGroup(t *testing.T) {
	each(t, planner{}, func(r *rig) {
		silent := incidentstore.New(r.db, nil)
		var members []incidentstore.Member
		for n := range 2 {
			r.tx(func(ctx context.Context, tx *gorm.DB) error {
				i, _, err := silent.Open(ctx, tx, opening(r.targets[n], 0))
				members = append(members, incidentstore.Member{TargetID: i.TargetID, FirstSlot: i.FirstSlot})
				return err
			})
		}
		r.tx(func(ctx context.Context, tx *gorm.DB) error {
			return r.Gather(ctx, tx, incidentstore.Opening{FirstSlot: noon.Add(-time.Minute), Severity: incidentstore.Down, At: noon, Group: incidentstore.Group{Kind: "address", Value: "192.0.2.7", FirstSlot: noon.Add(-time.Minute)}, Subject: incidentstore.Subject{Name: "2 targets", Kind: incidentstore.KindGroup}}, members)
		})
		for n, want := range []int{4, 4, 0} { // both channels hear of it, and escalate
			all, err := r.Tidings(r.Context(), r.targets[n], 0, 100)
			r.must(err)
			equal(r.T, fmt.Sprint("target ", n), len(all), want)
		}
	})
}
