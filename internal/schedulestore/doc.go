// Package schedulestore keeps what was due when: the versions of every target's
// schedule and of the set of regions, and the gaps whose cause is known.
//
// # Versions in plain words
//
// A target's slots follow from its id and its interval alone, so nobody stores
// slots. What changes over time is the schedule: a target is added, paused,
// re-timed or deleted, a region joins or leaves. Each such change gets the next
// number of one counter, its seq, and one row that is never edited again except
// to say when it took effect.
//
// Somebody saves a target at noon. The row says "from now on every 30 s", but
// the publisher may already have published slots of the seconds just after noon
// under the old schedule. So a new version is pending: it has no effective_from
// and plans nothing yet. A publisher adopts it: it asks the stream up to which
// second L everything is published, stamps the pending versions with L + 1 s,
// and publishes from there by the new schedule. Every slot before that instant
// belongs to the old version, every slot after it to the new one, and anybody
// can compute later, from this database alone, exactly which slots were planned:
//
//	a version plans its slots in [its effective_from, the next version's)
//	for the regions effective then; an inactive one plans none.
//
// # Guarantees
//
// The order of seq is the order of commits: the counter is incremented first in
// the transaction of the change and its row stays locked until the commit. Who
// has read everything up to seq N therefore never finds a smaller one later, and
// can go on with "after N". A change that was rolled back leaves no hole.
//
// Adopting is idempotent and never moves an instant already given.
//
// A deletion is a version too (inactive and deleted), so the publisher learns of
// it. A target whose newest version is deleted leaves the ledger altogether; what
// is done to remove its results stands in package targetstore (Deletion).
package schedulestore
