package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// program prepares a program that ends with the run: asked with SIGTERM first.
func (s *suite) program(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	s.mu.Lock()
	cmd.Env = append(os.Environ(), s.env...)
	s.mu.Unlock()
	cmd.Dir = s.root
	if dir != "" {
		cmd.Dir = dir
	}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 30 * time.Second
	return cmd
}

// check runs a command that is one test by itself: it passes with exit code 0.
func (r *stageRun) check(ctx context.Context, name, dir string, args ...string) {
	cmd := r.program(ctx, dir, args...)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Run(); err != nil {
		r.fail(name+": "+strings.Join(args, " "), output.String()+err.Error())
	} else {
		r.pass()
	}
}
