// Package service is the frame every process of Probefleet stands in: settings
// and logs, an ops server with health, metrics and profiles, signals, and exit
// codes an operator can act on. Nothing that is written to the log can block the
// work: see logWriter.
//
// SIGTERM and SIGINT cancel the context given to run; a second one ends the
// process at once. The ops server is up before run starts, so a process that
// waits for its dependencies can be asked why.
package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/probefleet/probefleet/internal/envconf"
)

// Settings every service understands.
type Settings struct {
	LogLevel  string `env:"LOG_LEVEL" default:"info" oneof:"debug,info,warn,error" help:"how much is logged"`
	LogFormat string `env:"LOG_FORMAT" default:"text" oneof:"text,json" help:"how log lines look"`
	OpsAddr   string `env:"OPS_ADDR" help:"address of /healthz, /readyz, /metrics and /debug/pprof; each service has its own default"`

	LastExitFile string `env:"LAST_EXIT_FILE" help:"file in which the supervisor says how this program ended before; /healthz shows it"`
}

// Service is what run gets.
type Service struct {
	Name, Version string
	Log           *slog.Logger
	Metrics       *prometheus.Registry
	Health        *Health
	OpsAddr       string    // where the ops server really listens
	LastExit      *LastExit // how its life before this one ended; nil: this is the first, or nobody keeps count
}

// Main runs a service and gives its exit code. It prints one clear line when it
// fails; everything else goes to the log. Services take no arguments but
// --version: their settings are environment variables.
func Main(name, opsDefault string, args []string, getenv func(string) string, out io.Writer, run func(context.Context, *Service) error) int {
	if len(args) == 1 && args[0] == "--version" {
		_, _ = fmt.Fprintln(out, name, Version())
		return ExitOK
	}
	if len(args) > 0 {
		_, _ = fmt.Fprintf(out, "%s takes no arguments but --version; it is configured by environment variables (see docs/config.md)\n", name)
		return ExitConfig
	}
	signal.Ignore(syscall.SIGPIPE) // a log reader that is gone is no reason to die
	lines := newLogWriter(detachStderr(out))
	err := serve(name, opsDefault, getenv, lines, run)
	last := ""
	if err != nil {
		last = fmt.Sprintf("%s: %v\n", name, err)
	}
	lines.finish(last)
	return Code(err)
}

func serve(name, opsDefault string, getenv func(string) string, out *logWriter, run func(context.Context, *Service) error) error {
	settings := Settings{}
	if err := envconf.Load(getenv, &settings); err != nil {
		return Exit(ExitConfig, everyMistake(name, err, run))
	}
	if settings.OpsAddr == "" {
		settings.OpsAddr = opsDefault
	}
	s := &Service{Name: name, Version: Version(), Log: NewLogger(settings, out).With("service", name), Metrics: prometheus.NewRegistry(), Health: NewHealth(name, Version())}
	out.log.Store(s.Log)
	slog.SetDefault(s.Log) // a library's own line must not block either
	s.Metrics.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{Namespace: "probefleet"}))
	lastExit, err := ReadLastExit(settings.LastExitFile)
	if err != nil {
		s.Log.Warn("last exit is unknown", "error", err)
	}
	s.LastExit = lastExit
	s.Health.Fact("last_exit", func() any { return lastExit })
	register(s.Metrics, out, lastExit)

	listener, err := net.Listen("tcp", settings.OpsAddr)
	if err != nil {
		code := ExitConfig
		if errors.Is(err, syscall.EADDRINUSE) {
			code = ExitDependency // perhaps only for now: any outgoing connection may hold a port
		}
		return Exit(code, fmt.Errorf("listening for operations (set OPS_ADDR to a free address): %w", err))
	}
	s.OpsAddr = listener.Addr().String()
	ops := &http.Server{Handler: OpsHandler(s.Health, s.Metrics), ReadHeaderTimeout: 5 * time.Second, ErrorLog: slog.NewLogLogger(s.Log.Handler(), slog.LevelWarn)}
	go func() { _ = ops.Serve(listener) }()
	defer func() { _ = ops.Close() }()

	ctx, cancel := notify(context.Background(), s.Log)
	defer cancel()
	alive, ended := context.WithCancel(context.Background()) // a drain is alive, too
	defer ended()
	go watchSystemd(alive)

	s.Log.Info("starting", "version", s.Version, "ops_addr", s.OpsAddr)
	err = run(ctx, s)
	_, _ = daemon.SdNotify(false, daemon.SdNotifyStopping)
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		err = nil
	}
	if err == nil {
		s.Log.Info("stopped")
	}
	return err
}

// everyMistake has the service read its own configuration, of which Settings are a
// part, so that all mistakes are reported at once. It gets no further than that.
func everyMistake(name string, found error, run func(context.Context, *Service) error) error {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	err := run(ctx, &Service{Name: name, Version: Version(), Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry(), Health: NewHealth(name, Version())})
	if all, ok := errors.AsType[*envconf.Error](err); ok {
		return all
	}
	return found
}

// notify cancels on the first SIGTERM or SIGINT and ends the process on the second.
// The returned function gives the signals back.
func notify(parent context.Context, log *slog.Logger) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(parent)
	signals := make(chan os.Signal, 2)
	ended := make(chan struct{})
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	go func() {
		select {
		case got := <-signals:
			log.Info("draining", "signal", got.String())
			cancel()
		case <-ended:
			return
		}
		select {
		case <-signals:
			os.Exit(130)
		case <-ended:
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(ended)
		cancel()
	}
}

// watchSystemd tells systemd's watchdog that the process can still schedule a
// goroutine. Progress of the work itself is judged inside (the prober's watchdog).
func watchSystemd(ctx context.Context) {
	interval, err := daemon.SdWatchdogEnabled(false)
	if err != nil || interval == 0 {
		return
	}
	ticker := time.NewTicker(interval / 3)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			_, _ = daemon.SdNotify(false, daemon.SdNotifyWatchdog)
		case <-ctx.Done():
			return
		}
	}
}

// NewLogger builds the logger of the settings.
func NewLogger(settings Settings, out io.Writer) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(settings.LogLevel)) // checked by envconf's oneof
	options := &slog.HandlerOptions{Level: level}
	if settings.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(out, options))
	}
	return slog.New(slog.NewTextHandler(out, options))
}

// Version is the module version or the commit the binary was built from.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" && len(setting.Value) >= 12 {
			return "dev-" + setting.Value[:12]
		}
	}
	return "dev"
}
