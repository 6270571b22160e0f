package faults

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/faults.md instead of comparing it")

// tally is what docs/faults.jsonl says about a row on one pipeline.
type tally struct {
	n, planned, lost, doubled int
	unexplained               int64
	recovery                  []int64
	outage, targets           string
	commits                   []string
}

// TestTableIsCurrent keeps docs/faults.md what docs/faults.jsonl says.
func TestTableIsCurrent(t *testing.T) {
	t.Parallel()
	var doc strings.Builder
	doc.WriteString("# What must survive what\n\nWritten by `make faults` from `docs/faults.jsonl`, which holds one line per run: the row, its trials, the seed, the commit and a hash of the\npipeline's sources. Runs of the same pipeline are added up. Every slot that was due while a fault lasted, and from two seconds before it until the\n" +
		"fleet was whole again, was held against the rows by an auditor that shares no code with the pipeline, and by the installation's own ledger.\n\n" +
		"- **lost**: slots without a row, or with an outcome the promise does not allow\n- **doubled**: rows beyond one a slot; in F41, copies on disk too\n- **unexplained**: what the ledger cannot account for\n\n`make faults ROW=F10 N=50` runs a row and adds to the table; `SEED=… FIRST=… N=1` repeats a trial. ★: `make verify` runs it, three trials with outages of 15 s\nand four times the patience. `make test` runs " +
		strings.Join(brief(), ", ") + ": one trial each, three of F42, with outages of 5 s and no limit of time. Both prove the sums on a slow machine too.\n\n")
	doc.WriteString("## Injected into a running fleet\n\n| | fault | promise | n | targets | outage | planned | lost | doubled | unexplained | recovery p50 / p99 | commits |\n|---|---|---|--:|--:|--:|--:|--:|--:|--:|--:|---|\n")
	all, elsewhere, absent := readAccounts(t), "", ""
	for _, f := range catalogue() {
		name := f.id
		if f.star {
			name += "★"
		}
		_, err := rowNamed(f.id)
		switch {
		case err == nil:
			doc.WriteString("| " + name + " | " + f.what + " | " + f.promise + " | " + tallyOf(all, f.id).cells() + " |\n")
		case f.proven != "":
			elsewhere += fmt.Sprintf("| %s | %s | %s | `%s` |\n", name, f.what, f.promise, strings.ReplaceAll(f.proven, "|", `\|`))
		case f.absent != "":
			absent += fmt.Sprintf("| %s | %s | %s | %s |\n", name, f.what, f.promise, f.absent)
		default:
			t.Errorf("%s is neither a row of the rig, nor proven elsewhere, nor said to be impossible here", f.id)
		}
	}
	if elsewhere != "" {
		doc.WriteString("\n## Proven by tests of their packages\n\nThese need a fault inside the process (a torn file, a clock, a crash loop), so they are tests with virtual time and injected file systems.\n\n| | fault | promise | command |\n|---|---|---|---|\n" + elsewhere)
	}
	if absent != "" {
		doc.WriteString("\n## Not injected on one machine without privileges\n\n| | fault | promise | why, and how to run it |\n|---|---|---|---|\n" + absent)
	}
	path := filepath.Join(root, "docs", "faults.md")
	if *update {
		if err := os.WriteFile(path, []byte(doc.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	have, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(have) != doc.String() {
		t.Error("docs/faults.md is not current: run `make generate`")
	}
}

// tallyOf adds up the runs of a row on the pipeline that ran it last. Runs that
// failed are in the sums: a table of good runs alone would prove nothing.
func tallyOf(all []account, id string) (sum tally) {
	last := ""
	for _, a := range all {
		if a.Row == id {
			last = a.Pipeline
		}
	}
	for _, a := range all {
		if a.Row != id || a.Pipeline != last {
			continue
		}
		sum.n += a.N
		sum.planned += a.Planned
		sum.lost += a.Lost
		sum.doubled += a.Doubled
		sum.unexplained += a.Unexplained
		sum.recovery = append(sum.recovery, a.RecoveryMS...)
		sum.targets = fmt.Sprintf("%d / %d s", a.Targets, a.IntervalS)
		sum.outage = fmt.Sprintf("%.0f s", a.OutageS)
		if !slices.Contains(sum.commits, a.Commit) {
			sum.commits = append(sum.commits, a.Commit)
		}
	}
	slices.Sort(sum.recovery)
	return sum
}

func (s tally) cells() string {
	if s.n == 0 {
		return "0 | | | | | | | |"
	}
	recovery := ""
	if n := len(s.recovery); n > 0 {
		recovery = fmt.Sprintf("%.1f / %.1f s", float64(s.recovery[(n-1)/2])/1000, float64(s.recovery[(99*n+99)/100-1])/1000)
	}
	commits := s.commits[0]
	if last := s.commits[len(s.commits)-1]; last != commits {
		commits += "–" + last
	}
	return fmt.Sprintf("%d | %s | %s | %d | %d | %d | %d | %s | %s", s.n, s.targets, s.outage, s.planned, s.lost, s.doubled, s.unexplained, recovery, commits)
}

// TestCatalogue keeps rows and catalogue together.
func TestCatalogue(t *testing.T) {
	t.Parallel()
	known, seen := map[string]fault{}, map[string]bool{}
	for _, f := range catalogue() {
		if _, twice := known[f.id]; twice {
			t.Errorf("%s is in the catalogue twice", f.id)
		}
		known[f.id] = f
	}
	for _, id := range brief() {
		if !known[id].star {
			t.Errorf("row %s is for `make test` and has no star", id)
		}
	}
	for _, w := range rows() {
		f, found := known[w.id]
		if !found || seen[w.id] {
			t.Errorf("row %s: in the catalogue %v, seen before %v", w.id, found, seen[w.id])
		}
		if f.star && w.suite == 0 || f.proven != "" || f.absent != "" {
			t.Errorf("row %s: the catalogue says something else (%+v)", w.id, f)
		}
		seen[w.id] = true
	}
}
