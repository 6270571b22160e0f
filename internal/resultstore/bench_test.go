package resultstore

import (
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

// BenchmarkInsert1000 stores batches of the usual size, one writer.
func BenchmarkInsert1000(b *testing.B) {
	s, _ := open(b)
	const n = 1000
	rows := make([]uptime.Result, n)
	slot := base()
	b.ReportAllocs()
	for b.Loop() {
		slot = slot.Add(-time.Second)
		for i := range rows {
			rows[i] = up(int64(i+1), "eu", slot)
			rows[i].TotalUS = uint32(i * 37 % 9973)
		}
		insert(b, s, batchOf(rows...))
	}
	b.ReportMetric(float64(b.N)*n/b.Elapsed().Seconds(), "rows/s")
}
