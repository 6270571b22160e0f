// Package consumer takes a region's checks from the stream, has each probed at its
// slot, and settles it.
//
// Promises:
//   - Every delivery ends acknowledged or still pending, exactly once. It is
//     acknowledged only after its row is durable (in ClickHouse, or fsynced in the
//     spool), or when it is due no row (its target is gone, it is for another region).
//   - A slot that was delivered here gets its measurement, or a row saying why not.
//   - No more entries are held than there are places for, not counting those that wait for
//     a place at their target's host: these are bounded by package hostlimit, and take
//     nothing from the others.
//   - Announcing never delays recording, and recording delays announcing only when
//     the recorder's whole buffer is full.
//   - While somebody wants this prober to drain nothing is taken on: what is in hand is
//     finished, then it idles and beats.
//   - A slow or absent Redis or ClickHouse ends nothing: reads back off, rows wait,
//     acknowledgements are repeated.
//
// # The statechart
//
// The life of an entry here is the table in machine.go, drawn in docs/statechart.md.
// Nothing changes an entry's state but that table: a transition it does not have is
// refused, logged and counted, and each edge has a failpoint.
//
// Entries travel in batches: those of one read together; then each on its own while it
// waits and is probed, because a slow target must not hold up the acknowledgements of
// its neighbours; then those measured in the same instant as a new batch, which has one
// answer of the recorder's and a count of attempts of its own; then those durable by
// the same time in one acknowledgement.
//
// An entry that was delivered before is a suspect: it may be what ended the prober
// that had it. Suspects are probed a few at a time, from the third delivery on one by
// one, and are taken over only when they will be probed, so that a crash counts against
// few; after the fifth delivery the slot is unknown(dead_letter) and the entry goes to
// the dead letters. So does an entry that cannot be read, and one whose row the store
// refuses for good: then the letter has the row. A letter that somebody asks to be
// replayed flies once more, alone.
//
// Entries up to measured use up capacity. A released entry is delivered again: here at
// the next reclaim, or elsewhere. The files follow the entry: intake, admit, run,
// doubt, settle, batch, acker, failing, replay; beside them machine and flights, host, announce,
// beat and wish.
package consumer
