//go:build failpoints

package failpoint

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

const asVictim = "PROBEFLEET_FAILPOINT_VICTIM"

func TestMain(m *testing.M) {
	if os.Getenv(asVictim) == "" {
		os.Exit(m.Run())
	}
	for n := range 5 {
		fmt.Println(n)
		Hit("acking.settled")
		Hit("recording.stored")
	}
}

// life runs the victim and gives what it printed and how it ended; one that does not
// end is killed.
func life(t *testing.T, armed string) (printed string, how syscall.WaitStatus) {
	t.Helper()
	victim := exec.Command(os.Args[0])
	victim.Env = append(os.Environ(), asVictim+"=1", variable+"="+armed, "GODEBUG=asyncpreemptoff=1")
	var out strings.Builder
	victim.Stdout, victim.Stderr = &out, &out
	if err := victim.Start(); err != nil {
		t.Fatal(err)
	}
	kill := time.AfterFunc(3*time.Second, func() { _ = victim.Process.Kill() })
	defer kill.Stop()
	_ = victim.Wait()
	status, _ := victim.ProcessState.Sys().(syscall.WaitStatus)
	return out.String(), status
}

func TestTaggedActions(t *testing.T) {
	t.Parallel()
	for armed, want := range map[string]struct {
		lines  int
		killed bool
	}{
		"":                        {5, false},
		"acking.settled=kill":     {1, true},
		"acking.settled=kill@3":   {3, true},
		"acking.settled=kill@9":   {5, false},
		"recording.stored=hang@2": {2, true},
		"recording.stored=stop@2": {2, true},
		"recording.stored=spin@4": {4, true},
		"reading.waiting=kill@1,recording.stored=kill@5": {5, true},
	} {
		t.Run(armed, func(t *testing.T) {
			t.Parallel()
			printed, how := life(t, armed)
			if lines := strings.Count(printed, "\n"); lines != want.lines || how.Signaled() != want.killed {
				t.Errorf("%d lines, ended with %v\n%s", lines, how, printed)
			}
		})
	}
}

func TestTaggedMistakesAreLoud(t *testing.T) {
	t.Parallel()
	for _, armed := range []string{"acking.setled=kill", "acking.settled=panic", "acking.settled", "acking.settled=kill@0", "acking.settled=kill@x", "acking.settled=kill,acking.settled=stop"} {
		if _, err := parse(armed); err == nil {
			t.Errorf("%q was accepted", armed)
		}
	}
	if printed, how := life(t, "nothing=kill"); how.ExitStatus() != exitConfig || !strings.Contains(printed, variable) {
		t.Error(errors.New(printed), how)
	}
}
