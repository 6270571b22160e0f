package resultstore

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/migrations"
)

func TestMain(m *testing.M) { testbackend.Main(m) }

// open gives a store on an empty, migrated database, and its URL.
func open(t testing.TB) (*Store, string) {
	t.Helper()
	url := testbackend.ClickHouse(t)
	if err := migrations.UpClickHouse(t.Context(), url, nil); err != nil {
		t.Fatal(err)
	}
	return openAt(t, url), url
}

func openAt(t testing.TB, url string) *Store {
	t.Helper()
	s, err := Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// base is the slot most tests start from: recent, on a whole minute, in the past; the same whenever it is asked for.
var base = sync.OnceValue(func() time.Time { return time.Now().UTC().Truncate(time.Minute).Add(-time.Hour) })

func up(target int64, region string, slot time.Time) uptime.Result {
	return uptime.Result{
		TargetID: target, Region: region, ScheduledAt: slot, CheckedAt: slot.Add(3 * time.Millisecond), Status: uptime.StatusUp,
		HTTPStatus: 200, Phases: uptime.Phases{DNS: 1, Connect: 2, TLS: 3, Wait: 4, Transfer: 5}, TotalUS: 15,
		Attempt: 1, Prober: "p1", SpecVersion: 7, IngestedAt: kept(slot.Add(time.Second)),
	}
}

func missed(target int64, region string, slot time.Time) uptime.Result {
	return uptime.Result{TargetID: target, Region: region, ScheduledAt: slot, Status: uptime.StatusMissed, Reason: uptime.ReasonLost, IngestedAt: kept(slot.Add(time.Minute))}
}

// kept is an ingest time as exact as rows keep it: see uptime.Result.Revision.
func kept(at time.Time) time.Time { return time.UnixMicro(at.UnixMicro() &^ 1023).UTC() }

func batchOf(rows ...uptime.Result) Batch {
	return Batch{Token: uuid.Must(uuid.NewV7()).String(), Prober: "p1", Region: "eu", Attempt: 1, Rows: rows}
}

func insert(t testing.TB, s *Store, batches ...Batch) {
	t.Helper()
	for _, b := range batches {
		if err := s.Insert(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
}

// count runs a query that answers one number.
func count(t testing.TB, s *Store, sql string) uint64 {
	t.Helper()
	var n uint64
	if err := s.conn.QueryRow(t.Context(), sql).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// eventually awaits a condition.
func eventually(t testing.TB, what string, condition func() bool) {
	t.Helper()
	deadline, tick := time.After(2*time.Minute), time.NewTicker(50*time.Millisecond)
	defer tick.Stop()
	for !condition() {
		select {
		case <-deadline:
			t.Fatalf("waited in vain: %s", what)
		case <-tick.C:
		}
	}
}

func TestOpenRefusesWhatItCannotUse(t *testing.T) {
	t.Parallel()
	empty := testbackend.ClickHouse(t)
	for name, test := range map[string]struct{ url, want string }{
		"no schema": {empty, "probefleet migrate up"},
		"http":      {strings.Replace(empty, "clickhouse://", "http://", 1), "native protocol"},
		"nonsense":  {"clickhouse://u:hunter2@%zz/", "native protocol"},
	} {
		s, err := Open(t.Context(), test.url)
		if err == nil {
			s.Close()
			t.Errorf("%s: opened", name)
			continue
		}
		if !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCallEndsWithItsContext(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	ctx, cancel := context.WithCancel(t.Context())
	const endless = `SELECT sum(sipHash64(number)) FROM system.numbers /* endless */`
	answer := make(chan error, 1)
	go func() { answer <- s.query(ctx, sweepBound, endless, nil, nil) }()
	running := func() uint64 {
		return count(t, s, `SELECT count() FROM system.processes WHERE query LIKE '%sipHash64(number)%endless%' AND query NOT LIKE '%processes%' AND current_database = currentDatabase()`)
	}
	eventually(t, "the query runs", func() bool { return running() == 1 })
	cancel()
	if err := <-answer; err == nil || !IsTransient(err) {
		t.Errorf("answer %v", err)
	}
	eventually(t, "the server has stopped it", func() bool { return running() == 0 })
	if err := s.Ping(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestServerStateIsTransient(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	if err := s.conn.Exec(t.Context(), `DROP TABLE results`); err != nil {
		t.Fatal(err)
	}
	err := s.Insert(t.Context(), batchOf(up(1, "eu", base())))
	if !IsTransient(err) || IsPermanent(err) {
		t.Errorf("a missing table must keep the rows: %v", err)
	}
	if _, err := s.Results(t.Context(), ResultQuery{TargetID: 1, Limit: 1}); err == nil {
		t.Error("read without a table")
	}
}

func TestDataErrorOfTheServerIsPermanent(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	err := s.query(t.Context(), pageBound, `SELECT CAST('no such', 'Enum8(\'up\' = 1)')`, nil, nil)
	if !IsPermanent(fmt.Errorf("insert: %w", err)) {
		t.Errorf("answer %v", err)
	}
}
