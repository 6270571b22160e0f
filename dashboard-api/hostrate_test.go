package main

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/database/databasetest"
	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/migrations"
)

// Two nodes that save at once hold a host to one rate together; what a prober's operator
// opened has none.
func TestNodesHoldHostsToTheirRate(t *testing.T) {
	t.Parallel()
	databaseURL, redisURL, clickHouseURL := testbackend.Postgres(t), testbackend.Redis(t), testbackend.ClickHouse(t)
	if err := migrations.UpClickHouse(t.Context(), clickHouseURL, func(string) {}); err != nil {
		t.Fatal(err)
	}
	databasetest.Open(t, databaseURL)
	nodes := []*node{start(t, databaseURL, redisURL, clickHouseURL), start(t, databaseURL, redisURL, clickHouseURL)}
	redis, err := checkstream.Open(redisURL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = redis.Close() })
	var beating sync.WaitGroup
	t.Cleanup(beating.Wait) // before Redis is closed
	beating.Go(func() {
		ticker := time.NewTicker(time.Second)
		defer ticker.Stop()
		for prober := checkstream.NewConsumer(redis, "eu", "p1"); ; {
			_, _ = prober.Beat(t.Context(), checkstream.Heartbeat{Region: "eu", Name: "p1", ClickHouse: "ok", AllowCIDRs: []string{"127.0.0.0/8"}})
			select {
			case <-t.Context().Done():
				return
			case <-ticker.C:
			}
		}
	})
	for _, n := range nodes {
		n.await("the fleet shows the prober", func() bool {
			code, text := n.call("GET", "/api/v1/fleet", "")
			return code == http.StatusOK && strings.Contains(text, `"name":"p1"`)
		})
	}
	save := func(url string, count int) (saved, refused int) {
		var all sync.WaitGroup
		var mu sync.Mutex
		for i := range count {
			all.Go(func() {
				code, text := nodes[i%2].call("POST", "/api/v1/targets", fmt.Sprintf(`{"name":"%s %d","url":"%s","interval_s":10,"regions":["eu"]}`, url, i, url))
				mu.Lock()
				defer mu.Unlock()
				switch {
				case code == http.StatusCreated:
					saved++
				case code == http.StatusUnprocessableEntity && strings.Contains(text, `"pointer":"/url"`) && strings.Contains(text, "host_rate_exceeded"):
					refused++
				default:
					t.Errorf("%s: %d %s", url, code, text)
				}
			})
		}
		all.Wait()
		return saved, refused
	}
	if saved, refused := save("https://example.com/", 56); saved != 50 || refused != 6 { // 50 every 10 s are 5 a second
		t.Errorf("%d saved, %d refused", saved, refused)
	}
	if saved, _ := save("http://127.0.0.1:81/", 52); saved != 52 {
		t.Errorf("%d of 52 saved where the operator opened the range", saved)
	}
}
