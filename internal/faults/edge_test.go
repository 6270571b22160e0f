package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"

	"github.com/probefleet/probefleet/internal/testbackend"
)

// edge is the way of one process to one store: a proxy that can misbehave.
type edge struct {
	proxy *toxiproxy.Proxy
}

// edges are several ways at once, such as every way to Redis.
type edges []*edge

func newEdge(t testing.TB, name, upstream string) *edge {
	t.Helper()
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	e := &edge{toxiproxy.NewProxy(server, name, fmt.Sprint("127.0.0.1:", testbackend.Port(t)), upstream)}
	if err := e.proxy.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.proxy.Stop)
	return e
}

// address is where the process connects to.
func (e *edge) address() string { return e.proxy.Listen }

// cut closes its connections and refuses new ones, until mend.
func (e *edge) cut() { e.proxy.Stop() }

// mend lets everything through again, whatever was done to it.
func (e *edge) mend(t testing.TB) {
	t.Helper()
	e.proxy.Toxics.ResetToxics(context.Background())
	if err := e.proxy.Start(); err != nil && err != toxiproxy.ErrProxyAlreadyStarted {
		t.Fatalf("edge %s: %v", e.proxy.Name, err)
	}
}

// slow delays what the store answers.
func (e *edge) slow(t testing.TB, latency, jitter time.Duration) {
	t.Helper()
	e.toxic(t, "latency", "downstream", map[string]any{"latency": latency.Milliseconds(), "jitter": jitter.Milliseconds()})
}

// blackhole swallows both directions: connections stay and nothing moves.
func (e *edge) blackhole(t testing.TB) {
	t.Helper()
	e.toxic(t, "timeout", "downstream", map[string]any{"timeout": 0})
	e.toxic(t, "timeout", "upstream", map[string]any{"timeout": 0})
}

// reset ends every connection with a TCP reset as soon as the store answers: the
// question has arrived, its answer never does.
func (e *edge) reset(t testing.TB) {
	t.Helper()
	e.toxic(t, "reset_peer", "downstream", map[string]any{"timeout": 0})
}

// cutAfter closes every connection after so many bytes. Direction "upstream" cuts
// what the process sends, "downstream" what the store answers.
func (e *edge) cutAfter(t testing.TB, direction string, bytes int) {
	t.Helper()
	e.toxic(t, "limit_data", direction, map[string]any{"bytes": bytes})
}

// trickle sends in pieces of size bytes with a pause after each.
func (e *edge) trickle(t testing.TB, size int, pause time.Duration) {
	t.Helper()
	e.toxic(t, "slicer", "downstream", map[string]any{"average_size": size, "size_variation": size / 2, "delay": pause.Microseconds()})
}

func (e *edge) toxic(t testing.TB, kind, stream string, attributes map[string]any) {
	t.Helper()
	name := kind + "-" + stream
	_ = e.proxy.Toxics.RemoveToxic(context.Background(), name) // the same again, with other figures
	text, err := json.Marshal(map[string]any{"name": name, "type": kind, "stream": stream, "toxicity": 1, "attributes": attributes})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.proxy.Toxics.AddToxicJson(strings.NewReader(string(text))); err != nil {
		t.Fatalf("edge %s: %s: %v", e.proxy.Name, kind, err)
	}
}

// each does the same to every way: r.toRedis().each((*edge).cut).
func (all edges) each(do func(*edge)) {
	for _, e := range all {
		do(e)
	}
}
