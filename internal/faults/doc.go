// Package faults breaks a fleet of the real programs and proves that nothing is
// lost, nothing counted twice and nothing left unexplained.
//
//	go test -short ./internal/faults   one row of each kind of fault in one fleet: see brief
//	go test ./internal/faults          the starred rows, a few trials each, short outages
//	make faults ROW=F10 N=50           any row in full; adds to docs/faults.jsonl and goes on where it stopped
//	make faults ROW=F10 SEED=7 FIRST=3 N=1   that trial again
//	make mutations                     switches safety measures off one at a time: their rows must turn red
//
// A rig is one fleet: redis-server, ClickHouse, SQLite (or PostgreSQL), the API
// ("api"), publishers "pub-1" and "pub-2" ("pub-3" waits for rows that want it),
// probers "eu-1", "eu-2" and "us-1", a lab that answers 200 to everything, and the
// auditor. Between every process and every store stands an edge that can be broken.
// A process that ends is started again, as a supervisor would. Programs are built
// with the race detector and the failpoints.
//
// # Writing a row
//
// A row is an entry of publisherRows, proberRows, redisRows or clickhouseRows:
//
//	{id: "F10", suite: 3, run: proberKilled},
//
//	func proberKilled(r *rig, t *trial) {
//		victim := r.probers[t.rng.IntN(len(r.probers))]     // every choice comes from t.rng: a seed replays it
//		t.inject()                                          // waits 2 to 4 s, then starts the clock
//		victim.kill()                                       // the damage
//		t.awaitEveryRow(t.injected.Add(time.Second), 60*time.Second) // what it held has its rows
//		t.recovered(60 * time.Second)                       // stops the clock; more than that fails
//	}
//
// A row says nothing about lost, doubled and unexplained slots: each trial is a
// window, from its start to its end, and when all rows have run, every window is
// closed by the auditor and by the installation's own ledger. A planned slot must
// have exactly one row, "up" or one of row.allowed ("missed(redis_down)"); anything
// else counts as lost. A row does not clean up either: after each trial heal mends
// every edge, starts the stores, thaws and starts the processes. After each row every
// process must say ok again, with its goroutines and memory back to normal.
//
// What a row has at hand:
//
//	processes   r.probers, r.publishers, r.api, r.named("eu-1"), t.leader()
//	            p.kill() p.freeze() p.thaw() p.drain(t) p.down() p.up(t, "NAME=value"…) p.restart(t, "NAME=value"…)
//	            (more environment holds for that life alone; after its death it comes back without)
//	            p.mute() p.unmute() p.pid() p.ended() p.last() p.deaths()
//	            p.health() p.saw() p.metric(name, `label="x"`…) p.memory("VmHWM") p.spool
//	edges       p.redis, p.click, p.db (PostgreSQL only); r.toRedis().each((*edge).cut)
//	            e.cut() e.slow(t, d, jitter) e.blackhole(t) e.reset(t) e.cutAfter(t, "upstream", bytes) e.trickle(t, size, pause) e.mend(t)
//	stores      r.redis, r.click: s.kill() s.stop(t) s.start(t) s.freeze() s.thaw() s.url(); r.redis.forget(t) empties it
//	time        t.inject() t.mended() t.recovered(limit) t.recoveredAt(instant, limit) t.firstCheck(since, limit) t.wait(d) t.outage
//	waiting     t.await(limit, what, func() bool) t.awaitRows(since, limit, regions…) t.awaitEveryRow(until, limit) t.awaitWell(limit)
//	judging     t.Errorf, t.Fatalf (they go into docs/faults.jsonl), t.keepCopies(), r.audit.Window/Copies/Measured/Query/Exec
//	the rest    r.call("POST", "/api/v1/targets", body, &answer), r.create(n, intervalS), r.ids, r.lab, r.dir
//
// `make verify` runs four fleets, two side by side: see lanes. `make test` runs the rows of
// brief in one. A row needs no fleet of its own unless it changes what others rely on: set
// row.fleet (postgres, env) then, and it gets one.
package faults
