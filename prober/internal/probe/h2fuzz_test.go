package probe

import (
	"bytes"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// h2Frames writes what a server says.
func h2Frames(write func(*http2.Framer)) []byte {
	var out bytes.Buffer
	framer := http2.NewFramer(&out, nil)
	framer.AllowIllegalWrites = true
	_ = framer.WriteSettings()
	write(framer)
	return out.Bytes()
}

func h2Fields(pairs ...string) []byte {
	var out bytes.Buffer
	encoder := hpack.NewEncoder(&out)
	for i := 0; i < len(pairs); i += 2 {
		_ = encoder.WriteField(hpack.HeaderField{Name: pairs[i], Value: pairs[i+1]})
	}
	return out.Bytes()
}

func FuzzHTTP2Answer(f *testing.F) {
	head := h2Fields(":status", "200", "content-type", "application/grpc")
	f.Add(h2Frames(func(w *http2.Framer) {
		_ = w.WritePing(false, [8]byte{1})
		_ = w.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: head[:3]})
		_ = w.WriteContinuation(1, true, head[3:])
		_ = w.WriteData(1, false, []byte("\x00\x00\x00\x00\x02\x08\x01"))
		_ = w.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: h2Fields("grpc-status", "0"), EndHeaders: true, EndStream: true})
	}))
	f.Add(h2Frames(func(w *http2.Framer) { _ = w.WriteGoAway(0, http2.ErrCodeNo, []byte("x")) }))
	f.Add(h2Frames(func(w *http2.Framer) { _ = w.WriteRSTStream(1, http2.ErrCodeCancel) }))
	f.Add(h2Frames(func(w *http2.Framer) { _ = w.WriteWindowUpdate(0, 1<<31-1) }))
	f.Add([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
	f.Fuzz(func(t *testing.T, sent []byte) {
		server := &scriptedConn{in: bytes.NewReader(sent)}
		begun := 0
		reply, bad := askH2(server, nil, maxHealth, func() { begun++ })
		if server.written > maxH2Extra*17 || begun > 1 {
			t.Fatalf("%d bytes written, begun %d times", server.written, begun)
		}
		if !bad.none() {
			return
		}
		if reply.status < 200 || reply.status > 999 || len(reply.body) > maxHealth || begun != 1 {
			t.Fatalf("%+v", reply)
		}
		_, _ = healthStatus(reply.body)
	})
}

func TestHTTP2AnswersThatAreAlmostRight(t *testing.T) {
	t.Parallel()
	ok := http2.HeadersFrameParam{StreamID: 1, BlockFragment: h2Fields(":status", "200"), EndHeaders: true}
	end := func(pairs ...string) http2.HeadersFrameParam {
		return http2.HeadersFrameParam{StreamID: 1, BlockFragment: h2Fields(pairs...), EndHeaders: true, EndStream: true}
	}
	for name, c := range map[string]struct {
		sent []byte
		want string
	}{
		"headers alone": {h2Frames(func(w *http2.Framer) { _ = w.WriteHeaders(end(":status", "204")) }), ""},
		"GOAWAY that lets it go on": {h2Frames(func(w *http2.Framer) {
			_ = w.WriteGoAway(1, http2.ErrCodeNo, nil)
			_ = w.WriteHeaders(end(":status", "204"))
		}), ""},
		"GOAWAY that does not":     {h2Frames(func(w *http2.Framer) { _ = w.WriteGoAway(0, http2.ErrCodeNo, nil) }), "the server ended the connection with GOAWAY: NO_ERROR"},
		"no settings":              {h2Frames(func(w *http2.Framer) { _ = w.WriteHeaders(end(":status", "204")) })[9:], "malformed HTTP/2: the server does not begin with its settings"},
		"two statuses":             {h2Frames(func(w *http2.Framer) { _ = w.WriteHeaders(end(":status", "200", ":status", "204")) }), "malformed HTTP/2: a header that may not be (RFC 9113 §8.2.1)"},
		"a status behind a header": {h2Frames(func(w *http2.Framer) { _ = w.WriteHeaders(end("a", "b", ":status", "200")) }), "malformed HTTP/2: a header that may not be (RFC 9113 §8.2.1)"},
		"a status that is none":    {h2Frames(func(w *http2.Framer) { _ = w.WriteHeaders(end(":status", "2x")) }), "malformed HTTP/2: an answer without a status"},
		"a line break in a header": {h2Frames(func(w *http2.Framer) { _ = w.WriteHeaders(end(":status", "200", "a", "b\r\nc: d")) }), "malformed HTTP/2: a header that may not be (RFC 9113 §8.2.1)"},
		"a status in the trailers": {h2Frames(func(w *http2.Framer) { _ = w.WriteHeaders(ok); _ = w.WriteHeaders(end(":status", "200")) }), "malformed HTTP/2: headers in the middle of a body"},
		"trailers that end nothing": {h2Frames(func(w *http2.Framer) {
			_ = w.WriteHeaders(ok)
			_ = w.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: h2Fields("a", "b"), EndHeaders: true})
		}), "malformed HTTP/2: headers in the middle of a body"},
		"an interim answer that ends": {h2Frames(func(w *http2.Framer) { _ = w.WriteHeaders(end(":status", "103")) }), "too many interim answers"},
		"headers cut in the middle": {h2Frames(func(w *http2.Framer) {
			p := end(":status", "200", "name", "value")
			p.BlockFragment = p.BlockFragment[:4]
			_ = w.WriteHeaders(p)
		}), "malformed HTTP/2: headers that cannot be unpacked"},
		"a setting that cannot be": {h2Frames(func(w *http2.Framer) { _ = w.WriteSettings(http2.Setting{ID: http2.SettingMaxFrameSize, Val: 1}) }), "malformed HTTP/2: a setting that cannot be: connection error: PROTOCOL_ERROR"},
		"another frame between pieces": {h2Frames(func(w *http2.Framer) {
			_ = w.WriteHeaders(http2.HeadersFrameParam{StreamID: 1})
			_ = w.WritePing(false, [8]byte{})
		}), "malformed HTTP/2: got PING for stream 0; expected CONTINUATION following HEADERS for stream 1"},
		"empty pieces": {h2Frames(func(w *http2.Framer) {
			_ = w.WriteHeaders(http2.HeadersFrameParam{StreamID: 1})
			for range 200 {
				_ = w.WriteContinuation(1, false, nil)
			}
		}), "the headers are larger than 64 KiB"},
	} {
		reply, bad := askH2(&scriptedConn{in: bytes.NewReader(c.sent)}, nil, maxHealth, func() {})
		if bad.message != c.want || bad.none() && reply.status != 204 {
			t.Errorf("%s: %q", name, bad.message)
		}
	}
}
