package testbackend_test

import (
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/testbackend"
)

func TestPortIsHeld(t *testing.T) {
	t.Parallel()
	address := fmt.Sprint("127.0.0.1:", testbackend.Port(t))
	for range 3 {
		if conn, err := net.DialTimeout("tcp", address, time.Minute); err == nil {
			_ = conn.Close()
			t.Fatal("a connection is accepted where nobody listens")
		}
		listener, err := net.Listen("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		conn, err := net.DialTimeout("tcp", address, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.Close()
		if err := listener.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
