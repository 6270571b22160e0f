package storing

import (
	"context"
	"fmt"
	"time"

	"github.com/probefleet/probefleet/internal/recorder"
	"github.com/probefleet/probefleet/internal/service"
)

const (
	tellEvery  = 2 * time.Second
	tooOldTold = time.Hour // for how long it is said that rows were refused
)

// Tell keeps /healthz saying how well rows become durable, until ctx ends.
func Tell(ctx context.Context, rows *recorder.Recorder, health *service.Health) error {
	return TellAs(ctx, rows, health, "clickhouse")
}

// TellAs does the same where somebody else speaks of ClickHouse: what is said of the store
// stands under another name.
func TellAs(ctx context.Context, rows *recorder.Recorder, health *service.Health, store string) error {
	ticker := time.NewTicker(tellEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			clickHouse, spool := judge(rows.State())
			health.Set(store, clickHouse.level, clickHouse.reason)
			health.Set("spool", spool.level, spool.reason)
		}
	}
}

type finding struct {
	level  service.Level
	reason string
}

// judge says how ClickHouse and the spool are. ClickHouse being away is never worse than
// degraded: rows wait on disk. No room for rows anywhere is an error.
func judge(s recorder.State) (clickHouse, spool finding) {
	waiting := ""
	if s.Spool != nil && s.Spool.Rows > 0 {
		waiting = fmt.Sprintf("%d rows wait on disk (since %s)", s.Spool.Rows, s.Spool.First.Format(time.RFC3339))
	}
	switch {
	case s.Retrying && waiting != "":
		clickHouse = finding{service.Degraded, waiting + ": " + s.LastError}
	case s.Retrying:
		clickHouse = finding{service.Degraded, "rows are not stored: " + s.LastError}
	case waiting != "":
		clickHouse = finding{service.Degraded, waiting + ", being written"}
	}
	switch {
	case s.Pressure == recorder.LevelError:
		spool = finding{service.Error, "there is no room for rows, neither in ClickHouse nor on disk nor in memory: no more work is taken on"}
	case s.Spool != nil && s.Spool.Full:
		spool = finding{service.Degraded, "is full: rows wait in memory"}
	case s.Spool != nil && 5*s.Spool.Bytes > 4*s.Spool.MaxBytes:
		spool = finding{service.Degraded, fmt.Sprintf("%d of %d MiB are used", s.Spool.Bytes>>20, s.Spool.MaxBytes>>20)}
	case s.Spool != nil && s.Spool.Corrupt > 0:
		spool = finding{service.Degraded, fmt.Sprintf("%d damaged files were put aside in its folder corrupt", s.Spool.Corrupt)}
	case s.TooOld > 0 && time.Since(s.TooOldAt) < tooOldTold:
		spool = finding{service.Degraded, fmt.Sprintf("%d rows came back later than results are kept, and were not stored", s.TooOld)}
	}
	return clickHouse, spool
}
