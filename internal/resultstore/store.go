package resultstore

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/probefleet/probefleet/internal/promptconn"
	"github.com/probefleet/probefleet/migrations"
)

// Retention is how long results are kept unless it was changed (see Keep).
const Retention = 30 * 24 * time.Hour

// hourlyRetention is how long rollups of hours are, likewise.
const hourlyRetention = 730 * 24 * time.Hour

// dailyRetention is how long rollups of days are, likewise.
const dailyRetention = 1825 * 24 * time.Hour

// Bounds of one call. A deadline on the caller's context may shorten them.
const (
	dialTimeout  = 5 * time.Second
	readTimeout  = 10 * time.Second // silence on the wire; the driver's default is 5 minutes
	insertBound  = 15 * time.Second
	pageBound    = 10 * time.Second
	sweepBound   = 2 * time.Minute
	pingBound    = 3 * time.Second
	maxOpenConns = 16
)

// Store is a connection pool to one ClickHouse database. It is safe for concurrent use.
type Store struct {
	conn       driver.Conn
	url        string
	cluster    string // its name; "": one node
	now        func() time.Time
	lostPrints func(prints int, err error) // nil: nobody is told
	verified   atomic.Bool                 // the schema was seen to be new enough
	kept       atomic.Int64                // how long results are kept, in ns; 0: not read yet
	hourly     atomic.Int64                // how long rollups of hours are, likewise
	daily      atomic.Int64                // how long rollups of days are, likewise
	learned    atomic.Int64                // when that was read, in Unix ns
	rolledUp   atomic.Int64                // see RolledUp, in Unix ms
	told       atomic.Int64                // when that was said, likewise
	corrected  atomic.Pointer[corrected]
	present    atomic.Int64 // about how many rows Current has
}

// ErrSchema is what errors.Is finds in the refusal of a schema that is older than
// this program: somebody has to migrate, waiting alone does not help.
var ErrSchema = errors.New("clickhouse schema is too old")

type schemaError struct{ outdated *migrations.OutdatedError }

func (e *schemaError) Error() string        { return e.outdated.Error() }
func (e *schemaError) Unwrap() error        { return e.outdated }
func (e *schemaError) Is(target error) bool { return target == ErrSchema }

// Connect makes a store of clickhouse://user:password@host:port/database (native
// protocol; ?cluster=NAME where the tables are spread over one) without speaking to the server, so a program can start while ClickHouse
// is away. The schema is checked before the first insert; until it is right inserts
// answer a transient error.
func Connect(url string) (*Store, error) {
	plain, cluster, err := migrations.SplitCluster(url)
	if err != nil {
		return nil, errURL
	}
	options, err := parseURL(plain)
	if err != nil {
		return nil, err
	}
	if cluster != "" {
		onCluster(options.Settings)
	}
	conn, err := clickhouse.Open(options)
	if err != nil {
		return nil, fmt.Errorf("connect to clickhouse: %w", err)
	}
	return &Store{conn: conn, url: url, cluster: cluster, now: time.Now}, nil
}

// Check says whether ClickHouse answers and has a schema this program can use:
// ErrSchema when it has not, any other error when it could not be asked.
func (s *Store) Check(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, pageBound)
	defer cancel()
	err := migrations.CheckClickHouse(ctx, s.url)
	if outdated, ok := errors.AsType[*migrations.OutdatedError](err); ok {
		err = &schemaError{outdated}
	}
	if err != nil {
		return fmt.Errorf("check clickhouse: %w", err)
	}
	s.verified.Store(true)
	s.learnRetention(ctx)
	return nil
}

// Open is Connect and Check.
func Open(ctx context.Context, url string) (*Store, error) {
	s, err := Connect(url)
	if err != nil {
		return nil, err
	}
	if err := s.Check(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

var errURL = errors.New("clickhouse url: want clickhouse://user:password@host:port/database (native protocol)")

func parseURL(url string) (*clickhouse.Options, error) {
	options, err := clickhouse.ParseDSN(url)
	if err != nil {
		return nil, errURL // the parser's error may quote the password
	}
	if options.Protocol != clickhouse.Native {
		return nil, errURL // over HTTP a result that contains "__exception__" breaks the read, and a cancelled query goes on
	}
	options.Compression = &clickhouse.Compression{Method: clickhouse.CompressionLZ4}
	options.DialTimeout = dialTimeout
	dial := promptconn.Dialer((&net.Dialer{Timeout: dialTimeout}).DialContext, dialTimeout, options.TLS)
	options.DialContext = func(ctx context.Context, address string) (net.Conn, error) { return dial(ctx, "tcp", address) }
	options.ReadTimeout = readTimeout
	options.MaxOpenConns = maxOpenConns
	options.MaxIdleConns = maxOpenConns / 2
	options.ConnMaxLifetime = time.Hour
	if options.Settings == nil {
		options.Settings = clickhouse.Settings{}
	}
	for name, value := range map[string]any{
		"async_insert":                    0, // on by default since 26.x; a batch must be stored when it is acknowledged
		"insert_deduplicate":              1,
		"max_partitions_per_insert_block": 0, // late rows may span every day we keep
		// A re-sent batch must be counted once in results_latest too.
		"deduplicate_blocks_in_dependent_materialized_views": 1,
		// Slots never leave their day, so FINAL need not compare partitions.
		"do_not_merge_across_partitions_select_final": 1,
		// Nearly every question is of some targets and a time, which FINAL does not change (only
		// conditions on the sorting key are moved): read those columns first, and the rest of few rows.
		"optimize_move_to_prewhere_if_final": 1,
	} {
		options.Settings[name] = value
	}
	return options, nil
}

// Ping says whether ClickHouse answers.
func (s *Store) Ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, pingBound)
	defer cancel()
	if err := s.conn.Ping(ctx); err != nil {
		return fmt.Errorf("ping clickhouse: %w", err)
	}
	if s.verified.Load() {
		s.learnRetention(ctx)
	}
	return nil
}

// Close ends all connections.
func (s *Store) Close() error { return s.conn.Close() }

// query runs one read and hands its rows to each, one by one. The bound holds on
// both sides: the server stops the query when it is over or the context ends.
func (s *Store) query(ctx context.Context, bound time.Duration, sql string, args []any, each func(driver.Rows) error) error {
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	ctx = clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{
		"max_execution_time": int(bound / time.Second),
	}))
	rows, err := s.conn.Query(ctx, sql, args...)
	if err != nil {
		return err
	}
	for rows.Next() {
		if err := each(rows); err != nil {
			cancel() // stop the server first: Close reads what is still coming
			return errors.Join(err, ignoreCancelled(rows.Close()))
		}
	}
	return errors.Join(rows.Err(), rows.Close())
}

func ignoreCancelled(err error) error {
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// millis is an instant as the queries take it: Unix milliseconds.
func millis(name string, t time.Time) driver.NamedValue {
	return clickhouse.Named(name, t.UnixMilli())
}
