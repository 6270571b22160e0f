package resultstore

import (
	"net"
	"net/url"
	"sync"
	"testing"
)

// proxy passes bytes on to ClickHouse until told otherwise.
type proxy struct {
	url    string
	server string

	mu    sync.Mutex
	hold  bool // keep answers to anything large to itself
	conns []net.Conn
}

func startProxy(t *testing.T, target string) *proxy {
	t.Helper()
	parsed, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{server: parsed.Host}
	parsed.Host = listener.Addr().String()
	p.url = parsed.String()
	var group sync.WaitGroup
	group.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			group.Go(func() { p.serve(client) })
		}
	})
	t.Cleanup(func() { listener.Close(); p.cut(); group.Wait() })
	return p
}

func (p *proxy) holdAnswers(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hold = on
}

// cut ends every connection.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.conns {
		c.Close()
	}
	p.conns = nil
}

func (p *proxy) serve(client net.Conn) {
	server, err := net.Dial("tcp", p.server)
	if err != nil {
		client.Close()
		return
	}
	p.mu.Lock()
	p.conns = append(p.conns, client, server)
	p.mu.Unlock()
	var group sync.WaitGroup
	var large sync.Once
	asked := make(chan struct{}) // closed once a block of rows has gone by
	group.Go(func() {
		p.pass(client, server, func(n int) bool {
			if n > 4096 {
				large.Do(func() { close(asked) })
			}
			return true
		})
	})
	group.Go(func() {
		p.pass(server, client, func(int) bool {
			select {
			case <-asked:
				p.mu.Lock()
				defer p.mu.Unlock()
				return !p.hold
			default:
				return true
			}
		})
	})
	group.Wait()
}

// pass copies until either end is closed; chunks that forward refuses are dropped.
func (p *proxy) pass(from, to net.Conn, forward func(n int) bool) {
	defer from.Close()
	defer to.Close()
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 && forward(n) {
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}
