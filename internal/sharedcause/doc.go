// Package sharedcause puts outages that began together and share a cause into one group,
// so that people hear of one thing instead of four hundred. It is pure: no clock, no I/O,
// and the order of what it is given does not matter.
//
// An outage began after the last good slot and up to the first failing one. Outages of
// which one instant can have been the beginning, give or take a few seconds, began
// together. What such outages share (a host, an address, a network, …) is their cause when
//
//   - at least three of them share it;
//   - of all targets that have it, at least half are among them: what most others live
//     with in good health explains nothing. Those that were not looked at since it began
//     are left out: nobody knows of them yet. A failure says nothing about those who have
//     none, so it needs half of all targets;
//   - it can have caused such failures: an issuer those of TLS, a name server those of
//     DNS, an address none of DNS;
//   - it is more than a few narrower causes at once: a network needs five addresses, an
//     issuer, a name server or a failure three hosts.
//
// The cause that explains the most is taken first, of equal ones the most specific, in
// the order of Kinds; then the same for those it leaves. Each outage is in at most one
// group, and one that shares nothing stays alone.
//
// A group is known by (kind, value, first failing slot of its members): the same outages
// give the same groups, so a replay makes none twice.
package sharedcause
