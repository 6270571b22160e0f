// Package sim plays faults of regions and outages of targets against the code that
// decides live (verdict, selfdoubt), many times, and counts who was told what. Everything
// follows from a seed. A few runs are a test; `make sim` plays them all and prints a table.
//
// What is modelled: slots as they are planned; a second look at a failure when the
// interval has time for it; canary rounds every ten seconds, every second while they are
// bad, and at once when a visit failed; a failure waits up to two seconds for the first
// round after it and is unknown(probe_blind) without a good one, or with a bad one while it
// was under way (docs/decisions/0016-canaries.md); packets that are lost and sent again as
// TCP does.
package sim
