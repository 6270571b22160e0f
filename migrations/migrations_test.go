package migrations_test

import (
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/pressly/goose/v3"
	"golang.org/x/sync/errgroup"

	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/migrations"
)

func TestMain(m *testing.M) { testbackend.Main(m) }

func TestUpTwiceAndStatus(t *testing.T) {
	t.Parallel()
	relational := func(t *testing.T, url string) {
		run(t, []string{"0001_first.sql", "0002_deletions.sql", "0003_specs.sql", "0004_jobs.sql", "0005_hosts.sql", "0006_rollups.sql", "0007_heartbeats.sql", "0008_deletion_steps.sql", "0009_incidents.sql", "0010_verdicts.sql", "0011_maintenance.sql", "0012_policies.sql", "0013_blind.sql", "0014_causes.sql", "0015_confirmations.sql", "0016_tags.sql", "0017_accounts.sql", "0018_status_pages.sql", "0019_ways_in.sql", "0020_subscribers.sql", "0021_disabled.sql", "0022_past.sql", "0023_told.sql", "0024_aside.sql", "0025_changed_windows.sql", "0026_user_versions.sql", "0027_visits.sql"}, func(report func(string)) error { return migrations.UpRelational(t.Context(), url, report) },
			func() ([]migrations.State, error) { return migrations.Status(t.Context(), url, "") })
	}
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		relational(t, testbackend.SQLite(t))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		relational(t, testbackend.Postgres(t))
	})
	t.Run("clickhouse", func(t *testing.T) {
		t.Parallel()
		url := testbackend.ClickHouse(t)
		err := migrations.CheckClickHouse(t.Context(), url)
		if _, ok := errors.AsType[*migrations.OutdatedError](err); !ok || err.Error() != "clickhouse schema is at version 0, this program needs 7: run `probefleet migrate up`" {
			t.Errorf("old schema: %v", err)
		}
		run(t, []string{"0001_first.sql", "0002_seen.sql", "0003_history.sql", "0004_marks.sql", "0005_prints.sql", "0006_latest.sql", "0007_hours.sql"}, func(report func(string)) error { return migrations.UpClickHouse(t.Context(), url, report) },
			func() ([]migrations.State, error) { return migrations.Status(t.Context(), "", url) })
		if err := migrations.CheckClickHouse(t.Context(), url); err != nil {
			t.Error(err)
		}
	})
}

// run migrates twice and asks for the state before and after; all are its files.
func run(t *testing.T, all []string, up func(func(string)) error, status func() ([]migrations.State, error)) {
	t.Helper()
	newest, err := goose.NumericComponent(all[len(all)-1])
	if err != nil {
		t.Fatal(err)
	}
	states, err := status()
	if err != nil || len(states) != 1 || states[0].Version != 0 || states[0].Needed != newest || !cmp.Equal(states[0].Pending, all) {
		t.Fatalf("before: %+v, %v", states, err)
	}
	for round, want := range [][]string{all, nil} {
		var lines []string
		if err := up(func(line string) { lines = append(lines, line) }); err != nil {
			t.Fatal(err)
		}
		if len(lines) != len(want) {
			t.Errorf("run %d reported %q", round+1, lines)
		}
		for i, name := range want {
			if !strings.Contains(lines[i], "applied "+name) {
				t.Errorf("run %d reported %q", round+1, lines)
			}
		}
	}
	states, err = status()
	if err != nil || len(states) != 1 || states[0].Version != newest || states[0].Pending != nil {
		t.Errorf("after: %+v, %v", states, err)
	}
}

