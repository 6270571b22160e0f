package faults

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// undeliveredTrimmed takes checks that nobody has read from the stream, as an
// operator would, or kills Redis before its last second is on disk.
func undeliveredTrimmed(r *rig, t *trial) {
	if t.number%2 == 1 {
		redisForgetsASecond(r, t)
		return
	}
	redis := t.console()
	stated := t.leader().metric("probefleet_publisher_missed_slots_total", `reason="lost"`)
	t.inject()
	for _, p := range r.probers {
		p.freeze()
	}
	t.wait(4 * time.Second)
	lost := words(redis.do("EVAL", `
		local seen = '0-0'
		for _, info in ipairs(redis.call('XINFO', 'GROUPS', KEYS[1])) do
			if #info[8] > #seen or #info[8] == #seen and info[8] > seen then seen = info[8] end
		end
		local out = {}
		for _, entry in ipairs(redis.call('XRANGE', KEYS[1], '(' .. seen, '+')) do
			table.insert(out, entry[1])
			redis.call('XDEL', KEYS[1], entry[1])
		end
		return out`, 1, checksKey))
	for _, p := range r.probers {
		p.thaw()
	}
	t.mended()
	if len(lost) < 20 {
		t.Errorf("only %d checks were waiting", len(lost))
	}
	t.awaitEveryRow(time.Now(), 150*time.Second) // expiry, settling, a sweep
	t.recovered(150 * time.Second)
	if rows, wrong := t.rowsOf("reason = 'lost' AND "+slotsIn(lost)), t.rowsOf("reason = 'lost'"); rows != 2*len(lost) || wrong != rows {
		t.Errorf("%d checks were trimmed for two regions; %d of their slots are stated as lost, and %d in all", len(lost), rows, wrong)
	}
	if now := r.leader().metric("probefleet_publisher_missed_slots_total", `reason="lost"`); now-stated < float64(2*len(lost)) {
		t.Errorf("the alarm counts %.0f lost slots of %d", now-stated, 2*len(lost))
	}
}

// words are the texts of a reply.
func words(reply any) (out []string) {
	list, _ := reply.([]any)
	for _, item := range list {
		out = append(out, fmt.Sprint(item))
	}
	return out
}

// redisForgetsASecond kills Redis and cuts from its file what came in the last second.
func redisForgetsASecond(r *rig, t *trial) {
	t.inject()
	sizes := appended(t)
	t.wait(time.Second)
	r.redis.kill()
	for name, size := range sizes {
		if err := os.Truncate(name, size); err != nil {
			t.Fatalf("%v", err)
		}
	}
	r.redis.start(t)
	t.mended()
	t.recoveredAt(t.firstCheck(t.injected.Add(1500*time.Millisecond), 30*time.Second), 8*time.Second)
	t.awaitEveryRow(t.injected.Add(time.Second), 60*time.Second)
}

// appended are the sizes of the files that Redis appends to.
func appended(t *trial) map[string]int64 {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(t.rig.redis.dir, "appendonlydir", "*.incr.aof"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no append-only file: %v", err)
	}
	sizes := map[string]int64{}
	for _, name := range names {
		about, err := os.Stat(name)
		if err != nil {
			t.Fatalf("%v", err)
		}
		sizes[name] = about.Size()
	}
	return sizes
}
