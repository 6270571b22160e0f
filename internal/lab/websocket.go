package lab

import (
	"crypto/sha1"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// The opcodes of RFC 6455 §5.2 that are used here.
const (
	opMore  = 0
	opText  = 1
	opClose = 8
	opPing  = 9
	opPong  = 10
	final   = 0x80
)

const maxFrame = 1 << 20 // bytes of a client's frame that are echoed

// websocket upgrades and then does what the kind says.
func (l *Lab) websocket(w http.ResponseWriter, r *http.Request) {
	kind := r.PathValue("kind")
	session, known := websocketKinds()[kind]
	key := r.Header.Get("Sec-WebSocket-Key")
	switch {
	case !known:
		http.NotFound(w, r)
		return
	case kind == "refuse":
		http.Error(w, "no", http.StatusForbidden)
		return
	case kind == "plain":
		ok(w, r)
		return
	case !strings.EqualFold(r.Header.Get("Upgrade"), "websocket") || key == "":
		w.Header().Set("Upgrade", "websocket")
		http.Error(w, "this is for WebSocket clients", http.StatusUpgradeRequired)
		return
	}
	extra := map[string]string{
		"wrong-key": "Sec-WebSocket-Accept: " + acceptKey("another key") + "\r\n",
		"no-key":    "",
		"protocol":  "Sec-WebSocket-Accept: " + acceptKey(key) + "\r\nSec-WebSocket-Protocol: unasked\r\n",
		"extension": "Sec-WebSocket-Accept: " + acceptKey(key) + "\r\nSec-WebSocket-Extensions: permessage-deflate\r\n",
	}
	lines, special := extra[kind]
	if !special {
		lines = "Sec-WebSocket-Accept: " + acceptKey(key) + "\r\n"
	}
	l.raw(func(c *wire, r *http.Request) {
		frugal(r)
		if c.say("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"+lines+"\r\n") == nil {
			_ = session(c)
		}
	})(w, r)
}

func acceptKey(key string) string {
	sum := sha1.Sum([]byte(key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11")) // RFC 6455 §1.3
	return base64.StdEncoding.EncodeToString(sum[:])
}

func websocketKinds() map[string]func(*wire) error {
	silent := func(c *wire) error { _, err := io.Copy(io.Discard, c.in); return err }
	const length62 = "\x7f\x40\x00\x00\x00\x00\x00\x00\x00"
	return map[string]func(*wire) error{
		"echo": echoFrames, "wrong-key": echoFrames, "no-key": echoFrames, "protocol": echoFrames, "extension": echoFrames,
		"hello":        func(c *wire) error { return errors.Join(c.say(frame(final|opText, "hello")), echoFrames(c)) },
		"silent":       silent,
		"refuse":       nil,
		"plain":        nil,
		"close":        func(c *wire) error { return c.say(frame(final|opClose, "\x03\xf3going wrong")) },
		"cut":          func(*wire) error { return nil },
		"huge-frame":   again(string(rune(opText))+length62, filler),
		"endless":      again(frame(opText, "x"), frame(opMore, filler[:100])),
		"pings":        again("", frame(final|opPing, "are you there?")),
		"masked":       once("\x81\x83\x01\x02\x03\x04" + "ijh"),         // a server must not (§5.1)
		"reserved":     once(frame(final|0x40|opText, "compressed?")),    // RSV1 without an extension (§5.2)
		"unknown":      once(frame(final|0x3, "?")),                      // a reserved opcode
		"long-control": once("\x89\x7e\x00\x80" + filler),                // control frames have 125 bytes at most (§5.5)
		"bad-length":   once("\x81\x7f\xff\xff\xff\xff\xff\xff\xff\xff"), // the highest bit must be 0
		"bytes":        once(frame(final|opText, "\xff\xfe")),            // text that is not UTF-8 (§8.1)
	}
}

// once says something wrong and listens to what the client makes of it.
func once(wrong string) func(*wire) error {
	return func(c *wire) error {
		if err := c.say(wrong); err != nil {
			return err
		}
		_, err := io.Copy(io.Discard, c.in)
		return err
	}
}

// again says opening, and more for as long as the client reads.
func again(opening, more string) func(*wire) error {
	return func(c *wire) error {
		err := c.say(opening)
		for err == nil {
			err = c.say(more)
		}
		return err
	}
}

// frame is a short frame, as servers send it.
func frame(first byte, payload string) string {
	if len(payload) > 125 {
		return string([]byte{first, 126, byte(len(payload) >> 8), byte(len(payload))}) + payload
	}
	return string([]byte{first, byte(len(payload))}) + payload
}

func echoFrames(c *wire) error {
	for {
		first, payload, err := readFrame(c.in)
		if err != nil {
			return err
		}
		switch first & 0xf {
		case opPing:
			first = final | opPong
		case opPong:
			continue
		}
		if err := sendFrame(c, first, payload); err != nil || first&0xf == opClose {
			return err
		}
	}
}

func sendFrame(c *wire, first byte, payload []byte) error {
	head := []byte{first, byte(len(payload))}
	switch {
	case len(payload) > 0xffff:
		head = binary.BigEndian.AppendUint64([]byte{first, 127}, uint64(len(payload)))
	case len(payload) > 125:
		head = binary.BigEndian.AppendUint16([]byte{first, 126}, uint16(len(payload)))
	}
	if _, err := c.Write(head); err != nil {
		return err
	}
	_, err := c.Write(payload)
	return err
}

// readFrame reads a client's frame, which is masked (RFC 6455 §5.3).
func readFrame(from io.Reader) (first byte, payload []byte, err error) {
	var head [8]byte
	if _, err := io.ReadFull(from, head[:2]); err != nil {
		return 0, nil, err
	}
	first, masked, size := head[0], head[1]&0x80 != 0, uint64(head[1]&0x7f)
	switch size {
	case 126:
		_, err = io.ReadFull(from, head[:2])
		size = uint64(binary.BigEndian.Uint16(head[:2]))
	case 127:
		_, err = io.ReadFull(from, head[:8])
		size = binary.BigEndian.Uint64(head[:8])
	}
	if err != nil {
		return 0, nil, err
	}
	if !masked || size > maxFrame {
		return 0, nil, fmt.Errorf("a frame of %d bytes, masked: %v", size, masked)
	}
	if _, err := io.ReadFull(from, head[:4]); err != nil {
		return 0, nil, err
	}
	payload = make([]byte, size)
	_, err = io.ReadFull(from, payload)
	for i := range payload {
		payload[i] ^= head[i%4]
	}
	return first, payload, err
}
