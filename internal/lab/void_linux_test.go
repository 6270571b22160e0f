package lab

import (
	"errors"
	"io"
	"net"
	"syscall"
	"testing"
	"time"
)

// TestBlackHoleForgets: clients that left are let go when new ones come.
func TestBlackHoleForgets(t *testing.T) {
	t.Parallel()
	l, _ := start(t)
	listener, err := l.listen("test", l.free())
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	v := &void{limit: 4}
	defer v.Close()
	var clients []net.Conn
	join := func() *conn {
		client, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		clients = append(clients, client)
		c, err := listener.Accept()
		if err != nil {
			t.Fatal(err)
		}
		return c.(*conn)
	}
	for range 3 {
		v.hold(join())
	}
	last := join()
	_, _ = io.WriteString(clients[0], "said before leaving, and never read")
	_ = clients[0].Close()
	_ = clients[1].Close()
	await(t, l, "two to leave", func() bool { return deserted(v.held[0].TCPConn) && deserted(v.held[1].TCPConn) })
	v.hold(last)
	if len(v.held) != 2 || v.limit != voidLimit || deserted(v.held[0].TCPConn) || deserted(v.held[1].TCPConn) {
		t.Errorf("%d held, the limit is %d", len(v.held), v.limit)
	}
	_ = v.Close()
	if _, err := clients[2].Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("after closing: %v", err)
	}
	v.hold(join())
	if _, err := clients[4].Read(make([]byte, 1)); err == nil || len(v.held) > 0 {
		t.Errorf("a closed void holds %d, %v", len(v.held), err)
	}
	_, _ = clients[2].Close(), clients[3].Close()
}

func TestRefused(t *testing.T) {
	t.Parallel()
	l, _ := start(t)
	addr, err := l.Addr("refused")
	if err != nil {
		t.Fatal(err)
	}
	if c, err := net.Dial("tcp", addr); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("%v, %v", c, err)
	}
	if other, err := net.Listen("tcp", addr); err == nil {
		_ = other.Close()
		t.Error("the port is free for others")
	}
}

func TestFull(t *testing.T) {
	t.Parallel()
	l, _ := start(t)
	addr, err := l.Addr("full")
	if err != nil {
		t.Fatal(err)
	}
	c, err := net.DialTimeout("tcp", addr, 200*time.Millisecond)
	if timeout, is := errors.AsType[net.Error](err); !is || !timeout.Timeout() {
		t.Errorf("%v, %v", c, err)
	}
}
