//go:build bench

package racetrack

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/testusage"
)

// Document is docs/bench.json. A part is written when all of it was measured: a run of
// one part leaves the others as they were, each with its own instant.
type Document struct {
	Go       string      `json:"go"`
	CPU      string      `json:"cpu"`
	Cores    int         `json:"cores"`
	Command  string      `json:"command"`
	Engine   *Engines    `json:"engine,omitempty"`
	Hanging  *Hanging    `json:"hanging,omitempty"`
	Beside   *Beside     `json:"beside,omitempty"`
	Error    *Accuracies `json:"error,omitempty"`
	Whole    *Wholes     `json:"whole,omitempty"`
	Overload *Overloads  `json:"overload,omitempty"`
	Pace     *Pace       `json:"pace,omitempty"`
}

// Stamp says when a part was measured, and what else the machine was doing.
type Stamp struct {
	At   time.Time `json:"at"`
	Load float64   `json:"load"` // of the minute before
}

// NewStamp is now.
func NewStamp() Stamp {
	return Stamp{At: time.Now().UTC().Truncate(time.Second), Load: testusage.Load()}
}

// Engines is the race of the engine alone against others.
type Engines struct {
	Stamp
	Rounds  int     `json:"rounds"`
	Seconds float64 `json:"seconds"`
	Lines   []Line  `json:"lines"`
}

// Line is what a contestant did at one kind of check.
type Line struct {
	Who    string    `json:"who"`
	What   string    `json:"what"`   // http or https
	CPUUS  []float64 `json:"cpu_us"` // a check, by round
	Allocs float64   `json:"allocs,omitempty"`
	Bytes  float64   `json:"bytes,omitempty"`
	Rate   float64   `json:"rate"` // checks a second of the median round
	Note   string    `json:"note,omitempty"`
}

// Hanging is what the engine needs for checks that nobody answers.
type Hanging struct {
	Stamp
	Checks  int     `json:"checks"`
	PlainMB float64 `json:"plain_mb"` // most resident memory of the process
	TLSMB   float64 `json:"tls_mb"`   // … after the handshake
}

// Beside is how late a prober begins healthy checks while others hang.
type Beside struct {
	Stamp
	Hanging   int     `json:"hanging"` // visits under way at once, at least, all the while
	TLS       float64 `json:"tls"`     // share of them that hang after a handshake
	Rate      int     `json:"rate"`    // healthy checks a second
	Checks    int     `json:"checks"`  // healthy ones in all
	NotUp     int     `json:"not_up"`  // of them, with what has no row
	P50       float64 `json:"lateness_p50_ms"`
	P99       float64 `json:"lateness_p99_ms"`
	Most      float64 `json:"lateness_most_ms"` // early or late
	HangingUS float64 `json:"cpu_us"`           // of the prober a check that hangs
	PeakMB    float64 `json:"peak_mb"`
}

// Accuracies are how exactly a prober measures that is more or less busy.
type Accuracies struct {
	Stamp
	AnswerMS float64    `json:"answer_ms"` // that the server takes
	Lines    []Accuracy `json:"lines"`
}

// Accuracy is a load.
type Accuracy struct {
	Rate float64 `json:"rate"`         // of other checks a second, half of them over TLS
	Busy float64 `json:"busy_percent"` // of the prober's core
	Errors
}

// Wholes are figures of the prober's program, from the stream to the acknowledgement.
type Wholes struct {
	Stamp
	Lines []Whole `json:"lines"`
}

// Whole is a kind of check.
type Whole struct {
	What         string    `json:"what"`
	Rate         float64   `json:"rate"`         // checks a second
	CPUUS        []float64 `json:"cpu_us"`       // of the prober a check, by window
	BareUS       []float64 `json:"bare_us"`      // of bare sockets that saturate the same core, after each window
	BusyPercent  float64   `json:"busy_percent"` // of its core
	LatenessP99  float64   `json:"lateness_p99_ms"`
	PeakMemoryMB float64   `json:"peak_mb"`
	Capacity     float64   `json:"capacity"`              // checks a second that it settles when asked for more, before any expires
	CapacityBusy float64   `json:"capacity_busy_percent"` // of its core meanwhile: well below 100, those who serve and store held it up
}

// Overloads are probers that are asked for more than they can do.
type Overloads struct {
	Stamp
	Lines []Overload `json:"lines"`
}

// Overload is a kind of check.
type Overload struct {
	What     string       `json:"what"`
	Capacity []float64    `json:"capacity"` // checks a second settled before, between and after the rounds
	Rounds   []Overloaded `json:"rounds"`
}

// Overloaded is a round in which checks expired; figures are checks and rows a second.
type Overloaded struct {
	Capacity float64 `json:"capacity"` // mean of the ones before and after it
	Offered  float64 `json:"offered"`
	Goodput  float64 `json:"goodput"`                  // measured checks
	Missed   float64 `json:"missed"`                   // rows that say so
	Other    float64 `json:"other"`                    // rows that say neither
	Busy     float64 `json:"busy_percent"`             // of the prober's core
	Others   float64 `json:"others_percent,omitempty"` // busy, of the core that has all the others: the stores, the targets and who publishes
	Left     int     `json:"left"`                     // checks without a row when all was settled
}

// Pace is how exactly a prober begins, and what it needs meanwhile and afterwards.
type Pace struct {
	Stamp
	Targets    int     `json:"targets"`
	IntervalS  int     `json:"interval_s"`
	Starts     int     `json:"starts"`
	JitterP99  float64 `json:"jitter_p99_ms"`
	BusyP99    float64 `json:"jitter_p99_busy_ms"` // with its core kept busy by somebody else
	BusyShare  float64 `json:"busy_share"`         // … for that share of the time
	IdleMB     float64 `json:"idle_mb"`            // resident, half a minute after the last check
	PeakMB     float64 `json:"peak_mb"`
	IdleAfterS float64 `json:"idle_after_s"`
}

// Read gives what was measured so far.
func Read(t *testing.T) *Document {
	t.Helper()
	if runtime.NumCPU() < 2 {
		t.Fatal("who is measured and who serves need a core each")
	}
	doc := &Document{}
	if content, err := os.ReadFile(path(t)); err == nil {
		if err := json.Unmarshal(content, doc); err != nil {
			t.Fatal(err)
		}
	}
	return doc
}

// Write keeps it, with what the machine is, unless the test has failed.
func (d *Document) Write(t *testing.T) {
	t.Helper()
	if t.Failed() {
		return
	}
	d.Go, d.CPU, d.Cores, d.Command = runtime.Version(), testusage.CPUName(), runtime.NumCPU(), "make bench-engine"
	content, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path(t), append(content, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}

func path(t *testing.T) string {
	t.Helper()
	root, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(filepath.Dir(strings.TrimSpace(string(root))), "docs", "bench.json")
}
