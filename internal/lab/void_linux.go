package lab

import (
	"context"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// deserted is true when the client has closed its side. Reading would tell as
// well, if it were not the point to read nothing.
func deserted(c *net.TCPConn) bool {
	raw, err := c.SyscallConn()
	if err != nil {
		return true
	}
	gone := false
	err = raw.Control(func(fd uintptr) {
		info, err := unix.GetsockoptTCPInfo(int(fd), unix.SOL_TCP, unix.TCP_INFO)
		gone = err != nil || info.State != unix.BPF_TCP_ESTABLISHED
	})
	return gone || err != nil
}

// openRefused keeps a port without listening at it: the kernel refuses those who
// connect, and gives the port to nobody else.
func openRefused(l *Lab, _ string) (site, error) {
	fd, addr, err := bound(l)
	if err != nil {
		return site{}, err
	}
	l.own(holder{func() { _ = unix.Close(fd) }})
	return site{url: "tcp://" + addr.String(), addr: addr.String()}, nil
}

// openFull listens with room for two connections that nobody accepts, and takes
// the room: the kernel drops every further SYN.
func openFull(l *Lab, _ string) (site, error) {
	fd, addr, err := bound(l)
	if err != nil {
		return site{}, err
	}
	l.own(holder{func() { _ = unix.Close(fd) }})
	if err := unix.Listen(fd, 1); err != nil { // Linux takes one more than that
		return site{}, os.NewSyscallError("listen", err)
	}
	for range 2 {
		first, err := (&net.Dialer{Timeout: 10 * time.Second}).DialContext(context.Background(), "tcp", addr.String())
		if err != nil {
			return site{}, err
		}
		l.own(first)
	}
	return site{url: "tcp://" + addr.String(), addr: addr.String()}, nil
}

// bound gives a socket with a free port of the lab's host.
func bound(l *Lab) (int, *net.TCPAddr, error) {
	want, err := tcpAddr(l)
	if err != nil {
		return 0, nil, err
	}
	family, at := unix.AF_INET6, unix.Sockaddr(&unix.SockaddrInet6{Addr: [16]byte(want.IP.To16())})
	if four := want.IP.To4(); four != nil {
		family, at = unix.AF_INET, &unix.SockaddrInet4{Addr: [4]byte(four)}
	}
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, nil, os.NewSyscallError("socket", err)
	}
	name, err := at, unix.Bind(fd, at)
	if err == nil {
		name, err = unix.Getsockname(fd)
	}
	if err != nil {
		_ = unix.Close(fd)
		return 0, nil, os.NewSyscallError("bind", err)
	}
	switch got := name.(type) {
	case *unix.SockaddrInet4:
		want.Port = got.Port
	case *unix.SockaddrInet6:
		want.Port = got.Port
	}
	return fd, want, nil
}
