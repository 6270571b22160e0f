package resultstore

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/migrations"
)

// A store can be had while the server is away, and refuses rows, for now, until the
// schema is there.
func TestConnectBeforeTheSchemaIsThere(t *testing.T) {
	t.Parallel()
	url := testbackend.ClickHouse(t)
	s, err := Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	row := up(1, "eu", base())
	b := batchOf(row)
	for name, err := range map[string]error{"check": s.Check(t.Context()), "insert": s.Insert(t.Context(), b)} {
		outdated, ok := errors.AsType[*migrations.OutdatedError](err)
		if !errors.Is(err, ErrSchema) || !ok || !outdated.Hopeless() || !IsTransient(err) {
			t.Errorf("%s without a schema: %v", name, err)
		}
	}
	if err := migrations.UpClickHouse(t.Context(), url, nil); err != nil {
		t.Fatal(err)
	}
	if err := s.Insert(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	if n := count(t, s, `SELECT count() FROM results FINAL`); n != 1 {
		t.Errorf("%d rows", n)
	}

	away, err := Connect("clickhouse://nobody:hunter2@127.0.0.1:1/probefleet")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = away.Close() })
	for name, err := range map[string]error{"check": away.Check(t.Context()), "insert": away.Insert(t.Context(), b)} {
		if err == nil || errors.Is(err, ErrSchema) || !IsTransient(err) {
			t.Errorf("%s without a server: %v", name, err)
		}
	}
}

func TestTargetsWithRows(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	insert(t, s, batchOf(up(1, "eu", base()), up(3, "us", base().Add(-48*time.Hour)), up(3, "eu", base())))
	find := func(what string, want ...int64) {
		t.Helper()
		found, err := s.TargetsWithRows(t.Context(), []int64{1, 2, 3})
		slices.Sort(found)
		if err != nil || !slices.Equal(found, want) {
			t.Errorf("%s: %v, %v; want %v", what, found, err, want)
		}
	}
	find("at first", 1, 3)
	if err := s.DeleteTargets(t.Context(), []int64{3}); err != nil {
		t.Fatal(err)
	}
	find("after an erasure", 1)
	if err := s.conn.Exec(t.Context(), `TRUNCATE TABLE results`); err != nil {
		t.Fatal(err)
	}
	find("in the rollup alone", 1)
	if found, err := s.TargetsWithRows(t.Context(), nil); err != nil || found != nil {
		t.Errorf("of none: %v, %v", found, err)
	}
}
