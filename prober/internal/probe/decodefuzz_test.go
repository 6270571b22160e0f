package probe

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// FuzzDecoder undoes codings: what was encoded comes back, and anything else costs no more
// than a check may.
func FuzzDecoder(f *testing.F) {
	for i, coding := range codings {
		packed := encoded(f, coding, []byte(strings.Repeat("hello ", 100)))
		f.Add(packed, uint8(i), false)
		f.Add([]byte("hello"), uint8(i)|0x20, true)
		f.Add(packed[:len(packed)/2], uint8(i), false)
		f.Add(encoded(f, coding, encoded(f, coding, make([]byte, 1<<20))), uint8(i)|0x10, false)
	}
	f.Add([]byte("\x28\xb5\x2f\xfd\x00\x98\x05\x00\x00x"), uint8(3), false) // a window of 512 MiB
	f.Add([]byte("\x11\x1e\x0b\x02\x80hello\x03"), uint8(2), false)         // a large window
	f.Fuzz(func(t *testing.T, data []byte, which uint8, honest bool) {
		coding := codings[int(which&0xf)%len(codings)]
		header := http.Header{"Content-Encoding": {coding}}
		if which&0x10 != 0 {
			header["Content-Encoding"] = []string{coding, coding}
		}
		if which&0x20 != 0 {
			if _, _, err := decoder(http.Header{"Content-Encoding": {coding + "," + coding, coding}}, nil, 4<<20); err == nil {
				t.Fatalf("%s is undone three times", coding)
			}
		}
		const limit = 256 << 10
		plain := data
		if honest {
			for range len(header["Content-Encoding"]) {
				data = encoded(t, coding, data)
			}
		}
		before := allocated()
		reader, release, err := decoder(header, iotest.HalfReader(bytes.NewReader(data)), 4<<20)
		if err != nil {
			t.Fatalf("%v: %v", header, err)
		}
		defer release()
		out, err := io.ReadAll(io.LimitReader(reader, limit+1))
		if cost := allocated() - before; cost > mostAllocated {
			t.Fatalf("%s of %d bytes took %d", coding, len(data), cost)
		}
		if honest && (!bytes.Equal(out, plain[:min(len(plain), limit+1)]) || err != nil) {
			t.Fatalf("%s of %d bytes gives %d bytes: %v", coding, len(plain), len(out), err)
		}
		if err != nil && errors.Is(err, io.EOF) {
			t.Fatalf("%s ends in %v", coding, err)
		}
	})
}

var codings = [...]string{"gzip", "deflate", "br", "zstd", "identity"}

// encoded is a text in a content coding.
func encoded(tb testing.TB, coding string, text []byte) []byte {
	tb.Helper()
	var out bytes.Buffer
	var to io.WriteCloser
	var err error
	switch coding {
	case "gzip":
		to = gzip.NewWriter(&out)
	case "deflate":
		to = zlib.NewWriter(&out)
	case "br":
		to = brotli.NewWriterLevel(&out, 1)
	case "zstd":
		to, err = zstd.NewWriter(&out, zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true))
	default:
		return text
	}
	if err == nil {
		_, err = to.Write(text)
	}
	if err == nil {
		err = to.Close()
	}
	if err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}
