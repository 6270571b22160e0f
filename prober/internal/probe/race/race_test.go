//go:build bench

package race

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// line is what docs/bench.json keeps of a contestant at one kind of check.
type line struct {
	Who    string    `json:"who"`
	What   string    `json:"what"`   // http or https
	CPUUS  []float64 `json:"cpu_us"` // a check, by round
	Allocs float64   `json:"allocs,omitempty"`
	Bytes  float64   `json:"bytes,omitempty"`
	Rate   float64   `json:"rate"` // checks a second of the median round
	Note   string    `json:"note,omitempty"`
}

type document struct {
	At      time.Time `json:"at"`
	Go      string    `json:"go"`
	CPU     string    `json:"cpu"`
	Cores   int       `json:"cores"`
	Rounds  int       `json:"rounds"`
	Seconds float64   `json:"seconds"`
	Command string    `json:"command"`
	Lines   []line    `json:"lines"`
}

// contestant makes checks for some seconds on core 0, and says how many and with how much CPU.
type contestant struct {
	who, note string
	run       func(t *testing.T, link, roots string, seconds float64) result
}

type result struct {
	checks        int64
	cpu           time.Duration
	allocs, bytes float64
}

func TestRace(t *testing.T) {
	if runtime.NumCPU() < 2 {
		t.Fatal("the contestants and the server need a core each")
	}
	rounds, seconds := int(number("ROUNDS", 5)), number("SECONDS", 3)
	roots := filepath.Join(t.TempDir(), "roots.pem")
	plain, secure := startServer(t, roots)
	field := contestants()
	lines := map[[2]string]*line{}
	rates := map[[2]string][]float64{}
	for round := range rounds {
		for _, what := range []string{"http", "https"} {
			for i := range field { // another begins each round
				c := field[(i+round)%len(field)]
				link := map[string]string{"http": "http://" + plain + "/", "https": "https://" + secure + "/"}[what]
				r := c.run(t, link, roots, seconds)
				if r.checks == 0 {
					t.Fatalf("%s made no checks", c.who)
				}
				key := [2]string{c.who, what}
				if lines[key] == nil {
					lines[key] = &line{Who: c.who, What: what, Note: c.note}
				}
				l := lines[key]
				us := float64(r.cpu.Microseconds()) / float64(r.checks)
				l.CPUUS, l.Allocs, l.Bytes = append(l.CPUUS, round1(us)), round1(r.allocs), round1(r.bytes)
				rates[key] = append(rates[key], float64(r.checks)/seconds)
				t.Logf("round %d: %-18s %-5s %7.1f µs CPU a check, %6.0f a second", round+1, c.who, what, us, float64(r.checks)/seconds)
			}
		}
	}
	doc := document{At: time.Now().UTC().Truncate(time.Second), Go: runtime.Version(), CPU: cpuName(), Cores: runtime.NumCPU(), Rounds: rounds, Seconds: seconds, Command: "make bench-engine"}
	for _, what := range []string{"http", "https"} {
		for _, c := range field {
			key := [2]string{c.who, what}
			lines[key].Rate = round1(median(rates[key]))
			doc.Lines = append(doc.Lines, *lines[key])
		}
	}
	content, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("../../../../docs/bench.json", append(content, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}

func round1(v float64) float64 { return float64(int64(v*10+0.5)) / 10 }

func median(of []float64) float64 {
	sorted := slices.Sorted(slices.Values(of))
	return sorted[len(sorted)/2]
}

func number(name string, otherwise float64) float64 {
	if v, err := strconv.ParseFloat(os.Getenv(name), 64); err == nil {
		return v
	}
	return otherwise
}

func cpuName() string {
	content, _ := os.ReadFile("/proc/cpuinfo")
	for l := range strings.Lines(string(content)) {
		if name, value, ok := strings.Cut(l, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}

// on pins a command to a core.
func on(core int, name string, args ...string) *exec.Cmd {
	return exec.Command("taskset", append([]string{"-c", strconv.Itoa(core), name}, args...)...)
}

func startServer(t *testing.T, roots string) (plain, secure string) {
	t.Helper()
	cmd := on(1, os.Args[0])
	cmd.Env = append(os.Environ(), "RACE_ROLE=server", "RACE_ROOTS="+roots, "GOGC=400")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = t.Output()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stdin.Close(); _ = cmd.Wait() })
	text, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	addresses := strings.Fields(text)
	return addresses[0], addresses[1]
}

func contestants() []contestant {
	field := []contestant{
		{"probefleet", "guard, caps, five phases, judgement and metrics", ours("engine")},
		{"bare sockets", "looks at nothing", ours("bare sockets")},
		{"net/http", "standard client with a trace", ours("net/http")},
	}
	if path, err := exec.LookPath("wrk"); err == nil {
		field = append(field, contestant{"wrk", "records nothing, verifies nothing", wrk(path)})
	}
	if path, err := exec.LookPath("hey"); err == nil {
		field = append(field, contestant{"hey", "verifies nothing", hey(path)})
	}
	if path, err := exec.LookPath("prometheus-blackbox-exporter"); err == nil {
		field = append(field, contestant{"blackbox_exporter", "asked by a scraper on the other core", blackbox(path)})
	}
	return field
}

// cpuOf is what the kernel accounts to a process that has ended.
func cpuOf(cmd *exec.Cmd) time.Duration {
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}

func ours(role string) func(*testing.T, string, string, float64) result {
	return func(t *testing.T, link, roots string, seconds float64) result {
		t.Helper()
		cmd := on(0, os.Args[0])
		cmd.Env = append(os.Environ(), "RACE_ROLE="+role, "RACE_URL="+link, "RACE_ROOTS="+roots, fmt.Sprintf("RACE_SECONDS=%v", seconds))
		cmd.Stderr = t.Output()
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v", role, err)
		}
		var s score
		if err := json.Unmarshal(out, &s); err != nil {
			t.Fatal(err)
		}
		return result{checks: s.Checks, cpu: cpuOf(cmd), allocs: s.Allocs, bytes: s.Bytes}
	}
}

var wrkTotal, heyTotal = regexp.MustCompile(`(\d+) requests in`), regexp.MustCompile(`\[200\]\s+(\d+) responses`)

func tool(t *testing.T, total *regexp.Regexp, cmd *exec.Cmd) result {
	t.Helper()
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v", cmd.Args, err)
	}
	found := total.FindSubmatch(out)
	if found == nil {
		t.Fatalf("%v said %s", cmd.Args, out)
	}
	n, _ := strconv.ParseInt(string(found[1]), 10, 64)
	return result{checks: n, cpu: cpuOf(cmd)}
}

