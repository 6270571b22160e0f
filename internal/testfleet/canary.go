package testfleet

import (
	"net"
	"testing"
)

// Canary is an address that answers for as long as the test runs, for PROBER_CANARIES: tests
// may have no network. Ask for it before what is to stop first.
func Canary(t testing.TB) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_ = conn.Close()
		}
	}()
	return listener.Addr().String()
}
