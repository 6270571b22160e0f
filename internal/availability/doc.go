// Package availability turns counts of slots into figures: uptime with its
// coverage and bounds, downtime, days and months in any time zone, ticks, reports.
//
// It is pure: no clock, no I/O, only the standard library. The same counts give the
// same figures in whatever order and in however many parts they come, so a figure
// can be taken from rollups today and from raw results tomorrow, and compared.
//
// The rules:
//
//   - uptime is (up + degraded) / measured, where measured is up + degraded + down;
//   - what was not measured is not guessed: coverage is measured / planned, and the
//     bounds [low, high] count unknown and missed slots against and for the target;
//   - slots within maintenance count nowhere; how many there were is told;
//   - a region's slots within its blind windows count nowhere either, and the target as a whole
//     is judged by the others; while all were blind, or where that cannot be told any more, it
//     is unknown, never down;
//   - each down slot stands for one interval of the target, the one in force then;
//   - counts that cannot be told apart at an edge (of the window, of maintenance) are
//     neither taken nor dropped: they count as unknown, and the bounds widen;
//   - what is shown is rounded down, so that nothing below a target looks like it.
package availability
