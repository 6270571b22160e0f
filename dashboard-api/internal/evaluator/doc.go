// Package evaluator follows results, folds verdicts, and opens and resolves incidents.
//
//	{pf}:results ──▶ fold (package verdict) ──▶ commit: states, incidents, outbox, cursor
//	results_latest ─▶ after a gap, and each minute: what the stream did not bring
//
// Of all API nodes one evaluates: the one that holds the lease. The lease saves work;
// correctness does not rest on it. What is folded is committed at most a second later, all
// in one transaction that fails if somebody else committed in between; then everything in
// memory is dropped, and read again by whoever holds the lease next. Folding is a pure
// function of states and results, so what was folded and not committed is folded again to
// the same decisions, under the same keys.
//
// Time alone decides things too (evidence goes stale, an outage has lasted long enough). It
// passes only as far as the stream was read: a backlog is folded as of when it was announced,
// and while Redis does not answer nothing grows old.
//
// All results and canary rounds are shown to a selfdoubt.Watch. What it says of a region holds
// for every target from then on, and is committed as blind windows.
//
// An outage that people are to hear of is told by a later commit if it may share its cause with
// others: within three seconds, as one of a group (package sharedcause) or alone.
//
// Kept are the states of targets in trouble. Those of others can be had from their newest
// results, which are read when the lease is taken.
package evaluator
