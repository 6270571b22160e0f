// Package testusage says what processes use, as the kernel accounts it. It needs nothing else of the
// fleet, so that a process that is measured has none of it in memory.
package testusage

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

// CPUSoFar is what the kernel accounts to a process that runs, to 10 ms.
func CPUSoFar(t testing.TB, pid int) time.Duration {
	t.Helper()
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := bytes.Cut(content, []byte(") ")) // the name may hold anything
	fields := strings.Fields(string(rest))
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * (time.Second / 100) // USER_HZ
}

// CoreSoFar is how long a core has been busy since the machine began, to 10 ms.
func CoreSoFar(t testing.TB, core int) time.Duration {
	t.Helper()
	content, err := os.ReadFile("/proc/stat")
	if err != nil {
		t.Fatal(err)
	}
	for l := range strings.Lines(string(content)) {
		fields := strings.Fields(l)
		if fields[0] != fmt.Sprint("cpu", core) {
			continue
		}
		var busy time.Duration
		for i, field := range fields[1:9] { // the rest is in these already
			if n, _ := strconv.Atoi(field); i != 3 && i != 4 { // idle, and waiting for disks
				busy += time.Duration(n) * (time.Second / 100) // USER_HZ
			}
		}
		return busy
	}
	t.Fatalf("there is no core %d", core)
	return 0
}

// MemoryOf is a line of /proc/PID/status in MB: VmHWM is the most that was resident, VmRSS
// what is now.
func MemoryOf(t testing.TB, pid int, name string) float64 {
	t.Helper()
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for l := range strings.Lines(string(content)) {
		if text, found := strings.CutPrefix(l, name+":"); found {
			kib, _ := strconv.ParseFloat(strings.Fields(text)[0], 64)
			return kib * 1024 / 1e6
		}
	}
	t.Fatalf("process %d has no %s", pid, name)
	return 0
}

// CPUName is what the machine calls its processor.
func CPUName() string {
	content, _ := os.ReadFile("/proc/cpuinfo")
	for l := range strings.Lines(string(content)) {
		if name, value, ok := strings.Cut(l, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}

// Load is the machine's over the last minute.
func Load() float64 {
	content, _ := os.ReadFile("/proc/loadavg")
	minute, _, _ := strings.Cut(string(content), " ")
	load, _ := strconv.ParseFloat(minute, 64)
	return load
}
