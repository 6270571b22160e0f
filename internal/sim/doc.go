// Package sim plays faults of regions and outages of targets against the code that
// decides live (verdict, selfdoubt), many times, and counts who was told what. Everything
// follows from a seed. A few runs are a test; `make sim` plays them all and prints a table.
//
// What is modelled: slots as they are planned; a second look at a failure when the
// interval has time for it; canary rounds every five seconds, every second while they are
// bad, and at once when a visit failed; a failure waits up to two seconds for the round in
// flight and is unknown(probe_blind) without a good one; packets that are lost and sent
// again as TCP does.
package sim
