//go:build bench

package historybench

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/testfleet"
	"github.com/probefleet/probefleet/internal/testusage"
)

// document is docs/bench-history.json; internal/architecture makes the README's tables of it.
type document struct {
	At      time.Time          `json:"at"`
	Go      string             `json:"go"`
	CPU     string             `json:"cpu"`
	Cores   int                `json:"cores"`
	Command string             `json:"command"`
	Series  int                `json:"series"`
	Days    int                `json:"days"` // of rollups; those without results are made up
	Runs    int                `json:"runs"` // of each question
	Main    float64            `json:"main"` // million rows that bytes, hour and rebuild are of
	Bytes   bytes              `json:"bytes_per_row"`
	Aims    map[string]latency `json:"aims"`
	Sizes   []answers          `json:"sizes"`
	Hours   hours              `json:"hours"`   // of all series
	Rebuild rebuilding         `json:"rebuild"` // of all days that results are kept of
	Took    map[string]float64 `json:"took_s"`
}

func (d *document) write(t *testing.T, b *bench) {
	d.At, d.Go, d.CPU, d.Cores, d.Command = time.Now().UTC().Truncate(time.Second), runtime.Version(), testusage.CPUName(), runtime.NumCPU(), "make bench-history"
	d.Series, d.Days, d.Runs, d.Main, d.Took = b.targets*len(regions()), b.days, b.runs, b.settings.rows, b.Took
	d.Aims = map[string]latency{}
	for _, q := range questions() {
		d.Aims[q.name] = latency{P50: q.p50, P95: q.p95}
	}
	content, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	root, err := testfleet.Root()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(root, "docs", "bench-history.json")
	if other := os.Getenv("OUT"); other != "" {
		path = other
	}
	if err := os.WriteFile(path, append(content, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Logf("written to %s", path)
}
