// Package ledger answers, from the schedule versions alone, which slots were
// planned, and compares them with the rows that exist.
//
// Guarantees:
//
//   - Planned slots need neither Redis nor the publisher's notes: the versions of
//     targets and regions say everything. The version in force at an instant is
//     the one with the highest sequence among those effective by then.
//   - Report is exact per target and region, so a row too many in one place never
//     hides a hole in another: for each line
//     planned + unplanned = up + degraded + down + unknown + missed + in_flight + spooled + unexplained.
//     What was taken in from outside (heartbeats and external checkers) nobody planned here:
//     its lines account for what was taken in, on a disk or in the result store.
//     Of a prober's region spooled never exceeds the rows that live probers say
//     they have on disk.
//   - Sweep compares slot by slot. Every planned slot that is past its expiry by
//     the time a row may take (two minutes unless set otherwise) and has no row gets
//     missed(reason), the reason coming from the recorded gaps, else lost. Its cursor
//     moves only after the rows are durable; doing a stretch twice is harmless, and
//     any other row of the slot outranks it, a measurement or a reason, early or late.
//   - Slots that a live prober may have on its disk are not swept for six hours, and
//     the cursor stays before them. They are swept when they are not there after all,
//     or nobody alive speaks for that disk any more.
//   - Targets whose newest version is a deletion have left the ledger: neither
//     their slots nor their rows count.
package ledger
