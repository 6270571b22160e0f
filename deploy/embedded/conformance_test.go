package embedded_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/probefleet/probefleet/deploy/embedded"
)

// The engine reaches us through an entry meant for a command line. These tests
// are what says that an upgrade still behaves like a server.

const tableDDL = `CREATE TABLE results (
	target_id UInt64, region LowCardinality(String), scheduled_at DateTime64(3, 'UTC'),
	status Enum8('up' = 1, 'down' = 3), total_us UInt32 CODEC(T64, ZSTD(1)), message String, address IPv6, revision UInt64
) ENGINE = ReplacingMergeTree(revision) PARTITION BY toYYYYMMDD(scheduled_at) ORDER BY (target_id, region, scheduled_at)
SETTINGS non_replicated_deduplication_window = 1000, min_age_to_force_merge_seconds = 1, min_age_to_force_merge_on_partition_only = 1`

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// insert sends n rows as one block under a deduplication token.
func insert(t *testing.T, conn driver.Conn, token string, n int) {
	t.Helper()
	ctx := clickhouse.Context(t.Context(), clickhouse.WithSettings(clickhouse.Settings{"insert_deduplication_token": token}))
	batch, err := conn.PrepareBatch(ctx, "INSERT INTO results (target_id, region, scheduled_at, status, total_us, message, address, revision)")
	if err != nil {
		t.Fatal(err)
	}
	defer batch.Close()
	for i := range n {
		if err := batch.Append(uint64(i), "eu", noon.Add(time.Duration(i)*time.Millisecond), "up", uint32(i), "it's\tfine", "::1", uint64(1)); err != nil {
			t.Fatal(err)
		}
	}
	if err := batch.Send(); err != nil {
		t.Fatal(err)
	}
}

func TestDriverRoundTrip(t *testing.T) {
	t.Parallel()
	conn := connect(t, startClickHouse(t, embedded.Options{}).URL())
	execute(t, conn, tableDDL)
	insert(t, conn, "a", 1000)

	var row struct {
		At      time.Time `ch:"scheduled_at"`
		Status  string    `ch:"status"`
		Message string    `ch:"message"`
	}
	ctx := clickhouse.Context(t.Context(), clickhouse.WithParameters(clickhouse.Parameters{"id": "7", "region": "eu"}))
	err := conn.QueryRow(ctx, "SELECT scheduled_at, status, message FROM results FINAL WHERE target_id = {id:UInt64} AND region = {region:String}").ScanStruct(&row)
	if err != nil {
		t.Fatal(err)
	}
	if !row.At.Equal(noon.Add(7*time.Millisecond)) || row.Status != "up" || row.Message != "it's\tfine" {
		t.Fatalf("got %+v", row)
	}

	var failure *clickhouse.Exception
	for code, query := range map[int32]string{60: "SELECT * FROM absent", 62: "SELEC 1", 395: "SELECT throwIf(number = 5) FROM numbers(10)"} {
		if err := conn.Exec(t.Context(), query); !errors.As(err, &failure) || failure.Code != code {
			t.Errorf("%s: %v, want code %d", query, err, code)
		}
	}
}

func TestSchemaFeatures(t *testing.T) {
	t.Parallel()
	conn := connect(t, startClickHouse(t, embedded.Options{}).URL())
	execute(t, conn, tableDDL)
	execute(t, conn, `CREATE TABLE hourly (bucket DateTime('UTC'), n UInt64, q AggregateFunction(quantilesDD(0.01, 0.5), UInt32))
		ENGINE = ReplacingMergeTree(n) ORDER BY bucket TTL bucket + INTERVAL 50 YEAR`)
	execute(t, conn, `CREATE MATERIALIZED VIEW hourly_mv TO hourly AS SELECT toStartOfHour(scheduled_at) AS bucket, count() AS n,
		quantilesDDState(0.01, 0.5)(total_us) AS q FROM results GROUP BY bucket`)
	for _, token := range []string{"a", "b", "c"} {
		insert(t, conn, token, 100)
	}
	if got := one[uint64](t, conn, "SELECT count() FROM results FINAL"); got != 100 {
		t.Errorf("%d rows after replacing, want 100", got)
	}
	if got := one[uint64](t, conn, "SELECT count() FROM hourly FINAL"); got != 1 {
		t.Errorf("%d rolled-up rows, want 1", got)
	}
	// The merge thread pool is small: a closed partition must merge all the same.
	await(t, "merge of a whole partition", func() bool {
		return one[uint64](t, conn, "SELECT count() FROM system.parts WHERE database = currentDatabase() AND table = 'results' AND active") == 1
	})
	execute(t, conn, "ALTER TABLE results ADD COLUMN extra String")
	execute(t, conn, "DELETE FROM results WHERE target_id < 50")
	execute(t, conn, "ALTER TABLE results DELETE WHERE target_id < 60 SETTINGS mutations_sync = 1")
	if got := one[uint64](t, conn, "SELECT count() FROM results FINAL"); got != 40 {
		t.Errorf("%d rows after deleting, want 40", got)
	}
	execute(t, conn, "CREATE DATABASE another ENGINE = Atomic")
	execute(t, conn, "DROP DATABASE another SYNC")
	execute(t, conn, "OPTIMIZE TABLE results FINAL")
	execute(t, conn, "TRUNCATE TABLE results")
}

