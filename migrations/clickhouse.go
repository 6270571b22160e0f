package migrations

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// codeUnknownDatabase is ClickHouse's UNKNOWN_DATABASE. Codes are compared, not
// names: over the native protocol the name is empty.
const codeUnknownDatabase = 81

// statementLimit is for one statement of a migration, which may read all results.
const statementLimit = 15 * time.Minute

var clusterName = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// UpClickHouse brings the database of a CLICKHOUSE_URL up to date, creating it
// when absent, and tells report (which may be nil) about each file applied.
// Every statement is idempotent, so a half-done attempt is simply run again.
func UpClickHouse(ctx context.Context, clickhouseURL string, report func(string)) error {
	options, l, err := parseClickHouse(clickhouseURL)
	if err != nil {
		return err
	}
	options.ReadTimeout = statementLimit
	db := clickhouse.OpenDB(options)
	defer db.Close()
	if err := db.PingContext(ctx); isUnknownDatabase(err) {
		if err := createClickHouse(ctx, clickhouseURL, options.Auth.Database); err != nil {
			return err
		}
	} else if err != nil {
		return fmt.Errorf("connect to clickhouse: %w", err)
	}
	if statement := l.versions(); statement != "" {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("prepare the clickhouse cluster: %w", err)
		}
	}
	return clickHouse(l).up(ctx, db, report)
}

// CheckClickHouse refuses a database whose schema is older than this program
// needs, with an *OutdatedError that names the command to run.
func CheckClickHouse(ctx context.Context, clickhouseURL string) error {
	options, l, err := parseClickHouse(clickhouseURL)
	if err != nil {
		return err
	}
	db := clickhouse.OpenDB(options)
	defer db.Close()
	s := clickHouse(l)
	have, err := s.clickHouseVersion(ctx, db)
	if err != nil {
		return err
	}
	if need := s.newest(); have < need {
		return &OutdatedError{Store: s.name, Have: have, Need: need}
	}
	return nil
}

// clickHouseVersion takes an absent database for one never migrated.
func (s store) clickHouseVersion(ctx context.Context, db *sql.DB) (int64, error) {
	version, err := s.version(ctx, db)
	if isUnknownDatabase(err) {
		return 0, nil
	}
	return version, err
}

// SplitCluster takes ?cluster=NAME off a CLICKHOUSE_URL: it tells this program, not the
// server, that the tables are spread over the nodes of that cluster. "" is one node.
func SplitCluster(clickhouseURL string) (plain, cluster string, err error) {
	// The parsers quote the URL, password included: do not pass that on.
	u, err := url.Parse(clickhouseURL)
	if err != nil {
		return "", "", errors.New("read the ClickHouse URL: want clickhouse://user:password@host:port/database")
	}
	query := u.Query()
	if !query.Has("cluster") {
		return clickhouseURL, "", nil
	}
	cluster = query.Get("cluster")
	if !clusterName.MatchString(cluster) {
		return "", "", errors.New("read the ClickHouse URL: the name of a cluster has letters, digits, _ and -")
	}
	query.Del("cluster")
	u.RawQuery = query.Encode()
	return u.String(), cluster, nil
}

func parseClickHouse(clickhouseURL string) (*clickhouse.Options, layout, error) {
	plain, cluster, err := SplitCluster(clickhouseURL)
	if err != nil {
		return nil, layout{}, err
	}
	options, err := clickhouse.ParseDSN(plain)
	if err != nil {
		return nil, layout{}, errors.New("read the ClickHouse URL: want clickhouse://user:password@host:port/database")
	}
	if options.Auth.Database == "" {
		return nil, layout{}, errors.New("read the ClickHouse URL: it names no database: want clickhouse://user:password@host:port/database")
	}
	if options.Settings == nil {
		options.Settings = clickhouse.Settings{}
	}
	options.Settings["async_insert"] = 0 // the version row must be there when the run ends
	options.ReadTimeout = time.Minute
	return options, layout{cluster}, nil
}

func createClickHouse(ctx context.Context, clickhouseURL, name string) error {
	options, l, err := parseClickHouse(clickhouseURL)
	if err != nil {
		return err
	}
	options.Auth.Database = "default"
	db := clickhouse.OpenDB(options)
	defer db.Close()
	quoted := "`" + strings.NewReplacer("\\", "\\\\", "`", "\\`").Replace(name) + "`"
	if _, err := db.ExecContext(ctx, "CREATE DATABASE IF NOT EXISTS "+quoted+l.onCluster()); err != nil {
		return fmt.Errorf("create the clickhouse database: %w", err)
	}
	return nil
}

func isUnknownDatabase(err error) bool {
	exception, ok := errors.AsType[*clickhouse.Exception](err)
	return ok && exception.Code == codeUnknownDatabase
}
