package testbackend_test

import (
	"context"
	"database/sql"
	"net"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2"
	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/redis/go-redis/v9"

	"github.com/probefleet/probefleet/internal/testbackend"
)

func TestMain(m *testing.M) { testbackend.Main(m) }

func redisClient(t *testing.T, url string) *redis.Client {
	t.Helper()
	options, err := redis.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(options)
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func TestRedisPlacesAreApartAndEmpty(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for range 3 {
		t.Run("place", func(t *testing.T) {
			t.Parallel()
			a, b := redisClient(t, testbackend.Redis(t)), redisClient(t, testbackend.Redis(t))
			if err := a.Set(ctx, "k", "v", 0).Err(); err != nil {
				t.Fatal(err)
			}
			if n, err := b.DBSize(ctx).Result(); err != nil || n != 0 {
				t.Fatalf("the other place holds %d keys, %v", n, err)
			}
		})
	}
}

func TestManyRedisPlacesInTurn(t *testing.T) {
	for range 40 {
		t.Run("place", func(t *testing.T) {
			client := redisClient(t, testbackend.Redis(t))
			if n, err := client.DBSize(t.Context()).Result(); err != nil || n != 0 {
				t.Fatalf("not empty: %d keys, %v", n, err)
			}
			if err := client.Set(t.Context(), "k", "v", 0).Err(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestRedisServerKeepsDataAndAddress(t *testing.T) {
	t.Parallel()
	s := testbackend.RedisServer(t)
	url := s.URL()
	client := redisClient(t, url)
	for name, end := range map[string]func(){"stop": s.Stop, "kill": s.Kill} {
		if err := client.Set(t.Context(), name, "kept", 0).Err(); err != nil {
			t.Fatal(err)
		}
		end()
		if conn, err := net.Dial("tcp", client.Options().Addr); err == nil {
			_ = conn.Close()
			t.Fatalf("%s: still listens", name)
		}
		s.Restart()
		if s.URL() != url {
			t.Fatalf("address changed from %s to %s", url, s.URL())
		}
		if value, err := client.Get(t.Context(), name).Result(); err != nil || value != "kept" {
			t.Fatalf("after %s: %q, %v", name, value, err)
		}
	}
}

func TestMiniredis(t *testing.T) {
	t.Parallel()
	_, url := testbackend.Miniredis(t)
	if err := redisClient(t, url).Ping(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
}

func TestPostgresDatabasesAreApart(t *testing.T) {
	t.Parallel()
	a, b := testbackend.Postgres(t), testbackend.Postgres(t)
	for _, url := range []string{a, b} {
		db, err := sql.Open("pgx", url)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		if _, err := db.ExecContext(t.Context(), "CREATE TABLE only_mine (n int)"); err != nil {
			t.Fatal(err)
		}
	}
}

func TestClickHouseDatabasesAreApart(t *testing.T) {
	t.Parallel()
	a, b := testbackend.ClickHouse(t), testbackend.ClickHouse(t)
	for _, url := range []string{a, b} {
		click(t, url, "CREATE TABLE only_mine (n Int64) ENGINE = MergeTree ORDER BY n")
	}
}

func TestClickHouseServerKeepsDataAndAddress(t *testing.T) {
	t.Parallel()
	s := testbackend.ClickHouseServer(t)
	url := s.URL()
	click(t, url, "CREATE TABLE kept (n Int64) ENGINE = MergeTree ORDER BY n")
	s.Kill()
	s.Restart()
	if s.URL() != url {
		t.Fatalf("address changed from %s to %s", url, s.URL())
	}
	click(t, url, "INSERT INTO kept VALUES (1)")
}

func click(t *testing.T, url, statement string) {
	t.Helper()
	options, err := clickhouse.ParseDSN(url)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := clickhouse.Open(options)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.Exec(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}
