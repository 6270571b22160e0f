// Package race measures what a check costs: the engine against a bare socket loop,
// net/http and the tools that machines have (wrk, hey, blackbox_exporter), in turn, in
// one run, each alone on one core while the server has the other.
//
//	make bench-engine        ROUNDS=5 SECONDS=3; writes docs/bench.json
//
// What counts is CPU time a check, as the kernel accounts it to the process, with the
// core saturated: an idle engine pays two to five times as much for waking up, and rates
// depend on who else is using the machine.
package race
