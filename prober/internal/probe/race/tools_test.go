//go:build bench

package race

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/probefleet/probefleet/prober/internal/racetrack"
)

func contestants() []contestant {
	field := []contestant{
		{"probefleet", "guard, caps, five phases, judgement and metrics", ours("engine")},
		{racetrack.BareSockets, "looks at nothing", ours(racetrack.BareSockets)},
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

func ours(role string) func(*testing.T, string, string, float64) racetrack.Score {
	return func(t *testing.T, link, roots string, seconds float64) racetrack.Score {
		t.Helper()
		return racetrack.Saturated(t, role, link, roots, seconds)
	}
}

var wrkTotal, heyTotal = regexp.MustCompile(`(\d+) requests in`), regexp.MustCompile(`\[200\]\s+(\d+) responses`)

func tool(t *testing.T, total *regexp.Regexp, cmd *exec.Cmd) racetrack.Score {
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
	return racetrack.Score{Checks: n, CPU: racetrack.CPUOf(cmd)}
}

func wrk(path string) func(*testing.T, string, string, float64) racetrack.Score {
	return func(t *testing.T, link, _ string, seconds float64) racetrack.Score {
		return tool(t, wrkTotal, racetrack.On(racetrack.Measured, path, "-t1", "-c64", fmt.Sprintf("-d%.0fs", seconds), "-H", "Connection: close", link))
	}
}

func hey(path string) func(*testing.T, string, string, float64) racetrack.Score {
	return func(t *testing.T, link, _ string, seconds float64) racetrack.Score {
		return tool(t, heyTotal, racetrack.On(racetrack.Measured, path, "-disable-keepalive", "-c", "64", "-cpus", "1", "-z", fmt.Sprintf("%.0fs", seconds), link))
	}
}

const blackboxConfig = `modules:
  web: {prober: http, timeout: 10s, http: {preferred_ip_protocol: ip4, tls_config: {ca_file: %q}}}
`

// blackbox is asked for one probe after the other over kept connections, as Prometheus does.
func blackbox(path string) func(*testing.T, string, string, float64) racetrack.Score {
	return func(t *testing.T, link, roots string, seconds float64) racetrack.Score {
		config := filepath.Join(t.TempDir(), "blackbox.yml")
		if err := os.WriteFile(config, fmt.Appendf(nil, blackboxConfig, roots), 0o600); err != nil {
			t.Fatal(err)
		}
		const address = "127.0.0.5:9115"
		cmd := racetrack.On(racetrack.Measured, path, "--config.file="+config, "--web.listen-address="+address, "--log.level=error")
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
		return racetrack.Score{Checks: checks.Load(), CPU: racetrack.CPUOf(cmd)}
	}
}
