package faults

import (
	"fmt"
	"strings"
	"time"
)

func publisherRows() []row {
	return []row{
		{id: "F01", suite: 3, allowed: []string{"missed(publisher_down)"}, run: publisherKilled},
		{id: "F02", suite: 3, run: publishersMany},
		{id: "F03", chunk: 5, outage: time.Minute, run: publisherFrozen},
		{id: "F04", chunk: 1, outage: 10 * time.Minute, fleet: fleet{postgres: true}, unwell: []string{"publisher", "dashboard-api"}, run: databaseDown},
		{id: "F05", suite: 3, chunk: 1, outage: 5 * time.Minute, targets: 20_000, intervalS: 60, allowed: []string{"missed(backpressure)", "missed(region_down)", "missed(expired)"}, unwell: []string{"publisher"}, run: streamFull},
		{id: "F08", outage: 20 * time.Second, run: deletedMeanwhile},
		{id: "F24", chunk: 5, run: rollingRestart},
		{id: "F37", outage: 20 * time.Second, unwell: []string{"publisher"}, run: redisClockJumps},
		{id: "F38", allowed: []string{"missed(lost)"}, run: undeliveredTrimmed},
	}
}

// publisherKilled kills the publisher that works; the standby takes over.
func publisherKilled(_ *rig, t *trial) {
	leader := t.leader()
	t.inject()
	leader.kill()
	// Checks are handed out a second ahead: what is visited later was published after the kill.
	t.recoveredAt(t.firstCheck(t.injected.Add(1500*time.Millisecond), 30*time.Second), 8*time.Second)
	// That may have been one from before, visited late: the gap is in the window once somebody leads again.
	t.leader()
	t.awaitEveryRow(time.Now().Add(time.Second), 60*time.Second)
}

// publishersMany kills the leader of two publishers, then of three, while targets
// come, pause and go.
func publishersMany(r *rig, t *trial) {
	visited := t.countVisits()
	extra := t.extra(9, "/ok")
	for n, publishers := range []int{2, 3} {
		if publishers == 3 {
			third := r.named("pub-3")
			third.up(t)
			t.await(30*time.Second, "the third is there", func() bool { status, _ := third.health(); return status == "ok" })
		}
		leader := t.leader()
		t.inject()
		leader.kill()
		mine := extra[n*3 : n*3+3]
		t.change("PATCH", mine[0], map[string]any{"active": false})
		t.change("PATCH", mine[1], map[string]any{"interval_s": 20})
		t.change("DELETE", mine[2], nil)
		extra = append(extra, t.extra(1, "/ok")...)
		t.recoveredAt(t.firstCheck(t.injected.Add(1500*time.Millisecond), 30*time.Second), 8*time.Second)
		t.change("PATCH", mine[0], map[string]any{"active": true})
	}
	if visits, again := visited(60 * time.Second); again > visits/100 {
		t.Errorf("%d of %d visits were not the first of their slot", again, visits)
	}
	for _, id := range extra {
		r.call("DELETE", fmt.Sprint("/api/v1/targets/", id), nil, nil) // two are gone
	}
	t.caughtUp()
}

// extra adds targets for this trial alone.
func (t *trial) extra(n int, path string) (ids []int64) {
	t.Helper()
	for i := range n {
		var made struct{ ID int64 }
		body := map[string]any{"name": fmt.Sprintf("x%d-%d", time.Now().UnixNano(), i), "url": t.rig.lab.URL() + path, "interval_s": 10}
		if status := t.rig.call("POST", "/api/v1/targets", body, &made); status != 201 {
			t.Fatalf("a target is refused: %d", status)
		}
		ids = append(ids, made.ID)
	}
	return ids
}

// change edits or deletes a target.
func (t *trial) change(method string, id int64, body any) {
	t.Helper()
	if status := t.rig.call(method, fmt.Sprint("/api/v1/targets/", id), body, nil); status != 200 && status != 204 {
		t.Errorf("%s of target %d: %d", method, id, status)
	}
}

// publisherFrozen freezes the leader with a tick on its way to Redis, which arrives
// when the standby has gone on: it must be refused.
func publisherFrozen(_ *rig, t *trial) {
	redis := t.console()
	refused := func() float64 {
		return redis.info("errorstats", "errorstat_STALE") + redis.info("errorstats", "errorstat_SUPERSEDED")
	}
	long := t.extra(100, "/ok?"+strings.Repeat("x", 1900)) // ticks of 20 KB
	t.wait(5 * time.Second)
	leader := t.leader()
	steady := leader.metric("probefleet_publisher_steady_checks_per_second")
	before := refused()
	t.inject()
	// A tick begins at the whole second; at 1 KB/s its checks are on their way for long.
	t.wait(time.Until(time.Now().Truncate(time.Second).Add(1850 * time.Millisecond)))
	leader.redis.toxic(t, "bandwidth", "upstream", map[string]any{"rate": 1})
	t.wait(1350 * time.Millisecond)
	leader.freeze()
	t.mended()
	t.recoveredAt(t.firstCheck(t.injected.Add(1500*time.Millisecond), 30*time.Second), 8*time.Second)
	leader.redis.mend(t) // what is under way arrives now
	t.await(10*time.Second, "the stale tick is refused", func() bool { return refused() > before })
	t.wait(time.Until(t.injected.Add(t.outage)))
	added, _ := redis.stream()
	leader.thaw()
	t.wait(10 * time.Second)
	if now, _ := redis.stream(); float64(now-added) > 1.2*steady*10+2*steady {
		t.Errorf("%d checks in the 10 s after the thaw, %.0f a second are due", now-added, steady)
	}
	for _, id := range long {
		t.change("DELETE", id, nil)
	}
}

// databaseDown cuts everybody off from the database: checks go on, edits wait.
func databaseDown(r *rig, t *trial) {
	leader := t.leader()
	t.inject()
	for _, p := range r.all() {
		if p.db != nil {
			p.db.cut()
		}
	}
	rename := func(name string) int {
		return r.call("PATCH", fmt.Sprint("/api/v1/targets/", r.ids[0]), map[string]any{"name": name}, nil)
	}
	for began := time.Now(); time.Since(began) < t.outage; t.wait(5 * time.Second) {
		if status := rename("never"); status != 503 {
			t.Errorf("an edit without the database: %d", status)
		}
	}
	if age := leader.metric("probefleet_publisher_schedule_age_seconds"); age < t.outage.Seconds()-5 {
		t.Errorf("the schedule is said to be %.0f s old after %v", age, t.outage)
	}
	for _, p := range r.all() {
		if p.db != nil {
			p.db.mend(t)
		}
	}
	t.mended()
	t.await(20*time.Second, "an edit is taken", func() bool { return rename(fmt.Sprint("n", time.Now().UnixNano())) == 200 })
	t.recovered(10 * time.Second)
}
