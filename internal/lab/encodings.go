package lab

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"fmt"
	"io"
	"math"
	"net/http"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

func (l *Lab) encodingPaths(mux *http.ServeMux) {
	whole := func(_ string, encoded []byte) []byte { return encoded }
	mux.HandleFunc("/encoded/{encoding}/{text}", encoded(whole))
	mux.HandleFunc("/encoded-cut/{encoding}/{text}", encoded(func(_ string, encoded []byte) []byte { return encoded[:len(encoded)/2] }))
	mux.HandleFunc("/encoded-lie/{encoding}/{text}", encoded(func(text string, _ []byte) []byte { return []byte(text) }))
	mux.HandleFunc("/encoded-tail/{encoding}/{text}", encoded(func(_ string, encoded []byte) []byte { return append(encoded, "and more\n"...) }))
	bombs := map[string]func() packed{}
	for name, pack := range map[string]func(mib int) packed{
		"gzip": gzipZeros, "gzip-twice": gzipTwiceZeros, "deflate": deflateZeros, "br": brotliZeros, "zstd": zstdZeros, "zstd-window": zstdWindow,
	} {
		bombs[name] = sync.OnceValue(func() packed { return pack(bombMiB) })
	}
	bombs["endless"] = sync.OnceValue(func() packed { p := gzipZeros(1); p.times = math.MaxInt; return p })
	for name, bomb := range bombs {
		mux.HandleFunc("/bomb/"+name, explode(bomb))
	}
	mux.HandleFunc("/gzip-bomb", explode(bombs["gzip"]))
	mux.HandleFunc("/bomb/stalled", l.stalledBomb)
}

// encoded answers with the text of the path in the encoding of the path, spoilt.
func encoded(spoil func(text string, encoded []byte) []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		text := r.PathValue("text")
		var out bytes.Buffer
		writer, label, err := encoder(&out, r.PathValue("encoding"))
		if err == nil {
			_, err = io.WriteString(writer, text)
		}
		if err == nil {
			err = writer.Close()
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Encoding", label)
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = w.Write(spoil(text, out.Bytes()))
	}
}

// encoder gives a writer and the Content-Encoding of what it writes.
func encoder(to io.Writer, name string) (io.WriteCloser, string, error) {
	switch name {
	case "gzip":
		return gzip.NewWriter(to), "gzip", nil
	case "deflate":
		return zlib.NewWriter(to), "deflate", nil
	case "raw-deflate":
		writer, err := flate.NewWriter(to, flate.DefaultCompression)
		return writer, "deflate", err
	case "br":
		return brotli.NewWriter(to), "br", nil
	case "zstd":
		writer, err := zstd.NewWriter(to, zstd.WithEncoderConcurrency(1))
		return writer, "zstd", err
	case "gzip-twice":
		outer := gzip.NewWriter(to)
		return &twice{Writer: gzip.NewWriter(outer), outer: outer}, "gzip, gzip", nil
	}
	return nil, "", fmt.Errorf("no encoding %q", name)
}

// twice is a gzip writer inside another.
type twice struct {
	*gzip.Writer
	outer io.Closer
}

func (t *twice) Close() error {
	if err := t.Writer.Close(); err != nil {
		return err
	}
	return t.outer.Close()
}

const bombMiB = 256

// packed is a stream whose middle repeats, so that a large one is small to keep.
type packed struct {
	label      string
	head, tail []byte
	again      []byte
	times      int
}

func (p packed) writeTo(w io.Writer) error {
	if _, err := w.Write(p.head); err != nil {
		return err
	}
	for range p.times {
		if _, err := w.Write(p.again); err != nil {
			return err
		}
	}
	_, err := w.Write(p.tail)
	return err
}

func explode(bomb func() packed) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		frugal(r)
		p := bomb()
		w.Header().Set("Content-Encoding", p.label)
		_ = p.writeTo(w)
	}
}

// stalledBomb keeps who reads it waiting with what was read so far.
func (l *Lab) stalledBomb(w http.ResponseWriter, r *http.Request) {
	p := zstdZeros(1)
	p.times, p.tail = p.times-1, nil
	w.Header().Set("Content-Encoding", p.label)
	if p.writeTo(w) == nil && http.NewResponseController(w).Flush() == nil {
		l.hang(w, r)
	}
}

const mib = 1 << 20

// compressed runs a MiB of zeros through an encoder, then what finish does to it.
func compressed[W io.Writer](to *bytes.Buffer, through W, finish func(W) error) []byte {
	from := to.Len()
	_, _ = io.CopyN(through, zeros{}, mib)
	_ = finish(through)
	return bytes.Clone(to.Bytes()[from:])
}

// gzipZeros is one member many times over (RFC 1952 §2.2): 1 KiB for every MiB.
func gzipZeros(size int) packed {
	var out bytes.Buffer
	return packed{label: "gzip", again: compressed(&out, gzip.NewWriter(&out), (*gzip.Writer).Close), times: size}
}

// gzipTwiceZeros packs the former again: a few KiB.
func gzipTwiceZeros(size int) packed {
	var out bytes.Buffer
	outer := gzip.NewWriter(&out)
	_ = gzipZeros(size).writeTo(outer)
	_ = outer.Close()
	return packed{label: "gzip, gzip", head: out.Bytes()}
}

// deflateZeros is a zlib stream (RFC 1950): flushed to a whole byte, the packed
// MiB refers to nothing before it and can be repeated. The Adler-32 of n zeros is
// n modulo 65521, then 1.
func deflateZeros(size int) packed {
	var out bytes.Buffer
	writer, _ := flate.NewWriter(&out, flate.BestCompression)
	p := packed{label: "deflate", head: []byte{0x78, 0xda}, again: compressed(&out, writer, (*flate.Writer).Flush), times: size}
	sum := size * mib % 65521
	p.tail = []byte{0x01, 0x00, 0x00, 0xff, 0xff, byte(sum >> 8), byte(sum), 0, 1} // an empty last block, then the sum
	return p
}

// brotliZeros is a first MiB that opens the stream (RFC 7932 §9.1) and a second
// one that leaves the decoder as it found it, many times over.
func brotliZeros(size int) packed {
	var out bytes.Buffer
	writer := brotli.NewWriterLevel(&out, 5)
	p := packed{label: "br", head: compressed(&out, writer, (*brotli.Writer).Flush), times: size - 1}
	p.again = compressed(&out, writer, (*brotli.Writer).Flush)
	p.tail = []byte{3} // last and empty
	return p
}

// zstdZeros is one frame of blocks that say "so many zeros" (RFC 8878 §3.1.1.2),
// 128 KiB in four bytes.
func zstdZeros(size int) packed {
	return zstdFrame(10<<3, size) // a window of 1 MiB
}

// zstdWindow is a frame that asks for a window of 2 GiB before it says anything.
func zstdWindow(size int) packed {
	return zstdFrame(21<<3, size)
}

func zstdFrame(window byte, size int) packed {
	const header = 128<<10<<3 | 1<<1 // a block of one byte, so many times, not the last
	return packed{
		label: "zstd", head: []byte{0x28, 0xb5, 0x2f, 0xfd, 0, window},
		again: []byte{header & 0xff, header >> 8 & 0xff, header >> 16, 0}, times: 8 * size, tail: []byte{1, 0, 0},
	}
}
