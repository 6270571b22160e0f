package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/probefleet/probefleet/deploy/probefleet/internal/supervisor"
	"github.com/probefleet/probefleet/internal/service"
	"github.com/probefleet/probefleet/internal/uptime"
)

type upCommand struct {
	Dir     string   `default:"./data" help:"Folder that keeps everything: databases, spools, logs."`
	Port    int      `default:"8080" env:"PORT" help:"Port of the dashboard and API."`
	Bind    string   `default:"127.0.0.1" help:"Address the dashboard listens on; 0.0.0.0 opens it to the network."`
	Regions []string `default:"local" help:"One prober is run for each."`
	Demo    bool     `help:"Add a small lab of local targets: up, slow, failing, flapping, expired certificate."`
}

const logLimit = 20 << 20

var regionName = regexp.MustCompile(`^[a-z0-9-]{1,32}$`)

// Run wires a whole installation:
//
//	stores (SQLite · Redis · ClickHouse, or those of the environment) → migrations
//	  → publisher · one prober a region · dashboard-api, each supervised → the URL
func (c *upCommand) Run(ctx context.Context, to console) error {
	started := time.Now()
	if err := c.check(); err != nil {
		return service.Exit(service.ExitConfig, err)
	}
	in, err := openInstallation(c.Dir)
	if err != nil {
		return service.Exit(service.ExitConfig, err)
	}
	defer in.close()
	if err := portFree(c.Bind, c.Port); err != nil {
		return service.Exit(service.ExitConfig, fmt.Errorf("port %d cannot be listened on: choose another with --port: %w", c.Port, err))
	}
	log := in.logger()
	say := func(format string, args ...any) { _, _ = fmt.Fprintf(to.Out, format+"\n", args...) }

	stores, err := openStores(ctx, in, log, to.Err)
	if err != nil {
		return service.Exit(service.ExitDependency, err)
	}
	defer stores.stop() //nolint:contextcheck // stopping goes on after ctx has ended
	if err := migrate(ctx, stores.databaseURL, stores.clickhouseURL, func(line string) { log.Info("migration", "done", line) }); err != nil {
		return err
	}
	if err := in.changeRegions(ctx, stores.databaseURL, c.Regions); err != nil {
		return err
	}
	allow, canaries := in.env.AllowCIDRs, in.env.Canaries
	if c.Demo {
		lab, err := startDemo(ctx, stores.databaseURL)
		if err != nil {
			return err
		}
		defer lab.Close()
		allow = strings.Trim(allow+",127.0.0.0/8", ",")
		canaries = cmp.Or(canaries, strings.TrimPrefix(lab.URL(), "http://")) // a demo needs no internet
	}

	up := &upRun{upCommand: c, in: in, stores: stores, ops: map[string]string{}, url: "http://" + hostForPeople(c.Bind) + fmt.Sprintf(":%d", c.Port)}
	up.sup = supervisor.New(in.supervised(up.record))
	defer up.sup.Stop() // before the stores
	if err := up.startPrograms(allow, canaries); err != nil {
		return err
	}
	if err := waitReady(ctx, up.sup, up.ops["dashboard-api"], in.dir); err != nil {
		return err
	}
	up.record()
	say("\nProbefleet is running (started in %.1f s).\n\n  Dashboard   %s", time.Since(started).Seconds(), up.url)
	if link := in.setupLink(); link != "" {
		say("  Set-up      %s\n              opens once, to create the owner's account", link)
	}
	say("  Data        %s (logs in logs/)\n  Redis       %s\n  Regions     %s", in.dir, stores.redisNote, strings.Join(c.Regions, ", "))
	if why := volatileDir(in.dir); why != "" {
		say("  Note        the data folder does not outlive a restart of this machine: %s", why)
	}
	if c.Demo {
		say("  Demo        a lab of local targets runs in this process; its probers may visit 127.0.0.0/8")
	}
	say("\nStop with Ctrl-C. Starting again keeps targets and history.")

	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { up.sup.Rotate(ctx, logLimit); return nil })
	group.Go(func() error { stores.keep(ctx, log, up.record); return nil })
	group.Go(func() error { <-ctx.Done(); return nil })
	err = group.Wait()
	say("\nStopping: running checks are finished and results stored.")
	return err
}

// check judges the flags before anything is made or started.
func (c *upCommand) check() error {
	if c.Port < 1 || c.Port > 65535 {
		return fmt.Errorf("--port %d: want 1 to 65535", c.Port)
	}
	if len(c.Regions) == 0 {
		return errors.New("--regions: name at least one")
	}
	for i, region := range c.Regions {
		if !regionName.MatchString(region) {
			return fmt.Errorf("--regions: %q is not 1 to 32 of a-z, 0-9 and -", region)
		}
		if uptime.ReservedRegion(region) {
			return fmt.Errorf("--regions: %s is kept for results that do not come from probers: call the region something else", region)
		}
		if region == publisherSpool || region == apiSpool {
			return fmt.Errorf("--regions: %s is the name of a program: call the region something else", region)
		}
		if slices.Contains(c.Regions[:i], region) {
			return fmt.Errorf("--regions: %s is named twice", region)
		}
	}
	return nil
}

