//go:build bench

package racetrack

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/probefleet/probefleet/prober/internal/lean"
)

// Visitor makes a check of the link; a worker makes one after the other.
type Visitor func(ctx context.Context, worker int) error

// Score is what visitors did.
type Score struct {
	Checks int64         `json:"checks"`
	CPU    time.Duration `json:"-"`      // of the whole process, as the kernel accounts it
	Allocs float64       `json:"allocs"` // a check
	Bytes  float64       `json:"bytes"`  // allocated a check
	RSS    int64         `json:"rss"`    // KiB at most
}

// US is the CPU of a check.
func (s Score) US() float64 { return float64(s.CPU.Microseconds()) / float64(s.Checks) }

// Saturated has a role make checks for some seconds on the core of who is measured.
func Saturated(t *testing.T, role, link, roots string, seconds float64) (s Score) {
	t.Helper()
	cmd := On(Measured, os.Args[0])
	cmd.Env = append(os.Environ(), "RACE_ROLE="+role, "RACE_URL="+link, "RACE_ROOTS="+roots, fmt.Sprintf("RACE_SECONDS=%v", seconds))
	cmd.Stderr = t.Output()
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, &s)
	}
	if err != nil || s.Checks == 0 {
		t.Fatalf("%s made %d checks: %v", role, s.Checks, err)
	}
	s.CPU = CPUOf(cmd)
	return s
}

// Saturate is such a role: it makes checks of RACE_URL.
func Saturate(visitor func(link string) (Visitor, error)) int {
	visit, err := visitor(os.Getenv("RACE_URL"))
	if err != nil {
		return Fail(err)
	}
	runtime.GOMAXPROCS(1)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() { _ = lean.New(os.Getenv).Run(ctx) }() // as the prober does
	s, err := saturate(visit)
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(s)
	}
	if err != nil {
		return Fail(err)
	}
	return 0
}

type failure struct{ error }

// saturate keeps so many visits going that the core never waits.
func saturate(visit Visitor) (Score, error) {
	seconds, _ := strconv.ParseFloat(os.Getenv("RACE_SECONDS"), 64)
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(seconds*float64(time.Second)))
	defer cancel()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var checks atomic.Int64
	var wrong atomic.Pointer[failure]
	alive, stop := context.WithCancel(context.Background()) // checks can be called off, as those of a prober
	defer stop()
	var workers sync.WaitGroup
	for worker := range 64 {
		workers.Go(func() {
			for ctx.Err() == nil {
				if err := visit(alive, worker); err != nil {
					wrong.CompareAndSwap(nil, &failure{err})
					return
				}
				checks.Add(1)
			}
		})
	}
	workers.Wait()
	runtime.ReadMemStats(&after)
	if err := wrong.Load(); err != nil {
		return Score{}, err.error
	}
	n := float64(checks.Load())
	var usage syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return Score{Checks: checks.Load(), Allocs: float64(after.Mallocs-before.Mallocs) / n, Bytes: float64(after.TotalAlloc-before.TotalAlloc) / n, RSS: usage.Maxrss}, nil
}

// BareSockets is the role of the floor.
const BareSockets = "bare sockets"

// bare is the floor: connect, (handshake,) write, read to the end, close. It looks at nothing,
// not even at who vouches for a certificate; that its owner signed the handshake crypto/tls
// checks in any case.
func bare(link string) (Visitor, error) {
	u, err := url.Parse(link)
	if err != nil {
		return nil, err
	}
	request := []byte("GET / HTTP/1.1\r\nHost: " + u.Host + "\r\nConnection: close\r\n\r\n")
	config := &tls.Config{InsecureSkipVerify: true, SessionTicketsDisabled: true, CurvePreferences: []tls.CurveID{tls.X25519, tls.CurveP256}}
	var buffers sync.Pool
	buffers.New = func() any { return new([4096]byte) }
	return func(context.Context, int) error {
		conn, err := net.Dial("tcp", u.Host)
		if err != nil {
			return err
		}
		defer conn.Close()
		if u.Scheme == "https" {
			conn = tls.Client(conn, config)
		}
		if _, err := conn.Write(request); err != nil {
			return err
		}
		buffer := buffers.Get().(*[4096]byte)
		defer buffers.Put(buffer)
		for {
			if _, err := conn.Read(buffer[:]); errors.Is(err, io.EOF) {
				return nil
			} else if err != nil {
				return err
			}
		}
	}, nil
}
