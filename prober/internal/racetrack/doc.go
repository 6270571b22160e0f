// Package racetrack is what the measurements of `make bench-engine` share: who runs on which
// core, the server that is visited, what the kernel accounts, and docs/bench.json.
//
// What counts is CPU time a check, as the kernel accounts it to the process, with the core
// saturated: an idle engine pays two to five times as much for waking up, and rates depend
// on who else is using the machine.
package racetrack
