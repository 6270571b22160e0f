package spool_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"

	"github.com/probefleet/probefleet/internal/spool"
)

const holderDir = "SPOOL_TEST_HOLD"

// TestMain lets the test binary be the other process.
func TestMain(m *testing.M) {
	folder := os.Getenv(holderDir)
	if folder == "" {
		os.Exit(m.Run())
	}
	s, err := spool.Open(spool.Options{Dir: folder, Volatile: true})
	if err == nil {
		err = s.Append(makeBatch(1, 1))
	}
	fmt.Println(err)
	_, _ = io.Copy(io.Discard, os.Stdin) // until it is killed, or the test has ended
}

func TestOneProcessAtATime(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	holder := exec.Command(os.Args[0])
	holder.Env = append(os.Environ(), holderDir+"="+folder)
	out, err := holder.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := holder.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = holder.Process.Kill() })
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "<nil>\n" {
		t.Fatalf("the other process says %q, %v", line, err)
	}
	o := spool.Options{Dir: folder, Volatile: true}
	if _, err := spool.Open(o); !errors.Is(err, spool.ErrLocked) {
		t.Fatalf("while another process has it: %v", err)
	}
	if err := holder.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = holder.Wait()
	s := open(t, o)
	if _, err := spool.Open(o); !errors.Is(err, spool.ErrLocked) {
		t.Fatalf("in the same process: %v", err)
	}
	got, _ := replay(t, s)
	sameTokens(t, got, makeBatch(1, 1))
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	open(t, o)
}
