package assertion

import "github.com/probefleet/probefleet/internal/uptime"

// Verdict is what a set came to. The zero value means that everything passed.
type Verdict struct {
	Severity uptime.Severity // the worst that failed; empty when nothing did
	Failed   []Failed        // in the order of the list
}

// Failed is an assertion that did not pass.
type Failed struct {
	Index     int // in the list the set was compiled of
	Severity  uptime.Severity
	Failure   uptime.Failure
	Undecided bool   // what was seen could not tell
	Message   string // one line
}

// Status is what the verdict makes of a target that is up otherwise.
func (v Verdict) Status() uptime.Status {
	switch v.Severity {
	case "":
		return uptime.StatusUp
	case uptime.SeverityDegrade:
		return uptime.StatusDegraded
	}
	return uptime.StatusDown
}

// First is the first of those that failed with the worst severity; the zero value
// when nothing failed.
func (v Verdict) First() Failed {
	for _, f := range v.Failed {
		if f.Severity == v.Severity {
			return f
		}
	}
	return Failed{}
}
