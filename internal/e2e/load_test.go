//go:build load

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestLoad is the sustained load of the README: TARGETS (10,000) targets every
// 60 s in one region against a local lab for MINUTES (10). Nothing may be missing
// or doubled. It writes docs/load.json, from which the README's figures are made.
func TestLoad(t *testing.T) {
	targets, minutes := number("TARGETS", 10_000), number("MINUTES", 10)
	s := newSystem(t)
	s.start()
	server := startLab(t)
	began := time.Now()
	s.createMany(server.URL(), targets, 60)
	t.Logf("%d targets created in %v", targets, time.Since(began).Round(time.Millisecond))

	// The window opens when every target has been adopted and had a first slot.
	from := time.Now().Truncate(time.Second).Add(70 * time.Second)
	to := from.Add(time.Duration(minutes) * time.Minute)
	for now := range tick(t, 30*time.Second, to.Add(15*time.Second)) {
		t.Logf("%s: %s", now.Format("15:04:05"), s.progress())
	}
	memory := s.memory()
	a := auditWindow(t, s, from, to)
	t.Logf("audit: %v", a)
	if a.Missing != 0 || a.Doubled != 0 || a.Unplanned != 0 || a.Planned < targets*minutes {
		t.Errorf("audit failed: %v, first missing %+v", a, a.SomeAbsent)
	}
	if measured := a.Outcomes["up"]; measured != a.Planned {
		t.Errorf("%d of %d planned slots were measured: %v", measured, a.Planned, a.Outcomes)
	}
	figures := s.lateness(t, from, to)
	figures.Targets, figures.Minutes, figures.Planned, figures.Rows, figures.Missing, figures.Doubled = targets, minutes, a.Planned, a.Rows, a.Missing, a.Doubled
	figures.MemoryMiB, figures.At = memory, time.Now().UTC().Truncate(time.Second)
	figures.Unexplained = s.unexplained(from, to)
	if figures.Cycles != a.Planned {
		t.Errorf("cycles say %d slots were due, the schedule versions %d", figures.Cycles, a.Planned)
	}
	if figures.LatenessP99MS > 250 {
		t.Errorf("start lateness p99 is %.1f ms", figures.LatenessP99MS)
	}
	encoded, err := json.MarshalIndent(figures, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s", encoded)
	if !t.Failed() {
		if err := os.WriteFile(filepath.Join("..", "..", "docs", "load.json"), append(encoded, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// figures are what docs/load.json holds.
type figures struct {
	At            time.Time          `json:"at"`
	Targets       int                `json:"targets"`
	Minutes       int                `json:"minutes"`
	Planned       int                `json:"planned"`
	Cycles        int                `json:"cycles_due"`
	Rows          int                `json:"rows"`
	Missing       int                `json:"missing"`
	Doubled       int                `json:"doubled"`
	Unexplained   int64              `json:"unexplained"`
	LatenessP50MS float64            `json:"lateness_p50_ms"`
	LatenessP99MS float64            `json:"lateness_p99_ms"`
	LatenessMaxMS float64            `json:"lateness_max_ms"`
	MemoryMiB     map[string]float64 `json:"memory_peak_mib"`
}

// lateness reads checked_at − scheduled_at and the cycles of the window.
func (s *system) lateness(t *testing.T, from, to time.Time) figures {
	t.Helper()
	auditor := s.auditor()
	defer auditor.Close()
	number := func(question string) float64 {
		n, err := auditor.Query(t.Context(), question)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	var f figures
	window := fmt.Sprintf("scheduled_at >= fromUnixTimestamp64Milli(%d) AND scheduled_at < fromUnixTimestamp64Milli(%d)", from.UnixMilli(), to.UnixMilli())
	late := func(aggregate string) float64 {
		return number("SELECT " + aggregate + "(toFloat64(toUnixTimestamp64Milli(checked_at) - toUnixTimestamp64Milli(scheduled_at))) FROM results FINAL WHERE status <= 3 AND " + window)
	}
	f.LatenessP50MS, f.LatenessP99MS, f.LatenessMaxMS = late("quantileExact(0.5)"), late("quantileExact(0.99)"), late("max")
	f.Cycles = int(number(fmt.Sprintf("SELECT sum(due) FROM cycles FINAL WHERE tick >= toDateTime(%d) AND tick < toDateTime(%d)", from.Unix(), to.Unix())))
	return f
}

func (s *system) unexplained(from, to time.Time) int64 {
	s.t.Helper()
	var ledger struct {
		Items []struct {
			Unexplained int64 `json:"unexplained"`
		} `json:"items"`
	}
	path := fmt.Sprintf("/api/v1/ledger?from=%s&to=%s", from.UTC().Format(time.RFC3339), to.UTC().Format(time.RFC3339))
	s.call("GET", path, nil, &ledger)
	var n int64
	for _, item := range ledger.Items {
		n += item.Unexplained
	}
	return n
}

// memory is the peak resident memory of every program, as the kernel counts it.
func (s *system) memory() map[string]float64 {
	peaks := map[string]float64{}
	for _, p := range s.run().Processes {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.PID))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(status)) {
			if text, found := strings.CutPrefix(line, "VmHWM:"); found {
				var kib float64
				_, _ = fmt.Sscan(text, &kib)
				peaks[p.Name] = float64(int(kib/1024*10)) / 10
			}
		}
	}
	return peaks
}
