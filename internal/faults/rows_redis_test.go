package faults

import (
	"slices"
	"time"
)

func redisRows() []row {
	return []row{
		{id: "F09", allowed: []string{"missed(redis_lost)"}, run: redisEmptied},
		{id: "F23", suite: 3, allowed: []string{"missed(trimmed)"}, run: pendingTrimmed},
		{id: "F30", suite: 3, chunk: 1, outage: 10 * time.Minute, targets: 10_000, intervalS: 60, allowed: []string{"missed(redis_down)"}, unwell: []string{"publisher", "prober"}, run: redisDown},
		{id: "F31", chunk: 25, run: redisForgetsASecond},
		{id: "F32", chunk: 1, outage: 5 * time.Minute, allowed: []string{"missed(redis_down)"}, unwell: []string{"publisher", "prober"}, run: redisHangs},
		{id: "F33", chunk: 1, outage: time.Minute, allowed: []string{"missed(redis_down)"}, run: redisSlow},
		{id: "F34", chunk: 1, outage: 2 * time.Minute, allowed: []string{"missed(region_down)", "missed(expired)"}, unwell: []string{"prober"}, run: regionCut},
		{id: "F35", outage: 20 * time.Second, unwell: []string{"publisher"}, run: redisOutOfMemory},
		{id: "F36", run: redisFailover},
	}
}

// redisEmptied brings Redis back with nothing in it.
func redisEmptied(r *rig, t *trial) {
	t.inject()
	r.redis.kill()
	r.redis.forget(t)
	t.wait(time.Duration(t.rng.Int64N(int64(5 * time.Second))))
	away := time.Since(t.injected)
	r.redis.start(t)
	t.mended()
	redis := t.console()
	t.await(10*time.Second, "both regions have their groups again", func() bool {
		groups, err := redis.r.Commands().XInfoGroups(t.Context(), checksKey).Result()
		return err == nil && len(groups) == 2
	})
	if took := time.Since(t.injected); took > 3*time.Second { // a tick, and a pass that failed before
		t.Errorf("the groups were back after %v", took)
	}
	t.recoveredAt(t.firstCheck(t.injected.Add(1500*time.Millisecond), 30*time.Second), 8*time.Second)
	t.awaitEveryRow(time.Now(), 150*time.Second) // expiry, settling, a sweep
	// What was in the stream, a second or two, and what was due meanwhile.
	most := int((away + 3*time.Second).Seconds() * float64(2*r.targets) / float64(r.intervalS))
	if missed := t.rowsOf("reason = 'redis_lost'"); missed > most {
		t.Errorf("%d slots are missed, more than %d", missed, most)
	}
}

// pendingTrimmed trims the stream while a prober that dies has at least 50 checks of
// which nothing is stored.
func pendingTrimmed(r *rig, t *trial) {
	redis := t.console()
	victim, neighbour := r.named("eu-1"), r.named("eu-2")
	t.inject()
	neighbour.freeze() // what is read now is the victim's
	victim.click.blackhole(t)
	t.injected = time.Now()
	unstored := func(ids []string) []string { // what was due before may be stored, and its acknowledgement on its way
		return slices.DeleteFunc(slices.Clone(ids), func(id string) bool {
			ms, _ := idParts(id)
			return int64(ms) <= t.injected.UnixMilli()
		})
	}
	const many = 1000
	held := func(deliveries int) []string {
		return words(redis.do("EVAL", pendingOf, 1, checksKey, "eu", deliveries, "0", victim.name))
	}
	nobodyElses := func() []string { return unstored(held(1)) } // what was delivered twice may be the neighbour's, too
	t.await(40*time.Second, "50 checks are pending that were due since", func() bool { return len(nobodyElses()) >= 50 })
	victim.down()
	mustBe := nobodyElses()
	// The neighbour has some: a read that waited when it froze was answered.
	trimmed := words(redis.do("EVAL", pendingOf, 1, checksKey, "eu", many, "1", victim.name, neighbour.name))
	neighbour.thaw()
	if t.number%2 == 1 {
		victim.up(t) // it finds them itself
	}
	t.await(30*time.Second, "the victim holds them no more", func() bool { return len(held(many)) == 0 })
	t.awaitEveryRow(t.injected, 150*time.Second)
	became := func(ids []string, and string) int {
		return int(t.count("SELECT count() FROM results FINAL WHERE region = 'eu' AND " + slotsIn(ids) + and))
	}
	t.await(150*time.Second, "what became of each is recorded", func() bool { return became(trimmed, "") == len(trimmed) })
	t.recovered(150 * time.Second)
	if stated := became(mustBe, " AND reason = 'trimmed'"); len(mustBe) < 50 || stated != len(mustBe) {
		t.Errorf("%d checks were trimmed of which nothing was stored, %d are stated as trimmed", len(mustBe), stated)
	}
	measured, stated := became(trimmed, " AND status != 'missed'"), became(trimmed, " AND reason = 'trimmed'")
	others := t.rowsOf("reason = 'trimmed' AND NOT (region = 'eu' AND " + slotsIn(trimmed) + ")")
	if stated+measured != len(trimmed) || others > 0 {
		t.Errorf("%d pending checks were trimmed; %d of them are measured, %d stated as trimmed, and %d others", len(trimmed), measured, stated, others)
	}
}

