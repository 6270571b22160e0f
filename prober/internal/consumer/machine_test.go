package consumer

import (
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/probefleet/probefleet/internal/failpoint"
)

var update = flag.Bool("update", false, "write docs/statechart.md instead of comparing it")

func TestStatechartIsSound(t *testing.T) {
	t.Parallel()
	var into, out [states]int
	var used [events]int
	type key struct {
		from state
		on   event
	}
	seen := map[key]bool{}
	names := failpoint.Names()
	for _, e := range statechart {
		if seen[key{e.from, e.on}] {
			t.Errorf("%v has two edges for %q", e.from, e.on)
		}
		seen[key{e.from, e.on}] = true
		into[e.to]++
		out[e.from]++
		used[e.on]++
		i := slices.Index(names, e.failpoint)
		if i < 0 {
			t.Errorf("the failpoint %q of %v → %v is not among failpoint.Names, or belongs to two edges", e.failpoint, e.from, e.to)
			continue
		}
		names = slices.Delete(names, i, i+1)
	}
	if len(names) > 0 {
		t.Errorf("failpoints of no edge: %v", names)
	}
	for s := range states {
		isEnd := s == settled || s == released
		if (into[s] == 0) != (s == reading) || (out[s] == 0) != isEnd {
			t.Errorf("%v: %d edges lead to it and %d away", s, into[s], out[s])
		}
	}
	for e := range events {
		if used[e] == 0 {
			t.Errorf("the event %q is on no edge", e)
		}
	}
}

func TestIllegalTransitionIsRefused(t *testing.T) {
	t.Parallel()
	fs := newFlights(func() int { return 10 }, slog.New(slog.DiscardHandler))
	f := fs.add(&flight{entry: entryIn(1, 0)})[0]
	fs.move(admitted, f)
	fs.move(confirmed, f)
	if f.state != waiting || fs.illegal.Load() != 1 || fs.counts()[waiting] != 1 {
		t.Errorf("%v, %d illegal, %v", f.state, fs.illegal.Load(), fs.counts())
	}
	fs.move(dropped, f)
	fs.move(dropped, f)
	if f.state != released || fs.illegal.Load() != 2 || len(fs.byID) != 0 || fs.counts() != [states]int{} {
		t.Errorf("%v, %d illegal, %v", f.state, fs.illegal.Load(), fs.counts())
	}
}

func TestTransitionAllocatesNothing(t *testing.T) {
	fs := newFlights(func() int { return 10 }, slog.New(slog.DiscardHandler))
	f := fs.add(&flight{entry: entryIn(1, 0)})[0]
	fs.move(admitted, f)
	fs.move(slotCame, f)
	fs.move(answered, f)
	fs.move(handedOver, f)
	if n := testing.AllocsPerRun(1000, func() {
		fs.move(insertFailed, f)
		fs.move(insertBegun, f)
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkLifeOfAnEntry(b *testing.B) {
	fs := newFlights(func() int { return 10 }, slog.New(slog.DiscardHandler))
	e := entryIn(1, 0)
	b.ReportAllocs()
	for b.Loop() {
		f := fs.add(&flight{entry: e})[0]
		for _, on := range []event{admitted, slotCame, answered, handedOver, durable, sent, confirmed} {
			fs.move(on, f)
		}
	}
}

func TestDrawingIsCurrent(t *testing.T) {
	t.Parallel()
	path := filepath.Join("..", "..", "..", "docs", "statechart.md")
	want := drawing()
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	have, err := os.ReadFile(path)
	if err != nil || string(have) != want {
		t.Errorf("docs/statechart.md is not current (%v): run go test ./prober/internal/consumer -run Drawing -update", err)
	}
}

func drawing() string {
	var b strings.Builder
	b.WriteString(`# The statechart of an entry

Drawn from the table in ` + "`prober/internal/consumer/machine.go`" + ` by its test: ` + "`go test ./prober/internal/consumer -run Drawing -update`" + `.

An entry is in exactly one of these states from its delivery to a prober until it is settled (acknowledged, or a dead letter) or released (still pending
in Redis, and delivered again). Entries travel in batches: those of one read; each on its own while it waits and is probed, because a slow target must not hold
up the acknowledgements of its neighbours; then those measured in the same instant as a new batch, with one answer and its own count of attempts.

` + "`probefleet_prober_entries{state}`, `probefleet_prober_state_oldest_seconds{state}` and the fact `batches` of `/healthz` show how many are where, and for how long." + `
A transition that is not in the table is refused, logged, and counted in ` + "`probefleet_prober_illegal_transitions_total`" + `.

` + "```mermaid\nstateDiagram-v2\n    [*] --> reading\n")
	for _, e := range statechart {
		fmt.Fprintf(&b, "    %v --> %v: %v\n", e.from, e.to, e.on)
	}
	b.WriteString("    settled --> [*]\n    released --> [*]\n```\n\n| from | event | to | failpoint | meaning |\n|---|---|---|---|---|\n")
	for _, e := range statechart {
		fmt.Fprintf(&b, "| %v | %v | %v | `%s` | %s |\n", e.from, e.on, e.to, e.failpoint, e.means)
	}
	b.WriteString("\nA failpoint is hit when the edge's work is done and before that of the next begins; only binaries built with the tag `failpoints` have them (`internal/failpoint`).\n")
	return b.String()
}
