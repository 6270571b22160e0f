package service

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/pprof"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Level is how well a component is.
type Level int

// Levels, best first. Degraded still does its work; Error does not.
const (
	OK Level = iota
	Degraded
	Error
)

var levelNames = [...]string{"ok", "degraded", "error"}

// Health collects what a process knows about itself. It is safe for concurrent use.
type Health struct {
	name, version string
	started       time.Time

	mu         sync.Mutex
	ready      bool
	components map[string]component
	facts      map[string]func() any
}

type component struct {
	level  Level
	reason string
	since  time.Time
}

// NewHealth starts empty and not ready.
func NewHealth(name, version string) *Health {
	return &Health{name: name, version: version, started: time.Now(), components: map[string]component{}, facts: map[string]func() any{}}
}

// Set states how a component is; the reason is one sentence for people, empty when it is OK
// and there is nothing to say of it.
func (h *Health) Set(name string, level Level, reason string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	since := time.Now()
	if old, found := h.components[name]; found && old.level == level {
		since = old.since
	}
	h.components[name] = component{level, reason, since}
}

// Fact adds a field to /healthz; f is called at each request and must not block.
func (h *Health) Fact(name string, f func() any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.facts[name] = f
}

// Ready makes /readyz answer 200 from now on and tells systemd so.
func (h *Health) Ready() {
	h.mu.Lock()
	already := h.ready
	h.ready = true
	h.mu.Unlock()
	if !already {
		_, _ = daemon.SdNotify(false, daemon.SdNotifyReady)
	}
}

func (h *Health) isReady() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.ready
}

type report struct {
	Status  string         `json:"status"`
	Reasons []string       `json:"reasons"`
	Service string         `json:"service"`
	Version string         `json:"version"`
	Uptime  int64          `json:"uptime_s"`
	Ready   bool           `json:"ready"`
	Facts   map[string]any `json:"facts"`
}

func (h *Health) report() report {
	h.mu.Lock()
	worst, reasons := OK, []string{}
	for _, name := range slices.Sorted(maps.Keys(h.components)) {
		c := h.components[name]
		worst = max(worst, c.level)
		if c.level > OK || c.reason != "" {
			reasons = append(reasons, name+": "+c.reason+" (since "+c.since.UTC().Format(time.RFC3339)+")")
		}
	}
	r := report{Status: levelNames[worst], Reasons: reasons, Service: h.name, Version: h.version, Uptime: int64(time.Since(h.started).Seconds()), Ready: h.ready, Facts: map[string]any{}}
	facts := maps.Clone(h.facts)
	h.mu.Unlock()
	for name, f := range facts { // outside the lock: a fact may call Set
		r.Facts[name] = f()
	}
	return r
}

// OpsHandler serves /healthz (503 on error), /readyz and /metrics, and to callers of this machine
// /debug/pprof.
func OpsHandler(health *Health, metrics *prometheus.Registry) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		r := health.report()
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		if r.Status == levelNames[Error] {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		_ = json.NewEncoder(w).Encode(r)
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if !health.isReady() {
			http.Error(w, "not ready", http.StatusServiceUnavailable)
			return
		}
		_, _ = w.Write([]byte("ready\n"))
	})
	mux.Handle("GET /metrics", promhttp.HandlerFor(metrics, promhttp.HandlerOpts{}))
	for path, profile := range map[string]http.HandlerFunc{
		"": pprof.Index, "cmdline": pprof.Cmdline, "profile": pprof.Profile, "symbol": pprof.Symbol, "trace": pprof.Trace,
	} {
		mux.Handle("GET /debug/pprof/"+path, ofThisMachine(profile))
	}
	return mux
}

// ofThisMachine serves who calls from the loopback interface: a profile takes the time of a core,
// and says what the command line does.
func ofThisMachine(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if from, err := netip.ParseAddrPort(r.RemoteAddr); err != nil || !from.Addr().Unmap().IsLoopback() {
			http.Error(w, "profiles are given to this machine only: ask on it, through 127.0.0.1", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}
