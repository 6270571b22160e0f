// Package livefeed carries results and changes of targets to whoever shows them, as
// fast as they happen: {pf}:results and {pf}:changes.
//
// It is not the record: that is the result store. An entry stays for ten minutes and
// is delivered at least once: a lost reply may announce results twice, and after Redis
// has lost data or was turned back a follower reads everything that is there. Results
// carry their slot and revision, so a reader folds repeats away. A follower that was
// away for longer than ten minutes must read the result store for the time between.
//
// Followers never slow an announcer down. A slow follower falls behind by itself.
package livefeed
