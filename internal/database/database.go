// Package database opens the relational database for the stores.
//
// It guarantees a schema new enough for this program, one kind of error for
// "cannot answer now" (ErrUnavailable) whatever the engine, and write
// transactions that queue instead of failing: on SQLite all writes of a process
// go through one connection, and those of several processes wait for each other.
// A newer schema is accepted, so that a roll-out can migrate first.
package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"gorm.io/driver/postgres"
	"gorm.io/driver/sqlite"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/probefleet/probefleet/internal/database/connect"
	"github.com/probefleet/probefleet/migrations"
)

// DB is an open database: a pool for writes and one for reads (the same on Postgres).
type DB struct {
	engine             connect.Engine
	read, write, aside *gorm.DB
	pools              []*sql.DB
	asides             *sql.DB // not among those that are asked for a sign of life: it has no connection to keep
}

// Open connects and checks the schema: *migrations.OutdatedError says what to
// run. It never creates or changes anything.
func Open(ctx context.Context, databaseURL string) (*DB, error) {
	source, err := connect.Parse(databaseURL)
	if err != nil {
		return nil, err
	}
	exists, err := source.Exists()
	if err != nil {
		return nil, fmt.Errorf("open the database: %w", err)
	}
	if !exists {
		return nil, migrations.NeverMigrated(source.Engine)
	}
	db := &DB{engine: source.Engine}
	if err := db.open(ctx, source); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

func (d *DB) open(ctx context.Context, source connect.Source) error {
	writer, err := source.OpenWriter()
	if err != nil {
		return err
	}
	d.pools = append(d.pools, writer)
	if err := writer.PingContext(ctx); err != nil {
		return fmt.Errorf("open the database: %w: %w", ErrUnavailable, err)
	}
	if err := migrations.CheckRelational(ctx, source.Engine, writer); err != nil {
		return Translate(ctx, err)
	}
	if d.write, err = wrap(source.Engine, writer); err != nil {
		return Translate(ctx, err)
	}
	if d.asides, err = source.OpenAside(); err != nil {
		return err
	}
	if d.aside, err = wrap(source.Engine, d.asides); err != nil {
		return Translate(ctx, err)
	}
	d.read = d.write
	if source.Engine == connect.SQLite {
		reader, err := source.OpenReader()
		if err != nil {
			return err
		}
		d.pools = append(d.pools, reader)
		if d.read, err = wrap(source.Engine, reader); err != nil {
			return Translate(ctx, err)
		}
	}
	return nil
}

func wrap(engine connect.Engine, pool *sql.DB) (*gorm.DB, error) {
	dialector := postgres.New(postgres.Config{Conn: pool})
	if engine == connect.SQLite {
		dialector = sqlite.New(sqlite.Config{DriverName: "sqlite", Conn: pool})
	}
	db, err := gorm.Open(dialector, &gorm.Config{
		Logger:                 logger.Discard, // errors are returned, and logged once by whoever handles them
		SkipDefaultTransaction: true,
		DisableAutomaticPing:   true,
		TranslateError:         true,
	})
	if err != nil {
		return nil, fmt.Errorf("open the database: %w", err)
	}
	return db, nil
}

// Engine says which database this is.
func (d *DB) Engine() connect.Engine { return d.engine }

// Read is where queries start. Each use is a fresh chain.
func (d *DB) Read() *gorm.DB { return d.read }

// Write is where single-statement writes start. Use Tx for more than one.
func (d *DB) Write() *gorm.DB { return d.write }

// Tx runs fn in a write transaction; fn must use tx alone. It commits if fn
// returns nil and rolls back otherwise, returning fn's error translated.
func (d *DB) Tx(ctx context.Context, fn func(tx *gorm.DB) error) error {
	return Translate(ctx, d.write.WithContext(ctx).Transaction(fn))
}

// Each runs a query, on d's pools or in a transaction, and has scan read every row of it; it ends with the
// first error. The error is the driver's: see Failed.
func Each(tx *gorm.DB, scan func(rows *sql.Rows) error, query string, args ...any) error {
	rows, err := tx.Raw(query, args...).Rows()
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Ping asks the database for a sign of life.
func (d *DB) Ping(ctx context.Context) error {
	for _, pool := range d.pools {
		if err := pool.PingContext(ctx); err != nil {
			return fmt.Errorf("ping the database: %w: %w", ErrUnavailable, err)
		}
	}
	return nil
}

// Close ends all connections.
func (d *DB) Close() error {
	var errs []error
	for _, pool := range d.pools {
		errs = append(errs, pool.Close())
	}
	if d.asides != nil {
		errs = append(errs, d.asides.Close())
	}
	return errors.Join(errs...)
}
