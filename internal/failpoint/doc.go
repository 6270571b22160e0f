// Package failpoint ends or stops this process at a named place of the pipeline,
// so that a test can ask what is left when it happens right there.
//
// Only a binary built with the tag "failpoints" has it; in every other one Hit is
// empty and costs nothing. Such a binary reads PROBEFLEET_FAILPOINTS once:
//
//	PROBEFLEET_FAILPOINTS=recording.stored=kill@3,acking.settled=stop
//
// is SIGKILL at the third confirmed insert, and SIGSTOP at the first confirmed
// acknowledgement. Each name takes one action, at its nth hit only (1 by default):
//
//   - kill: SIGKILL to itself
//   - stop: SIGSTOP to itself; whoever sends SIGCONT lets it go on
//   - hang: blocks this goroutine for ever
//   - spin: wedges the whole runtime with loops that cannot be preempted; needs
//     GODEBUG=asyncpreemptoff=1
//
// A name or an action that does not exist ends the process with exit code 78: a test
// must not pass because of a spelling mistake.
//
// Hit is called after the work of an edge is done and before that of the next begins.
package failpoint

// Names gives every name that the pipeline hits. Those of a prober are the edges of
// its statechart, docs/statechart.md.
func Names() []string {
	return []string{
		"reading.waiting", "reading.measured", "reading.stored", "reading.failing",
		"waiting.probing", "waiting.measured", "waiting.released",
		"probing.measured", "probing.released",
		"measured.recording", "measured.released",
		"recording.backoff",
		"backoff.recording",
		"recording.spooling",
		"backoff.spooling",
		"spooling.backoff", "spooling.recording",
		"recording.stored", "recording.spooled", "recording.failing",
		"spooling.failing",
		"recording.released",
		"backoff.released",
		"spooling.released",
		"stored.acking",
		"acking.settled",
		"failing.settled", "failing.released",
	}
}
