// Package cycle is the publisher at work: each whole second T of Redis' clock it
// publishes the checks of second T+1, and keeps the stream of checks tidy.
//
// Guarantees:
//
//   - What to publish follows from Redis alone (the last complete second, and the
//     last entry of an unfinished one) and from the schedule versions; never from
//     having been called. A publisher that was frozen, replaced, or runs twice
//     therefore publishes every slot once: all it does after waking is read that
//     state again. So there is no exit for "frozen too long" here; a stale call is
//     refused by Redis and the next one starts from the truth.
//   - Each due slot is either in the stream under its own id or explained: as a
//     missed row in the results store, or, while that is away, as a gap in the
//     database from which the sweep writes the rows. The tick moves on only after
//     that, for at most a few seconds: with both stores away it goes on, keeps the
//     gap in memory, and the sweep finds the slots by itself in any case.
//   - Seconds are published in order. After a pause slots that are still worth
//     running are caught up at no more than 1.2 times the steady rate; the others
//     are missed(publisher_down), or missed(redis_down) where this process was
//     alive and Redis was not.
//   - A schedule change is adopted in three steps, in this order: raise the
//     sequence in Redis, which refuses older publishers from then on and tells the
//     last published second; commit the next second as the change's beginning;
//     publish. Without the database the schedule known so far stays in force.
//   - The lease decides who works. Nothing is lost or doubled when two work.
//
// How long anything waits: calls to Redis 2 s, to the database 5 s, for missed
// rows to become durable 2 s before the gap is used instead.
//
// If you want to know how… one pass goes: loop.go; one second is published:
// second.go; a pause is made up for: catchup.go, pacer.go; changes arrive:
// feed.go, adopt.go; a slot is explained: explain.go; regions come and go:
// fleet.go; unsettled entries end: janitor.go; the coarse jobs run: jobs.go.
package cycle
