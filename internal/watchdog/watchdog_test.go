package watchdog

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

const victim = "PROBEFLEET_WATCHDOG_VICTIM"

func TestMain(m *testing.M) {
	if path := os.Getenv(victim); path != "" {
		hang(path)
		return
	}
	os.Exit(m.Run())
}

// hang is the life of the subprocess: one healthy stage, one that hangs, and a
// flooded stdout that nobody reads.
func hang(path string) {
	dump, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		os.Exit(1)
	}
	w := New(dump)
	healthy := w.Stage("ack", 2*time.Second)
	w.Stage("read", 1500*time.Millisecond)
	go func() {
		for range time.Tick(50 * time.Millisecond) {
			healthy.Beat()
		}
	}()
	go func() {
		for {
			_, _ = os.Stdout.WriteString(strings.Repeat("noise ", 1000))
		}
	}()
	_ = w.Run(context.Background())
}

// Promise: a process whose stage hangs ends itself
func TestHangingStageEndsTheProcess(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "dump")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	unread, stuck, err := os.Pipe() // a reader that never reads
	if err != nil {
		t.Fatal(err)
	}
	defer unread.Close()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), victim+"="+path)
	cmd.Stdout, cmd.Stderr = stuck, stuck
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = stuck.Close()
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err = <-ended:
	case <-time.After(2 * time.Minute):
		_ = cmd.Process.Signal(syscall.SIGKILL)
		t.Fatal("the process outlived its watchdog")
	}
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok || exit.ExitCode() != exitCode {
		t.Fatalf("ended with %v", err)
	}
	text, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(text), `stage "read" made no progress`) || !strings.Contains(string(text), "goroutine ") {
		t.Errorf("dump: %v\n%s", err, text)
	}
}

func TestBudgets(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := New(nil)
		var fell []string
		w.exit = func(s *Stage) { fell = append(fell, s.name); s.Beat() }
		quick, slow := w.Stage("quick", 2*time.Second), w.Stage("slow", 10*time.Second)
		ctx, cancel := context.WithCancel(t.Context())
		go func() { _ = w.Run(ctx) }()
		for range 20 {
			time.Sleep(time.Second)
			quick.Beat()
		}
		synctest.Wait()
		if len(fell) != 1 || fell[0] != "slow" {
			t.Errorf("fell: %v", fell)
		}
		slow.Beat()
		time.Sleep(3 * time.Second)
		synctest.Wait()
		if len(fell) != 2 || fell[1] != "quick" {
			t.Errorf("fell: %v", fell)
		}
		cancel()
		synctest.Wait()
	})
}

func TestFreezeIsForgiven(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := New(nil)
		fell := 0
		w.exit = func(*Stage) { fell++ }
		w.Stage("read", time.Second)
		time.Sleep(time.Minute) // SIGSTOP, SIGCONT: beats and looks alike did not happen
		w.look(true, nil)
		w.look(false, nil)
		if fell != 0 {
			t.Fatal("a process that was only frozen was ended")
		}
		time.Sleep(2 * time.Second)
		w.look(false, nil)
		if fell != 1 {
			t.Fatal("a hang after a freeze was not noticed")
		}
	})
}
