package database

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"gorm.io/gorm"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Errors every store translates its driver's errors to.
var (
	// ErrUnavailable means the database could not answer now: refused, closed,
	// busy or out of time. It says nothing about the data; try again.
	ErrUnavailable = errors.New("database unavailable")
	// ErrDuplicate means a unique column already holds the value.
	ErrDuplicate = errors.New("already exists")
	// ErrNoRow means the one row asked for is not there.
	ErrNoRow = errors.New("no such row")
)

// Translate turns a driver's error into one of this package's, keeping the
// original in the chain. Errors it does not know pass unchanged, and so does the
// caller's own cancellation, which says nothing about the database.
func Translate(ctx context.Context, err error) error {
	switch {
	case err == nil, errors.Is(err, ErrUnavailable), errors.Is(err, ErrDuplicate), errors.Is(err, ErrNoRow):
		return err
	case unavailable(err):
		if errors.Is(ctx.Err(), context.Canceled) {
			return fmt.Errorf("%w: %w", context.Canceled, err)
		}
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	case duplicate(err):
		return fmt.Errorf("%w: %w", ErrDuplicate, err)
	case errors.Is(err, gorm.ErrRecordNotFound), errors.Is(err, sql.ErrNoRows):
		return fmt.Errorf("%w: %w", ErrNoRow, err)
	}
	return err
}

func unavailable(err error) bool {
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		return pgUnavailable(pg.Code)
	}
	if lite, ok := errors.AsType[*sqlite.Error](err); ok {
		switch lite.Code() & 0xff {
		case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL, sqlite3.SQLITE_INTERRUPT:
			return true
		}
		return false
	}
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return true
	}
	if _, ok := errors.AsType[net.Error](err); ok {
		return true
	}
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) || errors.Is(err, sql.ErrTxDone) ||
		errors.Is(err, net.ErrClosed) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		strings.Contains(err.Error(), "sql: database is closed") || strings.Contains(err.Error(), "conn closed")
}

// pgUnavailable knows the SQLSTATE codes that mean "not now": connection lost,
// out of resources, shutting down or starting, a replica after a failover, and
// lock conflicts.
func pgUnavailable(code string) bool {
	switch {
	case strings.HasPrefix(code, "08"), strings.HasPrefix(code, "53"), strings.HasPrefix(code, "57P"):
		return true
	}
	switch code {
	case "25006", "40001", "40P01", "55P03", "57014":
		return true
	}
	return false
}

// duplicate looks at the drivers' own codes: GORM's translation reads exported
// fields by name, and the SQLite driver used here has none.
func duplicate(err error) bool {
	if lite, ok := errors.AsType[*sqlite.Error](err); ok {
		return lite.Code() == sqlite3.SQLITE_CONSTRAINT_UNIQUE || lite.Code() == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY
	}
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		return pg.Code == "23505"
	}
	return errors.Is(err, gorm.ErrDuplicatedKey)
}

// Failed says what was being done when there is an error, in the words of this package.
func Failed(ctx context.Context, doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", doing, Translate(ctx, err))
}
