package main

import (
	"io"
	"log/slog"
	"net"
	"net/http"
	"testing"
	"time"
)

// Whoever begins a handshake and does not end it is let go.
func TestAHalfSentHandshakeIsClosed(t *testing.T) {
	t.Parallel()
	server := newServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("half a request was answered") }), slog.New(slog.DiscardHandler))
	if server.ReadHeaderTimeout != 10*time.Second {
		t.Errorf("headers may take %v", server.ReadHeaderTimeout)
	}
	server.ReadHeaderTimeout = 100 * time.Millisecond // the same, only sooner; the other limits are longer than this test waits
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan struct{})
	go func() { defer close(served); _ = server.Serve(listener) }()
	defer func() { _ = server.Close(); <-served }()
	conn, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := io.WriteString(conn, "GET /api/v1/live HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: "); err != nil {
		t.Fatal(err)
	}
	_ = conn.SetReadDeadline(time.Now().Add(15 * time.Second))
	if answer, err := io.ReadAll(conn); err != nil {
		t.Errorf("it is still open: %q, %v", answer, err)
	}
}
