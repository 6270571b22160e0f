// Package jobs runs checks on demand: it accepts them, asks the probers of their regions,
// gathers what those saw, tries again, and keeps the outcome for a week. Nothing of it
// enters history.
//
// # Promises
//
//   - A job is accepted without asking any store: it waits in memory, of which there is
//     room for [Capacity]; beyond that it is refused. While Redis is away jobs stay QUEUED,
//     however long that takes; while the database is away they run all the same and are
//     written when it is back. A node that dies takes with it what it could not write.
//   - An accepted job ends. Each region has a minute and its timeout to answer; a job is
//     tried at most [Retries] times more, with growing pauses, in the regions that have not
//     measured yet.
//   - It is COMPLETED when some region measured: a target that is down is a check that
//     worked. Error then names the regions that did not. It is FAILED_PERMANENT when none
//     did and none will: the address is blocked, no prober can make such a visit, or the
//     retries are used up.
//   - An open job belongs to one node, which renews its lease every 10 s. When it is gone
//     for 30 s, or at once when it stopped in order, another takes its jobs; an attempt that
//     was under way counts as failed. Nodes go by their own clocks: if these differ by more
//     than a lease, or a node cannot reach the database for that long, a job may be run by
//     two. Visits are made at least once, and one node's outcome is kept.
//   - Changes are told as they happen on the node that has the job, and within about two
//     seconds on others (never more often than the table is read: states that last shorter
//     may be passed over there).
package jobs
