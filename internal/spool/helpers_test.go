package spool_test

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/spool"
	"github.com/probefleet/probefleet/internal/spool/spooltest"
	"github.com/probefleet/probefleet/internal/uptime"
)

const dir = "/var/lib/probefleet/prober"

var epoch = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// makeBatch gives batch n of some rows; no two are alike.
func makeBatch(n, rows int) resultstore.Batch {
	b := resultstore.Batch{Token: fmt.Sprintf("token-%04d", n), Prober: "prober-1", Region: "eu", Attempt: n}
	for i := range rows {
		slot := epoch.Add(time.Duration(n)*time.Minute + time.Duration(i)*time.Millisecond)
		b.Rows = append(b.Rows, uptime.Result{
			TargetID: int64(1000*n + i), Region: "eu", ScheduledAt: slot, CheckedAt: slot.Add(3 * time.Millisecond),
			Status: uptime.StatusDown, Failure: uptime.FailureStatusCode, HTTPStatus: 503,
			Phases: uptime.Phases{DNS: uint32(n*7919+i*104729) % 9000, Connect: 22, TLS: 333, Wait: 4444, Transfer: 5}, TotalUS: 12345,
			Message: fmt.Sprintf("503 Service Unavailable %d", n*31+i), Address: netip.MustParseAddr("192.0.2.7"),
			CertNotAfter: epoch.AddDate(0, 3, 0), Attempt: 1, Prober: "prober-1", SpecVersion: 4, IngestedAt: slot.Add(time.Second + 1),
		})
	}
	return b
}

// equal is exact, to the nanosecond of each time.
func equal(a, b resultstore.Batch) bool {
	return a.Token == b.Token && a.Prober == b.Prober && a.Region == b.Region && a.Attempt == b.Attempt && slices.Equal(a.Rows, b.Rows)
}

func same(t *testing.T, what string, got, want resultstore.Batch) {
	t.Helper()
	if equal(got, want) {
		return
	}
	t.Fatalf("%s (-want +got):\n%s", what, cmp.Diff(want, got, cmpopts.EquateComparable(netip.Addr{})))
}

func open(t *testing.T, o spool.Options) *spool.Spool {
	t.Helper()
	if o.Dir == "" {
		o.Dir = dir
	}
	s, err := spool.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func mustAppend(t *testing.T, s *spool.Spool, batches ...resultstore.Batch) {
	t.Helper()
	for _, b := range batches {
		if err := s.Append(b); err != nil {
			t.Fatal(err)
		}
	}
}

// replay empties the spool and gives what it held, in order, and how many files were corrupt.
func replay(t *testing.T, s *spool.Spool) (batches []resultstore.Batch, corrupt int) {
	t.Helper()
	for {
		it, ok := s.Oldest()
		if !ok {
			return batches, corrupt
		}
		b, err := s.Read(it)
		if errors.Is(err, spool.ErrCorrupt) {
			corrupt++
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if it.Rows != len(b.Rows) {
			t.Fatalf("%d rows, and the name says %d", len(b.Rows), it.Rows)
		}
		batches = append(batches, b)
		if err := s.Remove(it); err != nil {
			t.Fatal(err)
		}
	}
}

func tokens(batches []resultstore.Batch) []string {
	list := []string{}
	for _, b := range batches {
		list = append(list, b.Token)
	}
	return list
}

func sameTokens(t *testing.T, got []resultstore.Batch, want ...resultstore.Batch) {
	t.Helper()
	if diff := cmp.Diff(tokens(want), tokens(got)); diff != "" {
		t.Fatalf("(-want +got):\n%s", diff)
	}
}

// batchFiles gives the paths of the batches in a spooltest folder, oldest first.
func batchFiles(f *spooltest.FS) []string {
	var list []string
	for _, name := range f.Names(dir) {
		list = append(list, dir+"/"+name)
	}
	return list
}

var (
	errIO           = syscall.EIO
	errTooManyFiles = syscall.EMFILE
)
