package cycle

import (
	"context"
	"time"

	"github.com/probefleet/probefleet/internal/ledger"
	"github.com/probefleet/probefleet/internal/uptime"
)

const (
	accountSpan  = time.Hour
	accountLimit = 50 * time.Second
)

// account shows what became of the slots of the last hour. Only the publisher at
// work does; what cannot be known now is not shown, rather than shown as it was.
func (l *Loop) account(ctx context.Context) {
	var lines []ledger.Line
	if l.Lease.Held() {
		limited, cancel := context.WithTimeout(ctx, accountLimit)
		defer cancel()
		var err error
		v := l.view.Load()
		if lines, err = l.Accounts.Report(limited, v.now().Add(-accountSpan), v.now(), v.published()); err != nil {
			l.Log.Debug("the last hour cannot be accounted for now", "error", err)
		}
	}
	l.metrics.accounted(lines)
}

func (m *metrics) accounted(lines []ledger.Line) {
	m.account.Reset()
	m.unexplained.Reset()
	for _, line := range lines {
		if uptime.Outside(line.Region) {
			continue // whoever sends them names them: no label of ours
		}
		for outcome, n := range map[string]int64{
			"planned": line.Planned, "up": line.Up, "degraded": line.Degraded, "down": line.Down, "unknown": line.Unknown, "missed": line.Missed,
			"in_flight": line.InFlight, "spooled": line.Spooled, "unplanned": line.Unplanned,
		} {
			m.account.WithLabelValues(line.Region, outcome).Set(float64(n))
		}
		m.unexplained.WithLabelValues(line.Region).Set(float64(line.Unexplained))
	}
}
