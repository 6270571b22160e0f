package e2e

import (
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/testfleet"
)

// auditor looks into the databases of a running installation, past its programs.
// Its addresses may change with a restart.
func (s *system) auditor() *testfleet.Auditor {
	s.t.Helper()
	run := s.run()
	auditor, err := testfleet.NewAuditor(run.DatabaseURL, run.ClickHouseURL)
	if err != nil {
		s.t.Fatal(err)
	}
	return auditor
}

// auditWindow compares what was planned in [from, to) with what is there.
func auditWindow(t testing.TB, s *system, from, to time.Time) testfleet.Audit {
	t.Helper()
	auditor := s.auditor()
	defer auditor.Close()
	a, err := auditor.Window(t.Context(), from, to)
	if err != nil {
		t.Fatal(err)
	}
	return a
}
