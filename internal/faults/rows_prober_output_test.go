package faults

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// outputUnread stops reading what the only prober of a region prints. Its checks go on
// until a stage hangs, each trial another one; the watchdog ends it all the same. In
// `make verify` only one trial waits for that: a stage has a minute.
func outputUnread(r *rig, t *trial) {
	victim := r.named("us-1")
	hangs := full || t.number == 2
	perSecond := max(1, r.targets/r.intervalS) // checks; acknowledgements come once a second
	hang := []string{
		fmt.Sprintf("reading.waiting=hang@%d", 30*perSecond),
		fmt.Sprintf("measured.recording=hang@%d", 20*perSecond),
		"acking.settled=hang@60",
	}[t.number%3]
	victim.down()
	victim.mute()
	if hangs {
		victim.up(t, "PROBEFLEET_FAILPOINTS="+hang)
	} else {
		victim.up(t)
	}
	t.await(30*time.Second, "it works", func() bool { return victim.metric("probefleet_prober_results_total") > 0 })
	t.inject()
	redis := t.console()
	t.await(20*time.Second, "lines that nobody reads are dropped, and counted", func() bool {
		redis.do("EVAL", babble, 1, checksKey, 250)
		t.wait(time.Second)
		return victim.metric("probefleet_log_lines_dropped_total") > 0
	})
	until := time.Now().Add(-2 * time.Second)
	t.awaitEveryRow(until, 20*time.Second)
	if n := t.rowsOf(fmt.Sprintf("%s AND scheduled_at < fromUnixTimestamp64Milli(%d)", unmeasured, until.UnixMilli())); n > 0 || victim.deaths() > 0 && victim.last().at.After(t.injected) {
		t.Errorf("%d slots were not measured while nobody read (ended: %+v)", n, victim.last())
	}
	if !hangs {
		victim.restart(t)
		victim.unmute()
		t.injected = time.Now()
		t.awaitEveryRow(t.injected, 60*time.Second)
		t.recovered(60 * time.Second)
		redis.do("DEL", "{pf}:dead")
		return
	}
	select {
	case <-victim.ended(): // a stage has a minute
	case <-time.After(4 * time.Minute):
		t.Fatalf("it goes on with a stage that hangs: %s", hang)
	}
	e := victim.last()
	said, err := os.Stat(filepath.Join(victim.spool, "watchdog.txt")) // just before the end
	if e.code != 70 || err != nil || e.at.Sub(said.ModTime()) > patience(time.Second) {
		t.Errorf("it ended with code %d and signal %v after %v (%v), want 70 within a second of its last words", e.code, e.signal, e.after, err)
	}
	victim.unmute()
	t.injected = e.at
	t.awaitEveryRow(e.at, 60*time.Second)
	t.recovered(60 * time.Second)
	redis.do("DEL", "{pf}:dead")
}

// babble publishes entries that are no checks of any target: each is worth two lines of
// everybody's log.
const babble = `
	local newest = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1][1]
	local ms, seq = string.match(newest, '(%d+)-(%d+)')
	for i = 1, tonumber(ARGV[1]) do
		redis.call('XADD', KEYS[1], string.format('%s-%d', ms, math.max(tonumber(seq), 1000000) + i), 'v', '1', 'c', 'nothing')
	end
	return ms`
