package faults

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

// health is what /healthz says: "ok", "degraded", "error", or "gone".
func (p *process) health() (status string, reasons []string) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.ops+"/healthz", nil)
	if err != nil {
		return "gone", nil
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "gone", nil
	}
	defer response.Body.Close()
	var said struct {
		Status  string
		Reasons []string
		Ready   bool
	}
	if json.NewDecoder(response.Body).Decode(&said) != nil {
		return "gone", nil
	}
	if !said.Ready {
		return "starting", said.Reasons
	}
	return said.Status, said.Reasons
}

// metric sums the samples of a metric whose labels contain all of labels, such as
// `outcome="stored"`; 0 when there are none or it does not answer.
func (p *process) metric(name string, labels ...string) float64 {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.ops+"/metrics", nil)
	if err != nil {
		return 0
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0
	}
	defer response.Body.Close()
	sum := 0.0
lines:
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		rest, found := strings.CutPrefix(lines.Text(), name)
		if !found || rest == "" || rest[0] != ' ' && rest[0] != '{' {
			continue
		}
		for _, label := range labels {
			if !strings.Contains(rest, label) {
				continue lines
			}
		}
		value, _ := strconv.ParseFloat(rest[strings.LastIndexByte(rest, ' ')+1:], 64)
		sum += value
	}
	return sum
}

// watch notes once a second what /healthz says, until stop is closed.
func (p *process) watch(stop <-chan struct{}) {
	for ticker := time.NewTicker(time.Second); ; {
		select {
		case <-stop:
			ticker.Stop()
			return
		case <-ticker.C:
		}
		status, _ := p.health()
		p.mu.Lock()
		p.seen[status] = true
		p.mu.Unlock()
	}
}

// saw says whether /healthz said degraded or error since the trial began.
func (p *process) saw() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.seen["degraded"] || p.seen["error"]
}

func (p *process) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen = map[string]bool{}
}

// memory is a line of /proc/PID/status in MiB, such as VmRSS or VmHWM.
func (p *process) memory(line string) int {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.pid()))
	if err != nil {
		return 0
	}
	for text := range strings.Lines(string(content)) {
		if value, found := strings.CutPrefix(text, line+":"); found {
			var kib int
			_, _ = fmt.Sscan(value, &kib)
			return kib >> 10
		}
	}
	return 0
}
