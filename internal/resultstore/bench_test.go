package resultstore

import (
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

// BenchmarkInsert1000 stores batches of the usual size, one writer: as the product does,
// and without the note in batches.
func BenchmarkInsert1000(b *testing.B) {
	const n = 1000
	for _, audited := range []bool{true, false} {
		name := map[bool]string{true: "audited", false: "rows_alone"}[audited]
		b.Run(name, func(b *testing.B) {
			s, _ := open(b)
			rows := make([]uptime.Result, n)
			slot := base()
			b.ReportAllocs()
			for b.Loop() {
				slot = slot.Add(-time.Second)
				for i := range rows {
					rows[i] = up(int64(i+1), "eu", slot)
					rows[i].TotalUS = uint32(i * 37 % 9973)
				}
				batch := batchOf(rows...)
				if audited {
					insert(b, s, batch)
					continue
				}
				valid, err := prepare(batch.Rows, s.now(), Retention)
				if err == nil {
					err = s.insert(b.Context(), batch.Token, insertResults, resultColumnsOf(valid))
				}
				if err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)*n/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

// BenchmarkColumns makes the columns of a large batch, in the order in which rows end.
func BenchmarkColumns(b *testing.B) {
	const n = 10_000
	rows := make([]uptime.Result, n)
	for i := range rows {
		rows[i] = up(int64(i*7919%n+1), "eu", base())
	}
	now := time.Now()
	b.ReportAllocs()
	for b.Loop() {
		valid, err := prepare(rows, now, Retention)
		if err != nil || len(resultColumnsOf(valid)) == 0 {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/row")
}
