package recorder

import (
	"context"
	"sync"
	"testing"

	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/spool"
)

type noSink struct{}

func (noSink) Insert(context.Context, resultstore.Batch) error { return nil }

// BenchmarkRecorder gives rows a second through the recorder in records of 20 rows:
// without a spool, with one that is not needed, and with one that takes everything.
func BenchmarkRecorder(b *testing.B) {
	for _, c := range []struct {
		name           string
		withSpool, out bool
	}{{"memory", false, false}, {"spool_idle", true, false}, {"spool_used", true, true}} {
		b.Run(c.name, func(b *testing.B) {
			o := Options{Prober: "p", Region: "eu"}
			if c.withSpool {
				disk, err := spool.Open(spool.Options{Dir: b.TempDir(), Volatile: true, MaxBytes: 8 << 30})
				if err != nil {
					b.Fatal(err)
				}
				defer disk.Close()
				o.Spool = disk
			}
			r := New(noSink{}, o)
			if c.out {
				r.sink = awaySink{}
			}
			ctx, cancel := context.WithCancel(b.Context())
			ended := make(chan error, 1)
			go func() { ended <- r.Run(ctx) }()
			rows := rowsOf(1, 20)
			var group sync.WaitGroup
			watch := Watch{Done: func(error) { group.Done() }, Phase: func(Phase, int) {}}
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				group.Add(1)
				if err := r.Record(ctx, rows, watch); err != nil {
					b.Fatal(err)
				}
			}
			group.Wait()
			b.ReportMetric(float64(b.N*len(rows))/b.Elapsed().Seconds(), "rows/s")
			b.StopTimer()
			cancel()
			<-ended
		})
	}
}

type awaySink struct{}

func (awaySink) Insert(context.Context, resultstore.Batch) error { return errAway }