// pendingOf gives the checks pending of consumers of a group that were delivered so
// often at most; asked to, it trims everything that every group has read.
const pendingOf = `
	local out = {}
	for i = 4, #ARGV do
		for _, row in ipairs(redis.call('XPENDING', KEYS[1], ARGV[1], '-', '+', 100000, ARGV[i])) do
			if row[4] <= tonumber(ARGV[2]) then table.insert(out, row[1]) end
		end
	end
	if ARGV[3] == '1' then
		local unread
		for _, info in ipairs(redis.call('XINFO', 'GROUPS', KEYS[1])) do
			local n = #redis.call('XRANGE', KEYS[1], '(' .. info[8], '+')
			if not unread or n > unread then unread = n end
		end
		redis.call('XTRIM', KEYS[1], 'MAXLEN', '=', unread)
	end
	return out`

// caughtUp waits until what an outage left undone is nearly made up for: at 1.2 times
// the steady rate that takes five times as long as the outage, or as an expiry.
func (t *trial) caughtUp() {
	t.Helper()
	t.await(6*min(t.outage, time.Minute)+90*time.Second, "the publisher is nearly on time again", func() bool {
		leader := t.rig.leader()
		return leader != nil && leader.metric("probefleet_publisher_lag_seconds") <= 10
	})
}

// redisDown kills Redis and starts it again after the outage.
func redisDown(r *rig, t *trial) {
	steady := t.leader().metric("probefleet_publisher_steady_checks_per_second")
	t.inject()
	r.redis.kill()
	t.wait(t.outage)
	r.redis.start(t)
	t.mended()
	redis := t.console()
	before, _ := redis.stream()
	began := time.Now()
	t.recoveredAt(t.firstCheck(t.injected.Add(time.Second), 30*time.Second), 5*time.Second)
	t.wait(time.Until(t.injected.Add(min(time.Minute, t.outage))))
	after, _ := redis.stream()
	watched := time.Since(began)
	if most := 1.2*steady*watched.Seconds() + 2*steady; float64(after-before) > most {
		t.Errorf("%d checks were published in the first %v, more than %.0f", after-before, watched, most)
	}
	t.awaitEveryRow(t.injected, 90*time.Second)
	if missed := t.rowsOf("status = 'missed'"); t.outage < 40*time.Second && missed > 0 {
		t.Errorf("%d slots were missed, none had expired", missed)
	}
	t.caughtUp()
}

// redisHangs makes Redis silent while connections stay: frozen, it answers later what
// it was asked meanwhile; in every other trial the network swallows all of it.
func redisHangs(r *rig, t *trial) {
	limit := 8 * time.Second
	t.inject()
	if t.number%2 == 0 {
		r.redis.freeze()
		// Its queue of connections overflows, and the kernel of the proxies tries again
		// after 1, 2, 4, … 64 s: that is the rig's own delay.
		limit += min(t.outage, 64*time.Second)
	} else {
		r.toRedis().each(func(e *edge) { e.blackhole(t) })
	}
	if silent := ""; !r.within(5*time.Second, func() bool {
		silent = ""
		for _, p := range append(r.publishers[:2:2], r.probers...) {
			if status, _ := p.health(); status == "ok" {
				silent += " " + p.name
			}
		}
		return silent == ""
	}) {
		t.Errorf("5 s after Redis hung, still ok:%s", silent)
	}
	t.wait(10 * time.Second)
	before := map[string]float64{}
	for _, p := range r.all() {
		before[p.name] = p.metric("go_goroutines")
	}
	for until := t.injected.Add(t.outage); time.Now().Before(until); t.wait(2 * time.Second) {
		asked := time.Now()
		if status := r.call("GET", "/api/v1/fleet", nil, nil); status == 0 || time.Since(asked) > 4*time.Second {
			t.Errorf("the API answers %d after %v", status, time.Since(asked).Round(time.Millisecond))
		}
	}
	for _, p := range r.all() {
		if now := p.metric("go_goroutines"); p.pid() != 0 && now > before[p.name]+20 {
			t.Errorf("%s had %.0f goroutines, now %.0f", p.name, before[p.name], now)
		}
	}
	r.redis.thaw()
	r.toRedis().each(func(e *edge) { e.mend(t) })
	t.mended()
	t.recoveredAt(t.firstCheck(t.injected.Add(time.Second), 2*time.Minute), limit)
	t.caughtUp()
}

// redisSlow delays or dribbles every answer of Redis: nobody is dead, so nothing is
// taken over and done again.
func redisSlow(r *rig, t *trial) {
	visited := t.countVisits()
	t.inject()
	r.toRedis().each(func(e *edge) {
		if t.number%2 == 0 {
			e.slow(t, 2*time.Second, time.Second)
		} else {
			e.trickle(t, 64, 5*time.Millisecond)
		}
	})
	t.wait(t.outage)
	r.toRedis().each(func(e *edge) { e.mend(t) })
	t.mended()
	t.recoveredAt(t.firstCheck(t.injected.Add(time.Second), 30*time.Second), 8*time.Second)
	t.caughtUp()
	if visits, again := visited(120 * time.Second); again > visits/100 {
		t.Errorf("%d of %d visits were not the first of their slot", again, visits)
	}
}
