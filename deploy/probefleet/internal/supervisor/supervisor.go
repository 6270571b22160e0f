// Package supervisor keeps the processes of a one-machine installation running:
// the outside half of every watchdog.
//
// Guarantees.
//   - A program that ends is started again: at once when a signal ended it or it
//     had been well for five seconds, else (it exits while it starts) after a delay
//     with jitter that doubles up to a minute; never when it exits with 78, for its
//     configuration is wrong and a restart cannot help.
//   - A program that has answered and then gives no HTTP answer for 15 seconds is
//     killed, whatever keeps it: stopped, swapped out, its runtime wedged. One that
//     never answers is killed after a minute. Time in which the supervisor itself
//     stood still does not count.
//   - How each life ended is written to RunDir/NAME.exit, which the next life finds
//     in LAST_EXIT_FILE.
//   - Programs die with the supervisor, however it ends (Linux). Their output goes
//     straight to files, so nobody who stops reading can block them. Stop ends all
//     of them at once, with SIGTERM first and SIGKILL after a grace.
package supervisor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/probefleet/probefleet/internal/service"
)

// Program is what to run.
type Program struct {
	Name   string
	Path   string
	Args   []string
	Env    []string // the whole environment, but for LAST_EXIT_FILE
	Health string   // URL that answers while the program is there; empty: nobody asks
	Grace  time.Duration
}

// State of a program, for people and tools.
type State struct {
	Name     string `json:"name"`
	PID      int    `json:"pid"` // 0 while it is not running
	Restarts int    `json:"restarts"`
	LastExit string `json:"last_exit,omitempty"`
	GivenUp  bool   `json:"given_up,omitempty"`
}

// Options of a supervisor.
type Options struct {
	LogDir  string // each program's output goes to NAME.log here
	RunDir  string // NAME.exit says here how its last life ended
	Log     *slog.Logger
	Changed func() // called after every start and end; may be nil
}

// Supervisor owns programs.
type Supervisor struct {
	o        Options
	patience time.Duration // silentAfter, but in tests

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

// New makes a supervisor without programs.
func New(o Options) *Supervisor {
	if o.Changed == nil {
		o.Changed = func() {}
	}
	return &Supervisor{o: o, patience: silentAfter}
}

// Start begins to keep a program running.
func (s *Supervisor) Start(p Program) error {
	if p.Grace == 0 {
		p.Grace = 35 * time.Second
	}
	if _, err := exec.LookPath(p.Path); err != nil {
		return fmt.Errorf("program %s: %w", p.Name, err)
	}
	out, err := openLog(filepath.Join(s.o.LogDir, p.Name+".log"))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(s.o.RunDir, 0o700); err != nil {
		return errors.Join(err, out.Close())
	}
	p.Env = append(slices.Clone(p.Env), "LAST_EXIT_FILE="+s.exitFile(p.Name))
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

func (s *Supervisor) exitFile(name string) string { return filepath.Join(s.o.RunDir, name+".exit") }

func (s *Supervisor) keep(p *program, out *os.File) {
	var delays backoff
	for {
		d := p.live(out, s.patience, s.o.Changed)
		p.update(func(st *State) { st.PID, st.LastExit = 0, d.String() })
		if err := d.record(time.Now()).Write(s.exitFile(p.Name)); err != nil {
			s.o.Log.Warn("last exit was not written", "program", p.Name, "error", err)
		}
		select {
		case <-p.stop:
			return
		default:
		}
		if d.code() == service.ExitConfig {
			p.update(func(st *State) { st.GivenUp = true })
			s.o.Log.Error("program refuses its configuration: not restarted", "program", p.Name, "log", out.Name())
			s.o.Changed()
			return
		}
		wait := delays.next(d)
		s.o.Log.Warn("program ended; restarting", "program", p.Name, "exit", d.String(), "lived", d.lived.Round(time.Millisecond), "in", wait.Round(time.Millisecond))
		s.o.Changed()
		select {
		case <-time.After(wait):
		case <-p.stop:
			return
		}
		p.update(func(st *State) { st.Restarts++ })
	}
}

// live runs the program once, watched, until it has ended.
func (p *program) live(out *os.File, patience time.Duration, changed func()) (d death) {
	cmd := exec.Command(p.Path, p.Args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = p.Env, out, out
	cmd.SysProcAttr = childAttributes()
	started := time.Now()
	if d.err = cmd.Start(); d.err != nil {
		return d
	}
	p.update(func(st *State) { st.PID = cmd.Process.Pid })
	changed()

	over, done := context.WithCancel(context.Background())
	var beside sync.WaitGroup
	beside.Go(func() { p.askToEnd(over, cmd.Process) })
	var eye *watch
	if p.Health != "" {
		eye = &watch{ask: asker(p.Health), patience: patience, kill: func(silent time.Duration) {
			d.silent = silent
			_ = cmd.Process.Kill()
		}}
		beside.Go(func() { eye.run(over) })
	}
	_ = cmd.Wait()
	d.lived, d.state = time.Since(started), cmd.ProcessState
	d.healthy = d.lived
	if eye != nil {
		d.healthy = eye.answeredFor()
	}
	done()
	beside.Wait()
	d.answered = d.healthy > 0
	return d
}

// askToEnd ends the process when the supervisor stops.
func (p *program) askToEnd(over context.Context, process *os.Process) {
	select {
	case <-p.stop:
		_ = process.Signal(syscall.SIGTERM)
		select {
		case <-time.After(p.Grace):
			_ = process.Kill()
		case <-over.Done():
		}
	case <-over.Done():
	}
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
