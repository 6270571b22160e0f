// Package deletion removes what deleted targets leave behind: a saga whose steps
// stand in the database, so that whoever holds the lease goes on from where the
// last publisher was.
//
// Guarantees:
//
//   - A deletion that was committed is carried through. The note of it is written in
//     the delete's own transaction; a step is marked after it was done, so a crash
//     between the two repeats it, and repeating it, even by two publishers at once,
//     does no harm: ids are never used again.
//   - The steps are independent. Probers are told through Redis (a tombstone), the APIs
//     drop the answers they keep, checks on demand are removed, and each table (results with
//     what the visits saw, latest, marks, hourly and daily figures, corrections) is cleared,
//     on the disk, too, before its step is done; each step has a loop of its
//     own, waits for nothing but its own store, with a back-off, and notes for itself how
//     far it is, what failed and why.
//   - Rows are looked for at once, and again when results that were in flight, being
//     retried, or expired on the stream may have come: 30 s, 50 s, 2 min and 11 min
//     after nothing new is published. A step is done when the last look finds none and
//     probers were told; that of a table whose rows are computed from another one not
//     before figures that were being computed meanwhile must have come. A deletion is
//     finished when all of its steps are done. For a day longer than results are kept each
//     table is looked at every hour, because a prober's disk may give rows back late.
//   - Tombstones that Redis has lost are written again within a pass. A spool that is
//     replayed asks for them, so rows of a deleted target do not come back with it. They stay
//     for as long: rows that come later are refused because their slots are too old.
package deletion
