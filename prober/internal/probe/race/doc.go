// Package race measures what a check costs: the engine against a bare socket loop,
// net/http and the tools that machines have (wrk, hey, blackbox_exporter), in turn, in
// one run, each alone on one core while the server has the other; and what the engine needs
// for thousands of checks that nobody answers.
//
//	make bench-engine        ROUNDS=5 SECONDS=3; writes docs/bench.json
package race
