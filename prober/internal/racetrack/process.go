//go:build bench

package racetrack

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Who is measured has core 0 to itself; whoever serves, stores or asks shares core 1.
const (
	Measured = 0
	Others   = 1
)

// Number is a setting of the run.
func Number(name string, otherwise float64) float64 {
	if v, err := strconv.ParseFloat(os.Getenv(name), 64); err == nil {
		return v
	}
	return otherwise
}

// On pins a command to a core.
func On(core int, name string, args ...string) *exec.Cmd {
	return exec.Command("taskset", append([]string{"-c", strconv.Itoa(core), name}, args...)...)
}

// Pin moves a process that runs, with all its threads.
func Pin(t *testing.T, core, pid int) {
	t.Helper()
	if out, err := exec.Command("taskset", "-a", "-c", "-p", strconv.Itoa(core), strconv.Itoa(pid)).CombinedOutput(); err != nil {
		t.Fatalf("pin %d: %v %s", pid, err, out)
	}
}

// Player is this binary in another role, which ends when its standard input does.
type Player struct {
	PID   int
	cmd   *exec.Cmd
	stdin io.WriteCloser
	said  *bufio.Reader
}

// Play starts a role. It is over when the test is, or at over.
func Play(t *testing.T, core int, role string, env ...string) *Player {
	t.Helper()
	p := &Player{cmd: On(core, os.Args[0])}
	p.cmd.Env = append(append(os.Environ(), "RACE_ROLE="+role), env...)
	p.cmd.Stderr = t.Output()
	var err error
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p.PID = p.cmd.Process.Pid
	p.said = bufio.NewReader(stdout)
	t.Cleanup(p.Over)
	return p
}

// Over ends it.
func (p *Player) Over() { _ = p.stdin.Close(); _ = p.cmd.Wait() }

// Say tells it a line.
func (p *Player) Say(text string) { _, _ = fmt.Fprintln(p.stdin, text) }

// Line is the next line that it says, in words.
func (p *Player) Line(t *testing.T) []string {
	t.Helper()
	text, err := p.said.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(text)
}

// Server answers every request with three bytes.
type Server struct {
	Roots string
	links []string
}

// StartServer plays one.
func StartServer(t *testing.T) Server {
	t.Helper()
	s := Server{Roots: filepath.Join(t.TempDir(), "roots.pem")}
	s.links = Play(t, Others, "server", "RACE_ROOTS="+s.Roots, "GOGC=400").Line(t)
	return s
}

// Link leads to it: what is http or https.
func (s Server) Link(what string) string { return s.Links(what)[0] }

// Links lead to each of its addresses.
func (s Server) Links(what string) (links []string) {
	for _, link := range s.links {
		if strings.HasPrefix(link, what+":") {
			links = append(links, link)
		}
	}
	return links
}

// CPUOf is what the kernel accounts to a process that has ended.
func CPUOf(cmd *exec.Cmd) time.Duration {
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}

// Within polls until ok.
func Within(t *testing.T, limit time.Duration, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(limit); !ok(); {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", limit, what)
		}
		<-time.After(100 * time.Millisecond)
	}
}

// Unpin lets this process use all cores again.
func Unpin() error {
	return exec.Command("taskset", "-a", "-c", "-p", fmt.Sprintf("0-%d", runtime.NumCPU()-1), strconv.Itoa(os.Getpid())).Run()
}
