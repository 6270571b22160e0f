// Package verdict folds what the regions saw of a target into one state, and says when
// an incident begins, changes and ends.
//
// It is pure: no clock, no I/O, the same inputs give the same verdict and the same
// decisions, so history can be replayed with the code that runs live. Fold gives the
// state from each region's newest measurement; Step keeps a State, which remembers
// enough for thresholds and incidents. Both end in the same judge. The rules:
//
//   - only measurements in time count: a missed, unknown or late slot is no evidence;
//   - a region's newest measurement counts until its slot + 2 × interval + timeout;
//     after that the region is silent;
//   - what a region measured while it was blind counts for nothing;
//   - with no fresh region there is no data, never up;
//   - a region fails after DownAfter failing results in a row, and has recovered after
//     UpAfter good ones;
//   - the target is down when a quorum of the fresh regions fails: more than half, and
//     at least two where two can judge, unless the policy says otherwise. Fewer failing
//     regions, or any degraded one, make it degraded;
//   - it is down since the first failing slot of the quorum, or since a region that began
//     to fail up to an interval before it.
//
// Incidents follow from states:
//
//   - only a failing result that came in order lets one open: at once, or when what it
//     waits for is over. Silence, blindness and late results open none;
//   - it waits for the policy's duration, and in a target's first moments for regions
//     that never said anything yet;
//   - during maintenance, or while a parent is down, it is suppressed: it opens with the
//     first failing result after that. An outage that is seen before that of its parent waits
//     until the parent was looked at;
//   - no data leaves an incident open: silence is no recovery;
//   - late results and blindness found later correct an open incident, and may end it;
//   - each is known by (target, first failing slot): a replay opens none twice;
//   - flapping damps what people are told, never the states or the incidents.
package verdict
