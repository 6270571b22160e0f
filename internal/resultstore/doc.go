// Package resultstore keeps results in ClickHouse and answers every question
// about them. It is the only package that speaks to ClickHouse.
//
// Guarantees:
//
//   - A slot is counted once. The table replaces rows of one slot by revision
//     (uptime.Result.Revision), so a re-send, a re-run or a zombie adds nothing
//     and a reason never hides a measurement. Every read goes through FINAL.
//   - Insert returns nil only when the rows are stored. Any other answer may or
//     may not have stored them: call it again with the same token, rows and
//     order for as long as IsTransient says so.
//   - Every call is bounded in time and stops, on the server too, when its
//     context ends. No read scans without a time bound.
//
// Instants are UTC in milliseconds; phases and latencies are microseconds.
package resultstore
