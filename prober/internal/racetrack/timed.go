//go:build bench

package racetrack

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Answer is how long the timed server keeps a request.
const Answer = 20 * time.Millisecond

// TimedServer answers each request as long after it came as Answer says, and notes how long it
// did take: on a core that others use it wakes late, which is none of the prober's error. The
// time begins when the kernel has the request, not when this process comes to it.
type TimedServer struct {
	*Player
	Link string // a request's path is the name under which its answer is noted
}

// StartTimedServer plays one.
func StartTimedServer(t *testing.T) TimedServer {
	t.Helper()
	s := TimedServer{Player: Play(t, Others, "timed")}
	s.Link = "http://" + s.Line(t)[0] + "/"
	return s
}

// Noted gives how long its answers took since this was asked last, by name.
func (s TimedServer) Noted(t *testing.T) map[string]time.Duration {
	t.Helper()
	s.Say("what was it?")
	noted := map[string]time.Duration{}
	for _, word := range s.Line(t) {
		name, took, _ := strings.Cut(word, "=")
		us, err := strconv.ParseInt(took, 10, 64)
		if err != nil {
			t.Fatalf("the timed server noted %q: %v", word, err)
		}
		noted[name] = time.Duration(us) * time.Microsecond
	}
	return noted
}

// timed is that process.
type timed struct {
	mu    sync.Mutex
	noted strings.Builder
}

func serveTimed() int {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return Fail(err)
	}
	raw, err := listener.(*net.TCPListener).SyscallConn()
	if err != nil {
		return Fail(err)
	}
	var unstamped error
	err = raw.Control(func(fd uintptr) { // connections inherit it
		unstamped = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1)
	})
	if err = errors.Join(err, unstamped); err != nil {
		return Fail(err)
	}
	var s timed
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				if err := s.reply(conn.(*net.TCPConn)); err != nil {
					fmt.Fprintln(os.Stderr, "timed server:", err)
				}
			}()
		}
	}()
	fmt.Println(listener.Addr())
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		s.mu.Lock()
		fmt.Println(s.noted.String())
		s.noted.Reset()
		s.mu.Unlock()
	}
	return 0
}

// reply notes the instant before it writes: from then on the answer is the prober's to notice.
func (s *timed) reply(conn *net.TCPConn) error {
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	head, came, err := stampedHead(conn)
	if err != nil {
		return err
	}
	_, path, _ := strings.Cut(head, " /")
	name, _, _ := strings.Cut(path, " ")
	<-time.After(time.Until(came.Add(Answer)))
	took := time.Since(came)
	if _, err := conn.Write([]byte(answer)); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintf(&s.noted, "%s=%d ", name, took.Microseconds())
	return nil
}

var errUnstamped = errors.New("the kernel does not say when a request came")

// stampedHead reads a request that comes in one piece, and when the kernel had it.
func stampedHead(conn *net.TCPConn) (head string, came time.Time, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return "", came, err
	}
	var n, control int
	var failed error
	buffer, about := make([]byte, 4096), make([]byte, 256)
	err = raw.Read(func(fd uintptr) bool {
		n, control, _, _, failed = unix.Recvmsg(int(fd), buffer, about, 0)
		return !errors.Is(failed, unix.EAGAIN)
	})
	if err = errors.Join(err, failed); err != nil {
		return "", came, err
	}
	if !bytes.HasSuffix(buffer[:n], []byte("\r\n\r\n")) {
		return "", came, fmt.Errorf("%d bytes are no request", n)
	}
	messages, err := unix.ParseSocketControlMessage(about[:control])
	if err != nil {
		return "", came, err
	}
	for _, m := range messages {
		if m.Header.Level == unix.SOL_SOCKET && m.Header.Type == unix.SO_TIMESTAMPNS && len(m.Data) >= 16 {
			return string(buffer[:n]), time.Unix(int64(binary.NativeEndian.Uint64(m.Data)), int64(binary.NativeEndian.Uint64(m.Data[8:]))), nil
		}
	}
	return "", came, errUnstamped
}
