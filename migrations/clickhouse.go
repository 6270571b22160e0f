package migrations

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// codeUnknownDatabase is ClickHouse's UNKNOWN_DATABASE. Codes are compared, not
// names: over the native protocol the name is empty.
const codeUnknownDatabase = 81

// UpClickHouse brings the database of a CLICKHOUSE_URL up to date, creating it
// when absent, and tells report (which may be nil) about each file applied.
// Every statement is idempotent, so a half-done attempt is simply run again.
func UpClickHouse(ctx context.Context, clickhouseURL string, report func(string)) error {
	options, err := parseClickHouse(clickhouseURL)
	if err != nil {
		return err
	}
	db := clickhouse.OpenDB(options)
	defer db.Close()
	if err := db.PingContext(ctx); isUnknownDatabase(err) {
		if err := createClickHouse(ctx, clickhouseURL, options.Auth.Database); err != nil {
			return err
		}
	} else if err != nil {
		return fmt.Errorf("connect to clickhouse: %w", err)
	}
	return clickHouse().up(ctx, db, report)
}

// CheckClickHouse refuses a database whose schema is older than this program
// needs, with an *OutdatedError that names the command to run.
func CheckClickHouse(ctx context.Context, clickhouseURL string) error {
	options, err := parseClickHouse(clickhouseURL)
	if err != nil {
		return err
	}
	db := clickhouse.OpenDB(options)
	defer db.Close()
	s := clickHouse()
	have, err := clickHouseVersion(ctx, db)
	if err != nil {
		return err
	}
	if need := s.newest(); have < need {
		return &OutdatedError{Store: s.name, Have: have, Need: need}
	}
	return nil
}

// clickHouseVersion takes an absent database for one never migrated.
func clickHouseVersion(ctx context.Context, db *sql.DB) (int64, error) {
	version, err := clickHouse().version(ctx, db)
	if isUnknownDatabase(err) {
		return 0, nil
	}
	return version, err
}

func parseClickHouse(clickhouseURL string) (*clickhouse.Options, error) {
	options, err := clickhouse.ParseDSN(clickhouseURL)
	if err != nil {
		// The parser quotes the URL, password included: do not pass that on.
		return nil, errors.New("read the ClickHouse URL: want clickhouse://user:password@host:port/database")
	}
	if options.Auth.Database == "" {
		return nil, errors.New("read the ClickHouse URL: it names no database: want clickhouse://user:password@host:port/database")
	}
	if options.Settings == nil {
		options.Settings = clickhouse.Settings{}
	}
	options.Settings["async_insert"] = 0 // the version row must be there when the run ends
	options.ReadTimeout = time.Minute
	return options, nil
}

func createClickHouse(ctx context.Context, clickhouseURL, name string) error {
	options, err := parseClickHouse(clickhouseURL)
	if err != nil {
		return err
	}
	options.Auth.Database = "default"
	db := clickhouse.OpenDB(options)
	defer db.Close()
	quoted := "`" + strings.NewReplacer("\\", "\\\\", "`", "\\`").Replace(name) + "`"
	if _, err := db.ExecContext(ctx, "CREATE DATABASE IF NOT EXISTS "+quoted); err != nil {
		return fmt.Errorf("create the clickhouse database: %w", err)
	}
	return nil
}

func isUnknownDatabase(err error) bool {
	exception, ok := errors.AsType[*clickhouse.Exception](err)
	return ok && exception.Code == codeUnknownDatabase
}