// What was deleted before deletions had rows of their own is still removed.
func TestDeletionsAreBackfilled(t *testing.T) {
	t.Parallel()
	url := testbackend.SQLite(t)
	path := strings.TrimPrefix(url, "sqlite:")
	old, err := os.ReadFile("relational/sqlite/0001_first.sql")
	if err != nil {
		t.Fatal(err)
	}
	up, _, _ := strings.Cut(string(old), "-- +goose Down")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	for _, statement := range []string{up,
		"CREATE TABLE goose_db_version (id INTEGER PRIMARY KEY AUTOINCREMENT, version_id INTEGER NOT NULL, is_applied INTEGER NOT NULL, tstamp TIMESTAMP DEFAULT (datetime('now')))",
		"INSERT INTO goose_db_version (version_id, is_applied) VALUES (0, 1), (1, 1)",
		`INSERT INTO schedule_versions (seq, target_id, interval_s, regions, active, deleted, created_at_ms, purged_at_ms) VALUES
 (1, 1, 60, '[]', TRUE, FALSE, 10, NULL), (2, 2, 60, '[]', FALSE, TRUE, 20, NULL), (3, 3, 60, '[]', FALSE, TRUE, 30, 40)`} {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	if err := migrations.UpRelational(t.Context(), url, nil); err != nil {
		t.Fatal(err)
	}
	var n, id, requested int64
	if err := db.QueryRowContext(t.Context(), "SELECT count(*), max(target_id), max(requested_at_ms) FROM deletions WHERE finished_at_ms IS NULL").Scan(&n, &id, &requested); err != nil || n != 1 || id != 2 || requested != 20 {
		t.Errorf("%d rows, target %d requested at %d: %v", n, id, requested, err)
	}
}

// Programs that start together may all migrate.
func TestManyMigrateAtOnce(t *testing.T) {
	t.Parallel()
	for name, backend := range map[string]func(testing.TB) string{"sqlite": testbackend.SQLite, "postgres": testbackend.Postgres} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := backend(t)
			var group errgroup.Group
			for range 4 {
				group.Go(func() error { return migrations.UpRelational(t.Context(), url, nil) })
			}
			if err := group.Wait(); err != nil {
				t.Error(err)
			}
		})
	}
}

// An attempt that died half way is simply run again, and a new database is made.
func TestClickHouseHalfDone(t *testing.T) {
	t.Parallel()
	url := testbackend.ClickHouse(t)
	if err := migrations.UpClickHouse(t.Context(), url, nil); err != nil {
		t.Fatal(err)
	}
	options, err := clickhouse.ParseDSN(url)
	if err != nil {
		t.Fatal(err)
	}
	db := clickhouse.OpenDB(options)
	t.Cleanup(func() { _ = db.Close() })
	for _, statement := range []string{"DROP TABLE cycles", "DROP TABLE batches", "TRUNCATE TABLE goose_db_version", "INSERT INTO goose_db_version (version_id, is_applied) VALUES (0, 1)"} {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	if err := migrations.UpClickHouse(t.Context(), url, nil); err != nil {
		t.Fatal(err)
	}
	if got, want := tables(t, db), []string{"batches", "corrections", "cycles", "goose_db_version", "prints", "results", "results_latest", "results_latest_mv", "rollup_1d", "rollup_1h", "rollup_dirty", "rollup_dirty_mv"}; !cmp.Equal(got, want) {
		t.Errorf("tables %v", got)
	}
	if _, err := db.ExecContext(t.Context(), "DROP DATABASE "+options.Auth.Database+" SYNC"); err != nil {
		t.Fatal(err)
	}
	if err := migrations.CheckClickHouse(t.Context(), url); err == nil || !strings.Contains(err.Error(), "version 0") {
		t.Errorf("no database: %v", err)
	}
	if err := migrations.UpClickHouse(t.Context(), url, nil); err != nil {
		t.Error(err)
	}
}

func tables(t *testing.T, db *sql.DB) []string {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), "SELECT name FROM system.tables WHERE database = currentDatabase() ORDER BY name")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return names
}

// A URL in an error must not carry the password into a log.
func TestErrorsHoldNoPassword(t *testing.T) {
	t.Parallel()
	for _, err := range []error{
		migrations.UpRelational(t.Context(), "postgres://u:hunter2@127.0.0.1:1/x?sslmode=disable", nil),
		migrations.UpRelational(t.Context(), "postgres://u:hunter2@[::1/x", nil),
		migrations.CheckClickHouse(t.Context(), "clickhouse://u:hunter2@127.0.0.1:1/x"),
		migrations.CheckClickHouse(t.Context(), "clickhouse://u:hunter2@[::1/x"),
		migrations.CheckClickHouse(t.Context(), "clickhouse://u:hunter2@127.0.0.1:1"),
	} {
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("error %v", err)
		}
	}
}

