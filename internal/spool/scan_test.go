package spool_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/spool"
	"github.com/probefleet/probefleet/internal/spool/spooltest"
)

// TestStartReadsNoContents: what waits is known from names and sizes alone.
func TestStartReadsNoContents(t *testing.T) {
	t.Parallel()
	const files = 3000
	f := spooltest.New()
	f.Mkdir("/spool")
	for i := range files {
		f.Put(fmt.Sprintf("/spool/%016x-7-1772366460000-1772366470000.batch", i+1), make([]byte, 4097))
	}
	counts := map[spooltest.Op]int{}
	f.Observe(func(op spooltest.Op, _ string) { counts[op]++ })
	s := open(t, spool.Options{Dir: "/spool", FS: f})
	if counts[spooltest.OpRead] != 0 || counts[spooltest.OpList] != 2 || len(counts) > 5 {
		t.Fatalf("calls: %v", counts)
	}
	if state := s.State(); state.Batches != files || state.Rows != 7*files || state.Bytes != files*8192 {
		t.Fatalf("%+v", state)
	}
}

// TestConstantMemory is not parallel: it measures what the spool keeps of 20,000
// rows while they are appended and replayed.
func TestConstantMemory(t *testing.T) {
	const batches, rows = 100, 200
	s := open(t, spool.Options{Dir: filepath.Join(t.TempDir(), "spool"), Volatile: true})
	live := func() uint64 { // the least of a few looks: other tests' leftovers come and go
		least := uint64(math.MaxUint64)
		for range 5 {
			var stats runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&stats)
			least = min(least, stats.HeapAlloc)
		}
		return least
	}
	mustAppend(t, s, makeBatch(0, rows)) // the compressor is there from now on
	before := live()
	most := func(at string, now uint64) {
		t.Helper()
		if now > before+400<<10 {
			t.Fatalf("%s: %d KB are kept", at, (now-before)/1024)
		}
	}
	for i := 1; i < batches; i++ {
		mustAppend(t, s, makeBatch(i, rows))
	}
	most("appended", live())
	for i := range batches {
		it, _ := s.Oldest()
		b, err := s.Read(it)
		if err = errors.Join(err, s.Remove(it)); err != nil || len(b.Rows) != rows {
			t.Fatal(err)
		}
		b = resultstore.Batch{}
		if i%25 == 0 {
			most("replaying", live())
		}
	}
	runtime.KeepAlive(s)
}

// BenchmarkOpen starts on a spool full to its 500 MiB with files of one block.
func BenchmarkOpen(b *testing.B) {
	folder := b.TempDir()
	const files = 128_000
	content := make([]byte, 400)
	for i := range files {
		name := fmt.Sprintf("%016x-2-%d-%d.batch", i+1, 1772366460000+int64(i)*1000, 1772366461000+int64(i)*1000)
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		s, err := spool.Open(spool.Options{Dir: folder, Volatile: true})
		if err != nil || s.State().Batches != files {
			b.Fatal(err)
		}
		_ = s.Close()
	}
}

// BenchmarkAppend measures durable batches: file and directory fsynced.
func BenchmarkAppend(b *testing.B) {
	for _, rows := range []int{20, 1000} {
		b.Run(fmt.Sprintf("rows=%d", rows), func(b *testing.B) {
			s, err := spool.Open(spool.Options{Dir: b.TempDir(), Volatile: true, MaxBytes: 1 << 40})
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			batch := makeBatch(1, rows)
			for b.Loop() {
				if err := s.Append(batch); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "batches/s")
		})
	}
}

// BenchmarkReplay measures reading and removing.
func BenchmarkReplay(b *testing.B) {
	s, err := spool.Open(spool.Options{Dir: b.TempDir(), Volatile: true})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	batch := makeBatch(1, 1000)
	for b.Loop() {
		b.StopTimer()
		if err := s.Append(batch); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		it, _ := s.Oldest()
		if _, err := s.Read(it); err != nil {
			b.Fatal(err)
		}
		if err := s.Remove(it); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(1000*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}
