//go:build bench

package racetrack

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A machine that is shared runs now faster, now slower, and what the kernel accounts then
// says as much about its other guests as about a program. The yardstick is a small piece of
// work that is always the same, done ten times a second on the core that is measured. It
// takes less than a hundredth of it.

// Yardstick is a process that does it.
type Yardstick struct{ player *Player }

// StartYardstick begins.
func StartYardstick(t *testing.T) Yardstick {
	t.Helper()
	return Yardstick{Play(t, Measured, "yardstick")}
}

// Took is the CPU time of a piece of work, in µs, in the middle since the last question.
func (y Yardstick) Took(t *testing.T) float64 {
	t.Helper()
	y.player.Say("how long?")
	us, err := strconv.ParseFloat(y.player.Line(t)[0], 64)
	if err != nil {
		t.Fatal(err)
	}
	return us
}

func measureOut() int {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Fail(err)
	}
	digest := make([]byte, 32)
	signature, err := ecdsa.SignASN1(rand.Reader, key, digest)
	if err != nil {
		return Fail(err)
	}
	var mu sync.Mutex
	var took []float64
	go func() {
		runtime.LockOSThread()
		for range time.Tick(100 * time.Millisecond) {
			const times = 8
			begun := threadCPU()
			for range times {
				ecdsa.VerifyASN1(&key.PublicKey, digest, signature)
			}
			mu.Lock()
			took = append(took, float64((threadCPU()-begun).Nanoseconds())/1e3/times)
			mu.Unlock()
		}
	}()
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		mu.Lock()
		middle := 0.0
		if len(took) > 0 {
			middle = Median(took)
		}
		took = nil
		mu.Unlock()
		fmt.Println(middle)
	}
	return 0
}

// threadCPU is exact to the nanosecond, unlike what getrusage says.
func threadCPU() time.Duration {
	var at unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &at); err != nil {
		panic(err)
	}
	return time.Duration(syscall.TimespecToNsec(syscall.Timespec(at)))
}

// Window is what was measured while the yardstick took so long.
type Window struct{ CPU, Yard float64 }

// calm is how much longer than in the calmest window the yardstick may take.
const calm = 1.1

// Calm gives the windows in which the machine ran about as fast as it did at best, or the
// calmest ones when they are fewer than least.
func Calm(windows []Window, least int) []Window {
	sorted := slices.SortedFunc(slices.Values(windows), func(a, b Window) int { return int(1000 * (a.Yard - b.Yard)) })
	n := least
	for n < len(sorted) && sorted[n].Yard <= calm*sorted[0].Yard {
		n++
	}
	return sorted[:min(n, len(sorted))]
}
