package faults

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// settleLater gives the janitor, who knows that a region is down, its time before the
// sweep states what is left as lost; the fleet's own sweep is in more of a hurry.
func (t *trial) settleLater(more ...string) {
	t.Helper()
	for _, p := range t.rig.publishers[:2] {
		p.up(t, append(more, "PUBLISHER_SETTLE=60s")...) // for its next life
		p.drain(t)
		t.await(2*time.Minute, p.name+" is back", func() bool { status, _ := p.health(); return status == "ok" })
		t.Cleanup(func() { p.restart(t) })
	}
	t.awaitWell(2 * time.Minute)
	t.caughtUp()
}

// regionCut takes Redis and ClickHouse from one region alone.
func regionCut(r *rig, t *trial) {
	t.settleLater()
	cut := r.named("us-1")
	t.inject()
	cut.redis.cut()
	cut.click.cut()
	t.await(30*time.Second, "its rows are on disk", func() bool { return cut.metric("probefleet_spool_rows") > 0 })
	t.wait(time.Until(t.injected.Add(t.outage)))
	first, last := spooled(t, cut)
	cut.redis.mend(t)
	cut.click.mend(t)
	t.mended()
	t.awaitRows(t.injected, 30*time.Second, "us")
	t.recovered(30 * time.Second)
	t.await(30*time.Second, "its spool is empty", func() bool { return cut.metric("probefleet_spool_rows") == 0 })
	t.awaitEveryRow(t.injected, 150*time.Second)
	// What it measured while it was cut off outranks what was stated of those slots.
	if n := t.rowsOf(fmt.Sprintf("region = 'us' AND status = 'missed' AND scheduled_at BETWEEN fromUnixTimestamp64Milli(%d) AND fromUnixTimestamp64Milli(%d)", first, last)); n > 0 {
		t.Errorf("%d slots whose rows were on disk are still missed", n)
	}
	if n := t.rowsOf("region = 'eu' AND status = 'missed'"); n > 0 {
		t.Errorf("%d slots are missed in the other region", n)
	}
}

// spooled is the first and the last slot in a spool, in ms: they are in the names of
// its files, SEQ-ROWS-FIRST-LAST.batch.
func spooled(t *trial, p *process) (first, last int64) {
	t.Helper()
	names, _ := filepath.Glob(filepath.Join(p.spool, "*.batch"))
	for _, name := range names {
		parts := strings.Split(strings.TrimSuffix(filepath.Base(name), ".batch"), "-")
		if len(parts) != 4 {
			t.Fatalf("spool file %s", name)
		}
		from, _ := strconv.ParseInt(parts[2], 10, 64)
		to, _ := strconv.ParseInt(parts[3], 10, 64)
		if first == 0 || from < first {
			first = from
		}
		last = max(last, to)
	}
	if first == 0 {
		t.Fatalf("%s has nothing on disk", p.name)
	}
	return first, last
}

// redisOutOfMemory gives Redis less memory than it uses, with noeviction.
func redisOutOfMemory(_ *rig, t *trial) {
	redis := t.console()
	t.inject()
	redis.do("CONFIG", "SET", "maxmemory", "1mb")
	t.await(15*time.Second, "what was taken on is acknowledged", func() bool { return redis.pending() == 0 })
	added, _ := redis.stream()
	t.wait(time.Until(t.injected.Add(t.outage)))
	if now, _ := redis.stream(); now != added {
		t.Errorf("%d checks were published without memory", now-added)
	}
	redis.do("CONFIG", "SET", "maxmemory", "0")
	t.mended()
	t.recoveredAt(t.firstCheck(t.injected.Add(time.Second), 30*time.Second), 8*time.Second)
	t.awaitEveryRow(t.injected, 90*time.Second)
	t.caughtUp()
}

// redisFailover replaces Redis by a copy of itself that is one to three seconds behind.
func redisFailover(r *rig, t *trial) {
	redis := t.console()
	behind := time.Second + time.Duration(t.rng.Int64N(int64(2*time.Second)))
	replica := filepath.Join(r.dir, fmt.Sprint("replica-", t.number))
	t.inject()
	if err := os.CopyFS(replica, os.DirFS(filepath.Join(r.redis.dir, "appendonlydir"))); err != nil {
		t.Fatalf("copy: %v", err)
	}
	t.wait(behind)
	_, newest := redis.stream()
	r.redis.kill()
	r.redis.forget(t)
	if err := os.Rename(replica, filepath.Join(r.redis.dir, "appendonlydir")); err != nil {
		t.Fatalf("promote: %v", err)
	}
	r.redis.start(t)
	t.mended()
	t.await(15*time.Second, "the lost checks are published again", func() bool {
		_, now := redis.stream()
		return atOrAfter(now, newest)
	})
	if took := time.Since(t.injected); took > behind+5*time.Second {
		t.Errorf("%v of checks were published again after %v", behind, took)
	}
	t.recoveredAt(t.firstCheck(t.injected.Add(1500*time.Millisecond), 30*time.Second), 8*time.Second)
	t.awaitEveryRow(t.injected, 90*time.Second)
}
