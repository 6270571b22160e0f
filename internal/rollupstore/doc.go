// Package rollupstore keeps how far the rollups are: the runs of the publisher's job,
// and the rebuilds that somebody asked for.
//
// A run, or a rebuild, that ended half way is gone on with from where its last note
// says; what it did since then is done again, which does no harm. Its version, given out
// once and higher than all before it, names it: a note of a run that somebody else has
// finished meanwhile changes nothing.
//
// Instants are by the clock of ClickHouse, in milliseconds; versions are whole seconds.
package rollupstore
