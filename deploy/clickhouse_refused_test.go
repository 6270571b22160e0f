package deploy_test

import (
	"errors"
	"fmt"
	"net/url"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// What ClickHouse refuses with. Codes are compared, not names: over the native protocol the name
// is empty.
const (
	accessDenied       = 497
	violatedConstraint = 469
)

// What a stolen password of a program does not open. Each statement stands for a thing that
// its thief would like to do.
//
// Promise: each program may do in ClickHouse only what it needs
func TestUsersOfClickHouseDoNoMore(t *testing.T) {
	t.Parallel()
	c := newClickUsers(t)
	ctx := t.Context()
	c.Admin("CREATE TABLE default.elsewhere (n Int64) ENGINE = MergeTree ORDER BY n")
	nobody := []string{ // may do these
		"SELECT * FROM default.elsewhere", "INSERT INTO default.elsewhere VALUES (1)", "CREATE TABLE default.mine (n Int64) ENGINE = MergeTree ORDER BY n", "CREATE DATABASE mine", "DROP DATABASE probefleet", "DROP TABLE results", "TRUNCATE TABLE results",
		"DETACH TABLE results", "RENAME TABLE results TO gone", "OPTIMIZE TABLE results FINAL", "DROP VIEW results_latest_mv", "CREATE USER thief", "ALTER USER pf_api IDENTIFIED WITH no_password", "GRANT SELECT ON probefleet.* TO pf_prober_eu", "DROP USER pf_api",
		"CREATE FUNCTION f AS (x) -> x", "SYSTEM FLUSH LOGS", "SYSTEM STOP MERGES results", "SYSTEM SHUTDOWN", "SELECT * FROM file('/etc/passwd', 'LineAsString')", "SELECT * FROM url('http://127.0.0.1:1/', 'LineAsString')",
		"SELECT * FROM remote('127.0.0.1:1', system.one)", "CREATE TABLE mine (s String) ENGINE = URL('http://127.0.0.1:1/', LineAsString)", "CREATE TABLE mine (s String) ENGINE = File(LineAsString, '/etc/passwd')", "SELECT * FROM system.users",
	}
	unmade := []string{ // by all but the migrator
		"CREATE TABLE mine (n Int64) ENGINE = MergeTree ORDER BY n", "CREATE VIEW mine AS SELECT 1", "CREATE MATERIALIZED VIEW mine TO cycles AS SELECT * FROM cycles", "ALTER TABLE results ADD COLUMN mine Int64", "ALTER TABLE results DROP COLUMN evidence", "ALTER TABLE results UPDATE status = 'up' WHERE 1",
		"ALTER TABLE results MODIFY SETTING index_granularity = 1", "INSERT INTO goose_db_version (version_id, is_applied) VALUES (99, 1)", "INSERT INTO results_latest (target_id) VALUES (1)",
	}
	kept := []string{ // by all but publisher and migrator
		"INSERT INTO cycles (tick) VALUES (1)", "INSERT INTO rollup_1h (target_id) VALUES (1)", "INSERT INTO rollup_1d (target_id) VALUES (1)", "INSERT INTO corrections (target_id) VALUES (1)", "INSERT INTO rollup_dirty (target_id) VALUES (1)", "DELETE FROM results WHERE 1",
		"DELETE FROM rollup_1h WHERE 1", "ALTER TABLE results DELETE WHERE 1", "ALTER TABLE results DROP PARTITION 20260101", "ALTER TABLE results MODIFY TTL toDateTime(scheduled_at) + INTERVAL 1 DAY", "ALTER TABLE results MODIFY COMMENT 'x'",
	}
	unread := []string{ // by probers
		"SELECT count() FROM results", "SELECT target_id FROM results", "SELECT * FROM results_latest", "SELECT * FROM prints", "SELECT * FROM batches", "SELECT * FROM cycles", "SELECT * FROM rollup_1h", "SELECT * FROM rollup_1d", "SELECT * FROM corrections", "SELECT * FROM rollup_dirty",
		"INSERT INTO results SELECT * FROM results", "INSERT INTO batches (token) SELECT message FROM results",
	}
	for user, statements := range map[string][][]string{
		"pf_prober_eu": {nobody, unmade, kept, unread},
		"pf_api":       {nobody, unmade, kept, {"INSERT INTO prints (target_id) VALUES (1)"}},
		"pf_publisher": {nobody, unmade, {"INSERT INTO prints (target_id) VALUES (1)", "DELETE FROM cycles WHERE 1", "DELETE FROM batches WHERE 1"}},
		"pf_migrate":   {nobody},
	} {
		conn := dial(t, c.URL(user))
		for _, list := range statements {
			for _, statement := range list {
				err := conn.Exec(ctx, statement)
				if denied, is := errors.AsType[*clickhouse.Exception](err); !is || denied.Code != accessDenied {
					t.Errorf("%s: %s: %v", user, statement, err)
				}
			}
		}
	}
	ownRows := []string{
		"INSERT INTO results (target_id, region) VALUES (1, '%s')", "INSERT INTO prints (target_id, region) VALUES (1, '%s')", "INSERT INTO batches (token, region) VALUES ('x', '%s')",
	}
	for user, own := range map[string]string{"pf_prober_eu": "eu", "pf_prober_us-west": "us-west"} {
		conn := dial(t, c.URL(user))
		for _, statement := range ownRows {
			must(t, conn.Exec(ctx, fmt.Sprintf(statement, own)))
			for _, other := range []string{"eu", "us-west", "us", "", "push", "ext-office"} {
				if other == own {
					continue
				}
				err := conn.Exec(ctx, fmt.Sprintf(statement, other))
				if refused, is := errors.AsType[*clickhouse.Exception](err); !is || refused.Code != violatedConstraint {
					t.Errorf("%s: %s: %v", user, fmt.Sprintf(statement, other), err)
				}
			}
		}
	}
	for name, user := range map[string]*url.Userinfo{"a guess": url.UserPassword("pf_prober_eu", "guess"), "another's password": url.UserPassword("pf_api", "the password of pf_prober_eu"), "none": url.User("pf_publisher")} {
		address, err := url.Parse(c.URL("pf_api"))
		must(t, err)
		address.User = user
		if err := dial(t, address.String()).Exec(ctx, "SELECT 1"); err == nil {
			t.Errorf("with %s somebody gets in", name)
		}
	}
}
