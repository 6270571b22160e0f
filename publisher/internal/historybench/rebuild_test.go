//go:build bench

package historybench

import (
	"bufio"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/testfleet"
	"github.com/probefleet/probefleet/migrations"
)

// rebuilding is what `probefleet history rebuild` did, interrupted once.
type rebuilding struct {
	Days    float64 `json:"days"`  // of the range
	Hours   float64 `json:"hours"` // of it that have results
	Seconds float64 `json:"seconds"`
	Resumed bool    `json:"resumed"` // it was interrupted half way and gone on with
}

// rebuild computes as many days as results are kept of again, with the operator's command.
func (b *bench) rebuild(t *testing.T, from time.Time) rebuilding {
	root, err := testfleet.Root()
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "probefleet")
	build := exec.Command("go", "build", "-o", program, "./deploy/probefleet")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build probefleet: %v\n%s", err, out)
	}
	notes := "sqlite:" + filepath.Join(b.dir, "rebuild.db")
	if err := migrations.UpRelational(b.ctx, notes, nil); err != nil {
		t.Fatal(err)
	}
	found := rebuilding{Days: 29, Hours: b.End.Sub(from).Hours()}
	began := time.Now()
	b.history(t, program, notes, 3, "--afresh")
	found.Resumed = b.history(t, program, notes, 0, "--resume")
	found.Seconds = round(time.Since(began).Seconds(), 10)
	return found
}

// history runs the command and shows what it says; after some lines it is interrupted
// (0: never). It says whether it went on with an earlier one.
func (b *bench) history(t *testing.T, program, notes string, lines int, flag string) (resumed bool) {
	command := exec.CommandContext(b.ctx, program, "history", "rebuild", flag)
	command.Env = append(command.Environ(), "DATABASE_URL="+notes, "CLICKHOUSE_URL="+b.url)
	said, err := command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	n := 0
	for scan := bufio.NewScanner(said); scan.Scan(); {
		t.Logf("  %s", scan.Text())
		resumed = resumed || strings.HasPrefix(scan.Text(), "going on")
		if n++; n == lines {
			_ = command.Process.Signal(syscall.SIGINT)
		}
	}
	if err := command.Wait(); err != nil && lines == 0 {
		t.Fatal(err)
	}
	return resumed
}
