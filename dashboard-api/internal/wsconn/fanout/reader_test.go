//go:build bench

package fanout

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// reader is one browser: a socket that is subscribed to one channel. It is written on the
// bare connection, so that its own cost hides little of the node's.
type reader struct {
	conn    net.Conn
	in      *bufio.Reader
	channel string
	epoch   string
	seq     uint64
	watches bool         // looks at what every delta has; others skip it
	told    atomic.Int64 // deltas
	ended   chan struct{}
}

// crowd is all readers and what they saw.
type crowd struct {
	node     *node
	messages atomic.Int64
	bytes    atomic.Int64
	gaps     atomic.Int64 // deltas that did not follow the one before, and resyncs

	mu     sync.Mutex
	delays []time.Duration
}

type message struct {
	T         string `json:"t"`
	Ch        string `json:"ch"`
	Epoch     string `json:"epoch"`
	FromSeq   uint64 `json:"from_seq"`
	Seq       uint64 `json:"seq"`
	Recovered bool   `json:"recovered"`
	Ops       []struct {
		Item struct {
			Ticks []struct {
				At time.Time `json:"at"`
			} `json:"ticks"`
		} `json:"item"`
	} `json:"ops"`
}

// open connects and subscribes; from is where it goes on, if it was there before.
func (c *crowd) open(channel string, watches bool, from *reader) (*reader, error) {
	conn, err := net.Dial("tcp", c.node.address)
	if err != nil {
		return nil, err
	}
	r := &reader{conn: conn, in: bufio.NewReaderSize(conn, 4096), channel: channel, watches: watches, ended: make(chan struct{})}
	_, err = fmt.Fprintf(conn, "GET /api/v1/live HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: probefleet.v1.json\r\n\r\n", c.node.address, key)
	if err != nil {
		return nil, err
	}
	response, err := http.ReadResponse(r.in, nil)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusSwitchingProtocols {
		return nil, errors.New(response.Status)
	}
	sub := fmt.Sprintf(`{"t":"sub","id":"1","ch":%q}`, channel)
	if from != nil {
		sub = fmt.Sprintf(`{"t":"sub","id":"1","ch":%q,"from":{"epoch":%q,"seq":%d}}`, channel, from.epoch, from.seq)
	}
	if err := r.say(sub); err != nil {
		return nil, err
	}
	for {
		m, err := r.read()
		if err != nil {
			return nil, err
		}
		if m.T == "ok" {
			r.epoch, r.seq = m.Epoch, m.Seq
			if from != nil && !m.Recovered {
				c.gaps.Add(1)
			}
			return r, nil
		}
	}
}

// say writes a masked text frame of at most 125 bytes, or of two bytes of length.
func (r *reader) say(text string) error {
	frame := []byte{0x81, 0x80 | byte(min(len(text), 126))}
	if len(text) > 125 {
		frame = binary.BigEndian.AppendUint16(frame, uint16(len(text)))
	}
	frame = append(frame, 0, 0, 0, 0) // a mask of zeros changes nothing
	_, err := r.conn.Write(append(frame, text...))
	return err
}

// next gives the length of the next frame's payload.
func (r *reader) next() (opcode byte, length int, err error) {
	head := make([]byte, 2)
	if _, err := io.ReadFull(r.in, head); err != nil {
		return 0, 0, err
	}
	length = int(head[1] & 0x7f)
	switch length {
	case 126:
		wide := make([]byte, 2)
		_, err = io.ReadFull(r.in, wide)
		length = int(binary.BigEndian.Uint16(wide))
	case 127:
		wide := make([]byte, 8)
		_, err = io.ReadFull(r.in, wide)
		length = int(binary.BigEndian.Uint64(wide))
	}
	return head[0] & 0x0f, length, err
}

func (r *reader) read() (m message, err error) {
	opcode, length, err := r.next()
	if err != nil {
		return m, err
	}
	if opcode != 1 {
		return m, fmt.Errorf("opcode %d", opcode)
	}
	return m, r.take(length, &m)
}

// take reads a payload of so many bytes.
func (r *reader) take(length int, m *message) error {
	body := make([]byte, length)
	if _, err := io.ReadFull(r.in, body); err != nil {
		return err
	}
	return json.Unmarshal(body, m)
}

// follow reads until the connection ends. By its head alone a delta tells whether one is missing
// before it; only who watches takes it apart, which costs this machine more than the node's work.
func (c *crowd) follow(r *reader) {
	defer close(r.ended)
	for {
		_, length, err := r.next()
		if err != nil {
			return
		}
		head, err := r.in.Peek(min(length, 256))
		if err != nil {
			return
		}
		c.messages.Add(1)
		c.bytes.Add(int64(length))
		var delta message
		switch t := string(head); {
		case strings.HasPrefix(t, `{"t":"ping"`):
			_ = r.say(`{"t":"pong"}`)
		case strings.HasPrefix(t, `{"t":"resync"`):
			c.gaps.Add(1)
		case strings.HasPrefix(t, `{"t":"delta"`):
			_, err := fmt.Sscanf(t, `{"t":"delta","ch":%q,"from_seq":%d,"seq":%d`, &delta.Ch, &delta.FromSeq, &delta.Seq)
			if err != nil || delta.FromSeq != r.seq {
				c.gaps.Add(1)
			}
			r.seq = delta.Seq
			r.told.Add(1)
		}
		if !r.watches {
			_, err = r.in.Discard(length)
		} else {
			err = r.take(length, &delta)
			c.saw(delta, time.Now())
		}
		if err != nil {
			return
		}
	}
}

func (c *crowd) saw(delta message, at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, op := range delta.Ops {
		for _, tick := range op.Item.Ticks {
			c.delays = append(c.delays, at.Sub(tick.At))
		}
	}
}

// gather opens n readers, some at a time.
func (c *crowd) gather(t *testing.T, n int, channel func(i int) string, watches func(i int) bool) []*reader {
	t.Helper()
	readers := make([]*reader, n)
	var group sync.WaitGroup
	slots := make(chan struct{}, 64)
	for i := range readers {
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			r, err := c.open(channel(i), watches(i), nil)
			if err != nil {
				t.Errorf("reader %d: %v", i, err)
				return
			}
			readers[i] = r
		})
	}
	group.Wait()
	if t.Failed() {
		t.FailNow()
	}
	for _, r := range readers {
		go c.follow(r)
	}
	t.Cleanup(func() {
		for _, r := range readers {
			_ = r.conn.Close()
		}
	})
	return readers
}
