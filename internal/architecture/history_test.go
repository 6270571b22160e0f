package architecture

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const (
	historyStart = "<!-- history: written by `make generate` from docs/bench-history.json -->\n"
	historyEnd   = "<!-- end of history -->"
)

// longHistory is what docs/bench-history.json says: see publisher/internal/historybench.
type longHistory struct {
	At               time.Time
	Go, CPU, Command string
	Cores, Series    int
	Days, Runs       int
	Main             float64
	Bytes            struct{ Raw, Hourly, Daily float64 } `json:"bytes_per_row"`
	Aims             map[string]runTimes
	Sizes            []historySize
	Hours            struct{ Hour, Bare runTimes }
	Rebuild          struct {
		Days, Hours, Seconds float64
		Resumed              bool
	}
}

type runTimes struct {
	P50  float64 `json:"p50_ms"`
	P95  float64 `json:"p95_ms"`
	Most float64 `json:"most_ms"`
}

func (r runTimes) String() string { return fmt.Sprintf("%.1f / %.1f", r.P50, r.P95) }

type historySize struct {
	Rows      float64 `json:"million_rows"`
	Questions map[string]runTimes
	Bare      map[string]runTimes
	Yardstick map[string]runTimes
	Rate      float64 `json:"inserted_per_s"`
}

// questions in the order of the table.
func historyQuestions() []string {
	return []string{"latest 90 of 50 targets", "24 h percentiles of a target", "90-day daily uptime of 200 targets", "90-day five-phase series of a target", "current status of all series"}
}

// history is the README's section of what a long history costs.
func history(t *testing.T) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", "..", "docs", "bench-history.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return "Not measured yet: `make bench-history` does it.\n"
	}
	if err != nil {
		t.Fatal(err)
	}
	var h longHistory
	if err := json.Unmarshal(content, &h); err != nil {
		t.Fatal(err)
	}
	return h.tables()
}

func (h longHistory) tables() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%d series, one result a minute each, in the embedded ClickHouse; every question %d times of random targets, one at a time, while results arrive at %.0f a second.\n"+
		"Rollups of %d days; those of days without results are made up. `%s` on %d cores of %s, %s, %s.\n\n", h.Series, h.Runs, h.main().Rate, h.Days, h.Command, h.Cores, h.CPU, h.Go, h.At.Format("2006-01-02 15:04"))
	bare := h.main().Bare
	last := func(cell string) string { // of a table with one column more
		if len(bare) == 0 {
			return "\n"
		}
		return cell + "|\n"
	}
	if len(bare) > 0 {
		fmt.Fprintf(&text, "The last column is statements that read the same columns of the same rows of %g M, in turns with the question, and do less with them than any answer needs: states of percentiles become one, the rest is added up, and rows that are the answer are taken out of the driver and dropped. It is what the engine and its driver take on this machine before there is an answer.\n\n", h.Main)
	}
	first, largest := h.Sizes[0], h.Sizes[len(h.Sizes)-1]
	grew := func(of, from runTimes) float64 { // 1 where it was not measured
		if from.P50 == 0 {
			return 1
		}
		return of.P50 / from.P50
	}
	if len(first.Yardstick) > 0 {
		fmt.Fprintf(&text, "Growth is of p50, from %g to %g M rows; the aim is at most 1.5 ×. Beside it is how the machine's own time grew meanwhile: that of a statement that reads the newest result of every series, as many at every size, asked in turns with the question.\n\n", first.Rows, largest.Rows)
	}
	text.WriteString("| p50 / p95 in ms |")
	for _, s := range h.Sizes {
		fmt.Fprintf(&text, " %g M rows |", s.Rows)
	}
	text.WriteString(" aim | | growth | of the machine's time |" + last(" rows alone ") + "|---|" + strings.Repeat("--:|", len(h.Sizes)+1) + "---|--:|--:|" + last("--:"))
	for _, name := range historyQuestions() {
		fmt.Fprintf(&text, "| %s |", name)
		for _, s := range h.Sizes {
			fmt.Fprintf(&text, " %v |", s.Questions[name])
		}
		of, aim := h.main().Questions[name], h.Aims[name]
		meanwhile := "not measured"
		growth, machine := grew(largest.Questions[name], first.Questions[name]), grew(largest.Yardstick[name], first.Yardstick[name])
		if len(first.Yardstick) > 0 {
			meanwhile = fmt.Sprintf("%.2f ×", machine)
		}
		fmt.Fprintf(&text, " ≤ %g / %g | %s | %.2f × | %s |%s", aim.P50, aim.P95, met(of.P50 <= aim.P50 && of.P95 <= aim.P95 && growth <= 1.5), growth, meanwhile, last(fmt.Sprintf(" %v ", bare[name])))
	}
	fmt.Fprintf(&text, "\n| at %g M rows | measured | aim | |\n|---|--:|--:|---|\n", h.Main)
	for _, one := range []struct {
		what         string
		measured, at float64
	}{{"a result", h.Bytes.Raw, 16}, {"an hour of a series", h.Bytes.Hourly, 34}, {"a day of a series", h.Bytes.Daily, 44}} {
		fmt.Fprintf(&text, "| bytes on disk of %s | %.1f | ≤ %g | %s |\n", one.what, one.measured, one.at, met(one.measured <= one.at))
	}
	fmt.Fprintf(&text, "| computing an hour of all series again, most (reading its rows alone: %.2f s) | %.2f s | ≤ 1 s | %s |\n", h.Hours.Bare.Most/1000, h.Hours.Hour.Most/1000, met(h.Hours.Hour.Most <= 1000))
	fmt.Fprintf(&text, "| computing %.0f days again, of which %.0f hours have results, interrupted once | %.0f s | resumable | %s |\n", h.Rebuild.Days, h.Rebuild.Hours, h.Rebuild.Seconds, met(h.Rebuild.Resumed))
	return text.String()
}

