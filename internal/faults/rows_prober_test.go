package faults

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"
)

func proberRows() []row {
	return []row{
		{id: "F10", suite: 3, chunk: 25, run: proberKilled},
		{id: "F11", suite: 3, outage: 2 * time.Minute, run: proberFrozen},
		{id: "F13", suite: 3, chunk: 5, run: runtimeWedged},
		{id: "F14", suite: 3, chunk: 3, allowed: []string{"missed(expired)"}, run: outputUnread},
		{id: "F15", chunk: 5, outage: 20 * time.Second, run: memoryShort},
		{id: "F16", suite: 3, chunk: 5, outage: 15 * time.Second, allowed: []string{"missed(expired)"}, unwell: []string{"prober"}, run: diskFull},
		{id: "F18", chunk: 1, targets: 1000, intervalS: 10, unwell: []string{"prober"}, run: spoolAtCap},
		{id: "F19", chunk: 5, unwell: []string{"prober"}, run: diskBroken},
		{id: "F21", chunk: 5, allowed: []string{"unknown(dead_letter)", "missed(lost)"}, run: poisoned},
		{id: "F22", chunk: 5, run: deliveredTwice},
		{id: "F42", suite: len(killEdges), chunk: 18, allowed: []string{"unknown(dead_letter)"}, run: killedAtEdge},
		{id: "F48", chunk: 1, outage: 4 * time.Minute, targets: 1000, intervalS: 10, allowed: []string{"missed(region_down)", "missed(expired)"}, unwell: []string{"prober"}, run: regionCannotSettle},
	}
}

// unmeasured are rows that say why there is no measurement. A machine that is busy, or
// a process that the row itself stopped, is no reason to complain: see stalled.
const unmeasured = "status > 3 AND reason <> 'frozen'"

// proberKilled kills one of the three probers; what it held is done again, by its
// neighbour or by its own next life. In every other trial it has results by then that
// ClickHouse does not have, and none of them may be acknowledged.
func proberKilled(r *rig, t *trial) {
	victim := r.probers[t.rng.IntN(len(r.probers))]
	t.inject()
	if testing.Short() || t.number%2 == 1 { // the worst moment: results wait for their insert
		victim.click.blackhole(t)
		measured := func() float64 { return victim.metric("probefleet_prober_results_total") }
		before := measured()
		t.await(30*time.Second, victim.name+" measures without ClickHouse", func() bool { return before > 0 && measured() >= before+10 })
		t.wait(time.Second) // acknowledgements that come too early are sent by then
		t.durable(victim)
	}
	victim.kill()
	t.mended()
	victim.click.mend(t)
	t.awaitEveryRow(t.injected.Add(time.Second), 60*time.Second)
	t.recovered(60 * time.Second)
}

// proberFrozen stops a prober for the outage. Its neighbour takes over; what the
// zombie has to say when it goes on changes nothing.
func proberFrozen(r *rig, t *trial) {
	t.inject()
	var victim *process
	t.await(10*time.Second, "a prober of eu has checks in hand", func() bool {
		victim = r.probers[t.rng.IntN(2)]
		return victim.metric("probefleet_prober_entries") >= 5
	})
	victim.freeze()
	t.mended()
	held := t.injected.Add(time.Second)
	t.awaitEveryRow(held, 60*time.Second)
	t.recovered(60 * time.Second)
	t.wait(time.Until(t.injected.Add(t.outage)))
	until := time.Now().Add(-2 * time.Second)
	t.awaitEveryRow(until, 30*time.Second)
	before := t.outcomes(until)
	done := victim.metric("probefleet_prober_results_total")
	victim.thaw()
	t.await(20*time.Second, "the zombie works again", func() bool {
		status, _ := victim.health()
		return status == "ok" && victim.metric("probefleet_prober_results_total") > done
	})
	// Its rows are stored in the order in which they are measured: then what it held is, too.
	later := time.Now().Add(2 * time.Second)
	t.await(30*time.Second, "a row of the zombie that was due later", func() bool {
		return t.count(fmt.Sprintf("SELECT count() FROM results WHERE prober = '%s' AND scheduled_at >= fromUnixTimestamp64Milli(%d)", victim.name, later.UnixMilli())) > 0
	})
	if !testing.Short() {
		t.wait(10 * time.Second) // longer than its checks and inserts take
	}
	if after := t.outcomes(until); after != before {
		t.Errorf("rows of the outage changed when the zombie came back: %d rows, now %d (equal outcomes: %v)", before.rows, after.rows, before.hash == after.hash)
	}
}

// fingerprint stands for the outcome of every slot of a time.
type fingerprint struct {
	rows int
	hash float64
}

// outcomes looks at the trial's slots before until.
func (t *trial) outcomes(until time.Time) fingerprint {
	t.Helper()
	where := fmt.Sprintf("scheduled_at >= fromUnixTimestamp64Milli(%d) AND scheduled_at < fromUnixTimestamp64Milli(%d)", t.from.UnixMilli(), until.UnixMilli())
	return fingerprint{
		rows: t.rowsOf(where),
		hash: t.count("SELECT bitAnd(groupBitXor(cityHash64(target_id, region, scheduled_at, status, reason)), 0xFFFFFFFFFFFF) FROM results FINAL WHERE " + where),
	}
}

