package migrations_test

import (
	"database/sql"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/migrations"
)

func openClickHouse(t *testing.T, url string) *sql.DB {
	t.Helper()
	options, err := clickhouse.ParseDSN(url)
	if err != nil {
		t.Fatal(err)
	}
	db := clickhouse.OpenDB(options)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// up gives the statements of a rendered migration.
func up(t *testing.T, path string) (all []string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	forward, _, _ := strings.Cut(string(text), "-- +goose Down")
	for statement := range strings.SplitSeq(forward, ";\n") {
		if strings.TrimSpace(statement) != "" {
			all = append(all, statement)
		}
	}
	return all
}

// Results that were stored before there were rollups are marked, so that the first run of
// the job makes their figures; and running it again marks them again, no more.
func TestHistoryOfOldResultsIsMarked(t *testing.T) {
	t.Parallel()
	url := testbackend.ClickHouse(t)
	db := openClickHouse(t, url)
	exec := func(statement string, args ...any) {
		t.Helper()
		if _, err := db.ExecContext(t.Context(), statement, args...); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"0001_first.sql", "0002_seen.sql"} {
		for _, statement := range up(t, "testdata/single/"+file) {
			exec(statement)
		}
	}
	exec(`CREATE TABLE goose_db_version (version_id Int64, is_applied UInt8, date Date DEFAULT now(), tstamp DateTime DEFAULT now()) ENGINE = MergeTree ORDER BY version_id`)
	exec(`INSERT INTO goose_db_version (version_id, is_applied) SETTINGS async_insert = 0 VALUES (0, 1), (1, 1), (2, 1)`)
	hour := time.Now().UTC().Truncate(time.Hour).Add(-50 * time.Hour)
	for i := range 3 {
		exec(`INSERT INTO results (target_id, region, scheduled_at, status) SETTINGS async_insert = 0 VALUES (?, 'eu', ?, 'up')`, 1+i%2, hour.Add(time.Duration(i)*40*time.Minute))
	}
	for range 2 {
		if err := migrations.UpClickHouse(t.Context(), url, nil); err != nil {
			t.Fatal(err)
		}
		var marks int
		if err := db.QueryRowContext(t.Context(), `SELECT count() FROM rollup_dirty FINAL`).Scan(&marks); err != nil || marks != 3 {
			t.Errorf("%d marks, %v", marks, err)
		}
		exec(`ALTER TABLE goose_db_version DELETE WHERE version_id >= 3 SETTINGS mutations_sync = 2`)
	}
}

// There is no cluster to try them on; but ClickHouse can read them.
func TestClusterStatementsAreWellFormed(t *testing.T) {
	t.Parallel()
	db := openClickHouse(t, testbackend.ClickHouse(t))
	entries, err := os.ReadDir("testdata/cluster")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		statements := up(t, "testdata/cluster/"+entry.Name())
		if len(statements) == 0 {
			t.Error(entry.Name())
		}
		for _, statement := range statements {
			var text string
			if err := db.QueryRowContext(t.Context(), `SELECT formatQuery(?)`, statement).Scan(&text); err != nil || text == "" {
				t.Errorf("%s: %v in %s", entry.Name(), err, statement)
			}
		}
	}
}
