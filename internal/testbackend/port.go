package testbackend

import (
	"fmt"
	"net"
	"os"
	"sync/atomic"
	"testing"
)

// Ports of tests: below those that systems give to outgoing connections and to listeners that ask
// for any, above those of this module's programs and of the tests of faults.
const (
	firstPort = 30_000
	ports     = 2_700
)

// lastPort counts those that were given. Other tests run beside: each process begins elsewhere.
var lastPort atomic.Int64

// Port finds a port of the loopback interface on which nobody listens. No connection and no listener
// that asks for any takes it until what is to listen there does, nor while that is started again.
func Port(t testing.TB) int {
	t.Helper()
	port, err := freePort()
	if err != nil {
		t.Fatal(err)
	}
	return port
}

func freePort() (port int, err error) {
	for range 100 {
		var listener net.Listener
		port = firstPort + (os.Getpid()*37+int(lastPort.Add(1)))%ports
		if listener, err = net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			return port, listener.Close()
		}
	}
	return 0, fmt.Errorf("find a free port between %d and %d: %w", firstPort, firstPort+ports, err)
}
