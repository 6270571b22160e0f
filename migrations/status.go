package migrations

import (
	"context"
	"errors"
	"fmt"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/probefleet/probefleet/internal/database/connect"
)

// OutdatedError is the refusal to run on a schema older than the program needs.
type OutdatedError struct {
	Store      string // postgres, sqlite or clickhouse
	Have, Need int64
}

// Hopeless says that waiting does not bring a schema up to date.
func (e *OutdatedError) Hopeless() bool { return true }

// Error says what to do about it.
func (e *OutdatedError) Error() string {
	what := "database"
	if e.Store == "clickhouse" {
		what = "clickhouse"
	}
	return fmt.Sprintf("%s schema is at version %d, this program needs %d: run `probefleet migrate up`", what, e.Have, e.Need)
}

// State is how far one database is.
type State struct {
	Store   string   // postgres, sqlite or clickhouse
	Version int64    // of the database; 0 when it was never migrated
	Needed  int64    // by this program
	Pending []string // files not applied yet, in order
}

// Status reads the state of both databases and changes nothing. An unreachable
// one is an error beside the other's state. An empty URL leaves that one out.
func Status(ctx context.Context, databaseURL, clickhouseURL string) ([]State, error) {
	var states []State
	var errs []error
	add := func(s store, version int64, err error) {
		if err != nil {
			errs = append(errs, err)
			return
		}
		states = append(states, State{Store: s.name, Version: version, Needed: s.newest(), Pending: s.pending(version)})
	}
	if databaseURL != "" {
		source, err := connect.Parse(databaseURL)
		if err != nil {
			return nil, err
		}
		version, err := relationalVersion(ctx, source)
		add(relational(source.Engine), version, err)
	}
	if clickhouseURL != "" {
		options, l, err := parseClickHouse(clickhouseURL)
		if err != nil {
			return nil, err
		}
		db := clickhouse.OpenDB(options)
		defer db.Close()
		s := clickHouse(l)
		version, err := s.clickHouseVersion(ctx, db)
		add(s, version, err)
	}
	return states, errors.Join(errs...)
}

func relationalVersion(ctx context.Context, source connect.Source) (int64, error) {
	exists, err := source.Exists()
	if err != nil || !exists {
		return 0, err
	}
	db, err := source.OpenReader()
	if err != nil {
		return 0, err
	}
	defer db.Close()
	return relational(source.Engine).version(ctx, db)
}
