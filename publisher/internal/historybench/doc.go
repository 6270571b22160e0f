// Package historybench measures the history: millions of results through the product's own
// insert, their rollups by its own job, and then every question a page asks while results
// keep arriving, at several sizes of the history.
//
//	make bench-history        writes docs/bench-history.json
//
// Time runs backwards from one size to the next: the newest results stay what they are and
// older ones are put before them, so that a question finds the same rows behind more or less
// history. Within a size results arrive in the order of their slots. Rollups of days of which
// no results are loaded are made up by one statement, in the tables and the form the job
// writes; they are left out where bytes are counted.
//
// With DIR the data stays there, and a run that was interrupted goes on with the step that
// it was in.
package historybench
