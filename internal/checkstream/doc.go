// Package checkstream is both ends of the stream of checks in Redis: the
// publisher's, the probers' and what the dashboard reads about them.
//
// # Guarantees
//
// Publishing. The id of an entry is <slot second × 1000>-<target id>, so an entry
// exists at most once, however often and by however many publishers it is
// published: [Publisher.Publish] is one script that skips what is there already and
// refuses what is stale, ahead of time, out of order or out of room. {pf}:clock
// and the stream's last id are the checkpoint; a publisher that takes over goes
// on from [Publisher.Clock].
//
// Delivery. Each region is a consumer group and gets every entry at least once
// until somebody acknowledges it. [Publisher.Trim] only removes what every group
// has settled: there is no length limit anywhere. An entry whose body is gone all
// the same (somebody else trimmed) is handed out with Gone set, and stays pending
// until it is acknowledged, so that its slot gets a row.
//
// Takeover. [Consumer.Reclaim] takes over from probers that stopped beating, at
// once from the janitor, and from anybody after an idle time. A [Consumer]
// remembers what it handed out, so it never hands out the same entry twice, and
// finds what Redis delivered to it in a reply that never arrived.
//
// Drains. A prober hears with its heartbeat that somebody wants it to take nothing on, and
// says in the next ones how far it is. The wish is kept for as long as nobody takes it back.
//
// Dead letters. [Consumer.Dead] settles an entry and keeps a copy of it, in one step:
// of several callers one moves it, and none loses it. Letters stay until an operator
// purges them, a replay has made the row of their slot durable, or their target is
// deleted; beyond [MaxLetters] or [MaxLetterBytes] the oldest are dropped and counted.
// A replay is some prober's for a minute: it may be run more than once, its letter is
// removed and counted once.
//
// Deletions. A tombstone stays until it is pruned; whoever does that knows how long results
// are kept. Entries of the target come with Tombstoned set, and it has no letters.
//
// On demand. Visits that somebody waits for have a lane beside the checks, with a stream
// a region, ids of Redis's own and an end: see [Adhoc]. Nothing of it is ever a result.
//
// A lost reply of one of the publisher's scripts is retried here: they are safe to
// repeat. Otherwise a call fails and its caller decides; a call that has entries to
// hand out gives those first, and its error the next time.
//
// # Entries
//
// Fields: v, the version ("1", "2" with a spec); x, the expiry in unix ms, for scripts;
// c, the check (see encodeCheck); s, its spec as JSON, absent when it is a plain one.
// A typical entry is 150 bytes. What cannot be decoded is handed out with Err set.
//
// # Servers
//
// Redis 7.0 or later, Valkey 7.2 or later, and the embedded miniredis 2.40, which
// accepts old ids after a full trim, counts nothing that is gone and ignores idle
// times in XCLAIM: the scripts check these themselves. One suite of tests runs
// against both.
package checkstream
