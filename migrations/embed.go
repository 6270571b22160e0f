// Package migrations holds the schemas of the relational database (Postgres or
// SQLite) and of ClickHouse, and brings a database up to them.
//
// A released file never changes; a new one is added, and must leave the tables
// usable by the previous release, so that programs and schema can be rolled out
// one after the other. Running the migrations again does nothing, and several
// processes may run them at once. Statements end at a line's final semicolon;
// one that holds semicolons inside needs `-- +goose StatementBegin`.
//
// Those of ClickHouse are templates: for one node, or for the cluster that the URL
// names with ?cluster=NAME. What a released one says for one node never changes either.
package migrations

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"time"

	"github.com/pressly/goose/v3"

	"github.com/probefleet/probefleet/internal/database/connect"
)

//go:embed relational/postgres/*.sql relational/sqlite/*.sql clickhouse/*.sql
var files embed.FS

// versionTable is where goose records what it applied, in each database.
const versionTable = goose.DefaultTablename

// store is one schema: where its files are and how to ask how far a database is.
type store struct {
	name        string // postgres, sqlite or clickhouse
	folder      string
	dialect     goose.Dialect
	tableExists string // counts the version table: 0 or 1
	layout      layout // of ClickHouse
}

func relational(engine connect.Engine) store {
	if engine == connect.SQLite {
		return store{name: "sqlite", folder: "relational/sqlite", dialect: goose.DialectSQLite3,
			tableExists: "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = '" + versionTable + "'"}
	}
	return store{name: "postgres", folder: "relational/postgres", dialect: goose.DialectPostgres,
		tableExists: "SELECT count(to_regclass('" + versionTable + "'))"}
}

func clickHouse(l layout) store {
	return store{name: "clickhouse", folder: "clickhouse", dialect: goose.DialectClickHouse, layout: l,
		tableExists: "SELECT count() FROM system.tables WHERE database = currentDatabase() AND name = '" + versionTable + "'"}
}

// provider prepares goose without its process-wide state.
func (s store) provider(db *sql.DB, options ...goose.ProviderOption) (*goose.Provider, error) {
	folder, err := fs.Sub(files, s.folder)
	if err != nil {
		return nil, fmt.Errorf("read the embedded migrations: %w", err)
	}
	if s.dialect == goose.DialectClickHouse {
		folder = rendered{folder, s.layout}
	}
	options = append(options, goose.WithDisableGlobalRegistry(true))
	provider, err := goose.NewProvider(s.dialect, db, folder, options...)
	if err != nil {
		return nil, fmt.Errorf("prepare the %s migrations: %w", s.name, err)
	}
	return provider, nil
}

// up applies what is pending. Losing a race against another process is no failure: who does
// goes on from where the other is.
func (s store) up(ctx context.Context, db *sql.DB, report func(string), options ...goose.ProviderOption) error {
	provider, err := s.provider(db, options...)
	if err != nil {
		return err
	}
	for {
		before, err := s.version(ctx, db)
		if err != nil {
			return err
		}
		applied, failed := provider.Up(ctx)
		if partial, ok := errors.AsType[*goose.PartialError](failed); ok {
			applied = partial.Applied
		}
		if report != nil {
			for _, one := range applied {
				report(fmt.Sprintf("%s: applied %s in %v", s.name, path.Base(one.Source.Path), one.Duration.Round(time.Millisecond)))
			}
		}
		now, err := s.version(ctx, db)
		if failed == nil || err == nil && now >= s.newest() {
			return nil
		}
		if err != nil || now <= before+int64(len(applied)) {
			return fmt.Errorf("migrate %s: %w", s.name, failed)
		}
	}
}

// version is how far the database is; 0 when it was never migrated. It creates nothing.
func (s store) version(ctx context.Context, db *sql.DB) (int64, error) {
	var tables int64
	if err := db.QueryRowContext(ctx, s.tableExists).Scan(&tables); err != nil {
		return 0, fmt.Errorf("read the %s schema version: %w", s.name, err)
	}
	if tables == 0 {
		return 0, nil
	}
	var version sql.NullInt64
	if err := db.QueryRowContext(ctx, "SELECT max(version_id) FROM "+versionTable).Scan(&version); err != nil {
		return 0, fmt.Errorf("read the %s schema version: %w", s.name, err)
	}
	return version.Int64, nil
}

// check refuses a schema older than the newest embedded file; a newer one is fine.
func (s store) check(ctx context.Context, db *sql.DB) error {
	have, err := s.version(ctx, db)
	if err != nil {
		return err
	}
	if need := s.newest(); have < need {
		return &OutdatedError{Store: s.name, Have: have, Need: need}
	}
	return nil
}

// pending lists the files a database at this version still needs, in order.
func (s store) pending(version int64) []string {
	var names []string
	entries, _ := files.ReadDir(s.folder) // embedded and sorted: cannot fail
	for _, entry := range entries {
		if number, err := goose.NumericComponent(entry.Name()); err == nil && number > version {
			names = append(names, entry.Name())
		}
	}
	return names
}

func (s store) newest() int64 {
	all := s.pending(0)
	number, _ := goose.NumericComponent(all[len(all)-1]) // pending lists only names with a number
	return number
}
