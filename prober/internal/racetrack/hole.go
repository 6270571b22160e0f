//go:build bench

package racetrack

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/probefleet/probefleet/internal/lab"
)

// Hole is a process with the lab's black holes: they take connections and say nothing, the
// secure one after the handshake. It is a process of its own, for whoever visits it keeps the
// other ends.
type Hole struct {
	*Player
	Plain, Secure, Roots string
}

// StartHole plays one, if this machine allows the files for so many checks in flight.
func StartHole(t *testing.T, checks int) Hole {
	t.Helper()
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		t.Fatal(err)
	}
	if want := uint64(checks) + 256; files.Max < want {
		t.Fatalf("%d checks in flight need %d open files in each of two processes, and this machine allows %d: raise it with ulimit -Hn", checks, want, files.Max)
	}
	h := Hole{Roots: filepath.Join(t.TempDir(), "roots.pem")}
	h.Player = Play(t, Others, "hole", "RACE_ROOTS="+h.Roots)
	sites := h.Line(t)
	h.Plain, h.Secure = sites[0], sites[1]
	return h
}

// Taken is how many connections there were so far.
func (h Hole) Taken(t *testing.T) (plain, secure int) {
	t.Helper()
	h.Say("how many?")
	taken := h.Line(t)
	plain, _ = strconv.Atoi(taken[0])
	secure, _ = strconv.Atoi(taken[1])
	return plain, secure
}

// serveNothing answers each line with how many connections the holes have taken.
func serveNothing() int {
	l, err := lab.Start("127.0.0.1:0")
	if err != nil {
		return Fail(err)
	}
	defer l.Close()
	if err := os.WriteFile(os.Getenv("RACE_ROOTS"), l.Authority(), 0o600); err != nil {
		return Fail(err)
	}
	plain, err := l.Addr("black-hole")
	if err != nil {
		return Fail(err)
	}
	secure, err := l.Addr("black-hole-tls")
	if err != nil {
		return Fail(err)
	}
	fmt.Println("http://"+plain+"/", "https://"+secure+"/")
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		fmt.Println(l.ConnectionsTo("black-hole"), l.ConnectionsTo("black-hole-tls"))
	}
	return 0
}
