package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// A page stays there while a store is away, says so, and is green on no old evidence.
func TestStatusPageWhileStoresAreAway(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	n := start(t, s.database, s.redis.URL(), s.clickHouse.URL())
	code, text := n.call("POST", "/api/v1/status-pages", fmt.Sprintf(`{"slug":"main","title":"Acme","published":true,"groups":[{"components":[{"name":"Site","target_ids":[%d]}]}]}`, s.target.ID))
	if code != http.StatusCreated {
		t.Fatalf("%d %s", code, text)
	}
	page := func(wanted ...string) bool {
		t.Helper()
		_, code, body, took := n.get("/s/main")
		if took > promptly {
			t.Errorf("took %v", took)
		}
		for _, want := range wanted {
			if code != http.StatusOK || !strings.Contains(body, want) {
				return false
			}
		}
		return true
	}
	n.await("the page with its history", func() bool {
		return page("All systems are operational", "100.000 % uptime") && !page("cannot be read")
	})
	s.redis.Stop()
	if !page("All systems are operational", "Updated ") { // the evidence is fresh for two intervals
		t.Error("without Redis the page is gone")
	}
	s.clickHouse.Stop()
	n.await("the last good days", func() bool {
		return page("100.000 % uptime", "The daily history is as of")
	})
	s.clickHouse.Restart()
	s.redis.Restart()
	n.await("all as it was", func() bool { return page("All systems are operational") && !page("cannot be read") })
}