// upRun is one life of the installation.
type upRun struct {
	*upCommand
	in     *installation
	stores *stores
	sup    *supervisor.Supervisor
	url    string
	ops    map[string]string

	recording sync.Mutex
}

// startPrograms starts them in order. Their ops addresses are all known before the
// first starts: from then on record reads them.
func (u *upRun) startPrograms(allow, canaries string) error {
	base := withoutStoreVariables(os.Environ())
	env := func(extra ...string) []string { return append(append([]string{}, base...), extra...) }
	stores := []string{"REDIS_URL=" + u.stores.redisURL, "CLICKHOUSE_URL=" + u.stores.clickhouseURL, "SECRET_KEY=" + u.in.secretKey, "SECRET_KEY_OTHER=" + u.in.env.OtherKey.Reveal()}
	database := "DATABASE_URL=" + u.stores.databaseURL

	volatile := strconv.FormatBool(volatileDir(u.in.dir) != "")

	programs := []supervisor.Program{{Name: "publisher", Env: env(append(stores, database,
		"PUBLISHER_SPOOL_DIR="+u.in.spoolDir(publisherSpool), "PUBLISHER_SPOOL_VOLATILE="+volatile)...)}}
	for _, region := range u.Regions {
		// A prober gets no relational database: it never needs one.
		programs = append(programs, supervisor.Program{Name: "prober-" + region, Env: env(append(stores,
			"REGION="+region, "PROBER_NAME="+region+"-1", "PROBER_ALLOW_CIDRS="+allow, "PROBER_CANARIES="+canaries,
			"PROBER_SPOOL_DIR="+u.in.spoolDir(region), "PROBER_SPOOL_VOLATILE="+volatile)...)})
	}
	programs = append(programs, supervisor.Program{Name: "dashboard-api", Env: env(append(stores, database,
		fmt.Sprintf("PORT=%d", u.Port), "API_BIND="+u.Bind, "API_SETUP_LINK_FILE="+u.in.setupLinkPath(),
		"API_SPOOL_DIR="+u.in.spoolDir(apiSpool), "API_SPOOL_VOLATILE="+volatile,
		"BOOTSTRAP_API_KEY="+u.in.env.BootstrapKey.Reveal(),
		"API_PUBLIC_URL="+cmp.Or(os.Getenv("API_PUBLIC_URL"), u.url))...)})

	for i := range programs {
		addr, err := freeAddress()
		if err != nil {
			return err
		}
		u.ops[programs[i].Name] = addr
		programs[i].Env = append(programs[i].Env, "OPS_ADDR="+addr)
		programs[i].Health = "http://" + addr + "/healthz"
	}
	for _, p := range programs {
		p.Path = u.in.binary(strings.SplitN(p.Name, "-", 2)[0])
		if p.Name == "dashboard-api" {
			p.Path = u.in.binary(p.Name)
		}
		if err := u.sup.Start(p); err != nil {
			return service.Exit(service.ExitConfig, fmt.Errorf("%w (is it beside this program? `make build` builds all four)", err))
		}
	}
	return nil
}

// record writes DIR/run.json; a failure is in the log, it stops nothing.
func (u *upRun) record() {
	u.recording.Lock()
	defer u.recording.Unlock()
	file := runFile{URL: u.url, PID: os.Getpid(), Port: u.Port, DatabaseURL: u.stores.databaseURL, RedisURL: u.stores.redisURL,
		ClickHouseURL: u.stores.clickhouseURL, Ops: u.ops, Processes: append(u.stores.states(), u.sup.States()...)}
	if err := file.write(u.in.dir); err != nil {
		u.in.logger().Warn("run file was not written", "error", err)
	}
}

// waitReady waits until the API answers, or says which program cannot start and where to read why.
func waitReady(ctx context.Context, sup *supervisor.Supervisor, opsAddr, dir string) error {
	limit, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	for {
		if httpOK(limit, "http://"+opsAddr+"/readyz") {
			return nil
		}
		for _, state := range sup.States() {
			if state.GivenUp || state.Restarts >= 5 {
				path, code := filepath.Join(dir, "logs", state.Name+".log"), service.ExitDependency
				if state.GivenUp {
					code = service.ExitConfig
				}
				return service.Exit(code, fmt.Errorf("%s does not start (%s); the end of %s says:\n%s", state.Name, state.LastExit, path, lastLines(path, 5)))
			}
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-limit.Done():
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return service.Exit(service.ExitDependency, errors.New("the API was not ready within two minutes; read "+filepath.Join(dir, "logs")))
		}
	}
}

func lastLines(path string, n int) string {
	content, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(content)), "\n")
	return "  " + strings.Join(lines[max(0, len(lines)-n):], "\n  ")
}

func newFileLogger(out io.Writer) *slog.Logger {
	return service.NewLogger(service.Settings{LogLevel: "info", LogFormat: "text"}, out)
}
