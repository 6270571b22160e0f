package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/internal/testfleet"
)

const apiKey = "pf_e2e_key_of_a_throwaway_installation"

// hang bounds every wait for something that promises no time: longer means that it never comes.
const hang = 3 * time.Minute

func TestMain(m *testing.M) { testfleet.Main(m) }

// system is one running installation.
type system struct {
	t      testing.TB
	dir    string
	port   int
	url    string
	args   []string
	env    []string
	cmd    *exec.Cmd
	exited chan error
	output *lockedBuffer
}

type runFile struct {
	DatabaseURL   string            `json:"database_url"`
	RedisURL      string            `json:"redis_url"`
	ClickHouseURL string            `json:"clickhouse_url"`
	Ops           map[string]string `json:"ops"`
	Processes     []struct {
		Name     string `json:"name"`
		PID      int    `json:"pid"`
		Restarts int    `json:"restarts"`
	} `json:"processes"`
}

// newSystem prepares an installation in a folder of its own; start runs it.
func newSystem(t testing.TB, args ...string) *system {
	t.Helper()
	port := testbackend.Port(t)
	s := &system{t: t, dir: filepath.Join(t.TempDir(), "data"), port: port, url: fmt.Sprintf("http://localhost:%d", port), args: args}
	s.env = append(os.Environ(), "BOOTSTRAP_API_KEY="+apiKey, "PROBER_ALLOW_CIDRS=127.0.0.0/8", "PROBER_CANARIES="+testfleet.Canary(t))
	t.Cleanup(func() {
		if s.cmd != nil {
			s.stop()
		}
		if t.Failed() {
			s.showLogs()
		}
	})
	return s
}

// start runs `probefleet up` and waits until it has printed its URL and all.
func (s *system) start() {
	s.t.Helper()
	bin := testfleet.Programs(s.t, variant)
	cmd := exec.Command(filepath.Join(bin, "probefleet"), append([]string{"up", "--dir", s.dir, "--port", fmt.Sprint(s.port)}, s.args...)...)
	cmd.Env = s.env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	output := &lockedBuffer{}
	s.output = output
	reader, writer, err := os.Pipe()
	if err != nil {
		s.t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = writer, writer
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.cmd = cmd
	_ = writer.Close()
	ready := make(chan struct{})
	go func() {
		var once sync.Once
		for lines := bufio.NewScanner(reader); lines.Scan(); {
			output.WriteString(lines.Text() + "\n")
			if strings.Contains(lines.Text(), "Stop with Ctrl-C") {
				once.Do(func() { close(ready) })
			}
		}
	}()
	s.exited = make(chan error, 1)
	exited := s.exited
	go func() { exited <- cmd.Wait() }()
	select {
	case <-ready:
	case err := <-s.exited:
		s.t.Fatalf("probefleet up ended: %v\n%s", err, s.output.String())
	case <-time.After(hang):
		s.t.Fatalf("probefleet up printed no URL:\n%s", s.output.String())
	}
	s.await(hang, "the API knows what probers may visit", func() bool {
		status, fleet := s.try("GET", "/api/v1/fleet", nil)
		return status == http.StatusOK && bytes.Contains(fleet, []byte(`"live":true`))
	})
}

// stop ends it as Ctrl-C does and fails when it does not end well.
func (s *system) stop() {
	s.t.Helper()
	_ = s.cmd.Process.Signal(syscall.SIGINT)
	select {
	case err := <-s.exited:
		if err != nil {
			s.t.Errorf("probefleet up exits with %v:\n%s", err, s.output.String())
		}
	case <-time.After(hang):
		s.t.Error("probefleet up did not stop")
		_ = s.cmd.Process.Kill()
		<-s.exited
	}
	s.cmd = nil
}

func (s *system) showLogs() {
	logs, _ := filepath.Glob(filepath.Join(s.dir, "logs", "*.log"))
	for _, path := range logs {
		content, _ := os.ReadFile(path)
		lines := strings.Split(strings.TrimSpace(string(content)), "\n")
		s.t.Logf("--- the end of %s\n%s", filepath.Base(path), strings.Join(lines[max(0, len(lines)-25):], "\n"))
	}
}

func (s *system) run() runFile {
	s.t.Helper()
	var r runFile
	content, err := os.ReadFile(filepath.Join(s.dir, "run.json"))
	if err == nil {
		err = json.Unmarshal(content, &r)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

// prober starts one of another region, beside those of the installation.
func (s *system) prober(region string) *exec.Cmd {
	s.t.Helper()
	return s.program("prober", region, append(s.proberEnv(), "REGION="+region)...)
}

// proberEnv is what a prober needs of this installation, but its region.
func (s *system) proberEnv() []string {
	s.t.Helper()
	run := s.run()
	secret, err := os.ReadFile(filepath.Join(s.dir, "secret_key"))
	if err != nil {
		s.t.Fatal(err)
	}
	return []string{
		"REDIS_URL=" + run.RedisURL, "CLICKHOUSE_URL=" + run.ClickHouseURL, "SECRET_KEY=" + strings.TrimSpace(string(secret)),
		"PROBER_ALLOW_CIDRS=127.0.0.0/8", "PROBER_CANARIES=" + testfleet.Canary(s.t),
	}
}

// program starts one with nothing but this environment. What it prints is logs/NAME.log.
func (s *system) program(program, name string, env ...string) *exec.Cmd {
	s.t.Helper()
	cmd := exec.Command(filepath.Join(testfleet.Programs(s.t, variant), program))
	cmd.Dir, cmd.Env = s.t.TempDir(), append(env, "OPS_ADDR=127.0.0.1:0")
	log, err := os.Create(filepath.Join(s.dir, "logs", name+".log"))
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = log.Close() })
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = cmd.Process.Kill() })
	return cmd
}

