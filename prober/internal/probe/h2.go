package probe

import (
	"bytes"
	"net"
	"strings"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// One request over HTTP/2 (RFC 9113), on a connection of its own. x/net/http2 has the
// frames and the header compression; its ClientConn is not used: it logs a line for every
// strange frame that a server sends, and stays in memory for seconds after its end.

// h2Stream is the only stream of a connection.
const h2Stream = 1

// h2Request writes all that is sent, but for acknowledgements. Other clients may only
// begin with their own header table empty, so the bytes are good for every connection.
func h2Request(secure bool, authority, path string, fields []header, body []byte) ([]byte, error) {
	scheme := "http"
	if secure {
		scheme = "https"
	}
	var block, out bytes.Buffer
	encoder := hpack.NewEncoder(&block)
	pseudo := []header{{":method", "POST"}, {":scheme", scheme}, {":authority", authority}, {":path", path}}
	for _, field := range append(pseudo, fields...) {
		_ = encoder.WriteField(hpack.HeaderField{Name: strings.ToLower(field.name), Value: field.value}) // a buffer takes all
	}
	out.WriteString(http2.ClientPreface)
	framer := http2.NewFramer(&out, nil)
	err := framer.WriteSettings(http2.Setting{ID: http2.SettingEnablePush, Val: 0}, http2.Setting{ID: http2.SettingMaxHeaderListSize, Val: maxHeaders})
	if err == nil {
		err = framer.WriteHeaders(http2.HeadersFrameParam{StreamID: h2Stream, BlockFragment: block.Bytes(), EndHeaders: true})
	}
	if err == nil {
		err = framer.WriteData(h2Stream, true, body)
	}
	return out.Bytes(), err
}

const errTooMuch = tooLarge("the server sent more than an answer may have")

// metered is a connection of which no more than a number of bytes is read.
type metered struct {
	net.Conn
	left  int64
	spent error // what running out means
}

// Read implements io.Reader.
func (m *metered) Read(p []byte) (int, error) {
	if m.left <= 0 {
		return 0, m.spent
	}
	n, err := m.Conn.Read(p[:min(int64(len(p)), m.left)])
	m.left -= int64(n)
	return n, err
}
