// Package testhistory has the same results arrive in every way they can, and compares what an
// API says of them with a model that counts each slot once: of every row, hour and day, of the
// newest slots and of how the target is.
//
// Who uses it sees to the rollups: a run of the job after a step, and Computed, which has the
// model know of it.
package testhistory
