package faults

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"
)

// process is one program of the fleet, over all its lives. As long as it is wanted
// it is started again whenever it ends, as a supervisor would.
type process struct {
	name, kind, region string
	ops                string // address of /healthz and /metrics, the same in every life
	spool              string // its spool folder; empty when it has none
	url                string // of the API: where it serves
	redis, click, db   *edge  // its ways to the stores; db is nil on SQLite

	path string
	env  []string
	log  *os.File
	gate sync.Mutex // held while nobody reads what it prints

	mu      sync.Mutex
	wanted  bool
	cmd     *exec.Cmd // nil while it does not run
	started time.Time
	done    chan struct{} // of the present or last life
	next    []string      // more environment, for the next life alone
	ends    []end
	seen    map[string]bool // what /healthz said since the trial began
}

// end is how a life ended: a code, or the signal that killed it.
type end struct {
	code   int
	signal syscall.Signal
	at     time.Time
	after  time.Duration
}

// up starts it, with more environment for this life alone.
func (p *process) up(t testing.TB, more ...string) {
	t.Helper()
	p.mu.Lock()
	p.wanted, p.next = true, more
	err := p.launch()
	p.mu.Unlock()
	if err != nil {
		t.Fatalf("%s: %v", p.name, err)
	}
}

// down kills it, and it stays down until up.
func (p *process) down() {
	p.mu.Lock()
	p.wanted = false
	p.mu.Unlock()
	p.kill()
}

// kill ends it as a crash would and returns when it is gone; it comes back by itself.
func (p *process) kill() {
	ended := p.ended()
	p.signal(syscall.SIGKILL)
	<-ended
}

// restart kills it and starts it with more environment for that life alone.
func (p *process) restart(t testing.TB, more ...string) {
	t.Helper()
	p.down()
	p.up(t, more...)
}

// drain asks it to stop and returns when it has; it comes back by itself.
func (p *process) drain(t testing.TB) end {
	t.Helper()
	ended := p.ended()
	p.signal(syscall.SIGTERM)
	select {
	case <-ended:
	case <-time.After(40 * time.Second):
		t.Fatalf("%s does not drain", p.name)
	}
	return p.last()
}

// freeze stops it in its tracks; thaw lets it go on.
func (p *process) freeze() { p.signal(syscall.SIGSTOP) }
func (p *process) thaw()   { p.signal(syscall.SIGCONT) }

// mute stops reading what it prints, until unmute.
func (p *process) mute()   { p.gate.TryLock() }
func (p *process) unmute() { p.gate.TryLock(); p.gate.Unlock() }

func (p *process) signal(sig syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd != nil {
		_ = p.cmd.Process.Signal(sig) // it may just have ended
	}
}

// pid is 0 while it does not run.
func (p *process) pid() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil {
		return 0
	}
	return p.cmd.Process.Pid
}

// ended is closed when the present life is over.
func (p *process) ended() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.done
}

// last is how the last life ended, and deaths how many there were.
func (p *process) last() end {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.ends) == 0 {
		return end{}
	}
	return p.ends[len(p.ends)-1]
}

func (p *process) deaths() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.ends)
}

// launch starts a life unless one is running; p.mu is held.
func (p *process) launch() error {
	if p.cmd != nil || !p.wanted {
		return nil
	}
	reader, writer, err := os.Pipe()
	if err != nil {
		return err
	}
	cmd := exec.Command(p.path)
	cmd.Env = append(append([]string{}, p.env...), p.next...)
	cmd.Stdout, cmd.Stderr = writer, writer
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	begun, done := make(chan error, 1), make(chan struct{})
	// The kernel sends the parent-death signal when the starting thread ends.
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		begun <- err
		if err == nil {
			_ = cmd.Wait()
			p.over(cmd, done)
		}
	}()
	err = <-begun
	_ = writer.Close()
	if err != nil {
		_ = reader.Close()
		return err
	}
	go p.read(reader)
	p.cmd, p.done, p.started, p.next = cmd, done, time.Now(), nil
	return nil
}

// over notes the end of a life and begins the next, at once unless it ended early.
func (p *process) over(cmd *exec.Cmd, done chan struct{}) {
	status, _ := cmd.ProcessState.Sys().(syscall.WaitStatus)
	e := end{at: time.Now(), code: status.ExitStatus()}
	if status.Signaled() {
		e.signal = status.Signal()
	}
	p.mu.Lock()
	e.after = e.at.Sub(p.started)
	p.ends = append(p.ends, e)
	p.cmd = nil
	p.mu.Unlock()
	_, _ = fmt.Fprintf(p.log, "--- ended: code %d, signal %v, after %v\n", e.code, e.signal, e.after.Round(time.Millisecond))
	close(done)
	pause := 100 * time.Millisecond
	if e.after < time.Second {
		pause = time.Second
	}
	<-time.After(pause)
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = p.launch() // a fork that fails shows as a process that stays away
}

// read copies what a life prints into its log, while it is not muted.
func (p *process) read(pipe *os.File) {
	defer pipe.Close()
	buffer := make([]byte, 32<<10)
	for {
		p.gate.Lock()
		p.gate.Unlock() //nolint:staticcheck // only waits
		n, err := pipe.Read(buffer)
		_, _ = p.log.Write(buffer[:n])
		if err != nil {
			return
		}
	}
}
