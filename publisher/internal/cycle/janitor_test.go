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
