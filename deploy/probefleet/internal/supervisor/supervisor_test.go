package supervisor

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

const hang = 2 * time.Minute // longer than anything that goes on takes

func await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.After(hang)
	for !ok() {
		select {
		case <-deadline:
			t.Fatalf("not within %v: %s", hang, what)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func shell(name, script string) Program {
	return Program{Name: name, Path: "/bin/sh", Args: []string{"-c", script}, Env: os.Environ(), Grace: time.Second}
}

func TestProgramsAreRestartedAndStopped(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := New(Options{LogDir: dir, RunDir: dir, Log: slog.New(slog.DiscardHandler)})
	for _, p := range []Program{shell("steady", "echo hello; exec sleep 1000"), shell("crash", "echo again; exit 1"), shell("wrong", "exit 78"), shell("stubborn", "trap '' TERM; while :; do read x </dev/zero; done")} {
		if err := s.Start(p); err != nil {
			t.Fatal(err)
		}
	}
	await(t, "two restarts of crash, wrong given up", func() bool {
		st := s.States()
		return st[0].PID > 0 && st[1].Restarts >= 2 && st[2].GivenUp && st[3].PID > 0
	})
	first := s.States()[0].PID
	if err := syscall.Kill(first, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	await(t, "steady is back", func() bool { st := s.States()[0]; return st.PID > 0 && st.PID != first && st.Restarts == 1 })
	if got := s.States()[2]; got.Restarts != 0 || got.LastExit != "exit status 78" {
		t.Errorf("wrong configuration was restarted: %+v", got)
	}
	await(t, "what crash says is in its log, each time", func() bool {
		content, err := os.ReadFile(filepath.Join(dir, "crash.log"))
		return err == nil && strings.Count(string(content), "again") >= 3
	})
	s.Stop()
	for _, st := range s.States() {
		if st.PID != 0 {
			t.Errorf("%s still runs", st.Name)
		}
	}
}

func TestRotateKeepsTheNewest(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.log")
	out, err := openLog(path)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	_, _ = out.WriteString("old\n")
	if err := rotate(path, 3); err != nil {
		t.Fatal(err)
	}
	_, _ = out.WriteString("new\n")
	kept, _ := os.ReadFile(path + ".1")
	current, _ := os.ReadFile(path)
	if string(kept) != "old\n" || string(current) != "new\n" {
		t.Errorf("kept %q, current %q", kept, current)
	}
}
