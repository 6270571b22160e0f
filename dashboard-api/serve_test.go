package main

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/probefleet/probefleet/dashboard-api/internal/live"
	"github.com/probefleet/probefleet/dashboard-api/internal/wsconn"
)

// A browser that never answers the close of its socket must not keep the door open.
func TestDrainTakesNoNewRequestsBesideAMuteSocket(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	sockets := wsconn.New(wsconn.Options{
		Hub: live.New(live.Options{}), Log: log,
		Secure: func(*http.Request) bool { return false }, StillAllowed: func(context.Context, *http.Request) error { return nil },
	})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- serve(ctx, listener, sockets, sockets, log) }()

	mute, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer mute.Close()
	_, _ = io.WriteString(mute, "GET / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n")
	if line, err := bufio.NewReader(mute).ReadString('\n'); err != nil || !strings.Contains(line, "101") {
		t.Fatalf("%q %v", line, err)
	}

	cancel()
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for deadline := time.Now().Add(2 * time.Second); ; <-ticker.C {
		conn, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			break
		}
		_ = conn.Close()
		if time.Now().After(deadline) {
			t.Fatal("still taking requests two seconds into the drain")
		}
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
