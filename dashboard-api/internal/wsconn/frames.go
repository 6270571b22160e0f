package wsconn

import (
	"bytes"
	"context"
	"encoding/binary"
	"net"
	"sync"

	"github.com/coder/websocket"
	"github.com/klauspost/compress/flate"
)

// Forms of a message that several sockets get: whole frames (RFC 6455 §5.2). Ten thousand of them
// would else be written with a copy and two system calls each, and be compressed as often.
const (
	plain    = iota
	deflated // by permessage-deflate without a context (RFC 7692)
)

const (
	finText    = 0x81
	compressed = 0x40 // RSV1: the message is compressed
	maxHeader  = 10
	worthwhile = 512 // bytes of a message that are worth compressing
)

// frames is a socket's connection, on which the next text can be a frame that is there already.
// The library has no way to write one: it writes an empty text instead, with all it does about
// turns, timeouts and closing, and the frame goes in its place.
type frames struct {
	net.Conn
	next []byte // of whoever writes texts: there is one at a time
}

// Write implements io.Writer.
func (f *frames) Write(p []byte) (int, error) {
	if len(p) != 2 || p[0] != finText || p[1] != 0 || f.next == nil {
		return f.Conn.Write(p)
	}
	frame := f.next
	f.next = nil
	if _, err := f.Conn.Write(frame); err != nil {
		return 0, err
	}
	return len(p), nil
}

// webSocket is a wire.
type webSocket struct {
	*websocket.Conn
	frames *frames
	form   int                      // of what it shares with others,
	frame  func(body []byte) []byte // which makes it
}

// A write has no context: when one ends, the library drops the connection without a word.
func (w webSocket) write(m message) (sent int, err error) {
	if m.shared == nil {
		return len(m.body), w.Write(context.Background(), websocket.MessageText, m.body)
	}
	frame := m.shared.As(w.form, w.frame)
	w.frames.next = frame
	return len(frame), w.Write(context.Background(), websocket.MessageText, nil)
}
func (w webSocket) close(code websocket.StatusCode, reason string) { _ = w.Close(code, reason) } // closeTimeout is the library's
func (w webSocket) drop()                                          { _ = w.CloseNow() }

func plainFrame(body []byte) []byte { return append(header(finText, len(body)), body...) }

// deflater makes compressed frames.
type deflater struct{ writers sync.Pool }

func (d *deflater) frame(body []byte) []byte {
	if len(body) < worthwhile {
		return plainFrame(body)
	}
	var out bytes.Buffer
	w, _ := d.writers.Get().(*flate.Writer)
	if w == nil {
		w, _ = flate.NewWriter(nil, flate.DefaultCompression) // there is such a level
	}
	defer d.writers.Put(w)
	w.Reset(&out)
	_, _ = w.Write(body) // a buffer takes all
	_ = w.Flush()
	payload := bytes.TrimSuffix(out.Bytes(), []byte{0, 0, 0xff, 0xff}) // RFC 7692 §7.2.1
	return append(header(finText|compressed, len(payload)), payload...)
}

// header begins a frame that is not masked, as servers send them.
func header(first byte, length int) []byte {
	h := append(make([]byte, 0, maxHeader+length), first)
	switch {
	case length < 126:
		return append(h, byte(length))
	case length <= 0xffff:
		return binary.BigEndian.AppendUint16(append(h, 126), uint16(length))
	default:
		return binary.BigEndian.AppendUint64(append(h, 127), uint64(length))
	}
}
