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
	pack := newEncoders(f)
	for i, coding := range codings {
		packed := pack.encode(f, coding, []byte(strings.Repeat("hello ", 100)))
		f.Add(packed, uint8(i), false)
		f.Add([]byte("hello"), uint8(i)|0x20, true)
		f.Add(packed[:len(packed)/2], uint8(i), false)
		f.Add(pack.encode(f, coding, pack.encode(f, coding, make([]byte, 1<<19))), uint8(i)|0x10, false)
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
				data = pack.encode(t, coding, data)
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

// encoders write content codings, over and over: making them takes longer than using them.
type encoders struct {
	gzip    *gzip.Writer
	deflate *zlib.Writer
	br      *brotli.Writer
	zstd    *zstd.Encoder
}

func newEncoders(tb testing.TB) *encoders {
	tb.Helper()
	packer, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true))
	if err != nil {
		tb.Fatal(err)
	}
	return &encoders{gzip: gzip.NewWriter(nil), deflate: zlib.NewWriter(nil), br: brotli.NewWriterLevel(nil, 1), zstd: packer}
}

// encode gives a text in a content coding.
func (e *encoders) encode(tb testing.TB, coding string, text []byte) []byte {
	tb.Helper()
	var out bytes.Buffer
	var to interface {
		io.WriteCloser
		Reset(w io.Writer)
	}
	switch coding {
	case "gzip":
		to = e.gzip
	case "deflate":
		to = e.deflate
	case "br":
		to = e.br
	case "zstd":
		return e.zstd.EncodeAll(text, nil)
	default:
		return text
	}
	to.Reset(&out)
	_, err := to.Write(text)
	if err == nil {
		err = to.Close()
	}
	if err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}
