//go:build !load && !faults && !browser && !bench

package e2e

import (
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/lab"
	"github.com/probefleet/probefleet/internal/testfleet"
)

// TestRegionOnAnotherMachine adds a prober that has nothing but the four settings
// of the README (and leave to visit the lab), sees its results, and retires it.
func TestRegionOnAnotherMachine(t *testing.T) {
	t.Parallel()
	server, err := lab.Start("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	s := newSystem(t, "--regions", "eu")
	s.start()
	watched := s.create(target{URL: server.URL() + "/ok", IntervalS: 10})

	bin := testfleet.Programs(t, testfleet.Build{})
	prober := s.prober("far-away")
	s.await(40*time.Second, "a result from far-away", func() bool {
		for _, r := range s.results(watched.ID) {
			if r.Region == "far-away" && r.Status == "up" {
				return true
			}
		}
		return false
	})

	if err := prober.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := prober.Wait(); err != nil {
		t.Errorf("drained prober: %v", err)
	}
	operator := func(args ...string) string {
		out, err := exec.Command(filepath.Join(bin, "probefleet"), append(args, "--dir", s.dir)...).CombinedOutput()
		if err != nil {
			t.Errorf("%v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	operator("region", "retire", "far-away")
	s.await(20*time.Second, "far-away is retired", func() bool {
		for line := range strings.Lines(operator("region", "list")) {
			if strings.Contains(line, "far-away") {
				return strings.Contains(line, "retired")
			}
		}
		return false
	})
	if out := operator("doctor"); strings.Contains("\n"+out, "\nfail") || !strings.Contains(out, "noeviction") {
		t.Errorf("doctor:\n%s", out)
	}
	if out := operator("migrate", "status"); strings.Count(out, "up to date") != 2 {
		t.Errorf("migrate status:\n%s", out)
	}
}
