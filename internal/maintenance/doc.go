// Package maintenance says when a maintenance window holds: once, or again and again by a
// recurrence rule of RFC 5545, by the clock on the wall of a time zone. It is pure: no
// clock, no I/O.
//
// A window begins and ends on the wall: one from 02:30 that lasts two hours is over when
// the clock shows 04:30. On the two days a year on which clocks change it is therefore
// longer or shorter than two hours:
//
//   - a beginning that the change skips is the instant of the change;
//   - a time that comes twice counts the first time for a beginning, and the last time for
//     an end: whoever works by the clock on the wall is never watched too early;
//   - a window that lies wholly within what is skipped is not there on that day.
//
// Rules recur by days, weeks, months or years; the time of day is that of the beginning.
// The first window is at the beginning, whether the rule would name it or not. Rules are
// bounded: they are expanded no further than asked, at most a few years at a time, and
// rules that never hold are refused.
package maintenance
