package probe

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/probefleet/probefleet/internal/uptime"
)

// maxAllocs is what a check of a web page may allocate. With the race detector, sync.Pool
// drops things at random: what it drops is made again.
const maxAllocs = 40 + racing*4

// serveOnly is set for the process of this binary that is the server.
const serveOnly = "PROBE_TEST_SERVE"

// TestHTTPCheckAllocatesLittle has the server in another process, and takes the best of
// several rounds: what else goes on in this process is nobody's fault.
//
// Promise: an HTTP check needs at most 40 allocations
func TestHTTPCheckAllocatesLittle(t *testing.T) {
	if os.Getenv(serveOnly) != "" {
		serveThree(t)
		return
	}
	link := "http://" + otherProcess(t) + "/"
	e := New(options(nil))
	ctx, cancel := context.WithCancel(t.Context()) // as a prober's
	defer cancel()
	best := float64(1 << 20)
	for range 5 {
		best = min(best, testing.AllocsPerRun(50, func() {
			check := checkOf(link)
			e.Check(ctx, &check, func(o Outcome) {
				if o.Status != uptime.StatusUp {
					t.Errorf("%+v", o)
				}
			})
		}))
	}
	if t.Logf("%v allocations", best); best > maxAllocs {
		t.Errorf("%v allocations a check, at most %d wanted", best, maxAllocs)
	}
}

// otherProcess starts this test in a process that serves, and gives its address.
func otherProcess(t *testing.T) string {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), serveOnly+"=1")
	stdin, err := cmd.StdinPipe() // its end is the server's
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = stdin.Close()
		_ = cmd.Wait()
	})
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		if addr, found := strings.CutPrefix(lines.Text(), "serving "); found {
			return addr
		}
	}
	t.Fatal("the server does not come up")
	return ""
}

// serveThree answers three bytes to everybody until its standard input ends.
func serveThree(t *testing.T) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Read(make([]byte, 4<<10))
			_, _ = conn.Write([]byte("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 3\r\n\r\nok\n"))
			_ = conn.Close()
		}
	}()
	fmt.Println("serving", listener.Addr())
	_, _ = os.Stdin.Read(make([]byte, 1))
	_ = listener.Close()
}
