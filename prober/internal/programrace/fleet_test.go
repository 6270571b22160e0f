//go:build bench

package programrace

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/internal/testfleet"
	"github.com/probefleet/probefleet/internal/testusage"
	"github.com/probefleet/probefleet/migrations"
	"github.com/probefleet/probefleet/prober/internal/racetrack"
)

const region = "here"

// fleet is a Redis and a ClickHouse, both real, and the program of the prober. What the
// publisher does is done by this process: see feed.
type fleet struct {
	t            *testing.T
	program      string
	redis, click *testbackend.Server
	raw          *redis.Client
	publisher    *checkstream.Publisher
}

// newFleet starts the stores, and moves them and this process off the prober's core.
func newFleet(t *testing.T) *fleet {
	t.Helper()
	f := &fleet{t: t, program: filepath.Join(testfleet.Programs(t, testfleet.Build{}), "prober")}
	f.redis, f.click = testbackend.RedisServer(t), testbackend.ClickHouseServer(t)
	if err := migrations.UpClickHouse(t.Context(), f.click.URL(), nil); err != nil {
		t.Fatal(err)
	}
	stream, err := checkstream.Open(f.redis.URL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stream.Close() })
	address, err := redis.ParseURL(f.redis.URL())
	if err != nil {
		t.Fatal(err)
	}
	f.raw = redis.NewClient(address)
	t.Cleanup(func() { _ = f.raw.Close() })
	f.publisher = checkstream.NewPublisher(stream)
	for _, pid := range []int{os.Getpid(), f.redis.PID(), f.click.PID()} {
		racetrack.Pin(t, racetrack.Others, pid)
	}
	t.Cleanup(func() {
		if err := racetrack.Unpin(); err != nil {
			t.Error(err)
		}
	})
	return f
}

// empty forgets all checks and sets the clock of publishing back to a second.
func (f *fleet) empty(tick int64) {
	f.t.Helper()
	if err := f.raw.FlushAll(f.t.Context()).Err(); err != nil {
		f.t.Fatal(err)
	}
	if err := f.raw.HSet(f.t.Context(), "{pf}:clock", "tick", tick, "seq", 1).Err(); err != nil {
		f.t.Fatal(err)
	}
	if err := f.publisher.EnsureGroups(f.t.Context(), []string{region}); err != nil {
		f.t.Fatal(err)
	}
}

// prober is the program, alone on its core.
type prober struct {
	t           *testing.T
	pid         int
	ops         string
	stop        func()
	first, last sample // of the newest window
}

// start runs it until it is part of its region.
func (f *fleet) start(roots string) *prober {
	f.t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		f.t.Fatal(err)
	}
	ops := listener.Addr().String()
	_ = listener.Close()
	dir, canary := f.t.TempDir(), testfleet.Canary(f.t)
	cmd := racetrack.On(racetrack.Measured, f.program)
	cmd.Env = append(os.Environ(), "OPS_ADDR="+ops, "SECRET_KEY=0123456789abcdef0123456789abcdef", "REDIS_URL="+f.redis.URL(), "CLICKHOUSE_URL="+f.click.URL(),
		"REGION="+region, "PROBER_NAME=bench", "PROBER_SPOOL_DIR="+filepath.Join(dir, "spool"), "PROBER_SPOOL_VOLATILE=true", "PROBER_ALLOW_CIDRS=127.0.0.0/8", "PROBER_CANARIES="+canary,
		"SSL_CERT_FILE="+roots, "LOG_LEVEL=warn")
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		f.t.Fatal(err)
	}
	p := &prober{t: f.t, pid: cmd.Process.Pid, ops: ops}
	ended := false
	p.stop = func() {
		if ended {
			return
		}
		ended = true
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
		if f.t.Failed() {
			f.t.Logf("the prober said\n%s", said.String())
		}
	}
	f.t.Cleanup(p.stop)
	racetrack.Within(f.t, time.Minute, "the prober is ready", func() bool {
		response, err := http.Get("http://" + ops + "/readyz")
		if err != nil {
			return false
		}
		_ = response.Body.Close()
		return response.StatusCode == http.StatusOK
	})
	return p
}

// sample is what the prober and the kernel say at an instant.
type sample struct {
	at     time.Time
	cpu    time.Duration
	series map[string]float64 // of /metrics, by name and labels
}

func (p *prober) sample() sample {
	p.t.Helper()
	s := sample{series: map[string]float64{}}
	response, err := http.Get("http://" + p.ops + "/metrics")
	if err != nil {
		p.t.Fatal(err)
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	s.at, s.cpu = time.Now(), testusage.CPUSoFar(p.t, p.pid)
	for l := range strings.Lines(string(content)) {
		if name, value, ok := strings.Cut(strings.TrimSpace(l), " "); ok && name != "#" {
			s.series[name], _ = strconv.ParseFloat(value, 64)
		}
	}
	return s
}

// rows is how many rows there were of a status.
func (s sample) rows(status string) float64 {
	return s.series[fmt.Sprintf("probefleet_prober_results_total{status=%q}", status)]
}

func (s sample) all() float64 {
	n := 0.0
	for name, value := range s.series {
		if strings.HasPrefix(name, "probefleet_prober_results_total") {
			n += value
		}
	}
	return n
}

func (s sample) settled() float64 { return s.series["probefleet_prober_acked_total"] }

// cpuTo is what each check cost that was settled until a later sample, in µs of CPU.
func (s sample) cpuTo(later sample) float64 {
	return float64((later.cpu - s.cpu).Microseconds()) / (later.settled() - s.settled())
}

// lateness is the quantile of how late checks began between two samples, in ms: within its
// bucket of the prober's histogram it is taken to lie evenly.
func (s sample) lateness(from sample, quantile float64) float64 {
	const name = `probefleet_prober_lateness_seconds_bucket{le="`
	type bucket struct{ limit, count float64 }
	var buckets []bucket
	for series, value := range s.series {
		if text, found := strings.CutPrefix(series, name); found {
			limit, err := strconv.ParseFloat(strings.TrimSuffix(text, `"}`), 64)
			if err != nil {
				limit = math.Inf(1)
			}
			buckets = append(buckets, bucket{limit, value - from.series[series]})
		}
	}
	sortBy(buckets, func(b bucket) float64 { return b.limit })
	before := bucket{}
	for _, b := range buckets {
		if want := quantile * buckets[len(buckets)-1].count; b.count >= want && b.count > before.count {
			if math.IsInf(b.limit, 1) {
				return 1000 * before.limit
			}
			return racetrack.Round(1000 * (before.limit + (b.limit-before.limit)*(want-before.count)/(b.count-before.count)))
		}
		before = b
	}
	return 0
}
