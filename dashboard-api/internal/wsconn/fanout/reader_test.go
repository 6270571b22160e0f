//go:build bench

package fanout

import (
	"bufio"
	"bytes"
	"compress/flate"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// reader is one browser: a socket that is subscribed to one channel, and reads what is compressed. It
// is written on the bare connection, so that its own cost hides little of the node's.
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
	seed     maphash.Seed
	read     sync.Map  // what compressed messages say, by their hashes
	buffers  sync.Pool // of messages

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
	_, err = fmt.Fprintf(conn, "GET /api/v1/live HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: probefleet.v1.json\r\nSec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r\n\r\n", c.node.address, key)
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
		text, _, err := c.text(r, new([]byte))
		if err != nil {
			return nil, err
		}
		var m message
		if err := json.Unmarshal(text, &m); err != nil {
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

// next reads the next frame's head: compressed says that its text is.
func (r *reader) next() (compressed bool, length int, err error) {
	head := make([]byte, 2)
	if _, err := io.ReadFull(r.in, head); err != nil {
		return false, 0, err
	}
	if head[0]&^0x40 != 0x81 {
		return false, 0, fmt.Errorf("no whole text: %x", head[0])
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
	return head[0]&0x40 != 0, length, err
}

// text reads a message into a buffer, and gives what it says, and its length on the wire. Ten thousand
// browsers would each decompress it; here that is done once for all who got the same bytes, or this
// machine would do nothing else.
func (c *crowd) text(r *reader, buffer *[]byte) (said []byte, length int, err error) {
	compressed, length, err := r.next()
	if err != nil {
		return nil, 0, err
	}
	*buffer = slices.Grow((*buffer)[:0], length)[:length]
	if _, err := io.ReadFull(r.in, *buffer); err != nil || !compressed {
		return *buffer, length, err
	}
	hash := maphash.Bytes(c.seed, *buffer)
	if said, known := c.read.Load(hash); known {
		return said.([]byte), length, nil
	}
	said, err = io.ReadAll(flate.NewReader(io.MultiReader(bytes.NewReader(*buffer), strings.NewReader("\x00\x00\xff\xff"))))
	if errors.Is(err, io.ErrUnexpectedEOF) { // a message does not end the stream
		err = nil
	}
	c.read.Store(hash, said)
	return said, length, err
}

// follow reads until the connection ends. By its head alone a delta tells whether one is missing
// before it; only who watches takes it apart, which costs this machine more than the node's work.
func (c *crowd) follow(r *reader) {
	defer close(r.ended)
	for c.one(r) {
	}
}

// one reads a message; false when there are no more.
func (c *crowd) one(r *reader) bool {
	buffer, _ := c.buffers.Get().(*[]byte)
	if buffer == nil {
		buffer = new([]byte)
	}
	defer c.buffers.Put(buffer)
	text, length, err := c.text(r, buffer)
	if err != nil {
		return false
	}
	c.messages.Add(1)
	c.bytes.Add(int64(length))
	var delta message
	switch t := string(text[:min(len(text), 256)]); {
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
	if r.watches {
		if json.Unmarshal(text, &delta) != nil {
			return false
		}
		c.saw(delta, time.Now())
	}
	return true
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
