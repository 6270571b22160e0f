package testfleet

import (
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
)

// Port is a port of 127.0.0.1 for a program that the test starts, perhaps more than once.
// A socket that is bound and does not listen holds it until the test ends: the program may
// listen there, as every program does that sets SO_REUSEADDR, and nobody is given the port
// who asks for a free one or connects to somewhere. While the program does not run,
// connections are refused.
func Port(t testing.TB) string {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	unix.CloseOnExec(fd)
	t.Cleanup(func() { _ = unix.Close(fd) })
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1); err != nil {
		t.Fatal(err)
	}
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	address, err := unix.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	return strconv.Itoa(address.(*unix.SockaddrInet4).Port)
}
