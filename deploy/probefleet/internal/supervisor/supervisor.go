// Package supervisor keeps the processes of a one-machine installation running:
// the outside half of every watchdog.
//
// Guarantees. A program that ends is started again: at once after it had run well
// for five seconds, else with a delay that doubles up to a minute; never when it
// exits with 78 (its configuration is wrong, a restart cannot help). Programs die
// with the supervisor, however it ends (Linux). Their output goes straight to
// files, so nobody who stops reading can block them. Stop ends all of them at
// once, with SIGTERM first and SIGKILL after a grace.
package supervisor

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"
)

// Delays between restarts.
const (
	healthyAfter = 5 * time.Second
	firstDelay   = 500 * time.Millisecond
	longestDelay = time.Minute
	exitConfig   = 78
)

// Program is what to run.
type Program struct {
	Name  string
	Path  string
	Args  []string
	Env   []string // the whole environment
	Grace time.Duration
}

// State of a program, for people and tools.
type State struct {
	Name     string `json:"name"`
	PID      int    `json:"pid"` // 0 while it is not running
	Restarts int    `json:"restarts"`
	LastExit string `json:"last_exit,omitempty"`
	GivenUp  bool   `json:"given_up,omitempty"`
}

// Supervisor owns programs.
type Supervisor struct {
	logDir  string
	log     *slog.Logger
	changed func()

	mu       sync.Mutex
	programs []*program
}

type program struct {
	Program
	stop     chan struct{} // closed to end it
	stopOnce sync.Once
	ended    chan struct{} // closed when it will not run again

	mu    sync.Mutex
	state State
}

// New makes a supervisor that writes each program's output to logDir/NAME.log.
// changed is called after every start and end; it may be nil.
func New(logDir string, log *slog.Logger, changed func()) *Supervisor {
	if changed == nil {
		changed = func() {}
	}
	return &Supervisor{logDir: logDir, log: log, changed: changed}
}

// Start begins to keep a program running.
func (s *Supervisor) Start(p Program) error {
	if p.Grace == 0 {
		p.Grace = 35 * time.Second
	}
	if _, err := exec.LookPath(p.Path); err != nil {
		return fmt.Errorf("program %s: %w", p.Name, err)
	}
	out, err := openLog(filepath.Join(s.logDir, p.Name+".log"))
	if err != nil {
		return err
	}
	child := &program{Program: p, stop: make(chan struct{}), ended: make(chan struct{}), state: State{Name: p.Name}}
	s.mu.Lock()
	s.programs = append(s.programs, child)
	s.mu.Unlock()
	go func() {
		// The kernel's parent-death signal is tied to the thread that started
		// the child: this thread lives as long as the child is wanted.
		runtime.LockOSThread()
		defer close(child.ended)
		defer out.Close()
		s.keep(child, out)
	}()
	return nil
}

func (s *Supervisor) keep(p *program, out *os.File) {
	delay := firstDelay
	for {
		started := time.Now()
		code, err := s.runOnce(p, out)
		select {
		case <-p.stop:
			return
		default:
		}
		if code == exitConfig {
			p.update(func(st *State) { st.GivenUp = true })
			s.log.Error("program refuses its configuration: not restarted", "program", p.Name, "log", out.Name())
			s.changed()
			return
		}
		wait := time.Duration(0)
		if time.Since(started) < healthyAfter {
			wait = delay/2 + rand.N(delay/2)
			delay = min(2*delay, longestDelay)
		} else {
			delay = firstDelay
		}
		s.log.Warn("program ended; restarting", "program", p.Name, "exit", fmt.Sprint(err), "in", wait.Round(time.Millisecond))
		s.changed()
		select {
		case <-time.After(wait):
		case <-p.stop:
			return
		}
		p.update(func(st *State) { st.Restarts++ })
	}
}

func (s *Supervisor) runOnce(p *program, out *os.File) (code int, err error) {
	cmd := exec.Command(p.Path, p.Args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = p.Env, out, out
	cmd.SysProcAttr = childAttributes()
	if err := cmd.Start(); err != nil {
		p.update(func(st *State) { st.LastExit = err.Error() })
		return 0, err
	}
	p.mu.Lock()
	p.state.PID = cmd.Process.Pid
	p.mu.Unlock()
	s.changed()

	done := make(chan struct{})
	go func() { // asks it to end when the supervisor stops
		select {
		case <-p.stop:
			_ = cmd.Process.Signal(syscall.SIGTERM)
			select {
			case <-time.After(p.Grace):
				_ = cmd.Process.Kill()
			case <-done:
			}
		case <-done:
		}
	}()
	err = cmd.Wait()
	close(done)
	p.mu.Lock()
	p.state.PID = 0
	p.state.LastExit = cmd.ProcessState.String()
	p.mu.Unlock()
	return cmd.ProcessState.ExitCode(), err
}

func (p *program) update(change func(*State)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change(&p.state)
}

// States lists the programs in the order of their start.
func (s *Supervisor) States() []State {
	s.mu.Lock()
	defer s.mu.Unlock()
	states := make([]State, 0, len(s.programs))
	for _, p := range s.programs {
		p.mu.Lock()
		states = append(states, p.state)
		p.mu.Unlock()
	}
	return states
}

// Stop ends all programs and waits for them; each has its grace.
func (s *Supervisor) Stop() {
	s.mu.Lock()
	programs := slices.Clone(s.programs)
	s.mu.Unlock()
	for _, p := range programs {
		p.stopOnce.Do(func() { close(p.stop) })
	}
	for _, p := range programs {
		<-p.ended
	}
}

// Rotate keeps every log under limit bytes until ctx ends: the programs append,
// so a log that is copied aside and cut goes on from its beginning.
func (s *Supervisor) Rotate(ctx context.Context, limit int64) {
	ticker := time.NewTicker(30 * time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			for _, state := range s.States() {
				if err := rotate(filepath.Join(s.logDir, state.Name+".log"), limit); err != nil {
					s.log.Warn("log was not rotated", "program", state.Name, "error", err)
				}
			}
		case <-ctx.Done():
			return
		}
	}
}

func rotate(path string, limit int64) error {
	info, err := os.Stat(path)
	if err != nil || info.Size() < limit {
		return err
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := os.WriteFile(path+".1", content, 0o600); err != nil {
		return err
	}
	return os.Truncate(path, 0)
}

func openLog(path string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	return os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
}
