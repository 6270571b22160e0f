package faults

import "time"

// chaosRows are whole scenarios: several faults in one window, at full load.
func chaosRows() []row {
	return []row{
		{id: "OUTAGES", chunk: 1, outage: 10 * time.Minute, targets: 10_000, intervalS: 60, allowed: []string{"missed(redis_down)"}, unwell: []string{"prober"}, run: redisThenClickHouseDown},
		{id: "KILLS", chunk: 1, outage: 30 * time.Minute, targets: 10_000, intervalS: 60,
			allowed: []string{"missed(publisher_down)", "missed(redis_down)", "missed(expired)"}, run: anythingKilled},
	}
}

// redisThenClickHouseDown takes Redis away for the outage, and then ClickHouse.
func redisThenClickHouseDown(r *rig, t *trial) {
	t.inject()
	r.redis.kill()
	t.wait(t.outage)
	r.redis.start(t)
	t.mended()
	t.recoveredAt(t.firstCheck(t.injected, 30*time.Second), 5*time.Second)
	t.wait(2 * time.Minute)
	r.click.kill()
	t.wait(t.outage)
	r.click.start(t)
	t.mended()
	behind := func(p *process) float64 { return p.metric("probefleet_spool_rows") }
	t.await(90*time.Second, "every spool is empty", func() bool {
		for _, p := range r.probers {
			if behind(p) > 0 {
				return false
			}
		}
		return true
	})
	t.recovered(90 * time.Second)
	t.wait(30 * time.Second)
}

// anythingKilled kills a process every five seconds: publishers, probers, the API
// and both stores, which come back after a second.
func anythingKilled(r *rig, t *trial) {
	t.inject()
	for end := t.injected.Add(t.outage); time.Now().Before(end); t.wait(5 * time.Second) {
		all := r.all()
		n := t.rng.IntN(len(all) + 2)
		switch n - len(all) {
		case 0:
			r.redis.kill()
			t.wait(time.Second)
			r.redis.start(t)
		case 1:
			r.click.kill()
			t.wait(time.Second)
			r.click.start(t)
		default:
			all[n].kill() // pub-3 does not run: a pause
		}
	}
	t.mended()
	t.awaitEveryRow(t.injected, 3*time.Minute)
	t.recovered(3 * time.Minute)
}
