package lab

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
)

const (
	sampleKey    = "dGhlIHNhbXBsZSBub25jZQ==" // of RFC 6455 §1.3, with its answer
	sampleAccept = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
)

// open asks for a WebSocket and gives the answer, and what follows it.
func open(t *testing.T, c net.Conn, kind string) (*http.Response, *bufio.Reader) {
	t.Helper()
	if _, err := io.WriteString(c, "GET /ws/"+kind+" HTTP/1.1\r\nHost: lab.test\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: "+sampleKey+"\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReader(c)
	response, err := http.ReadResponse(in, nil)
	if err != nil {
		t.Fatal(err)
	}
	return response, in
}

// masked is a client's frame.
func masked(first byte, payload string) string {
	key := [4]byte{1, 2, 3, 4}
	head := []byte{first, 0x80 | byte(len(payload))}
	if len(payload) > 125 {
		head = []byte{first, 0x80 | 126, byte(len(payload) >> 8), byte(len(payload))}
	}
	out := append(head, key[:]...)
	for i := range len(payload) {
		out = append(out, payload[i]^key[i%4])
	}
	return string(out)
}

func TestWebSocketEcho(t *testing.T) {
	t.Parallel()
	l, _ := start(t)
	for _, kind := range []string{"echo", "hello"} {
		for _, c := range []net.Conn{dial(t, l, "plain"), dialTLS(t, l, "tls")} {
			response, in := open(t, c, kind)
			if response.StatusCode != http.StatusSwitchingProtocols || response.Header.Get("Sec-WebSocket-Accept") != sampleAccept || !strings.EqualFold(response.Header.Get("Upgrade"), "websocket") {
				t.Fatalf("%s: %v", kind, response)
			}
			long := strings.Repeat("long", 1000)
			if _, err := io.WriteString(c, masked(final|opText, "short")+masked(final|opPing, "?")+masked(final|opPong, "!")+masked(final|opText, long)+masked(final|opClose, "\x03\xe8")); err != nil {
				t.Fatal(err)
			}
			want := frame(final|opText, "short") + frame(final|opPong, "?") + frame(final|opText, long) + frame(final|opClose, "\x03\xe8")
			if kind == "hello" {
				want = frame(final|opText, "hello") + want
			}
			if got, err := io.ReadAll(in); err != nil || string(got) != want {
				t.Errorf("%s: %.100q, %v", kind, got, err)
			}
		}
	}
}

func TestWebSocketRefusals(t *testing.T) {
	t.Parallel()
	l, client := start(t)
	for kind, code := range map[string]int{"refuse": 403, "plain": 200, "nothing": 404} {
		if response, _ := open(t, dial(t, l, "plain"), kind); response.StatusCode != code {
			t.Errorf("%s: %s", kind, response.Status)
		}
	}
	for kind, want := range map[string][3]string{ // the accept key, the subprotocol, the extension
		"wrong-key": {acceptKey("another key"), "", ""}, "no-key": {"", "", ""},
		"protocol": {sampleAccept, "unasked", ""}, "extension": {sampleAccept, "", "permessage-deflate"},
	} {
		response, _ := open(t, dial(t, l, "plain"), kind)
		h := response.Header
		if got := [3]string{h.Get("Sec-WebSocket-Accept"), h.Get("Sec-WebSocket-Protocol"), h.Get("Sec-WebSocket-Extensions")}; response.StatusCode != http.StatusSwitchingProtocols || got != want {
			t.Errorf("%s: %s, %q", kind, response.Status, got)
		}
	}
	if response, _ := send(t, client, "GET", l.URL()+"/ws/echo", nil); response.StatusCode != http.StatusUpgradeRequired || response.Header.Get("Upgrade") != "websocket" {
		t.Errorf("without an upgrade: %s", response.Status)
	}
}

func TestWebSocketFrames(t *testing.T) {
	t.Parallel()
	l, _ := start(t)
	for kind, c := range map[string]struct {
		begins string
		ends   bool // or goes on, or waits
	}{
		"silent":       {"", false},
		"close":        {"\x88\x0d\x03\xf3going wrong", true},
		"cut":          {"", true},
		"huge-frame":   {"\x01\x7f\x40\x00\x00\x00\x00\x00\x00\x00xxx", false},
		"endless":      {"\x01\x01x\x00\x64xxx", false},
		"pings":        {"\x89\x0eare you there?\x89\x0eare", false},
		"masked":       {"\x81\x83\x01\x02\x03\x04", false},
		"reserved":     {"\xc1", false},
		"unknown":      {"\x83\x01?", false},
		"long-control": {"\x89\x7e\x00\x80xxx", false},
		"bad-length":   {"\x81\x7f\xff\xff\xff\xff\xff\xff\xff\xff", false},
		"bytes":        {"\x81\x02\xff\xfe", false},
	} {
		conn := dial(t, l, "plain")
		response, in := open(t, conn, kind)
		got := make([]byte, len(c.begins))
		_, err := io.ReadFull(in, got)
		if err != nil || string(got) != c.begins || response.StatusCode != http.StatusSwitchingProtocols {
			t.Errorf("%s: %s, %q, %v", kind, response.Status, got, err)
		}
		if !c.ends {
			_ = conn.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
		}
		_, err = io.CopyN(io.Discard, in, 64<<10)
		if !errors.Is(err, io.EOF) && c.ends || errors.Is(err, io.EOF) && !c.ends || err != nil && !c.ends && !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s: then %v", kind, err)
		}
	}
}
