package probe

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// A decoder that makes room only for what is read gives what one with all the room does, even
// where a body repeats what is as far back as can be.
func TestBrotliIsReadAsWithAllItsRoom(t *testing.T) {
	t.Parallel()
	const most = longBody + framing
	random := rand.NewChaCha8([32]byte{})
	for _, size := range []int{1, shortBody, longBody - 16, longBody + 16, 3 * longBody} {
		text := make([]byte, size)
		_, _ = random.Read(text)
		repeated := text[:min(size, 1000)] // at the last place that is read, and the next
		copy(text[max(0, min(size, longBody-16)-len(repeated)):], repeated)
		windows := []int{10, 16, 17, 18, 20, 21, 22, 24}
		if testing.Short() && size > shortBody {
			windows = []int{10, 20, 24} // one smaller than what is read, one as large, and the largest
		}
		for _, window := range windows {
			t.Run(fmt.Sprintf("%d bytes, window %d", size, window), func(t *testing.T) {
				t.Parallel()
				var packed bytes.Buffer
				w := brotli.NewWriterOptions(&packed, brotli.WriterOptions{Quality: 5, LGWin: window})
				if _, err := w.Write(text); err != nil {
					t.Fatal(err)
				}
				if err := w.Close(); err != nil {
					t.Fatal(err)
				}
				body, release, err := decoder(http.Header{"Content-Encoding": {"br"}}, &packed, most)
				if err != nil {
					t.Fatal(err)
				}
				defer release()
				got, err := io.ReadAll(body)
				if cut := size >= longBody-16; cut != errors.Is(err, errCut) || !cut && err != nil {
					t.Error(err)
				}
				if want := text[:min(size, longBody-16)]; !bytes.Equal(got, want) {
					t.Errorf("%d bytes, not the %d that were sent", len(got), len(want))
				}
			})
		}
	}
}

// A decoder that makes room only for what is read gives what one with all the room does, also
// of several frames, and of frames that are a window as a whole.
func TestZstdIsReadAsWithAllItsRoom(t *testing.T) {
	t.Parallel()
	random := rand.NewChaCha8([32]byte{})
	encoders := map[string]*zstd.Encoder{}
	for name, o := range map[string][]zstd.EOption{
		"8 MiB":                    {zstd.WithWindowSize(maxZstdWindow), zstd.WithEncoderLevel(zstd.SpeedBestCompression)}, // finds what is far back
		"8 MiB without a checksum": {zstd.WithWindowSize(maxZstdWindow), zstd.WithEncoderCRC(false)},
		"1 KiB":                    {zstd.WithWindowSize(zstd.MinWindowSize)},
		"one segment":              {zstd.WithWindowSize(maxZstdWindow), zstd.WithSingleSegment(true)},
	} {
		encoder, err := zstd.NewWriter(nil, append(o, zstd.WithEncoderConcurrency(1))...)
		if err != nil {
			t.Fatal(err)
		}
		encoders[name] = encoder
	}
	for _, most := range []int{shortBody + framing, longBody + framing} {
		sizes := []int{0, 1, 1000, 70_000, most - 1, most, most + 1, most + maxZstdBlock, 3 * longBody}
		if testing.Short() && most > shortBody+framing {
			sizes = []int{most - 1, most + maxZstdBlock}
		}
		for _, size := range sizes {
			text := make([]byte, size)
			_, _ = random.Read(text)
			for i, end := range []int{min(size, most), (most/maxZstdBlock + 1) * maxZstdBlock, size} { // of what is read, of its last block, of all
				if from := 20_000 * i; end <= size && end >= from+40_000 { // less would not be worth packing a block
					copy(text[end-20_000:end], text[from:])
				}
			}
			for name, encoder := range encoders {
				for how, packed := range packings(t, encoder, text) {
					body, release, err := decoder(http.Header{"Content-Encoding": {"zstd"}}, iotest.HalfReader(bytes.NewReader(packed)), int64(most))
					if err != nil {
						t.Fatal(err)
					}
					got, err := io.ReadAll(body)
					release()
					if cut := size >= most; cut != errors.Is(err, errCut) || !cut && err != nil {
						t.Errorf("%d bytes, %s, %s: %v", size, name, how, err)
					}
					if want := text[:min(size, most)]; !bytes.Equal(got, want) {
						t.Errorf("%d bytes, %s, %s: %d bytes, not the %d that were sent", size, name, how, len(got), len(want))
					}
				}
			}
		}
	}
}

