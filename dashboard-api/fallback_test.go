package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

// withoutUpgrades is a proxy in front of a node that lets no websocket through.
func withoutUpgrades(t *testing.T, n *node) *httptest.Server {
	t.Helper()
	to, err := url.Parse(n.url)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(to)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") != "" {
			http.Error(w, "no upgrades here", http.StatusBadGateway)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server
}

// Behind a proxy that refuses upgrades the stream brings every result, in order.
func TestTheStreamGetsThroughWhereNoWebsocketDoes(t *testing.T) {
	t.Parallel()
	p := newPlace(t, nil)
	n := p.node()
	proxy := withoutUpgrades(t, n)
	ask := func(path string, header http.Header) *http.Response {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, proxy.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header = header
		r.Header.Set("Authorization", "Bearer "+testKey)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = answer.Body.Close() })
		return answer
	}
	if got := ask("/api/v1/live", http.Header{"Connection": {"Upgrade"}, "Upgrade": {"websocket"}, "Sec-Websocket-Version": {"13"}, "Sec-Websocket-Key": {"AAAAAAAAAAAAAAAAAAAAAA=="}}); got.StatusCode != http.StatusBadGateway {
		t.Fatalf("the websocket: %d", got.StatusCode)
	}
	stream := ask("/api/v1/live/events?ch=targets&ch=incidents", http.Header{})
	if stream.StatusCode != http.StatusOK {
		t.Fatalf("the stream: %d", stream.StatusCode)
	}
	lines := bufio.NewScanner(stream.Body)
	lines.Buffer(nil, 1<<20)
	slot, seen := time.Now().UTC().Truncate(time.Second), 0
	send := func(i int) {
		at := slot.Add(time.Duration(i) * time.Millisecond)
		p.announce(uptime.Result{ScheduledAt: at, CheckedAt: at, IngestedAt: at, Status: uptime.StatusUp, TotalUS: uint32(i)})
	}
	const all = 20
	for lines.Scan() {
		data, is := strings.CutPrefix(lines.Text(), "data: ")
		if !is {
			continue
		}
		var m struct {
			T, Ch string
			Ops   []struct {
				Item struct {
					Ticks []struct {
						TotalUS int `json:"total_us"`
					}
				}
			}
		}
		if err := json.Unmarshal([]byte(data), &m); err != nil {
			t.Fatal(err)
		}
		if m.T == "ok" && m.Ch == "incidents" {
			send(1)
		}
		for _, o := range m.Ops {
			for _, tick := range o.Item.Ticks {
				if seen++; tick.TotalUS != seen {
					t.Fatalf("result %d came as number %d", tick.TotalUS, seen)
				}
				if seen < all {
					send(seen + 1)
				}
			}
		}
		if seen == all {
			return
		}
	}
	t.Errorf("%d of %d results, then %v", seen, all, fmt.Sprint(lines.Err()))
}
