package jobs

import (
	"context"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/database/databasetest"
	"github.com/probefleet/probefleet/internal/jobstore"
	"github.com/probefleet/probefleet/internal/lab"
	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/internal/testfleet"
	"github.com/probefleet/probefleet/internal/uptime"
)

// fleet is jobs, Redis, SQLite and real probers against a lab of targets.
type fleet struct {
	*testing.T
	*Service
	lab      *lab.Lab
	redisURL string
	program  string

	mu   sync.Mutex
	told []jobstore.Job
}

func newFleet(t *testing.T) *fleet {
	t.Helper()
	f := &fleet{T: t, redisURL: testbackend.Redis(t), program: filepath.Join(t.TempDir(), "prober")}
	root, err := testfleet.Root()
	if err != nil {
		t.Fatal(err)
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-o", f.program, "./prober")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the prober: %v\n%s", err, out)
	}
	if f.lab, err = lab.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.lab.Close() })
	redis, err := checkstream.Open(f.redisURL)
	if err != nil {
		t.Fatal(err)
	}
	f.Service = New(Options{
		Owner: "node", Lane: checkstream.NewAdhoc(redis), Store: jobstore.New(databasetest.Open(t, testbackend.SQLite(t))), Regions: func() []string { return []string{"eu"} },
		Tell: func(j jobstore.Job) {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.told = append(f.told, j)
		},
		Health: func(error) {}, Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry(),
	})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = f.Service.Run(ctx) }()
	t.Cleanup(func() { cancel(); _ = redis.Close(); <-ended })
	return f
}

// prober starts one; ClickHouse is away all the time, which is none of its business here.
func (f *fleet) prober(name string) *os.Process {
	f.Helper()
	p := exec.Command(f.program)
	p.Env = append(os.Environ(), "REDIS_URL="+f.redisURL, "CLICKHOUSE_URL=clickhouse://127.0.0.1:1/x", "SECRET_KEY="+strings.Repeat("k", 32), "REGION=eu", "PROBER_NAME="+name,
		"OPS_ADDR=127.0.0.1:0", "PROBER_ALLOW_CIDRS=127.0.0.1/32", "PROBER_CANARIES="+testfleet.Canary(f), "PROBER_SPOOL_VOLATILE=true", "PROBER_SPOOL_DIR="+f.TempDir(), "LOG_LEVEL=error")
	p.Stderr = os.Stderr
	if err := p.Start(); err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() {
		_ = p.Process.Kill()
		_ = p.Wait()
	})
	return p.Process
}

func (f *fleet) ask(url string) string {
	f.Helper()
	j, err := f.Accept(Request{URL: url, Kind: uptime.KindHTTP, Timeout: 20 * time.Second, CreatedBy: "user:1"})
	if err != nil {
		f.Fatal(err)
	}
	return j.ID
}

// await gives a job once it fulfils a condition.
func (f *fleet) await(id string, done func(jobstore.Job) bool) jobstore.Job {
	f.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(hang); ; <-tick.C {
		j, err := f.Get(f.Context(), id)
		if err != nil {
			f.Fatal(err)
		}
		if done(j) {
			return j
		}
		if time.Now().After(deadline) {
			f.Fatalf("never: %+v", j)
		}
	}
}

// hang is how long something may take that takes no time: until then it is waited for.
const hang = 2 * time.Minute

func final(j jobstore.Job) bool { return j.State.Final() }

// TestTogether has real probers answer jobs, and one of them die over its visit.
func TestTogether(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	waiting := f.ask(f.lab.URL() + "/text/hello") // nobody is there yet
	first := f.prober("eu-1")
	got := f.await(waiting, final)
	if look := got.Looks[0]; got.State != completed || got.RetryCount != 0 || look.Status != uptime.StatusUp || look.Evidence == nil || look.Evidence.Body != "hello" || look.Prober != "eu-1" || len(look.Evidence.Hops) != 1 {
		t.Errorf("%+v", got)
	}
	for path, want := range map[string]struct {
		state  jobstore.State
		status uptime.Status
		detail string
	}{
		"/status/503": {completed, uptime.StatusDown, "status_code"},
		"/reset":      {completed, uptime.StatusDown, "reset"},
		"/redirect-to?url=http://169.254.169.254/": {permanent, uptime.StatusUnknown, "redirect_blocked"},
	} {
		got := f.await(f.ask(f.lab.URL()+path), final)
		if look := got.Looks[0]; got.State != want.state || look.Status != want.status || string(look.Failure)+string(look.Reason) != want.detail {
			t.Errorf("%s: %+v", path, got)
		}
	}

	dying := f.ask(f.lab.URL() + "/slow/10s")
	f.await(dying, func(jobstore.Job) bool { return f.lab.RequestsTo("/slow/10s") > 0 })
	if err := first.Kill(); err != nil {
		t.Fatal(err)
	}
	f.prober("eu-2")
	got = f.await(dying, final)
	if got.State != completed || got.RetryCount != 0 || got.Looks[0].Prober != "eu-2" || got.Looks[0].Status != uptime.StatusUp {
		t.Errorf("taken over: %+v", got)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	var states []jobstore.State
	for _, j := range f.told {
		if j.ID == dying {
			states = append(states, j.State)
		}
	}
	if !slices.Equal(states, []jobstore.State{queued, running, completed}) {
		t.Errorf("told %v", states)
	}
}
