package httpapi

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/incidentstore"
)

// Who may read a target reads who was told of its incidents, why somebody was not, and what waits.
func TestTidings(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	shop, other := b.create(`{"url":"https://shop.example/","name":"shop"}`), b.create(`{"url":"https://other.example/","name":"other"}`)
	c := b.channel(aWebhook)
	if got := b.do("POST", "/api/v1/notification-rules", fmt.Sprintf(`{"name":"all","channel_ids":[%d]}`, c.ID), as(editorKey)); got.Code != http.StatusCreated {
		t.Fatalf("%d %s", got.Code, got.text)
	}
	incident := b.openIncident(incidentstore.Opening{
		TargetID: shop.ID, FirstSlot: testNow.Add(-time.Minute), Severity: incidentstore.Down, At: testNow, Subject: incidentstore.Subject{Name: "shop", Kind: "http"}, Cause: incidentstore.Cause{Explanation: "down"},
	})
	read := func(id int64) string {
		t.Helper()
		got := b.do("GET", fmt.Sprintf("/api/v1/targets/%d/deliveries", id), "", as(viewerKey))
		if got.Code != http.StatusOK || strings.Contains(got.text, "canary") {
			t.Fatalf("%d %s", got.Code, got.text)
		}
		return strings.TrimSpace(got.text)
	}
	about := fmt.Sprintf(`"incident_id":%d,"channel_id":%d,"channel":"ops","channel_kind":"webhook","event":"opened"`, incident, c.ID)
	if got := read(shop.ID); !strings.Contains(got, about+`,"state":"pending","attempts":0,`) || !strings.Contains(got, `"settled_at":null,"status":0,"reason":""`) || strings.Contains(got, `"next_at":null`) {
		t.Errorf("waiting: %s", got)
	}
	if got := read(other.ID); got != `{"items":[],"next_cursor":null}` {
		t.Errorf("the other: %s", got)
	}
	attempt := func(outcome incidentstore.Outcome, said string) {
		t.Helper()
		now := testNow.Add(time.Hour)
		batch, found, err := b.incidents.Claim(t.Context(), "test", c.ID, 2, now, now.Add(time.Minute))
		if err != nil || !found {
			t.Fatal(found, err)
		}
		err = b.incidents.Settle(t.Context(), "test", batch, incidentstore.Settlement{At: now, Outcome: outcome, Status: 503, Excerpt: said, Again: now})
		if err != nil {
			t.Fatal(err)
		}
	}
	attempt(incidentstore.OutcomeRetry, "503: busy")
	if got := read(shop.ID); !strings.Contains(got, `"state":"pending","attempts":1,`) || !strings.Contains(got, `"status":503,"reason":"503: busy"`) {
		t.Errorf("retried: %s", got)
	}
	attempt(incidentstore.OutcomeDelivered, "thanks, token 1234")
	if got := read(shop.ID); !strings.Contains(got, `"state":"delivered","attempts":2,`) || !strings.Contains(got, `"next_at":null`) || !strings.Contains(got, `"reason":""`) {
		t.Errorf("delivered: %s", got)
	}
	if got := b.do("GET", "/api/v1/targets/99/deliveries", "", as(viewerKey)); got.Code != http.StatusNotFound {
		t.Errorf("%d %s", got.Code, got.text)
	}
}