// memoryShort runs a prober with little memory and targets with much to say, and
// kills it three times for what it holds, as the kernel would.
func memoryShort(r *rig, t *trial) {
	const bound = 400 // MiB, with the race detector
	victim := r.probers[t.rng.IntN(len(r.probers))]
	victim.restart(t, "GOMEMLIMIT=64MiB")
	large := t.extra(20, "/body/1000000")
	defer t.retire(large)
	t.awaitWell(30 * time.Second)
	t.wait(t.outage)
	if most := victim.memory("VmHWM"); most > bound || most == 0 {
		t.Errorf("%s held %d MiB with a limit of 64", victim.name, most)
	}
	threshold := victim.memory("VmRSS") * 3 / 4
	t.inject()
	for range 3 {
		t.await(30*time.Second, "it holds too much", func() bool { return victim.memory("VmRSS") >= threshold })
		victim.kill()
	}
	t.mended()
	t.awaitEveryRow(t.injected.Add(time.Second), 60*time.Second)
	t.recovered(60 * time.Second)
}

// retire deletes targets that one trial needed.
func (t *trial) retire(ids []int64) {
	for _, id := range ids {
		t.change("DELETE", id, nil)
	}
}

// deliveredTwice makes entries that are being probed look abandoned: the neighbour
// takes them over, and both measure the same slot.
func deliveredTwice(r *rig, t *trial) {
	redis := t.console()
	path := fmt.Sprintf("/slow/%dms", 3000+t.rng.IntN(500))
	before := r.lab.RequestsTo(path)
	slow := t.extra(10, path)
	mine := map[uint64]bool{}
	for _, id := range slow {
		mine[uint64(id)] = true
	}
	since := time.Now()
	t.inject()
	claimed := 0
	for until := time.Now().Add(25 * time.Second); time.Now().Before(until); t.wait(time.Second) {
		for _, owner := range []string{"eu-1", "eu-2"} {
			for _, id := range words(redis.do("EVAL", pendingOf, 1, checksKey, "eu", owner, "0")) {
				if second, target := idParts(id); mine[target] && int64(second) <= time.Now().UnixMilli() {
					redis.do("XCLAIM", checksKey, "eu", owner, "0", id, "IDLE", "100000", "JUSTID")
					claimed++
				}
			}
		}
	}
	for _, id := range slow {
		t.change("PATCH", id, map[string]any{"active": false})
	}
	t.mended()
	t.awaitEveryRow(time.Now(), 60*time.Second)
	t.recovered(60 * time.Second)
	t.wait(5 * time.Second) // the slower of the two
	rows := t.rowsOf(fmt.Sprintf("status <= 3 AND target_id IN (%s) AND checked_at >= fromUnixTimestamp64Milli(%d)", strings.Trim(strings.ReplaceAll(fmt.Sprint(slow), " ", ","), "[]"), since.UnixMilli()))
	if visits := int(r.lab.RequestsTo(path) - before); visits <= rows {
		t.Errorf("%d visits for %d rows: none of %d claims had a check run twice", visits, rows, claimed)
	}
	t.retire(slow)
}

// killEdges are the edges of the statechart after which something durable differs.
var killEdges = [...]string{
	"reading.waiting", "waiting.probing", "probing.measured", "measured.recording", "recording.stored",
	"recording.spooled", "stored.acking", "acking.settled", "failing.settled",
}

// killedAtEdge has a prober kill itself at an edge, each trial at the next one.
func killedAtEdge(r *rig, t *trial) {
	edge := killEdges[t.number%len(killEdges)]
	most := 25
	if testing.Short() {
		most = 5 // some edges are passed once a second
	}
	victim, nth := r.probers[t.rng.IntN(len(r.probers))], 1+t.rng.IntN(most)
	t.wait(lead)
	letters := 0
	switch edge {
	case "recording.spooled":
		victim.click.cut()
		nth = 1 + t.rng.IntN(5)
	case "failing.settled":
		victim, nth, letters = r.named("us-1"), 1, 1
	}
	victim.down()
	if letters > 0 {
		t.givenUp("us")
	}
	deaths := victim.deaths()
	victim.up(t, fmt.Sprintf("PROBEFLEET_FAILPOINTS=%s=kill@%d", edge, nth))
	t.await(60*time.Second, fmt.Sprintf("%s dies at hit %d of %s", victim.name, nth, edge), func() bool { return victim.deaths() > deaths })
	if e := victim.last(); e.signal != syscall.SIGKILL {
		t.Errorf("%s ended with code %d and signal %v, not at %s", victim.name, e.code, e.signal, edge)
	}
	t.injected = victim.last().at
	victim.click.mend(t)
	t.awaitEveryRow(t.injected.Add(time.Second), 60*time.Second)
	t.recovered(60 * time.Second)
	if n := t.rowsOf("reason = 'dead_letter'"); n != letters {
		t.Errorf("%d slots are given up, want %d", n, letters)
	}
}
