//go:build bench

package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/probefleet/probefleet/internal/database"
	"github.com/probefleet/probefleet/internal/testbackend"
)

// What an import of 10,000 targets takes, and how long others wait meanwhile who write into the
// same database: in this process, and in another one that changes what is due.
// go test -count=1 -tags bench -run TestImportCosts -v ./dashboard-api/internal/httpapi
func TestImportCosts(t *testing.T) {
	for engine, url := range map[string]string{"sqlite": testbackend.SQLite(t), "postgres": testbackend.Postgres(t)} {
		b := newBenchOn(t, url)
		other, err := database.Open(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = other.Close() })
		for _, step := range []struct {
			name, interval string
			dry            bool
		}{{"dry run, all new", "60", true}, {"all new", "60", false}, {"dry run, all unchanged", "60", true}, {"dry run, all changed", "300", true}, {"all changed", "300", false}} {
			var targets []string
			for i := range maxImport {
				targets = append(targets, fmt.Sprintf(`{"url":"https://h%d.example/health","name":"Target %d","interval_s":%s,"tags":["prod","team:%d"]}`, i, i, step.interval, i%20))
			}
			body := fmt.Sprintf(`{"dry_run":%t,"targets":[%s]}`, step.dry, strings.Join(targets, ","))
			targets = nil
			here, there := watchWrites(t, b.db), watchWrites(t, other)
			heap := watchHeap()
			begun := time.Now()
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, importPath, strings.NewReader(body))
			r.Header.Set("Authorization", "Bearer "+editorKey)
			r.Header.Set("Content-Type", "application/json")
			w := &tail{header: http.Header{}}
			b.handler.ServeHTTP(w, r)
			took := time.Since(begun)
			most, allocated := heap()
			waited, waitedThere := here(), there()
			var last struct{ Complete *importEndJSON }
			if err := json.Unmarshal(w.line(), &last); err != nil || last.Complete == nil || last.Complete.Refused != 0 || last.Complete.Stopped != nil {
				t.Fatalf("%s: %s %v", step.name, w.line(), err)
			}
			t.Logf("%-8s %-22s %5.1f s; others waited at most %s here, %s in another process; at most %.0f MiB more of heap, %.1f KiB allocated a target",
				engine, step.name, took.Seconds(), waited, waitedThere, float64(most)/(1<<20), float64(allocated)/maxImport/(1<<10))
		}
	}
}

// tail keeps the end of an answer, as a client does that reads along.
type tail struct {
	header http.Header
	text   []byte
}

func (l *tail) Header() http.Header { return l.header }
func (l *tail) WriteHeader(int)     {}
func (l *tail) Flush()              {}
func (l *tail) Write(p []byte) (int, error) {
	l.text = append(l.text, p...)
	l.text = l.text[max(0, len(l.text)-4<<10):]
	return len(p), nil
}

func (l *tail) line() []byte {
	text := bytes.TrimSpace(l.text)
	return text[bytes.LastIndexByte(text, '\n')+1:]
}

// watchWrites takes the counter of changes again and again, and tells how long that took at most
// and how often it could not be had.
func watchWrites(t *testing.T, db *database.DB) (told func() string) {
	var most time.Duration
	failed := 0
	var watching sync.WaitGroup
	done := make(chan struct{})
	watching.Go(func() {
		for tick := time.NewTicker(10 * time.Millisecond); ; {
			begun := time.Now()
			if db.Tx(context.WithoutCancel(t.Context()), func(tx *gorm.DB) error {
				return tx.Exec("UPDATE schedule_counter SET seq = seq WHERE id = 1").Error
			}) != nil {
				failed++
			}
			most = max(most, time.Since(begun))
			select {
			case <-done:
				return
			case <-tick.C:
			}
		}
	})
	return func() string {
		close(done)
		watching.Wait()
		return fmt.Sprintf("%v and %d failed", most.Round(time.Millisecond), failed)
	}
}

// watchHeap tells how much more of the heap was in use at most, and how much was allocated in all.
func watchHeap() (told func() (most, allocated uint64)) {
	runtime.GC()
	var before, m runtime.MemStats
	runtime.ReadMemStats(&before)
	var most uint64
	var watching sync.WaitGroup
	done := make(chan struct{})
	watching.Go(func() {
		for tick := time.NewTicker(20 * time.Millisecond); ; {
			select {
			case <-done:
				return
			case <-tick.C:
			}
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapInuse)
		}
	})
	return func() (uint64, uint64) {
		close(done)
		watching.Wait()
		runtime.ReadMemStats(&m)
		return most - min(most, before.HeapInuse), m.TotalAlloc - before.TotalAlloc
	}
}
