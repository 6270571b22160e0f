// Package heartbeat says when a job that pings us is expected, and what a ping or its
// absence comes to. It is pure: no clock, no I/O.
//
// An expectation is an instant at which a ping is expected, and its deadline, the grace
// later. There is one at a time, and each ends in exactly one row:
//
//   - a ping up to the deadline: a row at the ping's instant, up, or down(reported) when
//     the job says that it failed;
//   - no ping: one row at the expected instant, down(timeout); or missed(region_down) when
//     nobody was there to receive a ping for a part of the time in which one would have
//     counted for it: by a cron expression from a minute before the slot on (see below), with
//     a period from the grace before the instant on.
//
// The next expectation is a period after the ping (or after the expected instant, when
// there was none), or the next slot of the cron expression. A ping that is later than the
// deadline settles nothing that is over: its row stands beside the one of the slot that
// was missed. A ping before a cron slot counts for that slot when it comes at most a
// minute early, clocks being what they are; an earlier one is a row of its own.
//
// Cron expressions have five fields and a time zone. A slot fires once: where clocks are
// put back, a fixed hour counts the first time it comes; where they are put forward, slots
// in the hour that is left out fire once, as the clocks jump. Expressions whose hour
// begins with * follow real time instead: each hour that passes has its slots. (This is
// what cron daemons since Vixie's do.)
package heartbeat
