package ledger

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/probefleet/probefleet/internal/uptime"
)

type pushes struct {
	waiting, expected, overdue int64
	owed                       time.Time
	err                        error
}

func (p *pushes) Pushed(_ context.Context, _, _, owed time.Time) (int64, int64, int64, error) {
	p.owed = owed
	return p.waiting, p.expected, p.overdue, p.err
}

// TestRowsThatNobodyPublished: those of external checkers and of heartbeats are on the account
// as far as they were taken in, also while they lie on an API's disk, and neither makes a
// slot of the probers look explained or doubled.
func TestRowsThatNobodyPublished(t *testing.T) {
	t.Parallel()
	w := one(10*time.Second, 1)
	at := epoch.Add(time.Minute)
	for region, status := range map[string]uptime.Status{"ext-office": uptime.StatusDown, uptime.RegionPush: uptime.StatusUp} {
		for i := range 3 {
			slot := uptime.Slot{TargetID: 1, Region: region, ScheduledAt: at.Add(time.Duration(i) * time.Millisecond)}
			w.rows[slot] = uptime.Result{TargetID: 1, Region: region, ScheduledAt: slot.ScheduledAt, Status: status}
		}
	}
	p := &pushes{waiting: 2, expected: 4, overdue: 1}
	spools := map[string]Spool{}
	ledger := New(w, w, func(context.Context) map[string]Spool { return spools }).WithPushes(p)
	ledger.now = func() time.Time { return epoch.Add(time.Hour) }
	lines, err := ledger.Report(t.Context(), epoch, epoch.Add(10*time.Minute), time.Time{})
	if err != nil || len(lines) != 3 {
		t.Fatalf("%+v %v", lines, err)
	}
	if want := (Line{Region: uptime.RegionPush, Planned: 10, Up: 3, Spooled: 2, InFlight: 4, Unexplained: 1}); !cmp.Equal(lines[2], want) {
		t.Errorf("%+v, want %+v", lines[2], want)
	}
	if want := (Line{Region: "ext-office", Planned: 3, Down: 3}); !cmp.Equal(lines[1], want) {
		t.Errorf("%+v, want %+v", lines[1], want)
	}
	if lines[0].Unplanned != 0 || lines[0].Unexplained != 60 {
		t.Errorf("%+v", lines[0])
	}
	probed := lines[0]
	spools = map[string]Spool{
		uptime.RegionPush: {Rows: 5, First: at, Last: at.Add(time.Minute)}, "ext-office": {Rows: 7, First: at.Add(-time.Hour), Last: epoch},
		"ext-elsewhere": {Rows: 2, First: at, Last: at}, "ext-before": {Rows: 9, First: epoch.Add(-time.Hour), Last: epoch.Add(-time.Millisecond)},
	}
	lines, err = ledger.Report(t.Context(), epoch, epoch.Add(10*time.Minute), time.Time{})
	want := []Line{probed, {Region: "ext-elsewhere", Planned: 2, Spooled: 2}, {Region: "ext-office", Planned: 10, Down: 3, Spooled: 7},
		{Region: uptime.RegionPush, Planned: 15, Up: 3, Spooled: 7, InFlight: 4, Unexplained: 1}}
	if err != nil || !cmp.Equal(lines, want) {
		t.Errorf("with rows on a disk: %+v %v", lines, err)
	}
	if want := epoch.Add(time.Hour - DefaultSettle - time.Minute); !p.owed.Equal(want) {
		t.Errorf("owed before %v, want %v", p.owed, want)
	}
	p.err = errors.New("away")
	if _, err := ledger.Report(t.Context(), epoch, epoch.Add(time.Minute), time.Time{}); err == nil {
		t.Error("an account without the heartbeats")
	}
}
