// Package testbackend gives tests real stores: Redis, PostgreSQL, SQLite and
// ClickHouse, started on free loopback ports for one test binary.
//
// A package that uses it has
//
//	func TestMain(m *testing.M) { testbackend.Main(m) }
//
// and then asks for an empty place of its own in each test: Redis(t),
// Postgres(t), SQLite(t), ClickHouse(t) return URLs. Servers start on first
// use and are shared by the tests of one binary; databases are not migrated.
// RedisServer(t) and ClickHouseServer(t) give a whole server to kill, NewRedisUsers
// and NewClickHouseUsers one with the users of the files that operators are given.
//
// A missing server program fails the test and names the command that installs
// it; nothing is skipped. No process outlives the test binary, even a killed
// one (Linux). TEST_REDIS_URL, TEST_DATABASE_URL and TEST_CLICKHOUSE_URL name
// servers to use instead of own ones; the tests make and remove databases in
// them.
package testbackend
