// Package statuspage serves public status pages.
//
// Guarantees:
//
//   - What it shows is an allow-list: View has a field for everything that is ever said in
//     public, and nothing of a target is in it but what its state and counts come to. Names
//     are those that the page gives.
//   - Nothing is shown as up without fresh evidence: states come from the live state of this
//     node, which turns to "no data" by itself.
//   - A page is answered from memory. A copy is made again when it is older than two seconds
//     and somebody asks, or at once after a change on this node; nobody waits for a store that
//     does not answer, but those who come first, for five seconds. What cannot be read is shown
//     as it was last read, and the page says since when.
//   - Pages are complete without scripts, and run none that is not a file of this host.
package statuspage