func TestFsyncIsOnUnlessThrownAway(t *testing.T) {
	t.Parallel()
	for noFsync, want := range map[bool]string{false: "1", true: "0"} {
		conn := connect(t, startClickHouse(t, embedded.Options{NoFsync: noFsync}).URL())
		for _, name := range []string{"fsync_after_insert", "fsync_part_directory"} {
			if got := one[string](t, conn, "SELECT value FROM system.merge_tree_settings WHERE name = '"+name+"'"); got != want {
				t.Errorf("NoFsync %v: %s = %s, want %s", noFsync, name, got, want)
			}
		}
		if got := one[string](t, conn, "SELECT value FROM system.settings WHERE name = 'async_insert'"); got != "0" {
			t.Errorf("async_insert = %s, want 0", got)
		}
	}
}

// TestLittleMemoryIsEnoughForThreads: of itself the engine gives a question one thread for each GiB that is free, and
// where it has little, or holds much already, that is one.
func TestLittleMemoryIsEnoughForThreads(t *testing.T) {
	t.Parallel()
	conn := connect(t, startClickHouse(t, embedded.Options{MaxMemory: 1 << 30}).URL())
	execute(t, conn, "CREATE TABLE numbers (n UInt64) ENGINE = MergeTree ORDER BY n")
	execute(t, conn, "INSERT INTO numbers SELECT number FROM numbers(2000000)")
	const plan = "SELECT arrayStringConcat(groupArray(explain), '\n') FROM (EXPLAIN PIPELINE SELECT sum(n) FROM numbers SETTINGS max_threads = 2)"
	if got := one[string](t, conn, plan); !strings.Contains(got, "AggregatingTransform × ") {
		t.Errorf("two million rows are added up by one thread:\n%s", got)
	}
}

func TestCancelStopsTheQuery(t *testing.T) {
	t.Parallel()
	conn := connect(t, startClickHouse(t, embedded.Options{}).URL())
	ctx, cancel := context.WithCancel(clickhouse.Context(t.Context(), clickhouse.WithQueryID("long")))
	ended := make(chan error, 1)
	go func() {
		ended <- conn.Exec(ctx, "SELECT sum(sleepEachRow(0.1)) FROM numbers(300) SETTINGS max_block_size = 1, function_sleep_max_microseconds_per_block = 100000000")
	}()
	running := func() uint64 {
		return one[uint64](t, conn, "SELECT count() FROM system.processes WHERE query_id = 'long'")
	}
	await(t, "query runs", func() bool { return running() == 1 })
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled query returned %v", err)
	}
	await(t, "query stopped on the server", func() bool { return running() == 0 })
}

func TestTokenCountsOnceAcrossACrash(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := startClickHouse(t, embedded.Options{Dir: dir})
	conn := connect(t, c.URL())
	execute(t, conn, tableDDL)
	insert(t, conn, "same", 500)
	c.Kill()

	conn = connect(t, startClickHouse(t, embedded.Options{Dir: dir}).URL())
	insert(t, conn, "same", 500)
	insert(t, conn, "other", 1)
	if got := one[uint64](t, conn, "SELECT count() FROM results"); got != 501 {
		t.Fatalf("%d rows, want 501", got)
	}
}
