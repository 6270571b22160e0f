package embedded_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/probefleet/probefleet/deploy/embedded"
)

func TestCleanStopAndRestartKeepRowsAndAddress(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := startClickHouse(t, embedded.Options{Dir: dir})
	conn := connect(t, c.URL())
	execute(t, conn, tableDDL)
	insert(t, conn, "a", 100)
	if err := c.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err != nil {
		t.Fatalf("a clean stop ended with %v", err)
	}
	again := startClickHouse(t, embedded.Options{Dir: dir, HTTPPort: c.HTTPPort(), TCPPort: c.TCPPort()})
	if again.URL() != c.URL() {
		t.Fatalf("address changed from %s to %s", c.URL(), again.URL())
	}
	if got := one[uint64](t, connect(t, c.URL()), "SELECT count() FROM results"); got != 100 {
		t.Fatalf("%d rows, want 100", got)
	}
}

func TestUnexpectedEndIsReported(t *testing.T) {
	t.Parallel()
	c := startClickHouse(t, embedded.Options{})
	p, err := os.FindProcess(c.PID())
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Fatalf("got %v", err)
	}
	if err := c.Stop(t.Context()); err != nil {
		t.Fatalf("stop of an ended engine: %v", err)
	}
}

func TestSecondStartOnTheSameFolderIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := startClickHouse(t, embedded.Options{Dir: dir})
	_, err := embedded.StartClickHouse(t.Context(), embedded.Options{Dir: dir, LibPath: engine(t)})
	if !errors.Is(err, embedded.ErrLocked) || !strings.Contains(err.Error(), dir) {
		t.Fatalf("got %v", err)
	}
	if err := c.Exec(t.Context(), "SELECT 1"); err != nil {
		t.Fatalf("the first engine suffered: %v", err)
	}
}

func TestTakenPortIsAnError(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	port := l.Addr().(*net.TCPAddr).Port
	_, err = embedded.StartClickHouse(t.Context(), embedded.Options{Dir: t.TempDir(), LibPath: engine(t), HTTPPort: port, TCPPort: port})
	if err == nil || !strings.Contains(err.Error(), "taken") {
		t.Fatalf("got %v", err)
	}
}

func TestBrokenLibraryIsAnError(t *testing.T) {
	t.Parallel()
	lib := filepath.Join(t.TempDir(), "libchdb.so")
	if err := os.WriteFile(lib, []byte("not a library"), 0o755); err != nil {
		t.Fatal(err)
	}
	_, err := embedded.StartClickHouse(t.Context(), embedded.Options{Dir: t.TempDir(), LibPath: lib})
	if err == nil || !strings.Contains(err.Error(), "fetch it again") {
		t.Fatalf("got %v", err)
	}
}

func TestStartEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := embedded.StartClickHouse(ctx, embedded.Options{Dir: t.TempDir(), LibPath: engine(t)})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
}

func TestLogIsRotatedUnderTheEngine(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := startClickHouse(t, embedded.Options{Dir: dir})
	path := filepath.Join(dir, "clickhouse.log")
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString(strings.Repeat("client misbehaved\n", 1<<19))
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	await(t, "old log put aside", func() bool { _, err := os.Stat(path + ".1"); return err == nil })
	await(t, "engine writes the new log", func() bool {
		_ = c.Exec(t.Context(), "SELECT * FROM absent")
		text, err := os.ReadFile(path)
		return err == nil && bytes.Contains(text, []byte("absent"))
	})
}

func TestServersEndWithAKilledParent(t *testing.T) {
	t.Parallel()
	engine(t)
	parent := exec.Command(os.Args[0], "__parent", t.TempDir())
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	var clickhouse, redis int
	line, err := bufio.NewReader(out).ReadString('\n')
	if err == nil {
		_, err = fmt.Sscanf(line, "ready %d %d", &clickhouse, &redis)
	}
	_ = parent.Process.Kill()
	_ = parent.Wait()
	if err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	await(t, "ClickHouse ended", func() bool { return !alive(clickhouse) })
	await(t, "Redis ended", func() bool { return !alive(redis) })
}

// alive counts a process nobody has reaped as ended: it holds nothing any more.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, _ := bytes.Cut(stat, []byte(") "))
	return !bytes.HasPrefix(rest, []byte("Z"))
}
