package testbackend

import (
	"fmt"
	"testing"

	"golang.org/x/sys/unix"
)

// Port is a port of 127.0.0.1 for a program that the test starts, perhaps more than once. It is held
// until the test ends: see holdPort.
func Port(t testing.TB) int {
	t.Helper()
	port, release, err := holdPort()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(release)
	return port
}

// holdPort binds a free port of 127.0.0.1 and does not listen there. A program may listen on it all
// the same if it sets SO_REUSEADDR, as servers do; nobody is given the port who asks for a free one or
// connects to somewhere. While the program does not run, connections are refused.
func holdPort() (port int, release func(), err error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, nil, fmt.Errorf("hold a port: %w", err)
	}
	release = func() { _ = unix.Close(fd) }
	if err = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1); err == nil {
		err = unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}})
	}
	if err == nil {
		var address unix.Sockaddr
		if address, err = unix.Getsockname(fd); err == nil {
			return address.(*unix.SockaddrInet4).Port, release, nil
		}
	}
	release()
	return 0, nil, fmt.Errorf("hold a port: %w", err)
}
