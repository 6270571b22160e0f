package evaluator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/database"
	"github.com/probefleet/probefleet/internal/database/databasetest"
	"github.com/probefleet/probefleet/internal/incidentstore"
	"github.com/probefleet/probefleet/internal/maintenance"
	"github.com/probefleet/probefleet/internal/maintenancestore"
	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/internal/uptime"
)

// hidden are windows that cannot be read until somebody lets them be.
type hidden struct {
	Maintenance
	asked   atomic.Int64
	visible atomic.Bool
}

func (h *hidden) Holding(ctx context.Context, since time.Time) ([]maintenancestore.Window, error) {
	if h.asked.Add(1); !h.visible.Load() {
		return nil, errors.New("away")
	}
	return h.Maintenance.Holding(ctx, since)
}

// Whoever does not know what is maintained judges nothing: people would be called for it.
func TestNobodyLeadsWithoutTheWindows(t *testing.T) {
	t.Parallel()
	r := newRig(t, databasetest.Open(t, testbackend.SQLite(t)), 2)
	maintained, other := r.targets[0].Target.ID, r.targets[1].Target.ID
	if _, err := r.windows.Create(t.Context(), "move", maintenance.Window{Scope: maintenance.Scope{TargetID: maintained}, StartsAt: r.began.Add(-time.Minute).Format("2006-01-02T15:04:05"), DurationS: 3600}, r.began); err != nil {
		t.Fatal(err)
	}
	windows := &hidden{Maintenance: r.windows}
	e := r.evaluator()
	e.Maintenance = windows
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- e.Run(ctx) }()
	r.say(maintained, uptime.StatusDown)
	r.say(other, uptime.StatusDown)
	r.await("the windows were asked for", func() bool { return windows.asked.Load() > 4 })
	if all := r.all(); len(all) != 0 {
		t.Errorf("judged without them: %+v", all)
	}
	windows.visible.Store(true)
	r.folded()
	if all := r.all(); len(all) != 1 || all[0].TargetID != other {
		t.Errorf("%+v", all)
	}
	cancel()
	<-ended
}

// What this release cannot read of rules and blind regions keeps nobody from judging, nor from being told.
func TestWhatCannotBeReadKeepsNobodyFromJudging(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, db *database.DB) {
		r := newRig(t, db, 1)
		r.listener()
		if _, err := r.incidents.CreateRule(t.Context(), incidentstore.Rule{Name: "lost", Enabled: true}, r.began); err != nil {
			t.Fatal(err)
		}
		for _, broken := range []string{
			"UPDATE notification_rules SET terms = '{' WHERE name = 'lost'",
			fmt.Sprintf("INSERT INTO blind_windows (region, sign, from_ms, why, suspects, opened_at_ms) VALUES ('ap', 'mass_change', %d, 'many', '{', 0)", r.began.UnixMilli()),
		} {
			if err := db.Write().Exec(broken).Error; err != nil {
				t.Fatal(err)
			}
		}
		defer r.run()()
		r.say(r.targets[0].Target.ID, uptime.StatusDown)
		r.await("somebody is told", func() bool { return slices.Contains(r.told(), "opened t0") })
	})
}
