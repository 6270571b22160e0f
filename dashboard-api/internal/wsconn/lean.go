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

// smallBuffers hands a connection over with buffers of those sizes.
type smallBuffers struct{ http.ResponseWriter }

// Hijack implements http.Hijacker.
func (w smallBuffers) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, before, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	already, err := before.Peek(before.Reader.Buffered()) // nothing, unless the browser did not wait for the answer
	if err != nil {
		return nil, nil, err
	}
	if len(already) > 0 {
		return conn, before, nil
	}
	return conn, bufio.NewReadWriter(bufio.NewReaderSize(conn, readBuffer), bufio.NewWriterSize(conn, writeBuffer)), nil
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
