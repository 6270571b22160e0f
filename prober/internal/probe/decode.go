package probe

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"fmt"
	"io"
	"math/bits"
	"net/http"
	"strings"

	"github.com/andybalholm/brotli"
)

// Bounds of the memory one decoder may take, whatever an answer says it needs.
const (
	maxCodings    = 2       // of one body, one within the other
	maxZstdWindow = 8 << 20 // what RFC 9659 lets servers use

	maxBrotliWindow = 20 // its logarithm; what is read of a body is no more, but for 16 bytes
)

// decoder undoes the content codings of an answer (RFC 9110 §8.4), of which no more than most
// bytes may be read. What lies between two of them ends in errCut beyond as many. release ends it.
func decoder(headers http.Header, body io.Reader, most int64) (decoded io.Reader, release func(), err error) {
	release = func() {}
	lines := headers["Content-Encoding"]
	if len(lines) == 0 {
		return body, release, nil
	}
	codings := strings.Split(strings.Join(lines, ","), ",")
	if len(codings) > maxCodings {
		return nil, release, fmt.Errorf("it is encoded more than %d times", maxCodings)
	}
	for i := len(codings) - 1; i >= 0; i-- { // the last was applied last
		if i < len(codings)-1 {
			body = &counting{from: body, most: most}
		}
		switch coding := strings.ToLower(strings.TrimSpace(codings[i])); coding {
		case "", "identity":
		case "gzip", "x-gzip":
			body = &lazy{from: body, open: func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) }}
		case "deflate":
			body = &lazy{from: body, open: openDeflate}
		case "br":
			body = &lazy{from: body, open: func(r io.Reader) (io.Reader, error) { return openBrotli(r, most) }}
		case "zstd":
			inner, end, err := openZstd(body, most)
			if err != nil {
				return nil, release, err
			}
			before := release
			release = func() { end(); before() }
			body = inner
		default:
			return nil, release, fmt.Errorf("nothing here knows the coding %.40q", coding)
		}
	}
	return body, release, nil
}

// lazy opens a decoder at the first byte, for an empty body has no coding to undo. One that
// cannot be opened fails at every Read: what reads may try again, with bytes it took before.
type lazy struct {
	from  io.Reader
	open  func(io.Reader) (io.Reader, error)
	inner io.Reader
	err   error // of opening it
}

func (l *lazy) Read(p []byte) (int, error) {
	if l.inner == nil && l.err == nil {
		from := bufio.NewReaderSize(l.from, 512)
		if _, l.err = from.Peek(1); l.err == nil {
			l.inner, l.err = l.open(from)
		}
	}
	if l.err != nil {
		return 0, l.err
	}
	return l.inner.Read(p)
}

// openDeflate takes it with its zlib wrapping and, as browsers do, without
// (RFC 9110 §8.4.1.2).
func openDeflate(r io.Reader) (io.Reader, error) {
	from := r.(*bufio.Reader) // of lazy
	head, _ := from.Peek(2)
	if len(head) == 2 && head[0]&15 == 8 && (int(head[0])<<8|int(head[1]))%31 == 0 { // RFC 1950 §2.2
		return zlib.NewReader(from)
	}
	return flate.NewReader(from), nil
}

// openBrotli opens a stream of which no more than most bytes are read decoded, nor more than
// 16 less than the largest window. Encoders say that they look back 4 MiB (16 at most) whatever
// they send, and a decoder makes room for that; nothing can look back further than to the first
// byte, so a window as large as what is read gives the same. The first byte says it: 1 in the
// lowest bit, 17 less than its logarithm in the next three (RFC 7932 §9.1; its other forms are
// of 128 KiB at most).
func openBrotli(r io.Reader, most int64) (io.Reader, error) {
	from := r.(*bufio.Reader) // of lazy
	head, err := from.ReadByte()
	if err != nil {
		return nil, err
	}
	window := byte(max(18, min(bits.Len64(uint64(most)), maxBrotliWindow)))
	if head&1 == 1 && 17+head>>1&7 > window {
		head = head&^0xf | (window-17)<<1 | 1
	}
	inner := brotli.NewReader(io.MultiReader(bytes.NewReader([]byte{head}), from))
	return &counting{from: inner, most: 1<<window - 16}, nil
}
