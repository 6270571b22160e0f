package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/probefleet/probefleet/dashboard-api/internal/notify"
	"github.com/probefleet/probefleet/internal/guard"
	"github.com/probefleet/probefleet/internal/secret"
)

// What the operator opens for channels of the house is not open to readers of a public page.
func TestReadersReachNothingInside(t *testing.T) {
	t.Parallel()
	var heard atomic.Int64
	inside := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		heard.Add(1)
		_, _ = io.WriteString(w, "yes")
	}))
	defer inside.Close()
	open := []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	operators := notify.NewDeliverer(notify.DelivererOptions{Guard: guard.New(open)})
	to, key := secret.New(inside.URL), secret.New("0123456789abcdef")
	if sent, _ := operators.Hook(t.Context(), to, key, "1", "x"); sent.Failure != nil || heard.Load() != 1 {
		t.Fatalf("the operator's own: %+v", sent)
	}
	sent, _ := toReaders(Config{}, operators, nil).Hook(t.Context(), to, key, "2", "x")
	if sent.Failure == nil || !strings.Contains(sent.Failure.Said, "not public") || heard.Load() != 1 {
		t.Errorf("a reader's: %+v, %d requests", sent, heard.Load())
	}
}
