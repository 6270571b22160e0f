package faults

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/probefleet/probefleet/internal/testfleet"
)

// outputUnread gives a region three more probers, nobody reads what they print, and a
// stage of each hangs: the watchdog ends them all the same.
func outputUnread(r *rig, t *trial) {
	bin := testfleet.Programs(t, build())
	var muted []*process
	for i, edge := range []string{"reading.waiting", "measured.recording", "acking.settled"} {
		name := fmt.Sprintf("us-%d%d", t.number+2, i)
		p := r.process(bin, "prober", name, "us", false, "REGION=us", "PROBER_NAME="+name, "PROBER_ALLOW_CIDRS=127.0.0.0/8")
		p.mute()
		t.Cleanup(func() { p.unmute(); p.down() })
		p.up(t, fmt.Sprintf("PROBEFLEET_FAILPOINTS=%s=hang@%d", edge, 150))
		muted = append(muted, p)
	}
	started := time.Now()
	every := func(ok func(*process) bool) func() bool {
		return func() bool {
			for _, p := range muted {
				if !ok(p) {
					return false
				}
			}
			return true
		}
	}
	t.await(30*time.Second, "they work", every(func(p *process) bool { return p.metric("probefleet_prober_results_total") > 0 }))
	t.inject()
	noise, redis := 0, t.console()
	t.await(40*time.Second, "lines that nobody reads are dropped, and counted", func() bool {
		if noise < 20_000 {
			noise += 1000
			redis.do("EVAL", babble, 1, checksKey, 1000)
		}
		t.wait(time.Second)
		return every(func(p *process) bool { return p.metric("probefleet_log_lines_dropped_total") > 0 })()
	})
	t.wait(t.outage - time.Since(t.injected))
	until := time.Now().Add(-2 * time.Second)
	t.awaitEveryRow(until, 30*time.Second)
	if n := t.rowsOf("status > 3"); n > 0 {
		t.Errorf("%d slots were not measured while nobody read", n)
	}
	for _, p := range muted {
		if p.deaths() > 0 || p.metric("probefleet_prober_acked_total") == 0 {
			t.Errorf("%s ended %d times and acknowledged %.0f while nobody read", p.name, p.deaths(), p.metric("probefleet_prober_acked_total"))
		}
	}
	// Its stages have a minute each. The last words are in a file just before the end.
	for _, p := range muted {
		select {
		case <-p.ended():
		case <-time.After(time.Until(started.Add(4 * time.Minute))):
			t.Fatalf("%s goes on with a stage that hangs", p.name)
		}
		e := p.last()
		words, err := os.Stat(filepath.Join(p.spool, "watchdog.txt"))
		if e.code != 70 || err != nil || e.at.Sub(words.ModTime()) > time.Second {
			t.Errorf("%s ended with code %d and signal %v after %v (%v), want 70 within a second of its last words", p.name, e.code, e.signal, e.after, err)
		}
		p.unmute()
		p.down() // us-1 has the region to itself again
	}
	t.mended()
	t.awaitEveryRow(t.injected, 60*time.Second)
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
	end`
