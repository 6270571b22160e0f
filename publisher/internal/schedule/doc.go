// Package schedule is the phase wheel: it answers "what is due in second S?"
// for a million targets in the time it takes to copy the answer.
//
// It is pure and not safe for concurrent use. It guarantees:
//
//   - Due is a function of the changes applied and the second asked for, so any
//     publisher that has read the same versions gives the same slots.
//   - The version in force at a second is the one with the highest sequence
//     among those effective by then, for targets and for regions. A change that
//     takes effect later waits in a queue and is applied when the wheel is
//     advanced to its second: a publisher that catches up after a pause
//     publishes each old second under the schedule that was in force then.
//   - The specification (URL, timeout, expectation) of a target changes with
//     the version that carries it, never before.
//
// Memory: about 10 bytes a target for the wheel and 80 plus the URL for what
// the entry must carry; see the benchmarks.
package schedule
