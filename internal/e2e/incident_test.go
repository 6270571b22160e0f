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

type incident struct {
	TargetID   int64     `json:"target_id"`
	Severity   string    `json:"severity"`
	BeganAt    time.Time `json:"began_at"`
	OpenedAt   time.Time `json:"opened_at"`
	ResolvedAt *string   `json:"resolved_at"`
}

// incidentsOf are those of a target; none while the API is away.
func (s *system) incidentsOf(id int64) []incident {
	s.t.Helper()
	var list struct {
		Items []incident `json:"items"`
	}
	if status, body := s.try("GET", fmt.Sprintf("/api/v1/incidents?target_id=%d", id), nil); status == http.StatusOK {
		if err := json.Unmarshal(body, &list); err != nil {
			s.t.Fatal(err)
		}
	}
	return list.Items
}

// outageIsToldOnce has a site go down and come back while the API is killed in between: there is one incident,
// and its webhook hears of its beginning and of its end, each once.
func outageIsToldOnce(t *testing.T, s *system) {
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
	watched := s.create(target{Name: "shop", URL: site.URL, IntervalS: 1, Regions: []string{"eu", "us"}})
	shop.Store(watched.ID)
	s.await(hang, "both regions saw it up", func() bool { return len(s.regionsOf(watched.ID, "up")) == 2 })
	broken.Store(true)
	s.await(hang, "the webhook hears that it is down", func() bool { return len(keys("opened")) == 1 })
	if found := s.incidentsOf(watched.ID); len(found) != 1 || found[0].TargetID != watched.ID || found[0].Severity != "down" || found[0].ResolvedAt != nil {
		t.Errorf("%+v", found)
	}
	s.signal("dashboard-api", syscall.SIGKILL)
	broken.Store(false)
	s.await(hang, "the webhook hears that it is over", func() bool { return len(keys("resolved")) == 1 })
	if found := s.incidentsOf(watched.ID); len(found) != 1 || found[0].ResolvedAt == nil {
		t.Errorf("%+v", found)
	}
	if opened, resolved := keys("opened"), keys("resolved"); len(opened) != 1 || len(resolved) != 1 {
		t.Errorf("told %v and %v", opened, resolved)
	}
}

// TestAnotherRegionIsAskedAtOnce has a site go down when one region has just found it well: that one is asked
// again at once, and nobody waits for the next slot.
func TestAnotherRegionIsAskedAtOnce(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("make verify: the evaluator's test of this name, and prober/internal/adhoc")
	}
	const interval = 30 * time.Second
	s := newSystem(t, "--regions", "eu,us")
	s.start()
	site := newHalfway(t)
	watched := s.create(target{Name: "late", URL: site.URL, IntervalS: int(interval / time.Second)})
	s.await(hang, "both regions saw it up", func() bool { return len(s.regionsOf(watched.ID, "up")) == 2 })
	site.armed.Store(true)
	s.await(hang, "the outage is found", func() bool { return len(s.incidentsOf(watched.ID)) == 1 })
	if i := s.incidentsOf(watched.ID)[0]; i.OpenedAt.Sub(i.BeganAt) >= interval {
		t.Errorf("it began at %v and was found at %v: with the next slot", i.BeganAt, i.OpenedAt)
	}
}
