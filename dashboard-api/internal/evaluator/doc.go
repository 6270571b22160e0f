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
// Kept are the states of targets in trouble. Those of others can be had from their newest
// results, which are read when the lease is taken.
package evaluator
