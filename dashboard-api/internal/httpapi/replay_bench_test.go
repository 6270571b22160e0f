//go:build bench

package httpapi

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

// Four weeks of a target every ten seconds from nine regions, near the limit of what may be
// asked: go test -tags bench -run ReplayCosts -v
func TestReplayCosts(t *testing.T) {
	b, results := onResults(t)
	var regions []string
	for i := range 9 {
		regions = append(regions, fmt.Sprint("r", i))
	}
	b.hub.SetRegions(regions, nil)
	id := b.create(`{"url":"https://exempt.example/","interval_s":10}`).ID
	start := b.now.Add(-28 * 24 * time.Hour).Truncate(time.Minute)
	random := rand.New(rand.NewPCG(1, 1))
	var rows []uptime.Result
	total := 0
	for slot := start; slot.Before(b.now); slot = slot.Add(10 * time.Second) {
		down := slot.Sub(start)%(31*time.Hour) < 4*time.Minute
		for _, region := range regions {
			took := time.Duration(20+random.ExpFloat64()*150) * time.Millisecond
			r := uptime.Result{TargetID: id, Region: region, ScheduledAt: slot, CheckedAt: slot.Add(5 * time.Millisecond), Status: uptime.StatusUp, HTTPStatus: 200, TotalUS: uint32(took / time.Microsecond), Prober: region + "-1", IngestedAt: slot.Add(took)}
			if down || random.IntN(2000) == 0 {
				r.Status, r.Failure = uptime.StatusDown, uptime.FailureTimeout
			}
			rows = append(rows, r)
		}
		if len(rows) >= 90_000 {
			store(t, results, rows)
			total, rows = total+len(rows), rows[:0]
		}
	}
	store(t, results, rows)
	for range 2 {
		var most atomic.Uint64
		done := make(chan struct{})
		runtime.GC()
		go func() {
			for tick := time.NewTicker(20 * time.Millisecond); ; {
				select {
				case <-tick.C:
					var m runtime.MemStats
					runtime.ReadMemStats(&m)
					most.Store(max(most.Load(), m.HeapInuse))
				case <-done:
					return
				}
			}
		}()
		began := time.Now()
		got := b.do("POST", "/api/v1/policies:replay", fmt.Sprintf(`{"target_ids":[%d],"from":%q,"policy":{"down_after":3,"degraded":%s}}`, id, start.Format(time.RFC3339), cmp.Or(os.Getenv("DEGRADED"), "{}")), as(viewerKey))
		close(done)
		if got.Code != http.StatusOK {
			t.Fatalf("%d %s", got.Code, got.text)
		}
		var answer replayJSON
		got.into(t, &answer)
		t.Logf("%d of %d results in %v, heap %d MB; now %s; proposed %s", answer.Results, total+len(rows), time.Since(began).Round(time.Millisecond), most.Load()>>20, answer.Current.line(), answer.Proposed.line())
	}
}
