package probe

import (
	"testing"

	"github.com/probefleet/probefleet/internal/lab"
	"github.com/probefleet/probefleet/internal/uptime"
)

func benchmark(b *testing.B, url func(*lab.Lab) string) {
	l := startLab(b)
	e := New(options(l))
	check := checkOf(url(l) + "/ok")
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if o := checked(b.Context(), e, check); o.Status != uptime.StatusUp {
				b.Errorf("%+v", o)
				return
			}
		}
	})
}

// The figures include the lab's side of the work.
func BenchmarkHTTPCheck(b *testing.B)  { benchmark(b, (*lab.Lab).URL) }
func BenchmarkHTTPSCheck(b *testing.B) { benchmark(b, (*lab.Lab).TLSURL) }
