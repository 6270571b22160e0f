// Package recorder turns rows from many goroutines into batches for one writer.
//
// Guarantees:
//
//   - done is called exactly once for each Record that returned nil, and with nil
//     only when every row of it is durable: acknowledge a stream entry there, never
//     before.
//   - A batch that may or may not have been stored is sent again with the same token,
//     rows and order, for ever, with growing random pauses, until the sink answers or
//     Run ends. An outage of the store loses nothing and counts nothing twice.
//   - Rows that can never be stored are handed to Reject, counted and answered with
//     their error. They hold up nobody else: the batch is halved until they stand alone.
//   - Record blocks while MaxBuffered rows wait: a slow store slows its callers down
//     instead of filling the memory.
//
// When Run's context ends, rows already accepted get a bounded time to be written.
// Those that do not make it are answered with an error, so their entries stay
// pending and are checked or explained again.
package recorder
