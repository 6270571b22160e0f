package lab

import (
	"crypto/tls"
	"net"
	"sync"
	"time"
)

// voidSites are the servers that are hardly there.
func voidSites() map[string]opener {
	return map[string]opener{"black-hole": openVoid, "black-hole-tls": openVoid, "refused": openRefused, "full": openFull}
}

// void keeps connections open and does nothing with them: they cost a descriptor
// and no goroutine. Those whose client left are closed when their number doubles.
type void struct {
	mu     sync.Mutex
	held   []*conn
	limit  int
	closed bool
}

const voidLimit = 1024 // connections held before any is looked at again

func openVoid(l *Lab, name string) (site, error) {
	certificate, err := l.certificate("tls")
	if err != nil {
		return site{}, err
	}
	config := &tls.Config{Certificates: []tls.Certificate{*certificate}, NextProtos: []string{"h2", "http/1.1"}}
	listener, err := l.listen(name, l.free())
	if err != nil {
		return site{}, err
	}
	v := &void{limit: voidLimit}
	l.own(v)
	l.own(listener)
	l.serving.Go(func() {
		for {
			c, err := l.accept(listener)
			if err != nil {
				return
			}
			if name == "black-hole" {
				v.hold(c)
				continue
			}
			l.serving.Go(func() { v.shake(c, config) })
		}
	})
	addr := listener.Addr().String()
	s := site{url: "tcp://" + addr, addr: addr, accepted: listener.accepted}
	if name == "black-hole-tls" {
		s.url = "https://" + addr
	}
	return s, nil
}

// shake holds what is below TLS, once the handshake is over: the keys are not
// needed to say nothing.
func (v *void) shake(c *conn, config *tls.Config) {
	v.hold(c)
	_ = c.SetDeadline(time.Now().Add(30 * time.Second))
	if tls.Server(c, config).Handshake() != nil {
		_ = c.Close()
	}
	_ = c.SetDeadline(time.Time{})
}

func (v *void) hold(c *conn) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.closed {
		_ = c.Close()
		return
	}
	if v.held = append(v.held, c); len(v.held) < v.limit {
		return
	}
	stay := v.held[:0]
	for _, held := range v.held {
		if deserted(held.TCPConn) {
			_ = held.Close()
		} else {
			stay = append(stay, held)
		}
	}
	clear(v.held[len(stay):])
	v.held = stay
	v.limit = max(voidLimit, 2*len(stay))
}

// Close implements io.Closer. It resets: thousands of orderly ends would leave
// their ports behind for a minute.
func (v *void) Close() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.closed = true
	for _, c := range v.held {
		reset(c)
	}
	v.held = nil
	return nil
}

// holder is a port that is kept by means other than a listener.
type holder struct {
	free func()
}

// Close implements io.Closer.
func (h holder) Close() error {
	h.free()
	return nil
}

func tcpAddr(l *Lab) (*net.TCPAddr, error) { return net.ResolveTCPAddr("tcp", l.free()) }
