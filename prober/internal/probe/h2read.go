package probe

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"net/http"

	"golang.org/x/net/http2"

	"github.com/probefleet/probefleet/internal/uptime"
)

// Caps of an answer over HTTP/2.
const (
	maxH2Frame = 16 << 10 // bytes, what servers may send unless told otherwise (RFC 9113 §4.2)
	maxH2Extra = 100      // frames that are no part of the answer: settings, pings and the like
	h2Window   = 65_535   // bytes of a body, until the client allows more (RFC 9113 §6.9.2)
)

// httpReply is an answer to a request that was read whole; names of headers are canonical.
type httpReply struct {
	status          int
	header, trailer http.Header
	body            []byte
}

// h2Call reads the answer to one request.
type h2Call struct {
	framer  *http2.Framer
	block   h2Block
	begun   func() // when the answer begins
	limit   int    // bytes of the body
	reply   httpReply
	extra   int
	interim int
	window  [h2Stream + 1]int64 // that the server gives us, which matters to us only in being lawful
}

// askH2 sends a request that h2Request made and reads the answer, whose body may have limit
// bytes (less than 64 KiB). begun is called when it begins.
func askH2(conn net.Conn, request []byte, limit int, begun func()) (*httpReply, trouble) {
	if _, err := conn.Write(request); err != nil && !isReset(err) { // a server may have refused already, and said so
		return nil, answerTrouble(err, "sending the request")
	}
	c := &h2Call{begun: begun, limit: min(limit, h2Window), window: [...]int64{h2Window, h2Window}}
	c.framer = http2.NewFramer(conn, bufio.NewReader(&metered{Conn: conn, left: maxHeaders + framing + int64(c.limit), spent: errTooMuch}))
	c.framer.SetMaxReadFrameSize(maxH2Frame)
	c.framer.SetReuseFrames()
	c.block.begin()
	for first := true; ; first = false {
		frame, err := c.framer.ReadFrame()
		if first && errors.Is(err, http2.ErrFrameTooLarge) { // text read as a length
			return nil, failed(uptime.FailureProtocol, "the server does not speak HTTP/2")
		}
		if err != nil {
			return nil, c.trouble(err)
		}
		if _, is := frame.(*http2.SettingsFrame); first && !is {
			return nil, unlawful("the server does not begin with its settings")
		}
		done, bad := c.take(frame)
		if done || !bad.none() {
			return &c.reply, bad
		}
	}
}

// unlawful is HTTP/2 as RFC 9113 forbids it.
func unlawful(what string) trouble {
	return failed(uptime.FailureProtocol, "malformed HTTP/2: "+what)
}

// trouble reads why there was no next frame.
func (c *h2Call) trouble(err error) trouble {
	if errors.Is(err, errTooMuch) {
		return failed(uptime.FailureTooLarge, err.Error())
	}
	if errors.Is(err, http2.ErrFrameTooLarge) {
		return unlawful("a frame is larger than 16 KiB")
	}
	if code, ok := errors.AsType[http2.ConnectionError](err); ok {
		if detail := c.framer.ErrorDetail(); detail != nil {
			return unlawful(detail.Error())
		}
		return unlawful(http2.ErrCode(code).String())
	}
	if stream, ok := errors.AsType[http2.StreamError](err); ok {
		if stream.Cause != nil {
			return unlawful(stream.Cause.Error())
		}
		return unlawful(stream.Code.String())
	}
	if c.reply.status == 0 {
		return answerTrouble(err, "waiting for an answer")
	}
	return answerTrouble(err, "reading the answer")
}

