// Package probe visits targets and says what it saw.
//
// Promises:
//   - A check never hangs: the check's timeout bounds the whole visit, redirects
//     included, and every buffer is capped. A visitor that does not keep to it, which
//     is a defect of ours, is left two seconds later as unknown(probe_hang); with three
//     such visits still going on, its target gets no more.
//   - Only what was seen at the target is a failure. What kept us from seeing it
//     (our resolver, a blocked address, a frozen process, a bug of ours) is
//     unknown with a reason, never down.
//   - A failure is looked at twice, on fresh connections, before it is believed.
//   - A measurement made while this process was too busy to measure within two
//     milliseconds says so: see strain.go.
//   - A host that answers 429 is not looked at again, and its Retry-After is told, unless
//     429 is what the target is expected to answer.
//   - No packet goes to an address the guard refuses, whatever a name resolves
//     to and wherever a redirect points.
//   - No secret that a target is visited with shows in what is kept of a visit, also where
//     an answer repeats it, as it is or as JSON, URLs and HTML spell it. What a server makes
//     of it otherwise (backwards, in base64) cannot be known.
//   - What is read is bounded in bytes as they come, padding and framing included, and what
//     is kept of it too.
//   - One probe cannot hurt another: nothing is shared between visits, and a
//     panic becomes that check's unknown(internal).
//
// To add a kind of check, write its Checker in one file and name it in kinds.go.
package probe
