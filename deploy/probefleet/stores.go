package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/probefleet/probefleet/deploy/probefleet/internal/supervisor"
	"github.com/probefleet/probefleet/internal/envconf"
	"github.com/probefleet/probefleet/internal/secret"
)

// storeFlags find the stores: from flags or the environment, else from the installation in Dir.
type storeFlags struct {
	Dir           string `default:"./data" help:"Folder of the installation run by 'probefleet up'."`
	DatabaseURL   string `help:"postgres://… or sqlite:PATH; else DATABASE_URL of the environment."`
	RedisURL      string `help:"redis://…; else REDIS_URL of the environment."`
	ClickHouseURL string `name:"clickhouse-url" help:"clickhouse://…; else CLICKHOUSE_URL of the environment."`
}

// environment is what this tool reads of it, NAME_FILE included, as the services do.
type environment struct {
	DatabaseURL   secret.Text `env:"DATABASE_URL"`
	RedisURL      secret.Text `env:"REDIS_URL"`
	ClickHouseURL secret.Text `env:"CLICKHOUSE_URL"`
	SecretKey     secret.Text `env:"SECRET_KEY"`
	OtherKey      secret.Text `env:"SECRET_KEY_OTHER" min:"32"`
	BootstrapKey  secret.Text `env:"BOOTSTRAP_API_KEY"`
	AllowCIDRs    string      `env:"PROBER_ALLOW_CIDRS"`
	Canaries      string      `env:"PROBER_CANARIES"`

	KeepRaw    time.Duration `env:"RETENTION_RAW" min:"48h" max:"87600h"`
	KeepHourly time.Duration `env:"RETENTION_HOURLY" min:"48h" max:"87600h"`
	KeepDaily  time.Duration `env:"RETENTION_DAILY" min:"48h" max:"87600h"`
}

func readEnvironment() (environment, error) {
	var e environment
	return e, envconf.Load(os.Getenv, &e)
}

// resolve fills what the flags left open from the environment, then from DIR/run.json.
func (f storeFlags) resolve() (storeFlags, error) {
	env, err := readEnvironment()
	if err != nil {
		return f, err
	}
	f.DatabaseURL = cmp.Or(f.DatabaseURL, env.DatabaseURL.Reveal())
	f.RedisURL = cmp.Or(f.RedisURL, env.RedisURL.Reveal())
	f.ClickHouseURL = cmp.Or(f.ClickHouseURL, env.ClickHouseURL.Reveal())
	if f.DatabaseURL != "" && f.RedisURL != "" && f.ClickHouseURL != "" {
		return f, nil
	}
	running, err := readRunFile(f.Dir)
	if errors.Is(err, os.ErrNotExist) {
		if f.DatabaseURL == "" && f.RedisURL == "" && f.ClickHouseURL == "" {
			return f, fmt.Errorf("no store is known: set DATABASE_URL, REDIS_URL and CLICKHOUSE_URL, or name the folder of a running 'probefleet up' with --dir (none runs in %s)", f.Dir)
		}
		return f, nil
	}
	if err != nil {
		return f, err
	}
	f.DatabaseURL = cmp.Or(f.DatabaseURL, running.DatabaseURL)
	f.RedisURL = cmp.Or(f.RedisURL, running.RedisURL)
	f.ClickHouseURL = cmp.Or(f.ClickHouseURL, running.ClickHouseURL)
	return f, nil
}

// runFile is DIR/run.json: what runs, where. It holds passwords, so only its owner reads it.
type runFile struct {
	URL           string             `json:"url"`
	PID           int                `json:"pid"`
	Port          int                `json:"port"`
	DatabaseURL   string             `json:"database_url"`
	RedisURL      string             `json:"redis_url"`
	ClickHouseURL string             `json:"clickhouse_url"`
	Ops           map[string]string  `json:"ops"` // service name -> address of /healthz
	Processes     []supervisor.State `json:"processes"`
}

// readRunFile gives what runs in dir; os.ErrNotExist means nothing does. The file of
// an 'up' that was killed is still there and counts for nothing.
func readRunFile(dir string) (runFile, error) {
	var r runFile
	content, err := os.ReadFile(filepath.Join(dir, "run.json"))
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(content, &r); err != nil {
		return r, err
	}
	if errors.Is(unix.Kill(r.PID, 0), unix.ESRCH) {
		return runFile{}, fmt.Errorf("%s was left by a process that is gone: %w", filepath.Join(dir, "run.json"), os.ErrNotExist)
	}
	return r, nil
}

func (r runFile) write(dir string) error {
	content, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	path := filepath.Join(dir, "run.json")
	if err := os.WriteFile(path+".tmp", append(content, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(path+".tmp", path)
}
