package faults

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/internal/testfleet"
)

// installed is an installation of its own, run by the shipped supervisor.
type installed struct {
	dir string
	run struct {
		URL           string            `json:"url"`
		DatabaseURL   string            `json:"database_url"`
		ClickHouseURL string            `json:"clickhouse_url"`
		Ops           map[string]string `json:"ops"`
		Processes     []struct {
			Name     string `json:"name"`
			PID      int    `json:"pid"`
			Restarts int    `json:"restarts"`
			LastExit string `json:"last_exit"`
		} `json:"processes"`
	}
}

// install runs `probefleet up` with twenty targets of the lab.
func (t *trial) install(env ...string) *installed {
	t.Helper()
	in := &installed{dir: t.TempDir()}
	log, err := os.Create(filepath.Join(t.rig.dir, fmt.Sprintf("up-%d.log", t.number)))
	if err != nil {
		t.Fatalf("%v", err)
	}
	port, canary := strconv.Itoa(testbackend.Port(t)), testfleet.Canary(t)
	cmd := exec.Command(filepath.Join(testfleet.Programs(t, build()), "probefleet"), "up", "--dir", in.dir, "--port", port, "--regions", "local")
	cmd.Env = append(append(os.Environ(), "BOOTSTRAP_API_KEY="+apiKey, "PROBER_ALLOW_CIDRS=127.0.0.0/8", "PROBER_CANARIES="+canary), env...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	begun, done := make(chan error, 1), make(chan struct{})
	go func() { // the signal is sent when the starting thread ends
		runtime.LockOSThread()
		err := cmd.Start()
		begun <- err
		if err == nil {
			_ = cmd.Wait()
		}
		close(done)
	}()
	if err := <-begun; err != nil {
		t.Fatalf("%v", err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-done:
		case <-time.After(time.Minute):
			t.Errorf("probefleet up does not stop")
			_ = cmd.Process.Kill()
			<-done
		}
		_ = log.Close()
	})
	running := t.rig.within(2*time.Minute, func() bool { return in.runs() || isClosed(done) }) && !isClosed(done)
	if !running {
		t.Fatalf("probefleet up does not run (ended: %v):\n%s", isClosed(done), in.said(log.Name()))
	}
	for n := range 20 {
		t.await(time.Minute, "a target is accepted", func() bool { return in.add(fmt.Sprintf("%s/n/w%d", t.rig.lab.URL(), n)) })
	}
	return in
}

// runs says whether the API answers and everything else was started.
func (in *installed) runs() bool {
	if in.look() != nil {
		return false
	}
	response, err := http.Get(in.run.URL + "/readyz")
	if err != nil {
		return false
	}
	_ = response.Body.Close()
	return len(in.run.Processes) >= 5
}

// said is the end of what the supervisor, at path, and each of its programs wrote.
func (in *installed) said(path string) string {
	var text strings.Builder
	paths, _ := filepath.Glob(filepath.Join(in.dir, "logs", "*.log"))
	for _, path := range append([]string{path}, paths...) {
		content, err := os.ReadFile(path)
		lines := strings.Split(strings.TrimSpace(string(content)), "\n")
		fmt.Fprintf(&text, "%s (%v):\n  %s\n", filepath.Base(path), err, strings.Join(lines[max(0, len(lines)-8):], "\n  "))
	}
	return text.String()
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// look reads run.json again: it changes with every start and end.
func (in *installed) look() error {
	content, err := os.ReadFile(filepath.Join(in.dir, "run.json"))
	if err != nil {
		return err
	}
	return json.Unmarshal(content, &in.run)
}

func (in *installed) add(url string) bool {
	text := fmt.Sprintf(`{"name":%q,"url":%q,"interval_s":10}`, url, url)
	request, err := http.NewRequest(http.MethodPost, in.run.URL+"/api/v1/targets", bytes.NewReader([]byte(text)))
	if err != nil {
		return false
	}
	request.Header.Set("Authorization", "Bearer "+apiKey)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	_ = response.Body.Close()
	return response.StatusCode == http.StatusCreated
}

// prober is its pid, how often it was started again, and how it last ended.
func (in *installed) prober() (pid, restarts int, lastExit string) {
	_ = in.look()
	for _, p := range in.run.Processes {
		if p.Name == "prober-local" {
			return p.PID, p.Restarts, p.LastExit
		}
	}
	return 0, 0, ""
}

// runtimeWedged has the prober of an installation of its own stop every goroutine it
// has. Nothing inside can end it; the supervisor does.
func runtimeWedged(_ *rig, t *trial) {
	// The second life must not meet the same end before it has caught up.
	in := t.install("GODEBUG=asyncpreemptoff=1", fmt.Sprintf("GOMAXPROCS=%d", max(1, runtime.NumCPU()/2)),
		fmt.Sprintf("PROBEFLEET_FAILPOINTS=probing.measured=spin@%d", 90+t.rng.IntN(20)))
	audit, err := testfleet.NewAuditor(in.run.DatabaseURL, in.run.ClickHouseURL)
	if err != nil {
		t.Fatalf("%v", err)
	}
	defer audit.Close()
	from := time.Now()
	first, restarts, _ := in.prober()
	answers := &process{ops: in.run.Ops["prober-local"]}
	wedged := time.Now()
	for until := wedged.Add(3 * time.Minute); ; t.wait(100 * time.Millisecond) {
		if status, _ := answers.health(); status != "gone" {
			wedged = time.Now()
			continue
		}
		if pid, _, _ := in.prober(); pid != first || time.Now().After(until) || syscall.Kill(first, 0) != nil {
			break
		}
	}
	killed := time.Now()
	t.rig.within(5*time.Second, func() bool { _, n, _ := in.prober(); return n > 0 })
	if _, n, how := in.prober(); restarts != 0 || n != 1 || killed.Sub(wedged) > patience(20*time.Second) {
		t.Errorf("after %v without an answer it was started again %d times (%s), want once, within 20 s", killed.Sub(wedged).Round(time.Millisecond), n, how)
	}
	t.injected = wedged
	question := fmt.Sprintf("SELECT count() FROM results WHERE status <= 3 AND checked_at >= fromUnixTimestamp64Milli(%d)", killed.UnixMilli())
	t.await(40*time.Second, "a new row", func() bool { n, err := audit.Query(t.Context(), question); return err == nil && n > 0 })
	t.recovered(25 * time.Second)
	until := killed
	t.await(90*time.Second, "every slot has its row", func() bool {
		a, err := audit.Window(t.Context(), from, until)
		return err == nil && a.Missing == 0
	})
	a, err := audit.Window(t.Context(), from, until)
	if err != nil || a.Planned == 0 || a.Rows != a.Outcomes["up"] || a.Doubled+a.Unplanned > 0 {
		t.Errorf("the installation's account: %v, %v", a, err)
	}
}
