package probe

import (
	"bytes"
	"encoding/binary"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"
	"unicode"

	"golang.org/x/net/icmp"
	"golang.org/x/net/ipv4"
	"golang.org/x/net/ipv6"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/probefleet/probefleet/internal/uptime"
)

// ioMulti is a text, and then an error.
func ioMulti(sent []byte, end error) io.Reader {
	return io.MultiReader(bytes.NewReader(sent), iotest.ErrReader(end))
}

// acceptMark stands in what a fuzzed server says for what it should make of the key.
const acceptMark = "<accept>"

// FuzzWebSocketHandshake reads answers to the opening handshake: only one that took the key
// up, and agrees to nothing that was not offered, opens a websocket.
func FuzzWebSocketHandshake(f *testing.F) {
	const good = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: keep-alive, Upgrade\r\nSec-WebSocket-Accept: " + acceptMark + "\r\n"
	for _, seed := range []string{
		good + "\r\n\x81\x02hi", good + "Sec-WebSocket-Protocol: chat\r\n\r\n", good + "Sec-WebSocket-Protocol: other\r\n\r\n", good + "Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n", good + "Sec-WebSocket-Accept: x\r\n\r\n",
		"HTTP/1.1 100 Continue\r\n\r\n" + good + "\r\n", strings.ReplaceAll(good, acceptMark, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=") + "\r\n", "HTTP/1.1 200 OK\r\n\r\n<html>",
	} {
		f.Add([]byte(seed), uint8(0))
	}
	for _, seed := range httpAnswers() {
		f.Add([]byte(seed), uint8(1))
	}
	p := New(options(nil)).plans.of(new(wsCheck("ws://a.test/", uptime.Spec{WebSocket: &uptime.WebSocketSpec{Subprotocols: []string{"chat"}}})))
	v := p.visitor.(*wsVisitor)
	f.Fuzz(func(t *testing.T, sent []byte, ending uint8) {
		key := newWSKey()
		said := bytes.ReplaceAll(sent[:min(len(sent), 256<<10)], []byte(acceptMark), []byte(wsAccept(key)))
		server := &scriptedServer{in: ioMulti(said, endings(ending))}
		w := newWire()
		w.conn = server
		var s sighting
		s.begin(p, time.Minute)
		s.Secrets = []string{canary}
		mark := time.Now()
		bad := v.open(w, key, &s, s.hop("x"), &mark)
		s.end()
		if server.taken > maxHeaders {
			t.Fatalf("%d bytes were taken", server.taken)
		}
		if bad.none() {
			agreed := s.Header.Values("Sec-WebSocket-Protocol")
			if !bytes.Contains(said, []byte(wsAccept(key))) || s.Status != http.StatusSwitchingProtocols || len(agreed) > 1 || len(agreed) == 1 && agreed[0] != "chat" {
				t.Fatalf("%q opens a websocket", said)
			}
		}
		verifyShown(t, judged(p, &s, bad, true))
	})
}

// FuzzHealthAnswer reads answers of gRPC health checks: what was written comes back, other
// fields are passed over, and the last of several counts.
func FuzzHealthAnswer(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x00\x02\x08\x01"), uint64(1))
	f.Add([]byte("\x00\x00\x00\x00\x00"), uint64(2))
	f.Add([]byte("\x01\x00\x00\x00\x02\x08\x01"), uint64(1<<63))
	f.Add([]byte("\x00\x00\x00\x00\x06\x12\x02hi\x08\x02"), uint64(3))
	f.Add([]byte("\x00\xff\xff\xff\xff\x0b\x08\x01\x0c"), uint64(0))
	f.Fuzz(func(t *testing.T, body []byte, status uint64) {
		body = body[:min(len(body), maxHealth)]
		if _, err := healthStatus(body); err != nil {
			if message := failed(uptime.FailureProtocol, err.Error()).message; message == "" || strings.ContainsFunc(err.Error(), unicode.IsControl) {
				t.Fatalf("%q", err)
			}
			return
		}
		message := protowire.AppendVarint(protowire.AppendTag(bytes.Clone(body[5:]), healthField, protowire.VarintType), status)
		framed := append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message))), message...)
		if got, err := healthStatus(framed); err != nil || got != status {
			t.Fatalf("%d came back as %d, %v", status, got, err)
		}
		for _, wrong := range [][]byte{framed[:len(framed)-1], append(slices.Clone(framed), 0), append(slices.Clone(framed), 8, 2), append([]byte{1}, framed[1:]...)} {
			if _, err := healthStatus(wrong); err == nil {
				t.Fatalf("%x is taken", wrong)
			}
		}
	})
}

// FuzzEchoAnswer reads ICMP messages: only an answer that repeats the token is one.
func FuzzEchoAnswer(f *testing.F) {
	token := [16]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}
	for _, six := range []bool{false, true} {
		for seq := range 5 {
			message := icmp.Message{Type: ipv4.ICMPTypeEchoReply, Body: &icmp.Echo{ID: 7, Seq: seq, Data: token[:]}}
			if six {
				message.Type = ipv6.ICMPTypeEchoReply
			}
			raw, err := message.Marshal(nil)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(raw, six)
			f.Add(raw[:len(raw)-1], six)
		}
	}
	f.Add([]byte{3, 1, 0, 0, 0, 0, 0, 0, 69, 0, 0, 28}, false)
	f.Fuzz(func(t *testing.T, raw []byte, six bool) {
		e := &echo{v6: six, token: token}
		e.sent[0], e.sent[1] = time.Now(), time.Now()
		i, ours := e.answered(raw[:min(len(raw), maxAnswer)])
		if ours != (len(raw) == 8+len(token) && raw[0] == map[bool]byte{false: 0, true: 129}[six] && bytes.Equal(raw[8:], token[:]) && raw[6] == 0 && (raw[7] == 1 || raw[7] == 2)) {
			t.Fatalf("%x: %v", raw, ours)
		}
		if ours && i != int(raw[7])-1 {
			t.Fatalf("%x answers %d", raw, i)
		}
	})
}
