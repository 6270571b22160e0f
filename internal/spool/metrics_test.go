package spool_test

import (
	"strings"
	"syscall"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/probefleet/probefleet/internal/spool"
	"github.com/probefleet/probefleet/internal/spool/spooltest"
)

func TestMetrics(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	f := spooltest.New()
	f.Fail(spooltest.OpLock, 1, syscall.EAGAIN)
	o := spool.Options{Dir: dir, FS: f, Metrics: registry, MaxBytes: 3 * 4096}
	if _, err := spool.Open(o); err == nil { // a later Open registers, not this one
		t.Fatal("opened")
	}
	s := open(t, o)
	mustAppend(t, s, makeBatch(1, 10), makeBatch(2, 5), makeBatch(3, 2))
	f.Put(batchFiles(f)[0], nil)
	it, _ := s.Oldest()
	if _, err := s.Read(it); err == nil {
		t.Fatal("read")
	}
	mustAppend(t, s, makeBatch(4, 3))
	if s.Append(makeBatch(5, 1)) == nil {
		t.Fatal("beyond the cap")
	}
	want := `
# HELP probefleet_spool_appends_total Batches offered to the spool, by outcome.
# TYPE probefleet_spool_appends_total counter
probefleet_spool_appends_total{outcome="failed"} 0
probefleet_spool_appends_total{outcome="full"} 1
probefleet_spool_appends_total{outcome="kept"} 4
# HELP probefleet_spool_batches Batches waiting on disk.
# TYPE probefleet_spool_batches gauge
probefleet_spool_batches 3
# HELP probefleet_spool_bytes Bytes of whole blocks on disk.
# TYPE probefleet_spool_bytes gauge
probefleet_spool_bytes 12288
# HELP probefleet_spool_corrupt_total Damaged files moved to the folder corrupt.
# TYPE probefleet_spool_corrupt_total counter
probefleet_spool_corrupt_total 1
# HELP probefleet_spool_full 1 while batches are refused because the cap is reached or the disk is full.
# TYPE probefleet_spool_full gauge
probefleet_spool_full 1
# HELP probefleet_spool_rows Rows waiting on disk.
# TYPE probefleet_spool_rows gauge
probefleet_spool_rows 10
`
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want), "probefleet_spool_appends_total", "probefleet_spool_batches", "probefleet_spool_bytes", "probefleet_spool_corrupt_total", "probefleet_spool_full", "probefleet_spool_rows"); err != nil {
		t.Fatal(err)
	}
	if n, err := testutil.GatherAndCount(registry, "probefleet_spool_append_seconds"); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	it, _ = s.Oldest()
	if err := s.Remove(it); err != nil {
		t.Fatal(err)
	}
	f.Fail(spooltest.OpSync, 1, syscall.EIO)
	if s.Append(makeBatch(5, 1)) == nil {
		t.Fatal("confirmed")
	}
	if err := testutil.GatherAndCompare(registry, strings.NewReader(strings.NewReplacer(`failed"} 0`, `failed"} 1`).Replace(want[:strings.Index(want, "# HELP probefleet_spool_batches")])), "probefleet_spool_appends_total"); err != nil {
		t.Fatal(err)
	}
}
