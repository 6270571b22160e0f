package embedded_test

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/probefleet/probefleet/deploy/embedded"
)

// patience bounds every wait: longer means that it never comes.
const patience = 2 * time.Minute

func TestMain(m *testing.M) {
	if code, ran := embedded.MaybeRunChild(os.Args); ran {
		os.Exit(code)
	}
	if len(os.Args) == 3 && os.Args[1] == "__parent" {
		os.Exit(runParent(os.Args[2]))
	}
	os.Exit(m.Run())
}

// runParent is a program that uses both servers and never stops them.
func runParent(dir string) int {
	ctx := context.Background()
	lib, err := embedded.FindEngine("")
	if err != nil {
		fmt.Println(err)
		return 1
	}
	c, err := embedded.StartClickHouse(ctx, embedded.Options{Dir: filepath.Join(dir, "clickhouse"), LibPath: lib})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	r, err := embedded.StartRedis(ctx, embedded.Options{Dir: filepath.Join(dir, "redis")})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("ready", c.PID(), r.PID())
	<-c.Done()
	return 1
}

func engine(t *testing.T) string {
	t.Helper()
	lib, err := embedded.FindEngine("")
	if err != nil {
		t.Fatalf("%v: run `make deps` to install what the tests need", err)
	}
	return lib
}

func startClickHouse(t *testing.T, o embedded.Options) *embedded.ClickHouse {
	t.Helper()
	o.LibPath = engine(t)
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	c, err := embedded.StartClickHouse(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Kill)
	return c
}

func connect(t *testing.T, address string) driver.Conn {
	t.Helper()
	options, err := clickhouse.ParseDSN(address)
	if err != nil {
		t.Fatal(err)
	}
	options.Compression = &clickhouse.Compression{Method: clickhouse.CompressionLZ4}
	conn, err := clickhouse.Open(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func execute(t *testing.T, conn driver.Conn, statement string, args ...any) {
	t.Helper()
	if err := conn.Exec(t.Context(), statement, args...); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

func one[T any](t *testing.T, conn driver.Conn, query string, args ...any) (value T) {
	t.Helper()
	if err := conn.QueryRow(t.Context(), query, args...).Scan(&value); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return value
}

// await polls a condition that another process makes true.
func await(t *testing.T, what string, met func() bool) {
	t.Helper()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for deadline := time.Now().Add(patience); !met(); <-ticker.C {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within %s", what, patience)
		}
	}
}

func replaceUser(t *testing.T, address string, user *url.Userinfo) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	u.User = user
	return u.String()
}
