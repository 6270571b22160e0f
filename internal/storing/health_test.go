package storing

import (
	"strings"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/recorder"
	"github.com/probefleet/probefleet/internal/service"
	"github.com/probefleet/probefleet/internal/spool"
)

func TestJudge(t *testing.T) {
	t.Parallel()
	some := &spool.State{Rows: 7, First: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), Bytes: 1 << 20, MaxBytes: 500 << 20}
	for name, c := range map[string]struct {
		state             recorder.State
		clickHouse, spool service.Level
		says              string
	}{
		"all is well":        {recorder.State{Spool: &spool.State{MaxBytes: 1}}, service.OK, service.OK, ""},
		"no spool":           {recorder.State{}, service.OK, service.OK, ""},
		"inserts fail":       {recorder.State{Retrying: true, LastError: "refused", Pressure: recorder.LevelDegraded}, service.Degraded, service.OK, "rows are not stored: refused"},
		"rows wait":          {recorder.State{Retrying: true, LastError: "refused", Spool: some}, service.Degraded, service.OK, "7 rows wait on disk (since 2026-03-01T12:00:00Z): refused"},
		"rows are replayed":  {recorder.State{Spool: some}, service.Degraded, service.OK, "being written"},
		"the disk fills":     {recorder.State{Spool: &spool.State{Bytes: 9 << 20, MaxBytes: 10 << 20}}, service.OK, service.Degraded, "9 of 10 MiB"},
		"the disk is full":   {recorder.State{Spool: &spool.State{Full: true, MaxBytes: 1}}, service.OK, service.Degraded, "is full"},
		"no room anywhere":   {recorder.State{Retrying: true, Pressure: recorder.LevelError, Spool: some}, service.Degraded, service.Error, "no room"},
		"a file was damaged": {recorder.State{Spool: &spool.State{Corrupt: 2, MaxBytes: 1}}, service.OK, service.Degraded, "2 damaged files"},
		"rows came too late": {recorder.State{Spool: &spool.State{MaxBytes: 1}, TooOld: 3, TooOldAt: time.Now()}, service.OK, service.Degraded, "3 rows came back later than results are kept"},
		"rows once did":      {recorder.State{Spool: &spool.State{MaxBytes: 1}, TooOld: 3, TooOldAt: time.Now().Add(-2 * time.Hour)}, service.OK, service.OK, ""},
	} {
		clickHouse, disk := judge(c.state)
		if clickHouse.level != c.clickHouse || disk.level != c.spool || !strings.Contains(clickHouse.reason+disk.reason, c.says) {
			t.Errorf("%s: %+v %+v", name, clickHouse, disk)
		}
	}
}
