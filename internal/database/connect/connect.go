// Package connect reads DATABASE_URL and opens the pools behind it, with the
// settings each engine needs. It knows nothing of schemas: both the migrations
// runner and package database build on it.
//
// SQLite gets one writer connection that begins every transaction with its lock
// taken (a deferred transaction that turns into a write fails at once when
// another process wrote in between, whatever the busy timeout), a pool of
// readers that cannot write, and a connection that writes temporary tables alone.
package connect

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite" // registers the cgo-free driver "sqlite"
)

// Engine is a kind of relational database.
type Engine string

// The engines Probefleet runs on.
const (
	Postgres Engine = "postgres"
	SQLite   Engine = "sqlite"
)

const (
	postgresConnections = 16
	sqliteReaders       = 8
	connectTimeout      = 5 * time.Second
)

// Source is a parsed DATABASE_URL.
type Source struct {
	Engine Engine
	Path   string // SQLite: the database file

	postgres *pgx.ConnConfig
}

// Parse reads "postgres://…" or "sqlite:PATH" ("sqlite:///abs" too). It never
// connects, and its errors hold no password.
func Parse(databaseURL string) (Source, error) {
	scheme, rest, _ := strings.Cut(databaseURL, ":")
	switch scheme {
	case "postgres", "postgresql":
		config, err := pgx.ParseConfig(databaseURL)
		if err != nil {
			return Source{}, fmt.Errorf("read the database URL: %w", err)
		}
		if config.ConnectTimeout == 0 {
			config.ConnectTimeout = connectTimeout
		}
		if config.RuntimeParams["application_name"] == "" {
			config.RuntimeParams["application_name"] = "probefleet"
		}
		return Source{Engine: Postgres, postgres: config}, nil
	case "sqlite":
		path := strings.TrimPrefix(rest, "//")
		if path == "" || strings.HasPrefix(path, ":memory:") {
			return Source{}, errors.New("read the database URL: sqlite: needs a file, such as sqlite:data/probefleet.db (processes share it, so memory will not do)")
		}
		return Source{Engine: SQLite, Path: path}, nil
	default:
		return Source{}, errors.New("read the database URL: want postgres://user:password@host:port/name or sqlite:PATH")
	}
}

// Exists says whether there is anything to open: a SQLite file may not be there
// yet, and opening it must not leave an empty one behind.
func (s Source) Exists() (bool, error) {
	if s.Engine != SQLite {
		return true, nil
	}
	_, err := os.Stat(s.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// Create makes the SQLite file and its folder, readable by this account only.
// It does nothing on Postgres, whose database the operator creates.
func (s Source) Create() error {
	if s.Engine != SQLite {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(s.Path), 0o700); err != nil {
		return fmt.Errorf("create the database folder: %w", err)
	}
	file, err := os.OpenFile(s.Path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("create the database file: %w", err)
	}
	return file.Close()
}

// OpenWriter opens the pool that may write; it connects on first use.
func (s Source) OpenWriter() (*sql.DB, error) {
	if s.Engine == Postgres {
		return s.openPostgres(), nil
	}
	db, err := sql.Open("sqlite", s.sqliteDSN("_txlock=immediate"))
	if err != nil {
		return nil, fmt.Errorf("open the database: %w", err)
	}
	db.SetMaxOpenConns(1)
	db.SetMaxIdleConns(1)
	return db, nil
}

// OpenReader opens the pool for reads; it connects on first use.
func (s Source) OpenReader() (*sql.DB, error) {
	if s.Engine == Postgres {
		return s.openPostgres(), nil
	}
	db, err := sql.Open("sqlite", s.sqliteDSN("_pragma=query_only(1)"))
	if err != nil {
		return nil, fmt.Errorf("open the database: %w", err)
	}
	db.SetMaxOpenConns(sqliteReaders)
	db.SetMaxIdleConns(sqliteReaders)
	return db, nil
}

// OpenAside opens the pool for temporary tables, which keeps no connection: each use begins
// with none. It does not enforce that nothing else is written.
func (s Source) OpenAside() (*sql.DB, error) {
	if s.Engine == Postgres {
		db := s.openPostgres()
		db.SetMaxIdleConns(0) // a statement prepared before goes on naming the table that a temporary one hides
		return db, nil
	}
	db, err := sql.Open("sqlite", s.sqliteDSN("_pragma=temp_store(2)")) // in memory
	if err != nil {
		return nil, fmt.Errorf("open the database: %w", err)
	}
	db.SetMaxIdleConns(0)
	return db, nil
}

func (s Source) openPostgres() *sql.DB {
	db := stdlib.OpenDB(*s.postgres)
	db.SetMaxOpenConns(postgresConnections)
	db.SetMaxIdleConns(postgresConnections / 2)
	db.SetConnMaxIdleTime(5 * time.Minute)
	db.SetConnMaxLifetime(time.Hour) // follow a failover or a moved address
	return db
}

// sqliteDSN escapes the path, so that a folder named "a?b" is a folder and not
// a parameter. busy_timeout comes first: switching to WAL may have to wait.
func (s Source) sqliteDSN(extra string) string {
	return "file:" + (&url.URL{Path: s.Path}).EscapedPath() +
		"?mode=rw&_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)&_pragma=foreign_keys(1)&" + extra
}