func wrk(path string) func(*testing.T, string, string, float64) result {
	return func(t *testing.T, link, _ string, seconds float64) result {
		return tool(t, wrkTotal, on(0, path, "-t1", "-c64", fmt.Sprintf("-d%.0fs", seconds), "-H", "Connection: close", link))
	}
}

func hey(path string) func(*testing.T, string, string, float64) result {
	return func(t *testing.T, link, _ string, seconds float64) result {
		return tool(t, heyTotal, on(0, path, "-disable-keepalive", "-c", "64", "-cpus", "1", "-z", fmt.Sprintf("%.0fs", seconds), link))
	}
}

const blackboxConfig = `modules:
  web: {prober: http, timeout: 10s, http: {preferred_ip_protocol: ip4, tls_config: {ca_file: %q}}}
`

// blackbox is asked for one probe after the other over kept connections, as Prometheus does.
func blackbox(path string) func(*testing.T, string, string, float64) result {
	return func(t *testing.T, link, roots string, seconds float64) result {
		config := filepath.Join(t.TempDir(), "blackbox.yml")
		if err := os.WriteFile(config, fmt.Appendf(nil, blackboxConfig, roots), 0o600); err != nil {
			t.Fatal(err)
		}
		const address = "127.0.0.5:9115"
		cmd := on(0, path, "--config.file="+config, "--web.listen-address="+address, "--log.level=error")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
		question := "http://" + address + "/probe?" + url.Values{"module": {"web"}, "target": {link}}.Encode()
		for deadline := time.Now().Add(10 * time.Second); ; {
			if response, err := client.Get("http://" + address + "/-/healthy"); err == nil {
				_ = response.Body.Close()
				break
			}
			if time.Now().After(deadline) {
				t.Fatal("blackbox_exporter does not answer")
			}
			<-time.After(20 * time.Millisecond)
		}
		var checks atomic.Int64
		var scrapers sync.WaitGroup
		until := time.Now().Add(time.Duration(seconds * float64(time.Second)))
		for range 16 {
			scrapers.Go(func() {
				for time.Now().Before(until) {
					response, err := client.Get(question)
					if err != nil {
						t.Error(err)
						return
					}
					body, _ := io.ReadAll(response.Body)
					_ = response.Body.Close()
					if !strings.Contains(string(body), "probe_success 1") {
						t.Errorf("%s", body)
						return
					}
					checks.Add(1)
				}
			})
		}
		scrapers.Wait()
		client.CloseIdleConnections()
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
		return result{checks: checks.Load(), cpu: cpuOf(cmd)}
	}
}
