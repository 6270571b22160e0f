// Package live keeps the current state of every target in memory and feeds the
// changes to browsers.
//
// Guarantees. A snapshot carries the sequence it was taken at; the deltas after
// that sequence bring a reader to the current state. Sequences are gap-free per
// epoch (one life of a node). Results of one target that arrive within a frame
// (100 ms, less when a state changes) share one operation, and none of their ticks is dropped. A target
// is in ten frames a second at most, but for those that readers cause who come from other nodes. The feed keeps
// at least five minutes of frames up to a size bound; a reader that fell behind it
// is told to take a new snapshot. A reader that comes from another node goes on by the
// mark of its position, a place in the stream that all nodes read: it gets each result
// after it, once, in one delta; where that cannot be told it takes a new snapshot. While a target waits
// for its frame the mark stays before what waits, so that nothing is left out: of others such a reader may be told again
// what it was told in that tenth of a second. Nothing a reader does can block the hub: readers
// hold a position in the shared feed, not a queue. A target whose evidence went
// stale turns no_data within a second, by itself.
package live
