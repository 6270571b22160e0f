package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/probefleet/probefleet/deploy/probefleet/internal/supervisor"
)

// storeFlags find the stores: from the environment, else from the installation in Dir.
type storeFlags struct {
	Dir           string `default:"./data" help:"Folder of the installation run by 'probefleet up'."`
	DatabaseURL   string `env:"DATABASE_URL" help:"postgres://… or sqlite:PATH"`
	RedisURL      string `env:"REDIS_URL" help:"redis://…"`
	ClickHouseURL string `name:"clickhouse-url" env:"CLICKHOUSE_URL" help:"clickhouse://…"`
}

// resolve fills what the environment left open from DIR/run.json.
func (f storeFlags) resolve() (storeFlags, error) {
	if f.DatabaseURL != "" && f.RedisURL != "" && f.ClickHouseURL != "" {
		return f, nil
	}
	running, err := readRunFile(f.Dir)
	if errors.Is(err, os.ErrNotExist) {
		if f.DatabaseURL == "" && f.RedisURL == "" && f.ClickHouseURL == "" {
			return f, fmt.Errorf("no store is known: set DATABASE_URL, REDIS_URL and CLICKHOUSE_URL, or name the folder of a running 'probefleet up' with --dir (%s has no run.json)", f.Dir)
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

func readRunFile(dir string) (runFile, error) {
	var r runFile
	content, err := os.ReadFile(filepath.Join(dir, "run.json"))
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal(content, &r)
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
