package lab

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// decode undoes an encoding of /encoded and /bomb.
func decode(name string, from io.Reader) (io.Reader, error) {
	switch name {
	case "gzip":
		return gzip.NewReader(from)
	case "deflate":
		return zlib.NewReader(from)
	case "raw-deflate":
		return flate.NewReader(from), nil
	case "br":
		return brotli.NewReader(from), nil
	case "zstd", "zstd-window":
		return zstd.NewReader(from, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(1<<32-1), zstd.WithDecoderLowmem(true))
	case "gzip-twice":
		outer, err := gzip.NewReader(from)
		if err != nil {
			return nil, err
		}
		return gzip.NewReader(outer)
	}
	return from, nil
}

func TestEncoded(t *testing.T) {
	t.Parallel()
	l, client := start(t)
	fetch := func(path string) (label, content string) {
		response, err := client.Get(l.URL() + path)
		if err != nil {
			t.Fatal(err)
		}
		all, err := io.ReadAll(response.Body)
		if err != nil || response.StatusCode != http.StatusOK {
			t.Errorf("%s: %d, %v", path, response.StatusCode, err)
		}
		return response.Header.Get("Content-Encoding"), string(all)
	}
	text := strings.Repeat("hello-lab", 40)
	for name, wantLabel := range map[string]string{"gzip": "gzip", "deflate": "deflate", "raw-deflate": "deflate", "br": "br", "zstd": "zstd", "gzip-twice": "gzip, gzip"} {
		label, whole := fetch("/encoded/" + name + "/" + text)
		reader, err := decode(name, strings.NewReader(whole))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got, err := io.ReadAll(reader)
		if err != nil || string(got) != text || label != wantLabel {
			t.Errorf("%s labelled %q: %q, %v", name, label, got, err)
		}
		if _, cut := fetch("/encoded-cut/" + name + "/" + text); cut != whole[:len(whole)/2] {
			t.Errorf("%s cut: %d of %d bytes", name, len(cut), len(whole))
		}
		if label, lie := fetch("/encoded-lie/" + name + "/" + text); lie != text || label != wantLabel {
			t.Errorf("%s lie labelled %q: %q", name, label, lie)
		}
		if _, tail := fetch("/encoded-tail/" + name + "/" + text); tail != whole+"and more\n" {
			t.Errorf("%s tail: %d and %d bytes", name, len(tail), len(whole))
		}
	}
	if response, err := client.Get(l.URL() + "/encoded/rot13/x"); err != nil || response.StatusCode != http.StatusBadRequest {
		t.Errorf("%v, %v", response, err)
	}
}

// TestBombs decodes small ones to the end, checksums included, and the beginning
// of the real ones, which repeat the same piece more often.
func TestBombs(t *testing.T) {
	t.Parallel()
	l, client := start(t)
	for name, c := range map[string]struct {
		pack func(int) packed
		most int // bytes on the wire for 256 MiB
	}{
		"gzip": {gzipZeros, 300 << 10}, "gzip-twice": {gzipTwiceZeros, 16 << 10}, "deflate": {deflateZeros, 300 << 10},
		"br": {brotliZeros, 16 << 10}, "zstd": {zstdZeros, 9 << 10},
	} {
		var small bytes.Buffer
		if err := c.pack(3).writeTo(&small); err != nil {
			t.Fatal(err)
		}
		reader, err := decode(name, &small)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		content, err := io.ReadAll(reader)
		if err != nil || len(content) != 3<<20 || bytes.Count(content, []byte{0}) != len(content) {
			t.Errorf("%s of 3 MiB: %d bytes, %v", name, len(content), err)
		}
		if p := c.pack(bombMiB); cap(p.head)+cap(p.again)+cap(p.tail) > 64<<10 {
			t.Errorf("%s: %d bytes are kept", name, cap(p.head)+cap(p.again)+cap(p.tail))
		}
		response, err := client.Get(l.URL() + "/bomb/" + name)
		if err != nil {
			t.Fatal(err)
		}
		wire, err := io.ReadAll(response.Body)
		if err != nil || len(wire) > c.most || response.Header.Get("Content-Encoding") != strings.ReplaceAll(name, "gzip-twice", "gzip, gzip") {
			t.Errorf("%s: %d bytes on the wire as %q, %v", name, len(wire), response.Header.Get("Content-Encoding"), err)
		}
		t.Logf("%s: %d bytes on the wire", name, len(wire))
		if reader, err = decode(name, bytes.NewReader(wire)); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if n, err := io.CopyN(io.Discard, reader, 4<<20); err != nil {
			t.Errorf("%s: ends after %d bytes: %v", name, n, err)
		}
	}
}

func TestBombsWithoutEnd(t *testing.T) {
	t.Parallel()
	l, client := start(t)
	response, err := client.Get(l.URL() + "/bomb/endless")
	if err != nil {
		t.Fatal(err)
	}
	if n, err := io.CopyN(io.Discard, response.Body, 400<<10); err != nil { // more than the others have
		t.Errorf("ends after %d bytes: %v", n, err)
	}
	_ = response.Body.Close()

	if response, err = client.Get(l.URL() + "/bomb/stalled"); err != nil {
		t.Fatal(err)
	}
	reader, err := decode("zstd", response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := io.CopyN(io.Discard, reader, 7*128<<10); err != nil {
		t.Errorf("it stalls after %d bytes: %v", n, err)
	}
	_ = response.Body.Close()

	var frame zstd.Header
	if err := frame.Decode(zstdWindow(1).head); err != nil || frame.WindowSize != 2<<30 {
		t.Errorf("a window of %d, %v", frame.WindowSize, err)
	}
}
