package faults

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/testfleet"
)

const (
	explained  = 5 * time.Minute // by then every slot has its row: expiry, settling, a sweep, and slack
	goroutines = 60              // more than the baseline: connections come and go
	megabytes  = 1500            // of a process with the race detector
)

// stalled is what a prober says of a check during which the machine gave it no time.
// It may happen in any row on a busy machine; the outcomes of a run show how often.
const stalled = "unknown(frozen)"

// account is what became of the trials of a row.
type account struct {
	Row         string         `json:"row"`
	N           int            `json:"n"`
	Seed        uint64         `json:"seed"`
	First       int            `json:"first"` // number of the first trial: a replay needs it
	Commit      string         `json:"commit"`
	Dirty       bool           `json:"dirty"`
	Pipeline    string         `json:"pipeline"` // hash of the code under test
	Race        bool           `json:"race"`
	Targets     int            `json:"targets"`
	IntervalS   int            `json:"interval_s"`
	OutageS     float64        `json:"outage_s"`
	Planned     int            `json:"planned"`
	Lost        int            `json:"lost"`
	Doubled     int            `json:"doubled"`
	Unexplained int64          `json:"unexplained"`
	Outcomes    map[string]int `json:"outcomes"`
	RecoveryMS  []int64        `json:"recovery_ms"`
	TookS       float64        `json:"took_s"`
	At          time.Time      `json:"at"`
	OK          bool           `json:"ok"`
	Notes       []string       `json:"notes,omitempty"`
}

// settle looks at the fleet after a row: it must be as it was before.
func (r *rig) settle(t *testing.T) (problems []string) {
	t.Helper()
	if !r.within(3*time.Minute, r.well) { // a backlog is published at 1.2 times the steady rate
		problems = append(problems, "not well again: "+r.state())
	}
	for _, p := range r.all() {
		if p.pid() == 0 {
			continue
		}
		most := r.normal[p.kind] + goroutines
		if !r.within(30*time.Second, func() bool { return p.metric("go_goroutines") <= most }) {
			problems = append(problems, fmt.Sprintf("%s has %.0f goroutines, %.0f were normal", p.name, p.metric("go_goroutines"), r.normal[p.kind]))
		}
		if now := p.memory("VmRSS"); now > megabytes {
			problems = append(problems, fmt.Sprintf("%s holds %d MiB", p.name, now))
		}
		if n := p.metric("probefleet_prober_illegal_transitions_total"); n > 0 {
			problems = append(problems, fmt.Sprintf("%s took %.0f edges that are not in the table", p.name, n))
		}
	}
	for _, text := range problems {
		t.Error(text)
	}
	return problems
}

// awaitRows waits for the rows of a row's slots: what it left in hand is not the next
// row's to break. Not for those that only the sweep will state.
func (r *rig) awaitRows(t *testing.T, trials []*trial) {
	t.Helper()
	from, to := trials[0].from, trials[len(trials)-1].to
	r.within(10*time.Second, func() bool {
		a, err := r.audit.Window(t.Context(), from, to)
		return err == nil && a.Missing == 0
	})
}

// awaitExplained waits until every slot of the windows has its row, or too long.
func (r *rig) awaitExplained(t *testing.T, trials []*trial) {
	t.Helper()
	if len(trials) == 0 {
		return
	}
	from, to := trials[0].from, trials[len(trials)-1].to
	deadline := time.Until(to.Add(explained))
	if !r.within(deadline, func() bool {
		a, err := r.audit.Window(t.Context(), from, to)
		if err != nil || a.Missing > 0 {
			<-time.After(time.Second)
		}
		return err == nil && a.Missing == 0
	}) {
		t.Errorf("slots without a row %v after the last injection", explained)
	}
}

// close judges the trials of one row.
func (r *rig) close(t *testing.T, w *row, trials []*trial, problems []string) account {
	t.Helper()
	out := account{Row: w.id, N: len(trials), Targets: r.targets, IntervalS: r.intervalS, Outcomes: map[string]int{}, At: time.Now().UTC().Truncate(time.Second), Notes: problems}
	for _, tr := range trials {
		// Nobody accounts for what is still to come, and targets that were deleted at the end
		// are gone for one a moment before they are for the other.
		<-time.After(time.Until(tr.to.Add(5 * time.Second)))
		a, err := r.audit.Window(t.Context(), tr.from, tr.to)
		if err != nil {
			t.Fatal(err)
		}
		out.OutageS = tr.outage.Seconds()
		out.Planned += a.Planned
		out.Doubled += a.Doubled + tr.copies
		lost := a.Missing
		for outcome, n := range a.Outcomes {
			out.Outcomes[outcome] += n
			if outcome != "up" && outcome != stalled && !slices.Contains(w.allowed, outcome) {
				lost += n
			}
		}
		out.Lost += lost
		if lost+a.Doubled+a.Unplanned > 0 || a.Planned == 0 {
			out.Notes = append(out.Notes, fmt.Sprintf("trial %d: %v %v", tr.number, a, a.SomeAbsent))
		}
		unexplained, problem := r.ledger(tr.from, tr.to, a)
		out.Unexplained += unexplained
		if problem != "" {
			out.Notes = append(out.Notes, fmt.Sprintf("trial %d: %s", tr.number, problem))
		}
		if tr.recovery > 0 {
			out.RecoveryMS = append(out.RecoveryMS, tr.recovery.Milliseconds())
		}
		out.Notes = append(out.Notes, tr.notes...)
		out.TookS += tr.to.Sub(tr.from).Seconds()
	}
	slices.Sort(out.RecoveryMS)
	out.OK = out.Lost == 0 && out.Doubled == 0 && out.Unexplained == 0 && len(out.Notes) == 0 && out.N > 0
	return out
}

// ledger asks the installation itself about a window, and compares it with the audit.
func (r *rig) ledger(from, to time.Time, a testfleet.Audit) (unexplained int64, problem string) {
	var said struct {
		Items []struct {
			Region                                                                       string
			Planned, Up, Degraded, Down, Unknown, Missed, InFlight, Spooled, Unexplained int64
		}
	}
	window := url.Values{"from": {from.UTC().Format(time.RFC3339Nano)}, "to": {to.UTC().Format(time.RFC3339Nano)}}
	status := 0
	if !r.within(20*time.Second, func() bool {
		status = r.call("GET", "/api/v1/ledger?"+window.Encode(), nil, &said)
		return status == 200
	}) {
		return 0, fmt.Sprintf("the ledger answers %d", status)
	}
	var planned, rows int64
	for _, line := range said.Items {
		planned += line.Planned
		rows += line.Up + line.Degraded + line.Down + line.Unknown + line.Missed
		unexplained += line.Unexplained
	}
	if planned != int64(a.Planned) || rows != int64(a.Rows) {
		return unexplained, fmt.Sprintf("the ledger counts %d planned and %d rows, the audit %d and %d", planned, rows, a.Planned, a.Rows)
	}
	return unexplained, ""
}

// String is one line for the log.
func (a account) String() string {
	outcomes := ""
	for _, name := range slices.Sorted(maps.Keys(a.Outcomes)) {
		outcomes += fmt.Sprintf(" %s %d", name, a.Outcomes[name])
	}
	return fmt.Sprintf("%s n=%d planned %d lost %d doubled %d unexplained %d;%s; recovery ms %v; %.0f s; %v", a.Row, a.N, a.Planned, a.Lost, a.Doubled, a.Unexplained, outcomes, a.RecoveryMS, a.TookS, a.Notes)
}
