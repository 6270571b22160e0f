//go:build bench

package race

import (
	"bufio"
	"context"
	"crypto/x509"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/lab"
	"github.com/probefleet/probefleet/internal/testusage"
	"github.com/probefleet/probefleet/prober/internal/lean"
	"github.com/probefleet/probefleet/prober/internal/probe"
	"github.com/probefleet/probefleet/prober/internal/racetrack"
)

// hangMany measures the memory of an engine of which so many checks get no answer.
func hangMany(t *testing.T) *racetrack.Hanging {
	t.Helper()
	out := &racetrack.Hanging{Stamp: racetrack.NewStamp(), Checks: int(racetrack.Number("HANGING", 10_000))}
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		t.Fatal(err)
	}
	if want := uint64(out.Checks) + 256; files.Max < want {
		t.Fatalf("%d checks in flight need %d open files in each of two processes, and this machine allows %d: raise it with ulimit -Hn", out.Checks, want, files.Max)
	}
	for i, into := range []*float64{&out.PlainMB, &out.TLSMB} {
		roots := filepath.Join(t.TempDir(), "roots.pem")
		hole := racetrack.Play(t, racetrack.Others, "hole", "RACE_ROOTS="+roots) // another: this one would have to keep the ends of both
		sites := hole.Line(t)
		p := racetrack.Play(t, racetrack.Measured, "hanging", "RACE_URL="+sites[i], "RACE_ROOTS="+roots, fmt.Sprint("RACE_CHECKS=", out.Checks))
		racetrack.Within(t, 2*time.Minute, "all checks have a connection", func() bool {
			hole.Say("how many?")
			n, _ := strconv.Atoi(hole.Line(t)[i])
			return n >= out.Checks
		})
		rested := testusage.CPUSoFar(t, p.PID)
		racetrack.Within(t, time.Minute, "all checks wait", func() bool {
			<-time.After(2 * time.Second)
			before := rested
			rested = testusage.CPUSoFar(t, p.PID)
			return rested-before < 200*time.Millisecond
		})
		*into = racetrack.Round(testusage.MemoryOf(t, p.PID, "VmHWM"))
		t.Logf("%d checks of %s hang: %.0f MB at most, %.0f now", out.Checks, sites[i], *into, racetrack.Round(testusage.MemoryOf(t, p.PID, "VmRSS")))
		p.Over()
		hole.Over()
	}
	return out
}

// serveNothing is a process with the lab's black holes. It answers each line with how many
// connections they have taken.
func serveNothing() int {
	l, err := lab.Start("127.0.0.1:0")
	if err != nil {
		return racetrack.Fail(err)
	}
	defer l.Close()
	if err := os.WriteFile(os.Getenv("RACE_ROOTS"), l.Authority(), 0o600); err != nil {
		return racetrack.Fail(err)
	}
	plain, err := l.Addr("black-hole")
	if err != nil {
		return racetrack.Fail(err)
	}
	secure, err := l.Addr("black-hole-tls")
	if err != nil {
		return racetrack.Fail(err)
	}
	fmt.Println("http://"+plain+"/", "https://"+secure+"/")
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		fmt.Println(l.ConnectionsTo("black-hole"), l.ConnectionsTo("black-hole-tls"))
	}
	return 0
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
