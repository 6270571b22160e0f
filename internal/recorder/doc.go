// Package recorder makes rows durable: in the result store, and while that is away, on
// disk.
//
// Guarantees:
//
//   - Done is called exactly once for each Record that returned nil, and with nil only
//     when every row of it is durable: stored, or fsynced in the spool. Acknowledge a
//     stream entry there, never before.
//   - A batch that may or may not have been stored keeps its token, rows and order on
//     whatever way it takes: repeated, spooled, replayed, by this process or the next.
//     An outage of the store loses nothing and counts nothing twice.
//   - Batches on disk are replayed strictly in their order, one at a time, beside live
//     rows, and removed only after the store has confirmed them.
//   - Rows that can never be stored are handed to Reject, counted and, unless they come
//     from the spool, answered with their error. They hold up nobody else: one in a
//     batch of 1,000 costs at most 11 more inserts.
//   - Rows of a spool that are from a time of which results are not kept any more are not
//     stored: a rollup of that time would be computed from them alone. They are counted
//     (outcome too_old, State, the log), and nothing else is done about them.
//   - Record blocks while MaxBuffered rows wait: with store and spool both unable to
//     take rows, callers are slowed down instead of filling the memory.
//   - A spool whose disk failed ends everything: Fatal is told, and nothing more is
//     called durable.
//
// The way of a batch, which has one token from sealing on:
//
//	Record ─▶ buffer ─▶ sealed: MaxRows, or MaxAge old
//	                      │
//	                      ▼        works
//	     ┌──────────▶ breaker ─────────────▶ store ─▶ Done(nil)
//	     │ pause,         │ closed            │  ▲
//	     │ growing        ▼                   │  │ as the breaker's trials, then
//	     ├───────────── fails                 │  │ up to 4,000 rows a second
//	     │                │ breaker open, or  │  │
//	     │                ▼ five attempts     │  replayer ◀── oldest
//	     └─── full ── spool ── fsynced ─▶ Done(nil)            ▲
//	                      └────────────────────────────────────┘
//	 refused for good: halves with token/0, token/1 … until the bad row is alone ─▶ Reject
//
// One goroutine writes and one replays. When Run's context ends, the replay stops where
// it is and rows already accepted get a bounded time to be stored or spooled. Those
// that do not make it are answered with an error, so their entries stay pending and are
// checked or explained again.
//
// Without a spool there is nowhere else to go: the breaker never opens, and a batch is
// repeated for ever, with growing random pauses.
package recorder
