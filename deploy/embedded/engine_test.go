package embedded_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/probefleet/probefleet/deploy/embedded"
)

// fakeNPM puts a program called npm first on PATH. It runs in the fetch folder.
func fakeNPM(t *testing.T, script string) {
	t.Helper()
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "npm"), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
}

const (
	notCached = `case "$*" in *--offline*) echo "npm error code ENOTCACHED"; exit 1;; esac` + "\n"
	install   = `mkdir -p node_modules/@chdb/lib-linux-x64-gnu
echo library > node_modules/@chdb/lib-linux-x64-gnu/libchdb.so
`
)

func TestLockFileNamesNoRegistry(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("engine/package-lock.json")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "://") || strings.Contains(string(text), `"resolved"`) {
		t.Error("the lock file records where a package came from: run npm with --omit-lockfile-registry-resolved")
	}
	if version, err := embedded.EngineVersion(); err != nil || version != "26.7.3-stable.1" {
		t.Errorf("version %q, %v", version, err)
	}
}

func TestFetchHappensOnceAndLeavesTheLibraryOnly(t *testing.T) {
	calls := filepath.Join(t.TempDir(), "calls")
	fakeNPM(t, notCached+`echo "$*" >> `+calls+"\n"+install+"mkdir npm-cache; echo tarball > npm-cache/tgz\n")
	cache := t.TempDir()
	if _, err := embedded.FindEngine(cache); !errors.Is(err, embedded.ErrNoEngine) {
		t.Fatalf("an empty cache gives %v", err)
	}
	if err := os.MkdirAll(filepath.Join(cache, ".fetch-interrupted", "node_modules"), 0o755); err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			var last int64
			lib, err := embedded.FetchEngine(t.Context(), cache, func(done, total int64, text string) {
				if done < 0 || done > total || text == "" {
					t.Errorf("progress %d of %d %q after %d", done, total, text, last)
				}
				last = done
			})
			if err != nil {
				t.Error(err)
				return
			}
			if text, err := os.ReadFile(lib); err != nil || string(text) != "library\n" {
				t.Errorf("library %q, %v", text, err)
			}
		})
	}
	wait.Wait()
	text, err := os.ReadFile(calls)
	if err != nil || strings.Count(string(text), "\n") != 1 || !strings.Contains(string(text), "--ignore-scripts") {
		t.Errorf("npm was called %q, %v", text, err)
	}
	entries, err := os.ReadDir(cache)
	if err != nil || len(entries) != 2 { // the engine and its lock
		t.Errorf("cache holds %v, %v", entries, err)
	}
}

func TestFetchErrorsSayWhatToDo(t *testing.T) {
	for name, test := range map[string]struct{ script, want string }{
		"offline":      {"echo 'npm error code EAI_AGAIN'; exit 1", "set CLICKHOUSE_URL"},
		"wrong hash":   {notCached + "echo 'npm error code EINTEGRITY'; exit 1", "is not the pinned one"},
		"full disk":    {"echo 'npm error code ENOSPC'; exit 1", "the disk is full"},
		"not mirrored": {"echo 'npm error code E404'; exit 1", "npm config get registry"},
		"unknown":      {"echo 'npm error something odd'; exit 1", "something odd"},
		"no library":   {"exit 0", "libchdb.so"},
	} {
		t.Run(name, func(t *testing.T) {
			fakeNPM(t, test.script)
			cache := t.TempDir()
			_, err := embedded.FetchEngine(t.Context(), cache, nil)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q in it", err, test.want)
			}
			if _, err := embedded.FindEngine(cache); !errors.Is(err, embedded.ErrNoEngine) {
				t.Errorf("a failed fetch left an engine: %v", err)
			}
		})
	}
	t.Run("no npm", func(t *testing.T) {
		t.Setenv("PATH", t.TempDir())
		_, err := embedded.FetchEngine(t.Context(), t.TempDir(), nil)
		if err == nil || !strings.Contains(err.Error(), "install Node.js") {
			t.Errorf("got %v", err)
		}
	})
}

func TestCancelledFetchStopsNPM(t *testing.T) {
	mark := filepath.Join(t.TempDir(), "pid")
	fakeNPM(t, "echo $$ > "+mark+".new; mv "+mark+".new "+mark+"; sleep 600")
	ctx, cancel := context.WithCancel(t.Context())
	cache, ended := t.TempDir(), make(chan error, 1)
	go func() {
		_, err := embedded.FetchEngine(ctx, cache, nil)
		ended <- err
	}()
	await(t, "npm runs", func() bool { _, err := os.Stat(mark); return err == nil })
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	left, err := filepath.Glob(filepath.Join(cache, ".fetch-*"))
	if err != nil || len(left) != 0 {
		t.Fatalf("left behind: %v, %v", left, err)
	}
}

func TestLibraryOthersMayWriteIsRefused(t *testing.T) {
	fakeNPM(t, install)
	cache := t.TempDir()
	lib, err := embedded.FetchEngine(t.Context(), cache, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(lib, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := embedded.FindEngine(cache); err == nil || !strings.Contains(err.Error(), "chmod go-w") {
		t.Fatalf("got %v", err)
	}
}

func TestWithoutAnEngineStartSaysSo(t *testing.T) {
	t.Parallel()
	_, err := embedded.StartClickHouse(t.Context(), embedded.Options{Dir: t.TempDir()})
	if !errors.Is(err, embedded.ErrNoEngine) {
		t.Fatalf("got %v", err)
	}
}
