package probe

import (
	"bufio"
	"crypto/rand"
	"encoding/binary"
	"io"
)

// Opcodes (RFC 6455 §5.2).
const (
	wsMore   = 0x0
	wsText   = 0x1
	wsBinary = 0x2
	wsClose  = 0x8
	wsPing   = 0x9
	wsPong   = 0xa
)

const maxWSControl = 125 // bytes of a control frame (RFC 6455 §5.5)

// wsFrame is the head of a frame.
type wsFrame struct {
	final bool
	code  byte
	size  uint64 // of what follows
}

func (f wsFrame) control() bool { return f.code&0x8 != 0 }

// badFrame says what RFC 6455 does not allow about a frame.
type badFrame string

func (e badFrame) Error() string { return "malformed websocket frame: " + string(e) }

// readWSFrame reads the head of a server's frame. What follows is the caller's to read.
func readWSFrame(from *bufio.Reader) (wsFrame, error) {
	var b [8]byte
	if _, err := io.ReadFull(from, b[:2]); err != nil {
		return wsFrame{}, err
	}
	f := wsFrame{final: b[0]&0x80 != 0, code: b[0] & 0xf, size: uint64(b[1] & 0x7f)}
	switch {
	case b[0]&0x70 != 0:
		return wsFrame{}, badFrame("a bit is set that belongs to an extension")
	case f.code > wsBinary && f.code < wsClose, f.code > wsPong:
		return wsFrame{}, badFrame("a reserved opcode")
	case b[1]&0x80 != 0:
		return wsFrame{}, badFrame("it is masked, as a client's is")
	case f.control() && (!f.final || f.size > maxWSControl):
		return wsFrame{}, badFrame("a control frame in pieces, or too long")
	}
	var wide int // bytes of the length
	switch f.size {
	case 126:
		wide = 2
	case 127:
		wide = 8
	default:
		return f, nil
	}
	if _, err := io.ReadFull(from, b[8-wide:]); err != nil {
		return wsFrame{}, err
	}
	clear(b[:8-wide])
	f.size = binary.BigEndian.Uint64(b[:])
	switch {
	case f.size > 1<<63-1:
		return wsFrame{}, badFrame("a length of more than 63 bits")
	case wide == 2 && f.size < 126, wide == 8 && f.size <= 0xffff:
		return wsFrame{}, badFrame("a length that is not written the shortest way")
	}
	return f, nil
}

// writeWSFrame sends a client's frame, which is masked (RFC 6455 §5.3).
func writeWSFrame(to io.Writer, code byte, payload []byte) error {
	out := make([]byte, 0, 14+len(payload))
	out = append(out, 0x80|code)
	switch n := len(payload); {
	case n <= maxWSControl:
		out = append(out, 0x80|byte(n))
	case n <= 0xffff:
		out = binary.BigEndian.AppendUint16(append(out, 0x80|126), uint16(n))
	default:
		out = binary.BigEndian.AppendUint64(append(out, 0x80|127), uint64(n))
	}
	var mask [4]byte
	_, _ = rand.Read(mask[:]) // never an error
	out = append(out, mask[:]...)
	for i, b := range payload {
		out = append(out, b^mask[i%4])
	}
	_, err := to.Write(out)
	return err
}
