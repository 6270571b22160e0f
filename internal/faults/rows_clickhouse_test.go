package faults

import (
	"fmt"
	"strings"
	"time"
)

func clickhouseRows() []row {
	return []row{
		{id: "F20", chunk: 1, outage: 10 * time.Minute, targets: 10_000, intervalS: 60, unwell: []string{"prober"}, run: replayBesideLive},
		{id: "F26", chunk: 2, outage: time.Minute, unwell: []string{"prober"}, run: insertsFailHalf},
		{id: "F40", suite: 3, chunk: 1, outage: 10 * time.Minute, targets: 10_000, intervalS: 60, unwell: []string{"prober"}, run: clickhouseDown},
		{id: "F41", suite: 3, chunk: 25, run: replyLost},
		{id: "F43", chunk: 10, run: clickhouseKilled},
		{id: "F44", chunk: 1, outage: 40 * time.Second, run: insertsSlow},
		{id: "F46", chunk: 1, unwell: []string{"prober"}, run: tokensForgotten},
		{id: "F47", chunk: 1, outage: 20 * time.Second, unwell: []string{"prober"}, run: clickhouseFull},
	}
}

// clickhouseDown kills ClickHouse and starts it again after the outage. Meanwhile every
// prober says so, and its rows wait on disk.
func clickhouseDown(r *rig, t *trial) {
	t.inject()
	r.click.kill()
	t.awaitSpooling(30 * time.Second)
	t.wait(time.Until(t.injected.Add(t.outage)))
	r.click.start(t)
	t.mended()
	t.awaitEveryRow(t.injected, 90*time.Second)
	t.awaitDrained(90 * time.Second)
	t.recovered(90 * time.Second)
}

// awaitSpooling returns when every prober has rows on disk, its breaker open, and says
// on /healthz that ClickHouse is away and where the rows are.
func (t *trial) awaitSpooling(limit time.Duration) {
	t.Helper()
	for _, p := range t.rig.probers {
		t.await(limit, p.name+" keeps its rows on disk and says so", func() bool {
			_, reasons := p.health()
			said := strings.Join(reasons, " ")
			return strings.Contains(said, "clickhouse: ") && strings.Contains(said, "wait on disk") &&
				p.metric("probefleet_spool_rows") > 0 && p.metric("probefleet_recorder_breaker_state") > 0
		})
	}
}

// awaitDrained returns when nothing waits on any disk.
func (t *trial) awaitDrained(limit time.Duration) {
	t.Helper()
	t.await(limit, "every spool is empty", func() bool {
		for _, p := range append(t.rig.probers[:len(t.rig.probers):len(t.rig.probers)], t.rig.publishers[:2]...) {
			if p.metric("probefleet_spool_rows") > 0 {
				return false
			}
		}
		return true
	})
}

// replyLost ends connections of every prober to ClickHouse in the middle of an
// insert: its rows are stored or not, and the prober cannot know. Those of one of
// them are stored, in every trial.
func replyLost(r *rig, t *trial) {
	count := t.keepCopies()
	stored := t.rng.IntN(len(r.probers))
	t.inject()
	for i, p := range r.probers {
		switch {
		case i == stored:
		case t.rng.IntN(2) == 0:
			p.click.reset(t)
		default:
			p.click.cutAfter(t, []string{"upstream", "downstream"}[t.rng.IntN(2)], t.rng.IntN(6000))
		}
	}
	t.storedUnanswered(r.probers[stored])
	t.wait(time.Duration(t.rng.IntN(1000)) * time.Millisecond)
	for _, p := range r.probers {
		p.click.mend(t)
	}
	t.mended()
	// A breaker that opens for the second time within a minute waits until that is over.
	t.awaitEveryRow(t.injected.Add(time.Second), 75*time.Second)
	t.awaitDrained(75 * time.Second)
	t.recovered(75 * time.Second)
	count()
}

// storedUnanswered cuts a prober off ClickHouse when an insert of its is stored and
// the answer is still on its way.
func (t *trial) storedUnanswered(p *process) {
	t.Helper()
	rows := fmt.Sprintf("SELECT count() FROM results WHERE prober = '%s' AND scheduled_at >= fromUnixTimestamp64Milli(%d)", p.name, t.from.Add(-time.Minute).UnixMilli())
	p.click.slow(t, 1500*time.Millisecond, 0)
	t.wait(100 * time.Millisecond) // what was answered before
	before := t.count(rows)
	t.await(75*time.Second, "rows of "+p.name+" are stored", func() bool { return t.count(rows) > before })
	p.click.cut()
}

// clickhouseKilled kills ClickHouse while parts are being written, and starts it at
// once: what it had confirmed is there, and the rest is sent again.
func clickhouseKilled(r *rig, t *trial) {
	count := t.keepCopies()
	t.inject()
	r.click.kill()
	r.click.start(t)
	if _, err := r.audit.KeepCopies(t.Context()); err != nil { // it has forgotten
		t.Fatalf("%v", err)
	}
	t.mended()
	t.awaitEveryRow(t.injected.Add(time.Second), 90*time.Second)
	t.awaitDrained(90 * time.Second)
	t.recovered(90 * time.Second)
	count()
}

