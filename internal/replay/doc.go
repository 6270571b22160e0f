// Package replay runs a policy over the past of targets, with the code that runs live, and
// says what people would have been told. It is pure: no clock, no I/O.
//
// The past comes as runs: results of a region that are alike, one an interval. Replaying
// them gives, bit for bit, what stepping each result gives (a property test), and costs
// as much as there are changes, not results.
//
// A result is known a whole number of seconds after its slot, rounded up: so results that
// took about as long are alike. Results are taken in the order in which they were known; of
// those known at once, by region. What came later than the result of a later slot of its
// region (stragglers) is taken one by one. A page is a false alarm when
//
//   - its outage was shorter than the bound that was asked for, or
//   - the target was looked at from several regions, and no more than one of them ever saw
//     it fail during the outage.
//
// The delay of a page is counted from the first failing slot.
package replay
