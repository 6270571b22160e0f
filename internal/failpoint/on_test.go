//go:build failpoints

package failpoint

import (
	"bufio"
	"errors"
	"fmt"
	"io"
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

// life runs the victim and gives what it printed and how it ended. One that is not to end by itself
// is killed a while after its line number stay.
func life(t *testing.T, armed string, stay int) (printed string, how syscall.WaitStatus) {
	t.Helper()
	victim := exec.CommandContext(t.Context(), os.Args[0])
	victim.Env = append(os.Environ(), asVictim+"=1", variable+"="+armed, "GODEBUG=asyncpreemptoff=1")
	reader, writer := io.Pipe()
	victim.Stdout, victim.Stderr = writer, writer
	if err := victim.Start(); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	read := make(chan struct{})
	go func() {
		defer close(read)
		lines := bufio.NewScanner(reader)
		for n := 1; lines.Scan(); n++ {
			if out.WriteString(lines.Text() + "\n"); n == stay {
				time.AfterFunc(time.Second, func() { _ = victim.Process.Kill() }) // else it would go on
			}
		}
	}()
	_ = victim.Wait()
	_ = writer.Close()
	<-read
	status, _ := victim.ProcessState.Sys().(syscall.WaitStatus)
	return out.String(), status
}

func TestTaggedActions(t *testing.T) {
	t.Parallel()
	for armed, want := range map[string]struct {
		lines        int
		killed, stay bool
	}{
		"":                        {5, false, false},
		"acking.settled=kill":     {1, true, false},
		"acking.settled=kill@3":   {3, true, false},
		"acking.settled=kill@9":   {5, false, false},
		"recording.stored=hang@2": {2, true, true},
		"recording.stored=stop@2": {2, true, true},
		"recording.stored=spin@4": {4, true, true},
		"reading.waiting=kill@1,recording.stored=kill@5": {5, true, false},
	} {
		t.Run(armed, func(t *testing.T) {
			t.Parallel()
			stay := 0
			if want.stay {
				stay = want.lines
			}
			printed, how := life(t, armed, stay)
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
	if printed, how := life(t, "nothing=kill", 0); how.ExitStatus() != exitConfig || !strings.Contains(printed, variable) {
		t.Error(errors.New(printed), how)
	}
}
