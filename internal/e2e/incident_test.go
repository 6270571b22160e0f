//go:build !load && !faults && !browser && !bench

package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// halfway is a site that, once armed, goes down between the visits of two regions in one
// slot: the first to come finds it well.
type halfway struct {
	*httptest.Server
	armed  atomic.Bool
	visits atomic.Int64
}

func newHalfway(t *testing.T) *halfway {
	t.Helper()
	h := &halfway{}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if h.armed.Load() && h.visits.Add(1) > 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	t.Cleanup(h.Close)
	return h
}

// TestOutageIsToldOnce has a site go down and come back while the API is killed in between:
// there is one incident, and its webhook hears of its beginning and of its end, each once.
// Another site goes down when one region has just found it well: that one is asked again at
// once, and nobody waits for the next slot.
func TestOutageIsToldOnce(t *testing.T) {
	t.Parallel()
	var broken atomic.Bool
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if broken.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer site.Close()
	var mu sync.Mutex
	told := map[string][]string{} // by event, the keys
	var shop atomic.Int64         // its target
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var message struct {
			Notifications []struct {
				Event    string `json:"event"`
				TargetID int64  `json:"target_id"`
			} `json:"notifications"`
		}
		if err := json.Unmarshal(body, &message); err != nil || r.Header.Get("X-Probefleet-Signature") == "" {
			http.Error(w, "not a signed notification", http.StatusBadRequest)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		for _, n := range message.Notifications {
			if n.TargetID != shop.Load() {
				continue
			}
			told[n.Event] = append(told[n.Event], r.Header.Get("Idempotency-Key"))
		}
	}))
	defer hook.Close()
	keys := func(event string) map[string]bool {
		mu.Lock()
		defer mu.Unlock()
		different := map[string]bool{}
		for _, key := range told[event] {
			different[key] = true
		}
		return different
	}

	s := newSystem(t, "--regions", "eu,us")
	s.env = append(s.env, "API_ALLOW_CIDRS=127.0.0.0/8")
	s.start()
	var channel struct {
		ID int64 `json:"id"`
	}
	config := map[string]string{"url": hook.URL + "/hook", "secret": "a key of sixteen bytes"}
	if status := s.call("POST", "/api/v1/channels", map[string]any{"name": "ops", "webhook": config}, &channel); status != http.StatusCreated {
		t.Fatalf("creating the channel: %d", status)
	}
	if status := s.call("POST", "/api/v1/notification-rules", map[string]any{"name": "all", "channel_ids": []int64{channel.ID}}, nil); status != http.StatusCreated {
		t.Fatalf("creating the rule: %d", status)
	}
	watched := s.create(target{Name: "shop", URL: site.URL, IntervalS: 10})
	shop.Store(watched.ID)
	other := newHalfway(t)
	late := s.create(target{Name: "late", URL: other.URL, IntervalS: 30})
	for _, one := range []target{watched, late} {
		s.await(time.Minute, "both regions saw it up", func() bool {
			seen := map[string]bool{}
			for _, r := range s.results(one.ID) {
				seen[r.Region] = seen[r.Region] || r.Status == "up"
			}
			return seen["eu"] && seen["us"]
		})
	}
	other.armed.Store(true)

	type incident struct {
		TargetID   int64     `json:"target_id"`
		Severity   string    `json:"severity"`
		BeganAt    time.Time `json:"began_at"`
		OpenedAt   time.Time `json:"opened_at"`
		ResolvedAt *string   `json:"resolved_at"`
	}
	incidents := func(of int64) (list struct {
		Items []incident `json:"items"`
	}) {
		if status, body := s.try("GET", fmt.Sprintf("/api/v1/incidents?target_id=%d", of), nil); status == http.StatusOK {
			if err := json.Unmarshal(body, &list); err != nil {
				t.Fatal(err)
			}
		}
		return list
	}
	broken.Store(true)
	s.await(time.Minute, "the webhook hears that it is down", func() bool { return len(keys("opened")) == 1 })
	if list := incidents(watched.ID); len(list.Items) != 1 || list.Items[0].TargetID != watched.ID || list.Items[0].Severity != "down" || list.Items[0].ResolvedAt != nil {
		t.Errorf("%+v", list)
	}
	s.signal("dashboard-api", syscall.SIGKILL)
	broken.Store(false)
	s.await(2*time.Minute, "the webhook hears that it is over", func() bool { return len(keys("resolved")) == 1 })
	if list := incidents(watched.ID); len(list.Items) != 1 || list.Items[0].ResolvedAt == nil {
		t.Errorf("%+v", list)
	}
	s.await(2*time.Minute, "the other outage is found", func() bool { return len(incidents(late.ID).Items) == 1 })
	if i := incidents(late.ID).Items[0]; i.OpenedAt.Sub(i.BeganAt) > 15*time.Second {
		t.Errorf("it began at %v and was found at %v: with the next slot", i.BeganAt, i.OpenedAt)
	}
	if opened, resolved := keys("opened"), keys("resolved"); len(opened) != 1 || len(resolved) != 1 {
		t.Errorf("told %v and %v", opened, resolved)
	}
}
