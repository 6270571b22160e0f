// Package selfdoubt finds out when a region cannot be believed. It is pure: no clock, no
// I/O; the same results in the same order give the same windows.
//
// A region is blind
//
//   - while each of its probers that still reports had a bad canary round last: from the
//     last good round to the next;
//   - when within a minute more than a fifth of the targets it measured, at least ten,
//     on at least three hosts, turned to failing while another region finds them good,
//     at the same slot or later, and none finds them failing or did since. From the first of those
//     slots, until more than half of those targets are good again there.
//
// What all regions see is never doubted, and a region alone has nobody who disagrees:
// only its canaries tell. Windows end by themselves; nobody has to act:
//
//   - two minutes after the last canary round of anybody a region is silent, not blind;
//   - a target that was not measured there for an hour says nothing of a mass change any
//     more, and one of which no target is left is over;
//   - a region that is retired is not blind.
//
// A Watch that begins anew takes in what can still be had, so that it knows what everybody
// saw last, and then resumes the windows that were known: it does not judge the past twice.
package selfdoubt
