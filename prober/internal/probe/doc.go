// Package probe visits targets and says what it saw.
//
// Promises:
//   - A check never hangs: the check's timeout bounds the whole visit, redirects
//     included, and every buffer is capped.
//   - Only what was seen at the target is a failure. What kept us from seeing it
//     (our resolver, a blocked address, a frozen process, a bug of ours) is
//     unknown with a reason, never down.
//   - A failure is looked at twice, on fresh connections, before it is believed.
//   - No packet goes to an address the guard refuses, whatever a name resolves
//     to and wherever a redirect points.
//   - One probe cannot hurt another: nothing is shared between visits, and a
//     panic becomes that check's unknown(internal).
//
// To add a kind of check, write its Checker in one file and name it in kinds.go.
package probe
