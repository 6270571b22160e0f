// Package canary lets a prober doubt itself: before it says of a target that it is down it
// looks at addresses that its region can always reach.
//
// A canary is a host and a port. It answers when a TCP connection to it comes about within
// two seconds; names are looked up anew each time, and of two that lead to the same address
// one counts: a resolver that lies gives it for all. A round visits all of them at once. It
// is decided as soon as more than half have answered (good), or no longer can (bad): one
// that is really down, or hangs, suppresses nothing and holds nothing up.
//
// Rounds begin every ten seconds; every second while they are bad; and when something failed,
// as soon as its pace allows: one a second for what was down before, and for what was not, at
// once, up to twenty in two seconds and then two a second. (So a region of which many targets
// really are down asks its canaries once a second, and twice while others keep going down.)
//
// # Which round counts
//
// A check that failed is believed when the first round that began after its visit had
// ended is good, and no round was decided bad since its visit began. What a round showed
// that began earlier is old: the network may have gone while the visit was under way. And
// a good round alone is too new: the network may have been gone during the visit, and be
// back. A check that waited two seconds in vain is not believed either. See
// docs/decisions/0016-canaries.md.
package canary
