//go:build faults

package faults

import (
	"cmp"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"
)

// full runs leave nothing out.
const full = true

// patience stretches no limit of time here.
func patience(limit time.Duration) time.Duration { return limit }

// repeat is the command that runs the trials of a row again.
func repeat(id string, seed uint64, first, trials int) string {
	return fmt.Sprintf("make faults ROW=%s SEED=%d FIRST=%d N=%d", id, seed, first, trials)
}

// TestRow runs ROW until docs/faults.jsonl counts N good trials of it for this
// pipeline, in chunks, each with an account and a line of its own. TARGETS,
// INTERVAL (seconds) and OUTAGE replace what the row asks for; a smaller run is
// written down with its size. SEED replays: N trials from number FIRST on, whatever
// was done before.
func TestRow(t *testing.T) {
	w, err := rowNamed(os.Getenv("ROW"))
	if err != nil {
		t.Fatalf("%v; ROW= names one of docs/faults.md", err)
	}
	want := number(t, "N", 1)
	f := w.fleet
	f.targets, f.intervalS = number(t, "TARGETS", cmp.Or(w.targets, 200)), number(t, "INTERVAL", cmp.Or(w.intervalS, 10))
	outage := w.outage
	if text := os.Getenv("OUTAGE"); text != "" {
		if outage, err = time.ParseDuration(text); err != nil {
			t.Fatalf("OUTAGE: %v", err)
		}
	}
	code := codeUnderTest(t)
	history := readAccounts(t)
	seed := seedOf(t)
	first, last := trialsDone(history, w.id, code.hash, f.targets, outage), want
	if os.Getenv("SEED") != "" {
		first = number(t, "FIRST", 0)
		last = first + want
	}
	for first < last && !t.Failed() {
		chunk := min(cmp.Or(w.chunk, 10), last-first)
		t.Logf("%s: trials %d to %d of %d", w.id, first, first+chunk-1, last)
		t.Run(strconv.Itoa(first), func(t *testing.T) {
			runJobs(t, f, seed, []job{{row: w, first: first, trials: chunk, outage: outage}}, func(t *testing.T, a account) {
				a.Commit, a.Dirty, a.Pipeline = code.commit, code.dirty, code.hash
				appendAccount(t, a)
			})
		})
		first += chunk
	}
}

func number(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		t.Fatalf("%s: %q is not a number", name, text)
	}
	return n
}
