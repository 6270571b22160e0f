package spool_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/spool"
	"github.com/probefleet/probefleet/internal/uptime"
)

// mixed is a batch of one row a region, a minute apart.
func mixed(token string, from time.Time, regions ...string) resultstore.Batch {
	b := resultstore.Batch{Token: token}
	for i, region := range regions {
		b.Rows = append(b.Rows, uptime.Result{TargetID: 1, Region: region, ScheduledAt: from.Add(time.Duration(i) * time.Minute), Status: uptime.StatusUp})
	}
	return b
}

// TestRegionsAreCounted over appends, removals, a restart and a damaged file.
func TestRegionsAreCounted(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	s := open(t, spool.Options{Dir: folder, Volatile: true, ByRegion: true})
	expect := func(what string, want map[string]spool.Share) {
		t.Helper()
		if diff := cmp.Diff(want, s.Regions()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	at := func(minutes int) time.Time { return epoch.Add(time.Duration(minutes) * time.Minute) }
	expect("empty", map[string]spool.Share{})
	mustAppend(t, s, mixed("a", at(0), "push", "ext-office", "push"), mixed("b", at(-9), "ext-office"), mixed("c", at(5), "push"))
	both := map[string]spool.Share{"push": {3, at(0), at(5)}, "ext-office": {2, at(-9), at(1)}}
	expect("appended", both)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if plain := open(t, spool.Options{Dir: folder, Volatile: true}); len(plain.Regions()) != 0 {
		t.Error("counted without being asked to")
	} else if err := plain.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, spool.Options{Dir: folder, Volatile: true, ByRegion: true})
	expect("after a restart", both)
	it, _ := s.Oldest()
	if err := s.Remove(it); err != nil {
		t.Fatal(err)
	}
	expect("removed", map[string]spool.Share{"push": {1, at(5), at(5)}, "ext-office": {1, at(-9), at(-9)}})
	names, err := filepath.Glob(filepath.Join(folder, "*.batch"))
	if err != nil || len(names) != 2 {
		t.Fatal(names, err)
	}
	if err := os.WriteFile(names[0], []byte("PFSB damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, corrupt := replay(t, s); len(got) != 1 || corrupt != 1 {
		t.Errorf("%d replayed, %d corrupt", len(got), corrupt)
	}
	expect("replayed", map[string]spool.Share{})
}
