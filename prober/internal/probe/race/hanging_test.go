//go:build bench

package race

import (
	"context"
	"crypto/x509"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/testusage"
	"github.com/probefleet/probefleet/prober/internal/lean"
	"github.com/probefleet/probefleet/prober/internal/probe"
	"github.com/probefleet/probefleet/prober/internal/racetrack"
)

// hangMany measures the memory of an engine of which so many checks get no answer.
func hangMany(t *testing.T) *racetrack.Hanging {
	t.Helper()
	out := &racetrack.Hanging{Stamp: racetrack.NewStamp(), Checks: int(racetrack.Number("HANGING", 10_000))}
	for i, into := range []*float64{&out.PlainMB, &out.TLSMB} {
		hole := racetrack.StartHole(t, out.Checks)
		site := []string{hole.Plain, hole.Secure}[i]
		p := racetrack.Play(t, racetrack.Measured, "hanging", "RACE_URL="+site, "RACE_ROOTS="+hole.Roots, fmt.Sprint("RACE_CHECKS=", out.Checks))
		racetrack.Within(t, 2*time.Minute, "all checks have a connection", func() bool {
			plain, secure := hole.Taken(t)
			return []int{plain, secure}[i] >= out.Checks
		})
		rested := testusage.CPUSoFar(t, p.PID)
		racetrack.Within(t, time.Minute, "all checks wait", func() bool {
			<-time.After(2 * time.Second)
			before := rested
			rested = testusage.CPUSoFar(t, p.PID)
			return rested-before < 200*time.Millisecond
		})
		*into = racetrack.Round(testusage.MemoryOf(t, p.PID, "VmHWM"))
		t.Logf("%d checks of %s hang: %.0f MB at most, %.0f now", out.Checks, site, *into, racetrack.Round(testusage.MemoryOf(t, p.PID, "VmRSS")))
		p.Over()
		hole.Over()
	}
	return out
}

// hang is a process with an engine and nothing else: 2,000 checks begin a second, as evenly
// as a prober's.
func hang() int {
	content, err := os.ReadFile(os.Getenv("RACE_ROOTS"))
	if err != nil {
		return racetrack.Fail(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(content)
	e := newEngine(roots)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() { _ = lean.New(os.Getenv).Run(ctx) }() // as the prober does
	checks, _ := strconv.Atoi(os.Getenv("RACE_CHECKS"))
	go func() {
		ticker := time.NewTicker(10 * time.Millisecond)
		defer ticker.Stop()
		for i := range checks {
			if i%20 == 0 {
				<-ticker.C
			}
			check := checkOf(i, os.Getenv("RACE_URL"), 10*time.Minute)
			go e.Check(ctx, &check, func(probe.Outcome) {})
		}
	}()
	_, _ = os.Stdin.Read(make([]byte, 1)) // until the parent has seen enough
	return 0
}
