package embedded

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// stopGrace is how long a server may take to stop cleanly before it is killed.
// Both servers lose no acknowledged write when that happens.
const stopGrace = 30 * time.Second

// process is a started child and the goroutine that waits for it.
type process struct {
	cmd  *exec.Cmd
	done chan struct{}
	err  error // valid after done is closed
}

// startProcess starts cmd so that it ends when this program ends. The kernel
// sends the parent-death signal when the starting thread ends, not the
// process, hence the locked thread that lives as long as the child.
func startProcess(cmd *exec.Cmd, onParentDeath syscall.Signal) (*process, error) {
	tie(cmd, onParentDeath)
	p := &process{cmd: cmd, done: make(chan struct{})}
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		if err := cmd.Start(); err != nil {
			started <- err
			return
		}
		started <- nil
		p.err = cmd.Wait()
		close(p.done)
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	return p, nil
}

func (p *process) pid() int { return p.cmd.Process.Pid }

func (p *process) exitCode() int {
	<-p.done
	return p.cmd.ProcessState.ExitCode()
}

// stop asks with SIGTERM and kills after the grace period or when ctx ends.
func (p *process) stop(ctx context.Context) error {
	select {
	case <-p.done:
		return nil
	default:
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("signal process %d: %w", p.pid(), err)
	}
	timer := time.NewTimer(stopGrace)
	defer timer.Stop()
	select {
	case <-p.done:
		return nil
	case <-timer.C:
	case <-ctx.Done():
	}
	p.kill()
	return fmt.Errorf("process %d did not stop in time and was killed", p.pid())
}

func (p *process) kill() {
	killAll(p.cmd.Process) // already gone is what we want
	<-p.done
}
