// Package programrace measures the prober's program with a real Redis and a real
// ClickHouse: its CPU a check from the stream to the acknowledgement, how exactly checks
// begin, also beside thousands that hang, how exactly they are measured when it is busy,
// what it occupies, and what it does when it is offered more than it can do. The program is
// alone on one core; the stores, the servers that are visited and this process, which
// publishes the checks, share the other.
//
//	make bench-engine        writes docs/bench.json
package programrace
