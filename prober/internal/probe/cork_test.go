package probe

import (
	"crypto/tls"
	"errors"
	"net"
	"strings"
	"syscall"
	"testing"

	"github.com/probefleet/probefleet/internal/uptime"
)

// packets notes what is sent, packet by packet.
type packets struct {
	net.Conn
	sent []string
	fail error // of the next that is sent
}

func (p *packets) Write(b []byte) (int, error) {
	p.sent = append(p.sent, string(b))
	return len(b), p.fail
}

func (*packets) Read(b []byte) (int, error) { return copy(b, "answer"), nil }

func TestCorkedSendsWhenAnAnswerIsWaitedFor(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("x", maxCorked+1)
	cases := []struct {
		name   string
		writes []string
		want   []string // after a read
	}{
		{"nothing", nil, nil},
		{"together", []string{"finished", "request"}, []string{"finishedrequest"}},
		{"no more than is held", []string{"finished", large[1:]}, []string{"finished", large[1:]}},
		{"large at once, in order", []string{"finished", large, "end"}, []string{"finished", large, "end"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := &packets{}
			conn := &corked{Conn: p}
			for _, text := range c.writes {
				if n, err := conn.Write([]byte(text)); n != len(text) || err != nil {
					t.Fatal(n, err)
				}
			}
			if c.name == "together" && len(p.sent) > 0 {
				t.Errorf("sent before: %q", p.sent)
			}
			for range 2 { // the second has nothing to send
				if n, err := conn.Read(make([]byte, 10)); n != len("answer") || err != nil {
					t.Fatal(n, err)
				}
			}
			if strings.Join(p.sent, "|") != strings.Join(c.want, "|") {
				t.Errorf("%d packets", len(p.sent))
			}
		})
	}
}

func TestCorkedTellsWhatWentWrong(t *testing.T) {
	t.Parallel()
	broken := &net.OpError{Op: "write", Err: errors.New("broken")}
	for _, c := range []struct{ fail, want error }{{broken, broken}, {syscall.EPIPE, nil}, {syscall.ECONNRESET, nil}} {
		conn := &corked{Conn: &packets{fail: c.fail}}
		_, _ = conn.Write([]byte("request"))
		if _, err := conn.Read(make([]byte, 10)); !errors.Is(err, c.want) {
			t.Errorf("%v: a read says %v", c.fail, err)
		}
	}
	conn := &corked{Conn: &packets{fail: broken}, held: []byte("request")}
	if _, err := conn.Write(make([]byte, maxCorked)); !errors.Is(err, broken) {
		t.Errorf("a write says %v", err)
	}
}

// A server whose certificate is not believed is told so, as any client tells it.
func TestServerHearsWhyItIsNotBelieved(t *testing.T) {
	t.Parallel()
	stranger := startLab(t)
	certificate, err := stranger.Certificate()
	if err != nil {
		t.Fatal(err)
	}
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{certificate}})
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	heard := make(chan error, 1)
	go func() {
		conn, err := listener.Accept()
		if err == nil {
			defer conn.Close()
			_, err = conn.Read(make([]byte, 1))
		}
		heard <- err
	}()
	o := New(options(startLab(t))).Look(t.Context(), checkOf("https://"+listener.Addr().String()))
	if verify(t, o, uptime.FailureTLSUntrusted, 0); !isAlert(<-heard) {
		t.Error("the server was not told")
	}
}
