//go:build bench

package historybench

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

const (
	interval = time.Minute
	day      = 24 * time.Hour
	million  = 1e6

	// headStart is how long ago the results end that are loaded: those that arrive while
	// questions are asked come twenty times as fast as time goes, and must not overtake it.
	headStart = 8 * time.Hour

	// The loaded results end at noon and phase, and each history is asked when its newest are as far into an hour:
	// today, and the open hour, are of the same length whenever this runs, and at every size.
	noon  = 12 * time.Hour
	phase = 15 * time.Minute
)

// settings are what can be asked for by variables of make.
type settings struct {
	rows    float64   // ROWS: of the main table, in millions
	growth  []float64 // GROWTH: sizes to go through, in millions, ascending; rows is one of them
	targets int       // TARGETS
	days    int       // DAYS: of rollups
	batch   int       // BATCH: rows of an insert while loading
	runs    int       // RUNS: of each question
	keep    bool      // DIR was given: its data is not removed
	dir     string
}

func readSettings(t *testing.T) settings {
	t.Helper()
	s := settings{rows: number(t, "ROWS", 50), targets: int(number(t, "TARGETS", 2000)), days: int(number(t, "DAYS", 90)), batch: int(number(t, "BATCH", 5000)), runs: int(number(t, "RUNS", 200))}
	growth := os.Getenv("GROWTH")
	if growth == "" {
		growth = "10,25,50,100"
	}
	for part := range strings.SplitSeq(growth, ",") {
		n, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil || n <= 0 {
			t.Fatalf("GROWTH=%s: want sizes in millions, such as 10,25", growth)
		}
		s.growth = append(s.growth, n)
	}
	if !slices.Contains(s.growth, s.rows) {
		s.growth = append(s.growth, s.rows)
	}
	slices.Sort(s.growth)
	s.growth = slices.Compact(s.growth)
	if most := s.span(s.growth[len(s.growth)-1]); most > 28*day {
		t.Fatalf("%v million rows are %v of results: they are kept for 30 days", s.growth[len(s.growth)-1], most)
	}
	s.dir = os.Getenv("DIR")
	s.keep = s.dir != ""
	if !s.keep {
		var err error
		if s.dir, err = os.MkdirTemp("", "probefleet-history-"); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := os.RemoveAll(s.dir); err != nil {
				t.Error(err)
			}
		})
	}
	return s
}

func number(t *testing.T, name string, otherwise float64) float64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || n <= 0 {
		t.Fatalf("%s=%s: want a number above 0", name, text)
	}
	return n
}

// span is how long the fleet needs for so many million rows.
func (s settings) span(rows float64) time.Duration {
	return time.Duration(rows*million/float64(s.targets*len(regions()))) * interval
}

// progress is what a run that goes on has to know of the one before: DIR/progress.json.
type progress struct {
	Targets int                        `json:"targets"`
	End     time.Time                  `json:"end"`    // of the results that are loaded
	Live    time.Time                  `json:"live"`   // of those that arrived while questions were asked
	Loaded  map[string]time.Time       `json:"loaded"` // by step that can be gone on with, how far it is
	Done    map[string]json.RawMessage `json:"done"`   // by step, what it found
	Took    map[string]float64         `json:"took"`   // s

	path string
}

func readProgress(t *testing.T, s settings) *progress {
	t.Helper()
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	p := &progress{Loaded: map[string]time.Time{}, Done: map[string]json.RawMessage{}, Took: map[string]float64{}, path: filepath.Join(s.dir, "progress.json")}
	content, err := os.ReadFile(p.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		p.Targets, p.End = s.targets, time.Now().Add(-headStart-noon-phase).UTC().Truncate(day).Add(noon+phase)
		p.Live = p.End
	case err != nil:
		t.Fatal(err)
	default:
		if err := json.Unmarshal(content, p); err != nil {
			t.Fatal(err)
		}
		if p.Targets != s.targets {
			t.Fatalf("%s has the history of %d targets", s.dir, p.Targets)
		}
		t.Logf("going on with the history in %s, which ends at %s", s.dir, p.End.Format(time.RFC3339))
	}
	return p
}

// save replaces the file as a whole: an end half way leaves the one before.
func (p *progress) save(t *testing.T) {
	t.Helper()
	content, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p.path+".new", content, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(p.path+".new", p.path); err != nil {
		t.Fatal(err)
	}
}

// step does a piece of work unless an earlier run has, says how long it took, and gives
// what it found.
func step[T any](t *testing.T, p *progress, name string, do func() T) (found T) {
	t.Helper()
	if content, done := p.Done[name]; done {
		if err := json.Unmarshal(content, &found); err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: done earlier, in %.0f s", name, p.Took[name])
		return found
	}
	t.Logf("%s", name)
	began := time.Now()
	found = do()
	if t.Failed() {
		t.FailNow()
	}
	content, err := json.Marshal(found)
	if err != nil {
		t.Fatal(err)
	}
	p.Done[name] = content
	p.Took[name] += time.Since(began).Round(100 * time.Millisecond).Seconds()
	t.Logf("%s: took %.1f s", name, time.Since(began).Seconds())
	p.save(t)
	return found
}
