// Package consumer takes a region's checks from the stream, has each probed at its
// slot, and settles it.
//
// Promises:
//   - Every delivery ends acknowledged or still pending, exactly once. It is
//     acknowledged only after its row is durable, or when it is due no row (its
//     target is gone, it is for another region).
//   - A slot that was delivered here gets its measurement, or a row saying why not.
//   - No more entries are held than there is capacity to probe.
//   - Announcing never delays recording, and recording delays announcing only when
//     the recorder's whole buffer is full.
//   - A slow or absent Redis or ClickHouse ends nothing: reads back off, rows wait,
//     acknowledgements are repeated.
//
// The life of an entry here, one flight each:
//
//	intake ──▶ waiting ──▶ probing ──▶ measured ──▶ recording ──▶ acking ──▶ gone
//	             │            │            │             │
//	             └────────────┴────────────┴─────────────┴──▶ released: still pending
//
// An entry that was delivered before is a suspect: it may be what ended the prober
// that had it. Suspects are probed a few at a time, from the third delivery on one by
// one, and are taken over only when they will be probed, so that a crash counts against
// few; after the fifth delivery the slot is unknown(dead_letter) and the entry goes to
// the dead letters.
//
// waiting, probing and measured flights use up capacity. A released entry is
// delivered again: here at the next reclaim, or elsewhere. The files follow the
// entry: intake, admit, run, settle, acker; beside them renew, announce and beat.
package consumer
