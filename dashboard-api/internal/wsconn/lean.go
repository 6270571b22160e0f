package wsconn

import (
	"bufio"
	"net"
	"net/http"
)

// Sizes of a socket's buffers. The server of HTTP has 4 KiB for each, which most browsers that
// only listen would hold for nothing; what is longer than a buffer is not copied through it.
const (
	readBuffer  = 512
	writeBuffer = 1024
)

// upgrade hands a connection over with buffers of those sizes.
type upgrade struct {
	http.ResponseWriter
	frames *frames
}

// Hijack implements http.Hijacker.
func (u *upgrade) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, before, err := http.NewResponseController(u.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	already, err := before.Peek(before.Reader.Buffered()) // nothing, unless the browser did not wait for the answer
	if err != nil {
		return nil, nil, err
	}
	u.frames = &frames{Conn: conn}
	in := before.Reader
	if len(already) == 0 {
		in = bufio.NewReaderSize(conn, readBuffer)
	}
	return u.frames, bufio.NewReadWriter(in, bufio.NewWriterSize(u.frames, writeBuffer)), nil
}

// lean keeps of a request what it is judged by: who asks, and how.
func lean(r *http.Request) *http.Request {
	kept := &http.Request{URL: r.URL, Header: http.Header{}, TLS: r.TLS, RemoteAddr: r.RemoteAddr, Host: r.Host}
	for _, name := range []string{"Authorization", "Cookie", "X-Forwarded-Proto", "X-Forwarded-For"} {
		if values := r.Header.Values(name); len(values) > 0 {
			kept.Header[name] = values
		}
	}
	return kept
}