// take does what a frame asks for, and says whether it ends the answer.
func (c *h2Call) take(frame http2.Frame) (done bool, bad trouble) {
	switch f := frame.(type) {
	case *http2.HeadersFrame:
		if f.StreamID != h2Stream {
			return false, unlawful("headers of a stream that nobody opened")
		}
		c.block.ends = f.StreamEnded()
		return c.piece(f.HeaderBlockFragment(), f.HeadersEnded())
	case *http2.ContinuationFrame:
		return c.piece(f.HeaderBlockFragment(), f.HeadersEnded())
	case *http2.DataFrame:
		return c.data(f)
	case *http2.PushPromiseFrame:
		return false, unlawful("a push that was declined")
	case *http2.GoAwayFrame:
		if f.ErrCode != http2.ErrCodeNo || f.LastStreamID < h2Stream {
			return false, failed(uptime.FailureReset, "the server ended the connection with GOAWAY: "+f.ErrCode.String())
		}
	case *http2.RSTStreamFrame:
		if f.StreamID == h2Stream {
			return false, failed(uptime.FailureReset, "the server reset the stream: "+f.ErrCode.String())
		}
	case *http2.WindowUpdateFrame:
		if f.StreamID <= h2Stream {
			if c.window[f.StreamID] += int64(f.Increment); c.window[f.StreamID] > 1<<31-1 {
				return false, unlawful("a window larger than 2^31-1")
			}
		}
	}
	if c.extra++; c.extra > maxH2Extra {
		return false, failed(uptime.FailureProtocol, fmt.Sprintf("the server sent more than %d frames that are no part of an answer", maxH2Extra))
	}
	return false, c.acknowledge(frame)
}

// acknowledge answers what must be answered (RFC 9113 §6.5.3, §6.7).
func (c *h2Call) acknowledge(frame http2.Frame) trouble {
	var err error
	switch f := frame.(type) {
	case *http2.SettingsFrame:
		if f.IsAck() {
			return trouble{}
		}
		if invalid := f.ForeachSetting(http2.Setting.Valid); invalid != nil {
			return unlawful("a setting that cannot be: " + invalid.Error())
		}
		err = c.framer.WriteSettingsAck()
	case *http2.PingFrame:
		if !f.IsAck() {
			err = c.framer.WritePing(true, f.Data)
		}
	}
	if err != nil && !isReset(err) { // what the server said before may still be there
		return answerTrouble(err, "acknowledging a frame")
	}
	return trouble{}
}

// piece takes in a part of the headers.
func (c *h2Call) piece(fragment []byte, last bool) (done bool, bad trouble) {
	if bad := c.block.write(fragment, last); !bad.none() || !last {
		return false, bad
	}
	return c.headers()
}

// headers takes in the headers of the answer, of an interim one, or the trailers.
func (c *h2Call) headers() (done bool, bad trouble) {
	fields, code, bad := c.block.read()
	switch {
	case !bad.none():
		return false, bad
	case c.reply.status != 0:
		if code != 0 || !c.block.ends {
			return false, unlawful("headers in the middle of a body")
		}
		c.reply.trailer = fields
		return true, trouble{}
	case code == 0:
		return false, unlawful("an answer without a status")
	case code >= 200:
		c.begun()
		c.reply.status, c.reply.header = code, fields
		return c.block.ends, trouble{}
	}
	if c.interim++; c.interim > maxInterim || c.block.ends {
		return false, failed(uptime.FailureProtocol, "too many interim answers")
	}
	return false, trouble{}
}

// data takes in a piece of the body. An empty one that ends nothing counts as extra.
func (c *h2Call) data(f *http2.DataFrame) (done bool, bad trouble) {
	switch {
	case f.StreamID != h2Stream || c.reply.status == 0:
		return false, unlawful("a body without headers")
	case len(c.reply.body)+len(f.Data()) > c.limit:
		return false, failed(uptime.FailureTooLarge, fmt.Sprintf("the answer is larger than %d bytes", c.limit))
	}
	c.reply.body = append(c.reply.body, f.Data()...)
	if len(f.Data()) == 0 && !f.StreamEnded() {
		if c.extra++; c.extra > maxH2Extra {
			return false, failed(uptime.FailureProtocol, fmt.Sprintf("the server sent more than %d empty frames", maxH2Extra))
		}
	}
	if f.StreamEnded() {
		return true, trouble{}
	}
	return false, c.allow(f)
}

// allow makes up for a frame's padding, and lets the server say with one more byte that its body is
// larger than all that it may send unasked: it would wait, and so would we.
func (c *h2Call) allow(f *http2.DataFrame) trouble {
	more := f.Length - uint32(len(f.Data()))
	if len(c.reply.body) == h2Window {
		more++
	}
	if more == 0 {
		return trouble{}
	}
	if err := errors.Join(c.framer.WriteWindowUpdate(0, more), c.framer.WriteWindowUpdate(h2Stream, more)); err != nil && !isReset(err) {
		return answerTrouble(err, "reading the answer")
	}
	return trouble{}
}
