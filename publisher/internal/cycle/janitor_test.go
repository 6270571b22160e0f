package cycle

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/uptime"
)

// picky refuses rows for good.
type picky struct{}

func (picky) RecordWait(context.Context, []uptime.Result) error {
	return &resultstore.RowError{Problem: "older than results are kept"}
}

// A house that was away for longer than rows are kept finds entries whose rows can
// never be stored: they must not stay in the stream for ever.
func TestJanitorSettlesWhatCannotBeStored(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, p, care := tended(t)
		defer p.stop()
		p.loop.Rows = picky{}
		care.expired["us"] = []checkstream.Entry{{ID: "1", TargetID: 1, Check: uptime.Check{
			TargetID: 1, ScheduledAt: time.Now().Add(-31 * 24 * time.Hour), Interval: time.Minute, Regions: []string{"us"}}}}
		p.loop.janitor(t.Context())
		if len(care.settled) != 1 {
			t.Errorf("settled %v", care.settled)
		}
	})
}

// An entry whose body is gone names its slot by target and second alone. When the
// schedule has changed since, the versions still know which slot that was.
func TestJanitorNamesSlotsOfFormerSchedules(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, p, care := tended(t)
		defer p.stop()
		time.Sleep(20 * time.Second)
		slot := uptime.NextSlot(3, 10*time.Second, time.Now().Add(-12*time.Second))
		changed := target(3, 24*time.Hour)
		h.database.save(changed, false)
		time.Sleep(5 * time.Second)
		gone := checkstream.Entry{ID: "1", TargetID: 3, Second: slot.Unix(), Gone: true}
		never := checkstream.Entry{ID: "2", TargetID: 3, Second: slot.Unix() + 1, Gone: true}

		h.database.mu.Lock()
		h.database.down = true
		h.database.mu.Unlock()
		care.expired["us"] = []checkstream.Entry{gone}
		p.loop.janitor(t.Context())
		if len(h.results.rows) != 0 || len(care.settled) != 1 {
			t.Errorf("without the database: %v, settled %v", h.results.rows, care.settled)
		}
		h.database.mu.Lock()
		h.database.down = false
		h.database.mu.Unlock()
		care.expired["eu"] = []checkstream.Entry{never, gone}
		p.loop.janitor(t.Context())
		row, found := h.results.rows[uptime.Slot{TargetID: 3, Region: "eu", ScheduledAt: slot}]
		if !found || row.Reason != uptime.ReasonTrimmed || row.SpecVersion == 0 || len(h.results.rows) != 1 || len(care.settled) != 3 {
			t.Errorf("rows %v, settled %v", h.results.rows, care.settled)
		}
	})
}
