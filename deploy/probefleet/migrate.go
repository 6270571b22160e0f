package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/probefleet/probefleet/internal/database/connect"
	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/service"
	"github.com/probefleet/probefleet/migrations"
)

type migrateCommand struct {
	Up     migrateUp     `cmd:"" help:"Apply what is pending."`
	Status migrateStatus `cmd:"" help:"Show how far each database is."`
}

type migrateUp struct {
	storeFlags `embed:""`
}

func (c *migrateUp) Run(ctx context.Context, to console) error {
	stores, err := c.resolve()
	if err != nil {
		return service.Exit(service.ExitConfig, err)
	}
	env, err := readEnvironment()
	if err != nil {
		return service.Exit(service.ExitConfig, err)
	}
	keep := resultstore.Retentions{Raw: env.KeepRaw, Hourly: env.KeepHourly, Daily: env.KeepDaily}
	if err := keep.Valid(); err != nil {
		return service.Exit(service.ExitConfig, err)
	}
	report := func(line string) { _, _ = fmt.Fprintln(to.Out, line) }
	if err := migrate(ctx, stores.DatabaseURL, stores.ClickHouseURL, report); err != nil {
		return err
	}
	return retain(ctx, stores.ClickHouseURL, keep, report)
}

// retain makes the tables keep what the environment says; they are left as they are where it says nothing, and what goes with results goes with them.
func retain(ctx context.Context, clickhouseURL string, keep resultstore.Retentions, report func(string)) error {
	if clickhouseURL == "" {
		return nil
	}
	results, err := resultstore.Open(ctx, clickhouseURL)
	if err != nil {
		return service.Exit(service.ExitDependency, err)
	}
	defer results.Close()
	altered, err := results.Keep(ctx, keep)
	for _, table := range altered {
		report("clickhouse: retention of " + table + " changed")
	}
	return service.Exit(service.ExitDependency, err)
}

func migrate(ctx context.Context, databaseURL, clickhouseURL string, report func(string)) error {
	var failed []error
	if databaseURL != "" {
		if _, err := connect.Parse(databaseURL); err != nil {
			return service.Exit(service.ExitConfig, err)
		}
		failed = append(failed, migrations.UpRelational(ctx, databaseURL, report))
	}
	if clickhouseURL != "" {
		failed = append(failed, migrations.UpClickHouse(ctx, clickhouseURL, report))
	}
	return service.Exit(service.ExitDependency, errors.Join(failed...))
}

type migrateStatus struct {
	storeFlags `embed:""`
}

func (c *migrateStatus) Run(ctx context.Context, to console) error {
	stores, err := c.resolve()
	if err != nil {
		return service.Exit(service.ExitConfig, err)
	}
	states, err := migrations.Status(ctx, stores.DatabaseURL, stores.ClickHouseURL)
	for _, state := range states {
		verdict := "up to date"
		if len(state.Pending) > 0 {
			verdict = "pending: " + strings.Join(state.Pending, ", ") + " (run `probefleet migrate up`)"
		}
		_, _ = fmt.Fprintf(to.Out, "%-10s version %d of %d, %s\n", state.Store, state.Version, state.Needed, verdict)
	}
	return service.Exit(service.ExitDependency, err)
}