// tool runs the operator's program on this installation.
func (s *system) tool(args ...string) (code int, out, errOut string) {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), filepath.Join(testfleet.Programs(s.t, variant), "probefleet"), append(args, "--dir", s.dir)...)
	var o, e strings.Builder
	cmd.Stdout, cmd.Stderr = &o, &e
	err := cmd.Run()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		s.t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), o.String(), e.String()
}

// at is this installation for a part of a test: failures are those of that part.
func (s *system) at(t *testing.T) *system {
	part := *s
	part.t = t
	return &part
}

// pid of a program of this installation, 0 while it does not run.
func (s *system) pid(name string) int {
	s.t.Helper()
	for _, p := range s.run().Processes {
		if p.Name == name {
			return p.PID
		}
	}
	s.t.Fatalf("no program %q in run.json", name)
	return 0
}

// signal sends a signal to a program of this installation and gives its process id.
func (s *system) signal(name string, sig syscall.Signal) int {
	s.t.Helper()
	pid := s.pid(name)
	if pid == 0 {
		s.t.Fatalf("%s does not run", name)
	}
	if err := syscall.Kill(pid, sig); err != nil {
		s.t.Fatalf("signal %v to %s (%d): %v", sig, name, pid, err)
	}
	return pid
}

// await polls until ok, and fails with what was awaited.
func (s *system) await(limit time.Duration, what string, ok func() bool) {
	s.t.Helper()
	deadline := time.Now().Add(limit)
	for !ok() {
		if time.Now().After(deadline) {
			s.t.Fatalf("not within %v: %s", limit, what)
		}
		<-time.After(50 * time.Millisecond)
	}
}

// call asks the API with the bootstrap key.
func (s *system) call(method, path string, body, answer any) (status int) {
	s.t.Helper()
	status, text := s.try(method, path, body)
	if answer != nil {
		if err := json.Unmarshal(text, answer); err != nil {
			s.t.Fatalf("%s %s: %d %s", method, path, status, text)
		}
	}
	return status
}

// try is call for moments when the API may be away: status 0.
func (s *system) try(method, path string, body any) (int, []byte) {
	var reader io.Reader
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			s.t.Fatal(err)
		}
		reader = bytes.NewReader(encoded)
	}
	request, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, reader)
	if err != nil {
		s.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+apiKey)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, nil
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, nil
	}
	return response.StatusCode, text
}

type target struct {
	ID        int64    `json:"id,omitempty"`
	Name      string   `json:"name,omitempty"`
	URL       string   `json:"url,omitempty"`
	IntervalS int      `json:"interval_s,omitempty"`
	TimeoutMS int      `json:"timeout_ms,omitempty"`
	Regions   []string `json:"regions,omitempty"`
	Active    *bool    `json:"active,omitempty"`

	Policy json.RawMessage `json:"policy,omitempty"`
}

func (s *system) create(t target) target {
	s.t.Helper()
	var created target
	if status := s.call("POST", "/api/v1/targets", t, &created); status != http.StatusCreated {
		s.t.Fatalf("creating %+v: %d", t, status)
	}
	return created
}

type lockedBuffer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (b *lockedBuffer) WriteString(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.text.WriteString(text)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
