package resolve

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net"
	"sync"
	"time"

	"github.com/miekg/dns"
)

// stream carries many questions at once over one connection (RFC 7766 §6.2.1.1), and
// takes the answers in any order.
type stream struct {
	conn    net.Conn
	writing sync.Mutex
	reader  sync.WaitGroup
	lost    chan struct{} // closed when the connection is of no more use

	mu      sync.Mutex
	waiting map[uint16]chan<- received // each has room for its answer
	heard   int                        // answers so far
	dead    bool
}

// received is an answer as it came, nil when it was too large.
type received []byte

func newStream(conn net.Conn) *stream {
	s := &stream{conn: conn, lost: make(chan struct{}), waiting: map[uint16]chan<- received{}}
	s.reader.Go(s.read)
	return s
}

func (s *stream) alive() bool {
	select {
	case <-s.lost:
		return false
	default:
		return true
	}
}

// exchange ends in errLost when the connection broke before the answer came.
func (s *stream) exchange(ctx context.Context, query *dns.Msg) (*dns.Msg, error) {
	answer := make(chan received, 1)
	before, ok := s.enter(query, answer)
	if !ok {
		return nil, errLost
	}
	defer s.leave(query.Id)
	if err := s.write(ctx, query); err != nil {
		s.abandon()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, errLost
	}
	select {
	case raw := <-answer:
		if raw == nil {
			return nil, errTooLarge
		}
		m := new(dns.Msg)
		if err := m.Unpack(raw); err != nil || !belongs(query, m) {
			return nil, errMalformed
		}
		return m, nil
	case <-s.lost:
		return nil, errLost
	case <-ctx.Done():
		s.doubt(before)
		return nil, ctx.Err()
	}
}

// enter gives the query an id that no other has on this connection.
func (s *stream) enter(query *dns.Msg, answer chan<- received) (heard int, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dead || len(s.waiting) > 1<<15 {
		return 0, false
	}
	for s.waiting[query.Id] != nil {
		query.Id = dns.Id()
	}
	s.waiting[query.Id] = answer
	return s.heard, true
}

func (s *stream) leave(id uint16) {
	s.mu.Lock()
	delete(s.waiting, id)
	s.mu.Unlock()
}

func (s *stream) write(ctx context.Context, query *dns.Msg) error {
	packed, err := query.Pack()
	if err != nil {
		return err
	}
	framed := append(binary.BigEndian.AppendUint16(make([]byte, 0, 2+len(packed)), uint16(len(packed))), packed...)
	s.writing.Lock()
	defer s.writing.Unlock()
	if deadline, ok := ctx.Deadline(); ok {
		_ = s.conn.SetWriteDeadline(deadline)
	}
	_, err = s.conn.Write(framed)
	return err
}

// read hands answers out until the connection breaks.
func (s *stream) read() {
	defer s.abandon()
	var buffer [maxMessage]byte
	for {
		var size [2]byte
		if _, err := io.ReadFull(s.conn, size[:]); err != nil {
			return
		}
		n := int(binary.BigEndian.Uint16(size[:]))
		head := min(n, maxMessage)
		if _, err := io.ReadFull(s.conn, buffer[:head]); err != nil || n < 2 {
			return
		}
		var answer received
		if n <= maxMessage {
			answer = bytes.Clone(buffer[:n])
		} else if _, err := io.CopyN(io.Discard, s.conn, int64(n-head)); err != nil {
			return
		}
		s.deliver(binary.BigEndian.Uint16(buffer[:2]), answer)
	}
}

func (s *stream) deliver(id uint16, raw received) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heard++
	if answer := s.waiting[id]; answer != nil {
		delete(s.waiting, id)
		answer <- raw
	}
}

// doubt gives the connection up when nothing at all came over it since a question was
// sent: it may be dead without saying so.
func (s *stream) doubt(heardBefore int) {
	s.mu.Lock()
	silent := s.heard == heardBefore
	s.mu.Unlock()
	if silent {
		s.abandon()
	}
}

// abandon wakes everybody who waits for an answer.
func (s *stream) abandon() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.dead {
		s.dead = true
		close(s.lost)
		_ = s.conn.SetDeadline(time.Unix(1, 0)) // a TLS connection's Close may wait for its writer
		_ = s.conn.Close()
	}
}

func (s *stream) close() {
	s.abandon()
	s.reader.Wait()
}
