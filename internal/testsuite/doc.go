// Command testsuite runs the tests of Probefleet in stages and prints, at the end, one table of
// them and a line `N passed, N failed`.
//
//	go run ./internal/testsuite test      what every change must pass (`make test`)
//	go run ./internal/testsuite unit      only what needs no server (`make test-unit`)
//	go run ./internal/testsuite verify    what takes long by nature (`make verify`)
//	go run ./internal/testsuite stress    tests of changed packages, again and again (`make stress`)
//
// `test` runs everything with -short; `verify` runs it without. Stages that mostly wait run beside
// stages that mostly compute. A failure is printed when it happens and does not stop other stages.
//
// Packages that ask testbackend for a PostgreSQL or a ClickHouse share one of each for the whole run.
// The programs are built once for each variant. What each package and test took is kept in
// .cache/tests/timings.json; the slowest packages start first.
//
// Environment: PART=stage,stage runs only these stages of `verify`, in any state; without it, stages
// that have passed on this very tree are not run again. PKG=./folder/... and SINCE=commit choose the
// packages of `stress`. FUZZTIME is the time for each fuzz target (30s).
//
// The exit code is 0 when nothing failed, 1 otherwise.
package main
