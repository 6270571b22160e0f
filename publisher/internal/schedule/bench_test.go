package schedule

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

func filled(n int64) *Wheel {
	w := withRegions(start, "eu", "us")
	for id := int64(1); id <= n; id++ {
		w.Apply(Change{Seq: id, Effective: start, Schedule: uptime.Schedule{TargetID: id, Interval: time.Minute, Active: true},
			Spec: &Spec{Version: id, Kind: uptime.KindHTTP, URL: fmt.Sprintf("https://host-%d.example.com/health", id), Timeout: 10 * time.Second}})
	}
	return w
}

// BenchmarkDue is one tick of a million targets a minute: 16,667 checks. It
// reports the cost of one check and of finding an empty second.
func BenchmarkDue(b *testing.B) {
	w := filled(1_000_000)
	var due []uptime.Check
	checks := 0
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		due = w.Due(due[:0], start+int64(i))
		checks += len(due)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(checks), "ns/check")
}

func BenchmarkEmptySecond(b *testing.B) {
	w := withRegions(start, "eu")
	for id := int64(1); id <= 20; id++ {
		w.Apply(change(id, start, id, time.Duration(3600+id)*time.Second))
	}
	var due []uptime.Check
	for i := 0; b.Loop(); i++ {
		due = w.Due(due[:0], start+int64(i))
	}
}

// BenchmarkMemory reports bytes a target, URL included.
func BenchmarkMemory(b *testing.B) {
	const n = 200_000
	for b.Loop() {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		w := filled(n)
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/n, "B/target")
		ringBytes := 0
		for _, r := range w.rings {
			for _, ids := range r.buckets {
				ringBytes += cap(ids) * 8
			}
		}
		b.ReportMetric(float64(ringBytes)/n, "wheel-B/target")
		runtime.KeepAlive(w)
	}
}
