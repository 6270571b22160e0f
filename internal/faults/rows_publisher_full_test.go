package faults

import (
	"fmt"
	"time"
)

// streamFull freezes every prober until the stream has no room, and for the outage
// from then on.
func streamFull(r *rig, t *trial) {
	redis := t.console()
	room := max(300, r.targets*24/r.intervalS)
	t.settleLater(fmt.Sprint("PUBLISHER_BACKLOG_MAX=", room))
	leader := t.leader()
	stated := func() (n float64) { // by whoever leads
		for _, p := range r.publishers[:2] {
			n += p.metric("probefleet_publisher_missed_slots_total", `reason="backpressure"`)
		}
		return n
	}
	refusedRows := func() int { return t.rowsOf("status = 'missed' AND reason = 'backpressure'") }
	emptied := func() {
		t.await(2*time.Minute, "the stream has room", func() bool { return redis.do("XLEN", checksKey).(int64) < int64(room/2) })
		t.wait(5 * time.Second)
	}
	emptied() // restarting the publishers may have filled the small stream already
	before, rowsBefore := stated(), refusedRows()
	refusals := func() float64 { return leader.metric("probefleet_publisher_refused_total", `code="full"`) }
	calm := refusals()
	t.inject()
	for _, p := range r.probers {
		p.freeze()
	}
	t.await(2*time.Minute, "the stream is full", func() bool { return refusals() > calm })
	used := redis.info("memory", "used_memory")
	watch := unread{}
	for full := time.Now(); time.Since(full) < t.outage; t.wait(500 * time.Millisecond) {
		watch.look(t, redis)
		if n := redis.do("XLEN", checksKey).(int64); n > int64(room)+500 {
			t.Errorf("%d checks in a stream with room for %d", n, room)
		}
	}
	if now := redis.info("memory", "used_memory"); now > used*1.1+1<<20 {
		t.Errorf("the memory of Redis grew from %.0f to %.0f while the stream was full", used, now)
	}
	for _, p := range r.probers {
		p.thaw()
	}
	t.mended()
	t.awaitEveryRow(t.injected, 2*time.Minute)
	t.recovered(2 * time.Minute)
	t.await(30*time.Second, "the publisher has caught up", func() bool { return leader.metric("probefleet_publisher_lag_seconds") <= 2 })
	refused, rows := 0, 0
	if !r.within(30*time.Second, func() bool {
		refused = int(stated() - before)
		rows = refusedRows() - rowsBefore
		return rows == refused && rows > 0
	}) {
		t.Errorf("%d slots were refused, and %d rows say so", refused, rows)
	}
	emptied() // the next row's checks must not be refused for this
}

// unread remembers the first check that each region has not read.
type unread map[string][2]string

// look fails when that check is gone although the region has read nothing since.
func (u unread) look(t *trial, redis direct) {
	t.Helper()
	reply, ok := redis.do("EVAL", `
		local out = {}
		for _, info in ipairs(redis.call('XINFO', 'GROUPS', KEYS[1])) do
			local next = redis.call('XRANGE', KEYS[1], '(' .. info[8], '+', 'COUNT', 1)[1]
			local taken = redis.call('XPENDING', KEYS[1], info[2], '-', '+', 1)[1]
			local there = 'none'
			if taken then there = #redis.call('XRANGE', KEYS[1], taken[1], taken[1]) == 1 and 'there' or 'gone' end
			table.insert(out, info[2]); table.insert(out, info[8]); table.insert(out, next and next[1] or ''); table.insert(out, there)
		end
		return out`, 1, checksKey).([]any)
	if !ok {
		t.Fatalf("groups: %v", reply)
	}
	for ; len(reply) >= 4; reply = reply[4:] {
		region, delivered, next := fmt.Sprint(reply[0]), fmt.Sprint(reply[1]), fmt.Sprint(reply[2])
		if was := u[region]; was[0] == delivered && was[1] != "" && was[1] != next {
			t.Errorf("%s had not read %s, and it is gone (%s is next)", region, was[1], next)
		}
		if reply[3] == "gone" {
			t.Errorf("the oldest pending check of %s is trimmed", region)
		}
		u[region] = [2]string{delivered, next}
	}
}

// deletedMeanwhile deletes targets while ClickHouse is down and their checks are
// unread in one region, running in the other, and in spools.
func deletedMeanwhile(r *rig, t *trial) {
	victims := append(t.extra(5, "/ok"), t.extra(5, "/slow/3s")...)
	list := ""
	for i, id := range victims {
		list += fmt.Sprintf("%s%d", map[bool]string{true: ",", false: ""}[i > 0], id)
	}
	stored := func() int { return int(t.count("SELECT count() FROM results WHERE target_id IN (" + list + ")")) }
	t.await(40*time.Second, "they are measured", func() bool { return stored() >= 2*len(victims) })
	t.inject()
	r.click.kill()
	t.await(60*time.Second, "rows are in spools", func() bool {
		return r.named("us-1").metric("probefleet_spool_rows") > 0 && r.named("eu-1").metric("probefleet_spool_rows")+r.named("eu-2").metric("probefleet_spool_rows") > 0
	})
	t.wait(10 * time.Second) // every victim had its turn
	r.named("us-1").freeze()
	t.wait(2 * time.Second)
	redis := t.console()
	for _, id := range victims {
		t.change("DELETE", id, nil)
		t.await(time.Second, "the tombstone is set", func() bool { return redis.do("HEXISTS", "{pf}:tombstones", id) == int64(1) })
	}
	r.named("us-1").thaw()
	t.wait(time.Until(t.injected.Add(t.outage)))
	r.click.start(t)
	t.mended()
	left := func() bool { // for good: no spool can bring them back
		for _, p := range r.probers {
			if p.metric("probefleet_spool_rows") > 0 {
				return true
			}
		}
		return stored() > 0
	}
	t.await(60*time.Second, "nothing is left of them", func() bool { return !left() })
	t.recovered(60 * time.Second)
	dropped := 0.0
	for _, p := range r.probers {
		dropped += p.metric("probefleet_recorder_rows_total", `outcome="deleted"`)
	}
	if dropped == 0 {
		t.Errorf("no spool had rows of a deleted target to drop")
	}
	for until := time.Now().Add(20 * time.Second); time.Now().Before(until); t.wait(time.Second) {
		if rows := stored(); rows > 0 {
			t.Errorf("%d rows of deleted targets are back", rows)
			break
		}
	}
	for _, id := range victims {
		if status := r.call("GET", fmt.Sprint("/api/v1/targets/", id), nil, nil); status != 404 {
			t.Errorf("target %d answers %d", id, status)
		}
	}
}

// rollingRestart stops everything in turn, as a deployment does.
func rollingRestart(r *rig, t *trial) {
	order := []*process{r.api, r.publishers[0], r.publishers[1], r.probers[0], r.probers[1], r.probers[2]}
	t.rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	t.inject()
	for _, p := range order {
		asked := time.Now()
		if e := p.drain(t); e.code != 0 || e.signal != 0 || time.Since(asked) > 30*time.Second {
			t.Errorf("%s stopped with code %d, signal %v, after %v", p.name, e.code, e.signal, time.Since(asked).Round(time.Millisecond))
		}
		t.await(40*time.Second, p.name+" is back", func() bool { status, _ := p.health(); return status == "ok" || status == "degraded" })
	}
	t.mended()
	t.awaitEveryRow(t.injected, 60*time.Second)
	t.recovered(60 * time.Second)
}
