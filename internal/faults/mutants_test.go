package faults

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// mutation takes one safety measure out of the source.
type mutation struct {
	name     string
	file     string   // from the root
	old, new string   // old must be there exactly once
	row      string   // the row that must turn red …
	test     []string // … or the arguments of the `go test` that must
}

// mutations are the measures without which a promise must be seen to break.
func mutations() []mutation {
	return []mutation{
		{
			name: "fsync of a spool file", file: "internal/spool/append.go",
			old: "if err := f.Sync(); err != nil {", new: "if err := error(nil); err != nil {",
			test: []string{"-run", "PowerCutAtEveryCall", "./internal/spool"},
		},
		{
			name: "fsync of the spool's folder", file: "internal/spool/append.go",
			old: "if err := s.fs.SyncDir(s.dir); err != nil {", new: "if err := error(nil); err != nil {",
			test: []string{"-run", "PowerCutAtEveryCall", "./internal/spool"},
		},
		{
			name: "checksum of a spool file", file: "internal/spool/codec.go",
			old: "case binary.LittleEndian.Uint32(file[crcAt:]) != checksum(file):", new: "case false:",
			test: []string{"-run", "EveryByteFlipped", "./internal/spool"},
		},
		{
			name: "one token for all attempts", file: "internal/recorder/put.go",
			old: "\t\t\tbatch.Attempt++\n", new: "\t\t\tbatch.Attempt++\n\t\t\tbatch.Token += \"x\"\n",
			row: "F41",
		},
		{
			// (Of rows that are exactly the same ClickHouse knows the hash; the note of their batch differs.)
			name: "the token is sent along", file: "internal/resultstore/insert.go",
			old: `clickhouse.Settings{"insert_deduplication_token": token}`, new: `clickhouse.Settings{"insert_deduplication_token": ""}`,
			test: []string{"-run", "SameTokenStoresNothingTwice", "./internal/resultstore"},
		},
		{
			name: "acknowledge only what is durable", file: "prober/internal/consumer/settle.go",
			old: "\tif !c.hand(ctx, b.rows, watch) {\n", new: "\twatch.Done = func(error) {}\n\tif c.hand(ctx, b.rows, watch) {\n\t\tc.recorded(b, nil)\n\t} else {\n",
			row: "F10",
		},
		{
			name: "replay of the spool", file: "internal/recorder/writer.go",
			old: "replayer.Go(func() { r.replay(r.stopped) })", new: "replayer.Go(func() {})",
			test: []string{"-run", "OutageOfTenMinutes", "./internal/recorder"},
		},
		{
			name: "takeover of a dead prober's checks", file: "prober/internal/consumer/intake.go",
			old: "entries, err := c.Source.Reclaim(call, c.o.ReclaimIdle, room)", new: "entries, err, _ := []checkstream.Entry(nil), error(nil), call",
			test: []string{"-run", "KilledProberLosesNothing", "./prober/internal/consumer"},
		},
		{
			name: "fence: an old tick is refused", file: "internal/checkstream/lua/publish.lua",
			old: "if second <= tick or second_of(newest) > second then", new: "if false then",
			test: []string{"-run", "Refusals|Leaders", "./internal/checkstream"},
		},
		{
			name: "fence: an old schedule is refused", file: "internal/checkstream/lua/publish.lua",
			old: "if below(seq, stored) then", new: "if false then",
			test: []string{"-run", "Refusals|Leaders", "./internal/checkstream"},
		},
		{
			name: "trim only what is settled", file: "internal/checkstream/lua/trim.lua",
			old: "removed = redis.call('XTRIM', checks, 'MINID', '~', floor, 'LIMIT', 0)", new: "removed = redis.call('XTRIM', checks, 'MAXLEN', '=', 10)",
			test: []string{"-run", "TrimWaitsForEveryRegion", "./internal/checkstream"},
		},
		{
			name: "a failure is believed only while canaries answer", file: "prober/internal/consumer/doubt.go",
			old: `if doubt != "" {`, new: `if false {`,
			test: []string{"-run", "FailureOfABlindProber|DoubtHoldsNobody", "./prober/internal/consumer"},
		},
		{
			name: "canaries: a round that began earlier acquits nobody", file: "prober/internal/canary/watch.go",
			old: "if f.ended.After(began) {", new: "if false {",
			test: []string{"-run", "RoundInFlight|StaleGoodNews", "./prober/internal/canary"},
		},
		{
			name: "canaries: a bad round while the check was under way", file: "prober/internal/canary/watch.go",
			old: "case !w.lastBad.IsZero() && !w.lastBad.Before(f.began):", new: "case false:",
			test: []string{"-run", "BadNews", "./prober/internal/canary"},
		},
		{
			name: "canaries: nobody waits longer than two seconds", file: "prober/internal/canary/watch.go",
			old: "Patience = 2 * time.Second", new: "Patience = 20 * time.Second",
			test: []string{"-run", "NobodyWaitsLonger", "./prober/internal/canary"},
		},
		{
			name: "canaries: what goes down is in a hurry", file: "prober/internal/canary/watch.go",
			old: "case w.urgent:", new: "case false:",
			test: []string{"-run", "WhatWasNotDown", "./prober/internal/canary"},
		},
		{
			name: "canaries: more than half", file: "prober/internal/canary/watch.go",
			old: "good := 2*r.answered > all", new: "good := r.answered > 0",
			test: []string{"-run", "Majority", "./prober/internal/canary"},
		},
		{
			name: "canaries: one machine behind all names", file: "prober/internal/canary/watch.go",
			old: "known && other != c.host", new: "known && false",
			test: []string{"-run", "NamesThatAllLead", "./prober/internal/canary"},
		},
		{
			name: "canaries: names are looked up anew", file: "prober/internal/resolve/lookup.go",
			old: "case how == kept:", new: "case how != elsewhere:",
			test: []string{"-run", "LookupAnew", "./prober/internal/resolve"},
		},
		{
			name: "hosts take turns when there is no room for all", file: "prober/internal/consumer/departures.go",
			old: "hostlimit.Name(f.entry.Check.URL), f)", new: "hostlimit.Name(\"\"), f)",
			test: []string{"-run", "TakeTurns", "./prober/internal/consumer"},
		},
		{
			name: "the sweep", file: "internal/ledger/sweep.go",
			old: "case have.has(i, r, slot):", new: "case true:",
			test: []string{"-run", "Sweep", "./internal/ledger"},
		},
	}
}

// mutated is the file without the measure.
func (m mutation) mutated() ([]byte, error) {
	source, err := os.ReadFile(filepath.Join(root, m.file))
	if err != nil {
		return nil, fmt.Errorf("mutation %s: %w", m.name, err)
	}
	if n := bytes.Count(source, []byte(m.old)); n != 1 {
		return nil, fmt.Errorf("mutation %s is stale: its text is in %s %d times, not once", m.name, m.file, n)
	}
	return bytes.Replace(source, []byte(m.old), []byte(m.new), 1), nil
}

// TestMutationsFit keeps the table in step with the source: a mutation that no
// longer fits would prove nothing.
func TestMutationsFit(t *testing.T) {
	t.Parallel()
	for _, m := range mutations() {
		if _, err := m.mutated(); err != nil {
			t.Error(err)
		}
		if _, err := rowNamed(m.row); m.row != "" && err != nil || m.row == "" && len(m.test) == 0 {
			t.Errorf("mutation %s names nothing that proves it", m.name)
		}
	}
}
