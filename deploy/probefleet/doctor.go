package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/probefleet/probefleet/deploy/embedded"
	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/service"
	"github.com/probefleet/probefleet/migrations"
)

type doctorCommand struct {
	storeFlags `embed:""`
}

// finding is one line of the doctor's report.
type finding struct {
	level string // pass, warn, fail
	what  string
	fix   string // what to do; empty when it passes
}

func pass(format string, args ...any) finding {
	return finding{"pass", fmt.Sprintf(format, args...), ""}
}
func warn(what, fix string) finding { return finding{"warn", what, fix} }
func fail(what, fix string) finding { return finding{"fail", what, fix} }

// Run prints what it finds and fails when something must be fixed.
func (c *doctorCommand) Run(ctx context.Context, to console) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	findings := []finding{pass("probefleet %s on %s/%s, %s", service.Version(), runtime.GOOS, runtime.GOARCH, runtime.Version())}
	findings = append(findings, checkMachine(c.Dir)...)
	stores, err := c.resolve()
	if err != nil {
		findings = append(findings, warn("the stores were not checked: "+err.Error(), "start `probefleet up`, or set the three URLs"))
	} else {
		findings = append(findings, checkRedis(ctx, stores.RedisURL)...)
		findings = append(findings, checkSchemas(ctx, stores)...)
		findings = append(findings, checkServices(ctx, c.Dir)...)
	}
	failed := 0
	for _, f := range findings {
		_, _ = fmt.Fprintf(to.Out, "%s  %s\n", f.level, f.what)
		if f.fix != "" {
			_, _ = fmt.Fprintf(to.Out, "      fix: %s\n", f.fix)
		}
		if f.level == "fail" {
			failed++
		}
	}
	if failed > 0 {
		return service.Exit(service.ExitDependency, fmt.Errorf("%d finding(s) must be fixed", failed))
	}
	return nil
}

func checkMachine(dir string) []finding {
	var findings []finding
	for _, name := range []string{"publisher", "prober", "dashboard-api"} {
		self, _ := os.Executable()
		if _, err := exec.LookPath(filepath.Join(filepath.Dir(self), name)); err != nil {
			findings = append(findings, fail(name+" is not beside this program", "make build"))
		}
	}
	if path, err := embedded.FindEngine(""); err == nil {
		findings = append(findings, pass("embedded ClickHouse engine: %s", path))
	} else {
		findings = append(findings, warn("embedded ClickHouse engine: "+err.Error(), "probefleet engine fetch (178 MB, once), or set CLICKHOUSE_URL"))
	}
	if path, err := exec.LookPath("redis-server"); err == nil {
		findings = append(findings, pass("redis-server: %s", path))
	} else {
		findings = append(findings, warn("no redis-server on PATH: `probefleet up` would use an in-process stand-in that keeps nothing over a restart", "install redis (apt install redis-server), or set REDIS_URL"))
	}
	if _, err := readRunFile(dir); errors.Is(err, os.ErrNotExist) {
		if err := portFree("127.0.0.1", 8080); err != nil {
			findings = append(findings, warn("port 8080 is in use: "+err.Error(), "probefleet up --port N"))
		} else {
			findings = append(findings, pass("port 8080 is free"))
		}
	}
	return findings
}

func checkRedis(ctx context.Context, url string) []finding {
	if url == "" {
		return []finding{warn("REDIS_URL is not set", "set it, or start `probefleet up`")}
	}
	r, err := checkstream.Open(url)
	if err != nil {
		return []finding{fail("redis: "+err.Error(), "REDIS_URL looks like redis://:password@host:6379/0")}
	}
	defer r.Close()
	before := time.Now()
	now, err := r.Now(ctx)
	if err != nil {
		return []finding{fail("redis does not answer: "+err.Error(), "check REDIS_URL, the password and the network")}
	}
	version, standIn, err := r.Kind(ctx)
	if err != nil {
		return []finding{fail("redis: "+err.Error(), "allow INFO to this user")}
	}
	findings := []finding{checkClock(now, before, time.Now())}
	if standIn {
		return append(findings, warn("redis is the in-process stand-in: queued checks do not outlive a restart", "install redis-server"))
	}
	info, err := r.Commands().Info(ctx).Result()
	if err != nil {
		return append(findings, fail("redis info: "+err.Error(), "allow INFO to this user"))
	}
	return append(findings, judgeRedis(version, info)...)
}

func checkClock(server, before, after time.Time) finding {
	middle := before.Add(after.Sub(before) / 2)
	skew := server.Sub(middle).Abs()
	text := fmt.Sprintf("clock differs from Redis by %v", skew.Round(time.Millisecond))
	switch {
	case skew > 30*time.Second:
		return fail(text+": the publisher stops above 30 s", "run NTP (chrony or systemd-timesyncd) on both machines")
	case skew > 2*time.Second:
		return warn(text, "run NTP (chrony or systemd-timesyncd) on both machines")
	}
	return pass("%s", text)
}

// judgeRedis reads the settings that decide whether Redis may lose the queue.
func judgeRedis(version, info string) []finding {
	value := func(key string) string {
		for line := range strings.Lines(info) {
			if v, found := strings.CutPrefix(strings.TrimSpace(line), key+":"); found {
				return v
			}
		}
		return ""
	}
	var findings []finding
	major, _, _ := strings.Cut(version, ".")
	if n, err := strconv.Atoi(major); err != nil || n < 7 {
		findings = append(findings, fail("redis "+version+" is too old", "use Redis 7.0 or newer, or Valkey 7.2 or newer"))
	} else {
		findings = append(findings, pass("redis %s", version))
	}
	if policy := value("maxmemory_policy"); policy != "noeviction" {
		findings = append(findings, fail("redis maxmemory-policy is "+policy+": under memory pressure it would drop the queue and its groups", "CONFIG SET maxmemory-policy noeviction"))
	} else {
		findings = append(findings, pass("redis maxmemory-policy noeviction"))
	}
	if value("aof_enabled") != "1" {
		findings = append(findings, warn("redis AOF is off: a restart loses the queue since the last snapshot", "CONFIG SET appendonly yes"))
	} else {
		findings = append(findings, pass("redis AOF is on"))
	}
	return findings
}

func checkSchemas(ctx context.Context, stores storeFlags) []finding {
	states, err := migrations.Status(ctx, stores.DatabaseURL, stores.ClickHouseURL)
	var findings []finding
	for _, state := range states {
		if len(state.Pending) > 0 {
			findings = append(findings, fail(fmt.Sprintf("%s schema is at version %d of %d", state.Store, state.Version, state.Needed), "probefleet migrate up"))
		} else {
			findings = append(findings, pass("%s answers, schema version %d", state.Store, state.Version))
		}
	}
	if err != nil {
		findings = append(findings, fail(err.Error(), "check the URL, the password and the network"))
	}
	return findings
}

// checkServices asks each service of a running installation how it is.
func checkServices(ctx context.Context, dir string) []finding {
	running, err := readRunFile(dir)
	if err != nil {
		return nil
	}
	var findings []finding
	for _, name := range slices.Sorted(maps.Keys(running.Ops)) {
		addr := running.Ops[name]
		if httpOK(ctx, "http://"+addr+"/healthz") {
			findings = append(findings, pass("%s is healthy", name))
		} else {
			findings = append(findings, fail(name+" is not healthy or does not answer on "+addr, "read "+filepath.Join(dir, "logs", name+".log")))
		}
	}
	return findings
}
