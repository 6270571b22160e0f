package probe

import (
	"bufio"
	"encoding/binary"
	"io"
	"math"
	"math/bits"

	"github.com/klauspost/compress/zstd"
)

// maxZstdBlock is how many bytes a block has at most, decoded (RFC 8878 §3.1.1.2.4).
const maxZstdBlock = 128 << 10

// openZstd opens a stream of which no more than most bytes are read decoded. A decoder makes
// room for the window that a frame says it looks back to, before anything came; nothing can
// look back further than to the first byte, so a window as large as what is read, and the
// block in which that ends, gives the same.
func openZstd(r io.Reader, most int64) (body io.Reader, release func(), err error) {
	window := zstdWindow(min(uint64(most)+maxZstdBlock, maxZstdWindow))
	frames := &zstdFrames{from: bufio.NewReaderSize(r, 512), window: window}
	inner, err := zstd.NewReader(frames, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(window.size()))
	if err != nil {
		return nil, func() {}, err
	}
	return &counting{from: inner, most: most}, inner.Close, nil
}

// zstdDescriptor is the byte that says how large the window of a frame is: the larger the one,
// the larger the other (RFC 8878 §3.1.1.1.2).
type zstdDescriptor byte

func (d zstdDescriptor) size() uint64 {
	base := uint64(1) << (10 + d>>3)
	return base + base/8*uint64(d&7)
}

// zstdWindow is a window of so many bytes, or little more.
func zstdWindow(size uint64) zstdDescriptor {
	power := bits.Len64(size) - 1
	eighth := uint64(1) << power / 8
	return zstdDescriptor(uint64(power-10)<<3 + (size-1<<power+eighth-1)/eighth)
}

// zstdFrames passes a zstd stream on (RFC 8878 §3.1.1) with the windows of its frames lowered
// to one. What is no such stream is passed on as it is, for the decoder to say so.
type zstdFrames struct {
	from   *bufio.Reader
	window zstdDescriptor

	head     []byte // is passed on before what comes of from
	left     int64  // bytes of from to pass on as they are
	within   bool   // a frame
	checksum bool   // ends it
}

// Read implements io.Reader.
func (z *zstdFrames) Read(p []byte) (int, error) {
	for len(z.head) == 0 && z.left == 0 {
		z.next()
	}
	if len(z.head) > 0 {
		n := copy(p, z.head)
		z.head = z.head[n:]
		return n, nil
	}
	n, err := z.from.Read(p[:min(int64(len(p)), z.left)])
	z.left -= int64(n)
	return n, err
}

// next looks at the head of what comes next: of a block, or of a frame.
func (z *zstdFrames) next() {
	if z.within {
		z.block()
	} else if !z.frame() {
		z.left = math.MaxInt64
	}
}

func (z *zstdFrames) block() {
	head, err := z.from.Peek(3)
	if err != nil {
		z.left = math.MaxInt64
		return
	}
	word := uint32(head[0]) | uint32(head[1])<<8 | uint32(head[2])<<16
	z.left = 3 + int64(word>>3)
	if word>>1&3 == 1 { // one byte, so many times
		z.left = 3 + 1
	}
	if word&1 == 0 { // not the last
		return
	}
	z.within = false
	if z.checksum {
		z.left += 4
	}
}

// frame says whether there is one.
func (z *zstdFrames) frame() bool {
	head, err := z.from.Peek(4)
	if err != nil {
		return false
	}
	switch magic := binary.LittleEndian.Uint32(head); {
	case magic&^0xf == 0x184D2A50: // to be skipped
		if head, err = z.from.Peek(8); err != nil {
			return false
		}
		z.left = 8 + int64(binary.LittleEndian.Uint32(head[4:]))
		return true
	case magic != 0xFD2FB528:
		return false
	}
	if head, err = z.from.Peek(5); err != nil {
		return false
	}
	what := head[4]
	single, identity := what>>5&1 == 1, [4]int{0, 1, 2, 4}[what&3]
	length := [4]int{0, 2, 4, 8}[what>>6] // of the content's size
	if single && length == 0 {
		length = 1
	}
	size := 5 + identity + length
	if !single {
		size++
	}
	if head, err = z.from.Peek(size); err != nil {
		return false
	}
	z.head = z.lowered(head, single, length)
	_, _ = z.from.Discard(size) // it was peeked at
	z.within, z.checksum = true, what>>2&1 == 1
	return true
}

// lowered is the head of a frame with the window lowered. A frame of a single segment has none:
// its whole content is one, and instead of that it gets one. What is larger than servers may ask
// for stays so, and is refused.
func (z *zstdFrames) lowered(head []byte, single bool, length int) []byte {
	out := append(make([]byte, 0, len(head)+1), head...)
	switch {
	case !single:
		if asked := zstdDescriptor(head[5]); asked <= zstdWindow(maxZstdWindow) {
			out[5] = byte(min(asked, z.window))
		}
	case length >= 4: // shorter ones are small
		content := uint64(binary.LittleEndian.Uint32(head[len(head)-length:]))
		if length == 8 {
			content = binary.LittleEndian.Uint64(head[len(head)-length:])
		}
		if content > z.window.size() && content <= maxZstdWindow {
			out[4] &^= 1 << 5
			out = append(append(out[:5], byte(z.window)), head[5:]...)
		}
	}
	return out
}
