// Package scaler decides how many checks a prober takes on, and says how many probers
// there should be.
//
// A worker is room for so many checks (PROBER_CHECKS_PER_WORKER), waiting for their slot
// or being probed: no goroutine, no connection. More workers mean that more checks may be
// under way at once. That is what slow targets take; a processor that is too slow it does
// not help, nor a store.
//
// Every five seconds one decision is made: a worker more, a worker less, or none of both.
// Four signals speak, each with a mark above and one below, so that what lies between
// changes nothing:
//
//	signal    what                                             above     below
//	lag       how long ago the first check began to be due     > 5 s     < 0.5 s
//	          that no prober of the region was given
//	depth     entries in the stream, of those at which         > 60 %    < 20 %
//	          publishing is refused
//	memory    what Redis uses, of what it may                  > 75 %    < 50 %
//	writer    rows that wait for ClickHouse, of those that     > 80 %    < 40 %
//	          may
//
// Which way:
//   - Any of lag, depth and memory above its mark asks for one more: checks that were
//     taken on and settled leave the stream, and what left the stream leaves Redis.
//   - The writer has a veto, since a row more is what it can bear least: from above its
//     upper mark until below its lower one there is no step up. While it is above, and
//     nothing asks for more, there is one step down a cycle: checks that wait in the
//     stream can be taken by other probers, those that wait behind a full writer cannot.
//     With something asking for more it is neither up (the writer) nor down (the stream).
//   - All of lag, depth and memory below their marks is one down, as long as what is left
//     would do: not more than 70 % of it taken now, and not if every target visited in
//     the last minute hung until its timeout. That is what keeps a prober whose targets
//     all hang at once on time.
//   - A signal that is missing, or not a number, holds everything: who cannot see does
//     not steer.
//   - At most two changes of direction a minute: a third is held.
//
// It begins with the most workers: after a restart there may be much to catch up with,
// and room that is not used costs nothing.
//
// Lag is what Redis has not given out, not how late visits start. Visits that start late
// although there is room for them want a faster processor, and more of them under way
// would only make them later.
//
// Every decision is logged with its reason: each step, and each hold for another reason than
// the last, at info; the same hold again, which is no news, at debug. The counts have them all.
//
// Redis without a maxmemory is held against all the memory of its machine. The embedded one
// is a part of the process that started it and cannot say how much of that is its own: with
// it the signal is missing, and nothing is ever changed. A prober then keeps the most workers,
// with which it began. On the one machine where that Redis runs this loses nothing: a region
// has one prober there, and what that leaves in the stream nobody takes.
package scaler
