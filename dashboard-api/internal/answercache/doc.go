// Package answercache keeps answers about the past for a moment, so that many readers of
// one page ask the result store once.
//
// It guarantees that
//   - an answer is never given over a write that the cache was told of: Arriving, Changed
//     and Forget drop what they touch before they return, and whoever asks afterwards gets
//     an answer that was begun afterwards, too, not one that was under way;
//   - what was announced a moment ago, and may not be readable yet, is not kept either: answers
//     that are begun within Settle of an announcement are given once and forgotten;
//   - while a source of news is interrupted nothing is given that was made before, and
//     once it is back all that was kept is dropped, and nothing kept until Settle is over:
//     what was missed is not known;
//   - no answer outlives its Until, which whoever asks the store sets: an answer that says
//     that something is up now ends with the evidence for it;
//   - at most one question of a key is under way at a time. Readers share it; when the last of
//     them has left it is cancelled;
//   - what is kept has a bound in bytes. The least recently used goes first.
//
// What nobody tells the cache of, because an announcement was lost, is found in the store
// itself (see Source): until then an answer is at most as old as that look is rare.
package answercache
