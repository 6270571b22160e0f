package testbackend

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/probefleet/probefleet/deploy/embedded"
)

// ClickHouse returns the URL of an empty ClickHouse database of its own.
//
// A server named by TEST_CLICKHOUSE_URL is also spoken to over HTTP, on port
// 8123 unless the URL has ?http_port=.
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
	http string
}

func startClickHost() (*clickHost, error) {
	if address := os.Getenv("TEST_CLICKHOUSE_URL"); address != "" {
		return foreignClickHost(address)
	}
	c, err := startClickHouse(embedded.Options{})
	if err != nil {
		return nil, err
	}
	atExit(c.Kill)
	base, err := url.Parse(c.URL())
	if err != nil {
		return nil, err
	}
	return &clickHost{base: base, http: c.HTTPURL()}, nil
}

func foreignClickHost(address string) (*clickHost, error) {
	base, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("TEST_CLICKHOUSE_URL: %w", err)
	}
	port, query := "8123", base.Query()
	if query.Has("http_port") {
		port = query.Get("http_port")
		query.Del("http_port")
		base.RawQuery = query.Encode()
	}
	over := url.URL{Scheme: "http", User: base.User, Host: net.JoinHostPort(base.Hostname(), port), Path: "/"}
	return &clickHost{base: base, http: over.String()}, nil
}

// exec runs a statement without the driver, which most test binaries that
// link this package have no other use for.
func (h *clickHost) exec(statement string) error {
	ctx, cancel := soon()
	defer cancel()
	_, err := post(ctx, h.http, statement)
	return err
}

func post(ctx context.Context, address, statement string) (answer string, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(statement))
	if err != nil {
		return "", err
	}
	req.Close = true
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, 4<<10))
	if err != nil {
		return "", err
	}
	if resp.StatusCode != http.StatusOK {
		return "", fmt.Errorf("%s: %s: %s", statement, resp.Status, text)
	}
	return string(text), nil
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
	o.LibPath, o.Log, o.NoFsync, o.MaxMemory = lib, quietly(), true, max(o.MaxMemory, 1<<30)
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
