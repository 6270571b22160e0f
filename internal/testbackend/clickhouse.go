package testbackend

import (
	"crypto/rand"
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/probefleet/probefleet/deploy/embedded"
)

// ClickHouse returns the URL of an empty ClickHouse database of its own.
func ClickHouse(t testing.TB) string {
	t.Helper()
	host, err := shared.click.get(startClickHost)
	if err != nil {
		t.Fatalf("clickhouse for tests: %v", err)
	}
	name := databaseName()
	if err := host.exec("CREATE DATABASE " + name); err != nil {
		t.Fatalf("clickhouse for tests: %v", err)
	}
	t.Cleanup(func() {
		if err := host.exec("DROP DATABASE IF EXISTS " + name + " SYNC"); err != nil {
			t.Logf("drop test database: %v", err)
		}
	})
	return withDatabase(host.base, name)
}

type clickHost struct {
	base *url.URL
	conn clickhouse.Conn
}

func startClickHost() (*clickHost, error) {
	address := os.Getenv("TEST_CLICKHOUSE_URL")
	if address == "" {
		c, err := startClickHouse(embedded.Options{})
		if err != nil {
			return nil, err
		}
		atExit(c.Kill)
		address = c.URL()
	}
	base, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("TEST_CLICKHOUSE_URL: %w", err)
	}
	// CREATE DATABASE must not need the database named in the URL.
	options, err := clickhouse.ParseDSN(withDatabase(base, "default"))
	if err != nil {
		return nil, fmt.Errorf("TEST_CLICKHOUSE_URL: %w", err)
	}
	options.MaxIdleConns = 1
	conn, err := clickhouse.Open(options)
	if err != nil {
		return nil, err
	}
	atExit(func() { _ = conn.Close() })
	return &clickHost{base: base, conn: conn}, nil
}

func (h *clickHost) exec(statement string) error {
	ctx, cancel := soon()
	defer cancel()
	return h.conn.Exec(ctx, statement)
}

// startClickHouse starts an engine for throwaway data.
func startClickHouse(o embedded.Options) (*embedded.ClickHouse, error) {
	lib, err := embedded.FindEngine("")
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, install)
	}
	if o.Dir == "" {
		if o.Dir, err = serverDir("clickhouse"); err != nil {
			return nil, err
		}
	}
	o.LibPath, o.Log, o.NoFsync, o.MaxMemory = lib, quietly(), true, 1<<30
	ctx, cancel := soon()
	defer cancel()
	return embedded.StartClickHouse(ctx, o)
}

func withDatabase(base *url.URL, name string) string {
	own := *base
	own.Path = "/" + name
	return own.String()
}

func databaseName() string { return "test_" + strings.ToLower(rand.Text()[:12]) }