// Both relational schemas must have the same tables and columns.
func TestEnginesHaveTheSameSchema(t *testing.T) {
	t.Parallel()
	names := func(folder string) []string {
		entries, err := fs.ReadDir(os.DirFS("relational"), folder)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, entry := range entries {
			names = append(names, entry.Name())
		}
		return names
	}
	if diff := cmp.Diff(names("postgres"), names("sqlite")); diff != "" {
		t.Fatal(diff)
	}
	// What one engine says in other words is compared by what comes of it: see below.
	alone := regexp.MustCompile(`(?s)-- This engine alone\n.*?-- Every engine\n`)
	normal := strings.NewReplacer("BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY", "INTEGERPRIMARYKEYAUTOINCREMENT", "BIGINT", "INTEGER", " ", "")
	for _, name := range names("sqlite") {
		var texts []string
		for _, folder := range []string{"postgres", "sqlite"} {
			text, err := os.ReadFile("relational/" + folder + "/" + name)
			if err != nil {
				t.Fatal(err)
			}
			texts = append(texts, normal.Replace(alone.ReplaceAllString(string(text), "")))
		}
		if diff := cmp.Diff(texts[0], texts[1]); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// What the migrations come to is the same on both: every column and whether it may be empty,
// every index with what makes it unique, and every reference with what becomes of it.
//
// Promise: SQLite and PostgreSQL have the same schema
func TestEnginesComeToTheSameSchema(t *testing.T) {
	t.Parallel()
	schema := func(driver, url, source string, queries ...string) (all []string) {
		if err := migrations.UpRelational(t.Context(), url, nil); err != nil {
			t.Fatal(err)
		}
		db, err := sql.Open(driver, source)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		for _, query := range queries {
			found := len(all)
			rows, err := db.QueryContext(t.Context(), query)
			if err != nil {
				t.Fatalf("%s: %v", query, err)
			}
			for rows.Next() {
				var table, what string
				if err := rows.Scan(&table, &what); err != nil {
					t.Fatal(err)
				}
				if !strings.HasPrefix(table, "goose") && !strings.HasPrefix(table, "sqlite") {
					all = append(all, table+" "+strings.ToLower(what))
				}
			}
			if err := errors.Join(rows.Err(), rows.Close()); err != nil || len(all) == found {
				t.Fatalf("%s: %v", query, err)
			}
		}
		slices.Sort(all)
		return all
	}
	lite, post := testbackend.SQLite(t), testbackend.Postgres(t)
	const tables = "FROM sqlite_master m, "
	ofLite := schema("sqlite", lite, strings.TrimPrefix(lite, "sqlite:"),
		`SELECT m.name, 'column ' || p.name || iif(p."notnull" = 0 AND p.pk = 0, ' null', '') `+tables+`pragma_table_info(m.name) p WHERE m.type = 'table'`,
		`SELECT m.name, iif(i."unique", 'unique', 'index') || iif(i.partial, ' partial', '') || ': ' || (SELECT group_concat(coalesce(c.name, '?'), ' ') FROM pragma_index_info(i.name) c) `+tables+`pragma_index_list(m.name) i WHERE m.type = 'table' AND i.origin <> 'pk'`,
		`SELECT m.name, 'reference ' || f."from" || ' to ' || f."table" || '.' || f."to" || ' ' || f.on_delete `+tables+`pragma_foreign_key_list(m.name) f WHERE m.type = 'table'`)
	ofPost := schema("pgx", post, post,
		`SELECT table_name, 'column ' || column_name || CASE is_nullable WHEN 'YES' THEN ' null' ELSE '' END FROM information_schema.columns WHERE table_schema = current_schema()`,
		`SELECT t.relname, CASE WHEN i.indisunique THEN 'unique' ELSE 'index' END || CASE WHEN i.indpred IS NULL THEN '' ELSE ' partial' END || ': ' ||
 (SELECT string_agg(coalesce(a.attname, '?'), ' ' ORDER BY k.n) FROM unnest(i.indkey) WITH ORDINALITY k (attnum, n) LEFT JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.attnum AND k.attnum > 0)
FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid JOIN pg_namespace s ON s.oid = t.relnamespace WHERE s.nspname = current_schema() AND NOT i.indisprimary`,
		`SELECT t.relname, 'reference ' || a.attname || ' to ' || r.relname || '.' || b.attname || CASE c.confdeltype WHEN 'c' THEN ' cascade' WHEN 'n' THEN ' set null' ELSE ' no action' END
FROM pg_constraint c JOIN pg_class t ON t.oid = c.conrelid JOIN pg_namespace s ON s.oid = t.relnamespace JOIN pg_class r ON r.oid = c.confrelid
JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = c.conkey[1] JOIN pg_attribute b ON b.attrelid = r.oid AND b.attnum = c.confkey[1] WHERE s.nspname = current_schema() AND c.contype = 'f'`)
	if diff := cmp.Diff(ofPost, ofLite); diff != "" {
		t.Error(diff)
	}
}

// What there was of incidents is there after it became possible that they are about no target.
func TestIncidentsAreKept(t *testing.T) {
	t.Parallel()
	url := testbackend.SQLite(t)
	if err := migrations.UpRelational(t.Context(), url, nil); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", "file:"+strings.TrimPrefix(url, "sqlite:")+"?_pragma=foreign_keys(1)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	text, err := os.ReadFile("relational/sqlite/0013_blind.sql")
	if err != nil {
		t.Fatal(err)
	}
	up, down, _ := strings.Cut(string(text), "-- +goose Down")
	causes, err := os.ReadFile("relational/sqlite/0014_causes.sql") // came later, and refers to them
	if err != nil {
		t.Fatal(err)
	}
	_, later, _ := strings.Cut(string(causes), "-- +goose Down")
	down = later + down
	count := func(want ...int) {
		t.Helper()
		for i, table := range []string{"incidents", "incident_events", "outbox"} {
			var n, newest int
			if err := db.QueryRowContext(t.Context(), "SELECT count(*), coalesce(max(id), 0) FROM "+table).Scan(&n, &newest); err != nil || n != want[i] {
				t.Errorf("%s: %d, %v", table, n, err)
			}
		}
	}
	for _, statement := range []string{
		"INSERT INTO targets (id, name, url, kind, interval_s, timeout_ms, regions, active, spec_version, created_at_ms, updated_at_ms) VALUES (1, 'a', '', 'http', 60, 1000, '[]', TRUE, 1, 1, 1)",
		"INSERT INTO channels VALUES (1, 'ops', 'webhook', '', TRUE, 1, 1, 1)",
		"INSERT INTO incidents (id, target_id, first_slot_ms, severity, subject, cause, opened_at_ms, acknowledged_by) VALUES (7, 1, 1, 'down', '{}', '{}', 1, ''), (8, NULL, 1, 'down', '{}', '{}', 1, '')",
		"INSERT INTO incident_events (incident_id, event_key, kind, at_ms, author, text) VALUES (7, 'opened', 'opened', 1, '', ''), (8, 'opened', 'opened', 1, '', '')",
		`INSERT INTO outbox (idempotency_key, incident_id, channel_id, rule_id, event, payload, unless, digest, tell_acknowledged, tell_resolved, state, created_at_ms, due_at_ms, next_attempt_at_ms, attempts, batch, holder)
 VALUES ('a', 7, 1, 1, 'opened', '{}', '', '', TRUE, TRUE, 'pending', 1, 1, 1, 0, '', ''), ('b', 8, 1, 1, 'opened', '{}', '', '', TRUE, TRUE, 'pending', 1, 1, 1, 0, '', '')`,
	} {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	count(2, 2, 2)
	if _, err := db.ExecContext(t.Context(), "BEGIN; "+down+"; COMMIT"); err != nil {
		t.Fatal(err)
	}
	count(1, 1, 1)
	if _, err := db.ExecContext(t.Context(), "BEGIN; "+up+"; COMMIT"); err != nil {
		t.Fatal(err)
	}
	count(1, 1, 1)
	if _, err := db.ExecContext(t.Context(), "DELETE FROM targets"); err != nil { // what refers to it goes with it
		t.Fatal(err)
	}
	count(0, 0, 0)
}