// insertsFailHalf has every other insert fail, at random, for the outage.
func insertsFailHalf(r *rig, t *trial) {
	opened := func(p *process, to string) float64 {
		return p.metric("probefleet_recorder_breaker_transitions_total", `to="`+to+`"`)
	}
	t.wait(time.Minute) // the breakers' last openings are forgotten
	before := map[string]float64{}
	for _, p := range r.probers {
		before[p.name] = opened(p, "closed")
		before[p.name+" open"] = opened(p, "open")
	}
	t.inject()
	late := map[string]bool{}
	for until := t.injected.Add(t.outage); time.Now().Before(until); t.wait(500 * time.Millisecond) {
		for _, p := range r.probers {
			p.click.mend(t)
			if t.rng.IntN(2) == 0 {
				p.click.reset(t)
			}
			if time.Since(t.injected) > 15*time.Second && opened(p, "open") == before[p.name+" open"] {
				late[p.name] = true
			}
		}
	}
	for _, p := range r.probers {
		p.click.mend(t)
		if n := opened(p, "closed") - before[p.name]; n > 2*t.outage.Minutes() {
			t.Errorf("the breaker of %s closed %.0f times in %v", p.name, n, t.outage)
		}
	}
	if len(late) > 0 {
		t.Errorf("breakers that did not open: %v", late)
	}
	t.mended()
	t.awaitEveryRow(t.injected, 90*time.Second)
	t.awaitDrained(90 * time.Second)
	t.recovered(90 * time.Second)
}

// setting changes one of the tables that a batch is written to.
func (t *trial) setting(name, value string, tables ...string) {
	t.Helper()
	for _, table := range tables {
		change := fmt.Sprintf("ALTER TABLE %s MODIFY SETTING %s = %s", table, name, value)
		if value == "" {
			change = fmt.Sprintf("ALTER TABLE %s RESET SETTING %s", table, name)
		}
		if err := t.rig.audit.Exec(t.Context(), change); err != nil {
			t.Fatalf("%v", err)
		}
	}
}

// insertsSlow lets every answer of ClickHouse take five seconds, so that batches grow,
// or has it refuse inserts for having too many parts, so that they wait on disk.
func insertsSlow(r *rig, t *trial) {
	count := t.keepCopies()
	rows := func() float64 { return t.count("SELECT max(rows) FROM batches WHERE inserted_at >= now64(3) - 60") }
	t.wait(10 * time.Second)
	usual := rows()
	t.inject()
	if t.number%2 == 0 {
		for _, p := range r.probers {
			p.click.slow(t, 5*time.Second, 0)
		}
	} else {
		t.setting("parts_to_throw_insert", "1", "results")
		defer t.setting("parts_to_throw_insert", "", "results")
		t.awaitSpooling(30 * time.Second)
	}
	t.wait(time.Until(t.injected.Add(t.outage)))
	for _, p := range r.probers {
		if held := p.metric("probefleet_recorder_buffered_rows"); held > 50_000 {
			t.Errorf("%s holds %.0f rows", p.name, held)
		}
	}
	if t.number%2 == 0 {
		for _, p := range r.probers {
			p.click.mend(t)
		}
	} else {
		t.setting("parts_to_throw_insert", "", "results")
	}
	t.mended()
	t.awaitEveryRow(t.injected, 90*time.Second)
	t.awaitDrained(90 * time.Second)
	t.recovered(90 * time.Second)
	if grown := rows(); t.number%2 == 0 && grown <= usual {
		t.Errorf("the largest batch had %.0f rows before and %.0f while inserts were slow", usual, grown)
	}
	count()
}

// tokensForgotten makes ClickHouse remember ten tokens only, loses the answers of
// inserts, and lets a hundred strangers insert before they are tried again: rows are
// stored twice, and nobody sees it.
func tokensForgotten(r *rig, t *trial) {
	const window = "non_replicated_deduplication_window"
	tables := []string{"results", "results_latest", "batches"}
	t.setting(window, "10", tables...)
	defer t.setting(window, "1000", tables...)
	fold, err := r.audit.KeepCopies(t.Context())
	if err != nil {
		t.Fatalf("%v", err)
	}
	defer func() {
		if err := fold(); err != nil {
			t.Errorf("%v", err)
		}
	}()
	t.inject()
	for _, p := range r.probers {
		t.storedUnanswered(p)
	}
	for n := range 100 {
		long := t.from.Add(-time.Hour - time.Duration(n)*time.Second).UnixMilli()
		for _, insert := range []string{
			"INSERT INTO results (target_id, region, scheduled_at, status, reason, prober) SETTINGS insert_deduplication_token = 'stranger %d' SELECT 999999999, 'eu', fromUnixTimestamp64Milli(%[1]d), 'missed', 'lost', 'stranger' ORDER BY ALL",
			"INSERT INTO batches (token, prober, region, rows) SETTINGS insert_deduplication_token = 'stranger %d' SELECT toString(%[1]d), 'stranger', 'eu', 1 ORDER BY ALL",
		} {
			if err := r.audit.Exec(t.Context(), fmt.Sprintf(insert, long)); err != nil {
				t.Fatalf("%v", err)
			}
		}
	}
	for _, p := range r.probers {
		p.click.mend(t)
	}
	t.mended()
	t.awaitEveryRow(t.injected, 90*time.Second)
	t.awaitDrained(90 * time.Second)
	t.recovered(90 * time.Second)
	copies, err := r.audit.Copies(t.Context(), t.from, time.Now())
	if err != nil || copies == 0 {
		t.Errorf("nothing was stored twice (%v): this trial proves nothing", err)
	}
	if n := t.count("SELECT count() - uniqExact(target_id, region) FROM results_latest FINAL"); n > 0 {
		t.Errorf("%.0f targets have two latest results", n)
	}
}