// packings are a text as frames of zstd.
func packings(t *testing.T, encoder *zstd.Encoder, text []byte) map[string][]byte {
	t.Helper()
	skipped := []byte("\x5a\x2a\x4d\x18\x03\x00\x00\x00xyz")
	whole := encoder.EncodeAll(text, nil)
	third := len(text) / 3
	var streamed bytes.Buffer
	encoder.Reset(&streamed)
	if _, err := encoder.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := encoder.Close(); err != nil {
		t.Fatal(err)
	}
	return map[string][]byte{
		"whole": whole, "streamed": streamed.Bytes(), "skipped first": append(slices.Clone(skipped), whole...),
		"twice": encoder.EncodeAll(text[third:], append(encoder.EncodeAll(text[:third], nil), skipped...)),
	}
}

// What asks for more than servers may is refused.
func TestZstdWindowsAreBounded(t *testing.T) {
	t.Parallel()
	for what, packed := range map[string]string{
		"a window":           "\x28\xb5\x2f\xfd\x00\x69\x0b\x00\x00x",
		"a segment":          "\x28\xb5\x2f\xfd\xa0\x01\x00\x80\x00\x0b\x00\x00x",
		"the largest of all": "\x28\xb5\x2f\xfd\x00\xff\x0b\x00\x00x",
	} {
		body, release, err := decoder(http.Header{"Content-Encoding": {"zstd"}}, strings.NewReader(packed), longBody)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(body); len(got) > 0 || !errors.Is(err, zstd.ErrWindowSizeExceeded) && !errors.Is(err, zstd.ErrDecoderSizeExceeded) {
			t.Errorf("%s of more than 8 MiB: %d bytes, %v", what, len(got), err)
		}
		release()
	}
}

// A frame that asks for 8 MiB gets room for what may be read of it, however many ask at once.
// (This measures the heap, so nothing else runs beside it.)
func TestZstdMakesRoomForWhatIsRead(t *testing.T) {
	const block = "\x0a\x00\x00x" // one byte, not the last
	for name, c := range map[string]struct {
		packed  string
		content int // bytes
	}{
		"a head alone":        {"\x28\xb5\x2f\xfd\x00\x68", 0},
		"a window":            {"\x28\xb5\x2f\xfd\x00\x68" + block, 1},
		"a segment":           {"\x28\xb5\x2f\xfd\xa0\x00\x00\x80\x00" + block, 1},
		"a long segment":      {"\x28\xb5\x2f\xfd\xe4\x00\x00\x80\x00\x00\x00\x00\x00" + block, 1},
		"behind what is none": {"\x50\x2a\x4d\x18\x01\x00\x00\x00x\x28\xb5\x2f\xfd\x00\x68" + block, 1},
		"in the second frame": {"\x28\xb5\x2f\xfd\x20\x01\x0b\x00\x00x\x28\xb5\x2f\xfd\x00\x68" + block, 2},
	} {
		for limit, room := range map[int]uint64{shortBody: 3 << 19, longBody: 3 << 20} {
			if each := roomOf(t, c.packed, c.content, int64(limit+framing)); each > room {
				t.Errorf("%s, %d bytes to be read: %d KiB for each", name, limit, each>>10)
			}
		}
	}
}

// roomOf is how much each of 200 decoders takes that have decoded so many bytes and wait for more.
func roomOf(t *testing.T, packed string, content int, most int64) uint64 {
	t.Helper()
	const visits = 200
	bodies := make([]io.Reader, visits)
	before := inUse()
	for i := range bodies {
		body, release, err := decoder(http.Header{"Content-Encoding": {"zstd"}}, strings.NewReader(packed), most)
		if err != nil {
			t.Fatal(err)
		}
		defer release()
		if n, err := io.ReadFull(body, make([]byte, max(content, 1))); n != content || err != nil && content > 0 {
			t.Fatalf("%q: %d bytes, %v", packed, n, err)
		}
		bodies[i] = body
	}
	after := inUse()
	runtime.KeepAlive(bodies)
	return (max(after, before) - before) / visits
}

// inUse is the heap without garbage.
func inUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
