package service

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// TestMain turns this binary into a small service when it is asked to be one.
func TestMain(m *testing.M) {
	if kind := os.Getenv("SERVICE_CHILD"); kind != "" {
		os.Exit(childService(kind))
	}
	os.Exit(m.Run())
}

// childService logs all the time and serves work; its end is asked for over HTTP.
func childService(kind string) int {
	return Main("child", "127.0.0.1:0", nil, os.Getenv, os.Stderr, func(ctx context.Context, s *Service) error {
		failed := make(chan error, 1)
		address, err := os.Create(os.Getenv("ADDRESS"))
		if err == nil {
			_, err = address.WriteString(s.OpsAddr + "\n")
		}
		if err != nil {
			return err
		}
		done := 0
		s.Health.Fact("work", func() any { // a request is a unit of work: it logs and goes on
			for range 1000 {
				done++
				s.Log.Info("work", "done", done, "padding", strings.Repeat("x", 100))
				slog.Info("a library's line", "done", done)
				_, _ = fmt.Fprintln(os.Stderr, "a line that goes around the log", strings.Repeat("x", 100))
			}
			return done
		})
		s.Health.Fact("end", func() any {
			if done < 20_000 {
				return nil
			}
			switch kind {
			case "watchdog":
				s.Log.Error("the watchdog's exit")
				syscall.Exit(ExitWatchdog)
			case "exit":
				s.Log.Error("a plain exit")
				os.Exit(ExitWatchdog)
			case "panic":
				go func() { panic("a crash while nobody reads") }()
			case "error":
				failed <- Exit(ExitSpool, errors.New("the spool cannot be written"))
			}
			return nil
		})
		select {
		case err := <-failed:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	})
}

// Nobody reads the pipe, or nobody is left who could: the service goes on, counts what it drops, and every way
// out ends it. (How soon: see TestLogQueueIsBoundedInBytes.)
func TestNobodyReadsTheLog(t *testing.T) {
	t.Parallel()
	for kind, code := range map[string]int{"watchdog": ExitWatchdog, "exit": ExitWatchdog, "panic": 2, "error": ExitSpool, "term": ExitOK, "term, reader gone": ExitOK} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			reader, writer, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer reader.Close()
			if strings.HasSuffix(kind, "reader gone") {
				_ = reader.Close()
			}
			self, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			addressFile := t.TempDir() + "/address"
			cmd := exec.Command(self)
			cmd.Env = append(os.Environ(), "SERVICE_CHILD="+kind, "ADDRESS="+addressFile, "GORACE=atexit_sleep_ms=0") // else the race detector sleeps a second
			cmd.Stdout, cmd.Stderr = writer, writer
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			_ = writer.Close()
			ended := make(chan struct{})
			go func() { _ = cmd.Wait(); close(ended) }()
			defer func() { _ = cmd.Process.Kill(); <-ended }()
			address := ""
			awaitTrue(t, "it listens", func() bool {
				content, _ := os.ReadFile(addressFile)
				address = strings.TrimSpace(string(content))
				return strings.HasSuffix(string(content), "\n")
			})
			for range 19 {
				if body := fetch(t, "http://"+address+"/healthz"); !strings.Contains(body, `"status":"ok"`) {
					t.Fatalf("does not go on: %s", body)
				}
			}
			if body := fetch(t, "http://"+address+"/metrics"); !strings.Contains(body, "probefleet_log_lines_dropped_total ") || strings.Contains(body, "probefleet_log_lines_dropped_total 0\n") {
				t.Error("dropped lines are not counted")
			}
			if strings.HasPrefix(kind, "term") {
				_ = cmd.Process.Signal(syscall.SIGTERM)
			} else { // the facts of two requests: enough work, whatever their order
				for range 2 {
					_, _ = http.Get("http://" + address + "/healthz")
				}
			}
			select {
			case <-ended:
			case <-time.After(hang):
				t.Fatal("does not end while nobody reads")
			}
			if got := cmd.ProcessState.ExitCode(); got != code {
				t.Errorf("exits %d, want %d", got, code)
			}
		})
	}
}

const hang = 2 * time.Minute // longer than anything that goes on takes

func fetch(t *testing.T, url string) string {
	t.Helper()
	response, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, _ := io.ReadAll(response.Body)
	return string(body)
}

func awaitTrue(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.After(hang); !ok(); {
		select {
		case <-deadline:
			t.Fatalf("not within %v: %s", hang, what)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// A reader that comes back finds whole lines in order, is told how many are
// missing, and the last line is there.
func TestReaderComesBack(t *testing.T) {
	t.Parallel()
	reader, writer := io.Pipe()
	lines := newLogWriter(writer)
	log := NewLogger(Settings{LogFormat: "json"}, lines)
	lines.log.Store(log)
	const written = logQueue + 500
	for i := range written {
		log.Info("line", "n", i)
	}
	lost := lines.dropped.Load()
	if lost < 400 || lost > 500 {
		t.Fatalf("%d lines dropped", lost)
	}
	got := make(chan []string)
	go func() {
		var all []string
		for scan := bufio.NewScanner(reader); scan.Scan(); {
			all = append(all, scan.Text())
			if scan.Text() == "the end" {
				break
			}
		}
		got <- all
	}()
	awaitTrue(t, "the queue is empty", func() bool { return len(lines.lines) == 0 && lines.waiting.Load() == 0 })
	lines.finish("the end\n")
	all := <-got
	notices := 0
	for i, line := range all[:len(all)-1] {
		if strings.Contains(line, "nobody read them") {
			notices++
			if !strings.Contains(line, fmt.Sprintf(`"lines":%d`, lost)) {
				t.Errorf("%d were lost: %s", lost, line)
			}
		} else if !strings.Contains(line, fmt.Sprintf(`"n":%d}`, i)) {
			t.Fatalf("line %d is %s", i, line)
		}
	}
	if notices != 1 || len(all) != written-int(lost)+2 {
		t.Errorf("%d lines, %d notices", len(all), notices)
	}
}

func TestLogQueueIsBoundedInBytes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		reader, writer := io.Pipe()
		defer reader.Close() // until then nobody reads
		lines := newLogWriter(writer)
		long := make([]byte, 64<<10)
		for range 100 {
			_, _ = lines.Write(long)
		}
		if waiting, lost := lines.waiting.Load(), lines.dropped.Load(); waiting > logBytes || lost != 100-logBytes/int64(len(long)) {
			t.Errorf("%d bytes wait, %d lines lost", waiting, lost)
		}
		started := time.Now()
		lines.finish("the end\n")
		if took := time.Since(started); took != logFlush {
			t.Errorf("finish took %v", took)
		}
	})
}