// main is the size that the aims are for.
func (h longHistory) main() historySize {
	for _, s := range h.Sizes {
		if s.Rows == h.Main {
			return s
		}
	}
	return historySize{}
}

func met(yes bool) string {
	if yes {
		return "met"
	}
	return "**not met**"
}

func TestHistoryTables(t *testing.T) {
	t.Parallel()
	h := longHistory{Main: 50, Aims: map[string]runTimes{}}
	for i, rows := range []float64{10, 50} {
		size := historySize{Rows: rows, Rate: 2000, Questions: map[string]runTimes{}, Bare: map[string]runTimes{}, Yardstick: map[string]runTimes{}}
		for n, name := range historyQuestions() {
			h.Aims[name] = runTimes{P50: 5, P95: 15}
			size.Questions[name] = runTimes{P50: 2 + float64(i*n), P95: 9}
			size.Bare[name] = runTimes{P50: 1, P95: 3}
			size.Yardstick[name] = runTimes{P50: 5 + 5*float64(i*max(n-2, 0))}
		}
		h.Sizes = append(h.Sizes, size)
	}
	h.Bytes.Raw, h.Bytes.Hourly, h.Hours.Hour.Most, h.Hours.Bare.Most = 15.3, 35, 400, 300
	text := h.tables()
	for _, line := range []string{
		"| p50 / p95 in ms | 10 M rows | 50 M rows | aim | | growth | of the machine's time | rows alone |\n",
		"| latest 90 of 50 targets | 2.0 / 9.0 | 2.0 / 9.0 | ≤ 5 / 15 | met | 1.00 × | 1.00 × | 1.0 / 3.0 |\n",
		"| 24 h percentiles of a target | 2.0 / 9.0 | 3.0 / 9.0 | ≤ 5 / 15 | met | 1.50 × | 1.00 × | 1.0 / 3.0 |\n",
		"| 90-day daily uptime of 200 targets | 2.0 / 9.0 | 4.0 / 9.0 | ≤ 5 / 15 | **not met** | 2.00 × | 1.00 × | 1.0 / 3.0 |\n",
		"| 90-day five-phase series of a target | 2.0 / 9.0 | 5.0 / 9.0 | ≤ 5 / 15 | **not met** | 2.50 × | 2.00 × | 1.0 / 3.0 |\n",
		"| bytes on disk of a result | 15.3 | ≤ 16 | met |\n| bytes on disk of an hour of a series | 35.0 | ≤ 34 | **not met** |\n",
		"| computing an hour of all series again, most (reading its rows alone: 0.30 s) | 0.40 s | ≤ 1 s | met |\n",
	} {
		if !strings.Contains(text, line) {
			t.Errorf("no line %s in\n%s", line, text)
		}
	}
}
