//go:build load

package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

const (
	flappingTargets = 100
	killEvery       = 10 * time.Second
)

// flapping is a site that fails again and again: even numbers for 20 s of every minute, odd
// ones for 40 s of every 160. Fewer than half fail at any time, so that they share no cause.
func flapping(n int, at time.Time) bool {
	period, down := time.Minute, 20*time.Second
	if n%2 == 1 {
		period, down = 160*time.Second, 40*time.Second
	}
	phase := period * time.Duration(n) / flappingTargets
	return time.Duration(at.Add(phase).UnixNano())%period < down
}

// TestKilledEvaluator kills the API, which evaluates and tells, every ten seconds for MINUTES
// (10), while a hundred sites flap, of which nothing is damped. By the rows alone, and by what the webhook heard: every
// outage is one incident, each is told under one key, and its end not before its beginning.
func TestKilledEvaluator(t *testing.T) {
	var well atomic.Bool
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/"))
		if !well.Load() && flapping(n, time.Now()) {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer site.Close()
	hook := newHook(t)
	s := newSystem(t)
	s.env = append(s.env, "API_ALLOW_CIDRS=127.0.0.0/8")
	s.start()
	hook.register(s)
	for n := range flappingTargets {
		s.create(target{Name: fmt.Sprintf("site %d", n), URL: fmt.Sprintf("%s/%d", site.URL, n), IntervalS: 10, Policy: json.RawMessage(`{"flapping":{"off":true}}`)})
	}
	kills := 0
	for range tick(t, killEvery, time.Now().Add(time.Duration(number("MINUTES", 10))*time.Minute)) {
		if pid := s.pid("dashboard-api"); pid != 0 && syscall.Kill(pid, syscall.SIGKILL) == nil {
			kills++
		}
	}
	well.Store(true)
	var incidents []toldIncident
	s.await(2*time.Minute, "every incident is over", func() bool {
		incidents = s.incidents()
		for _, i := range incidents {
			if i.ResolvedAt == nil {
				return false
			}
		}
		return len(incidents) > 0
	})

	// An outage begins with a failing row whose series was not failing before; the sum tells
	// different beginnings apart.
	const outages = `FROM (SELECT target_id, scheduled_at, status = 'down' AND lagInFrame(toString(status), 1, 'up') OVER (PARTITION BY target_id, region ORDER BY scheduled_at ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) != 'down' AS begins
FROM results FINAL WHERE status IN ('up', 'degraded', 'down')) WHERE begins`
	auditor := s.auditor()
	defer auditor.Close()
	ask := func(sql string) int64 {
		n, err := auditor.Query(t.Context(), sql)
		if err != nil {
			t.Fatal(err)
		}
		return int64(n)
	}
	count, sum := ask("SELECT toFloat64(count()) "+outages), ask("SELECT toFloat64(sum(target_id * (toUnixTimestamp(scheduled_at) % 100000))) "+outages)
	var own int64
	seen := map[string]bool{}
	for _, i := range incidents {
		key := fmt.Sprint(i.TargetID, i.BeganAt)
		if seen[key] {
			t.Errorf("twice: %+v", i)
		}
		seen[key] = true
		own += i.TargetID * (i.BeganAt.Unix() % 100000)
	}
	if int64(len(incidents)) != count || own != sum {
		t.Errorf("%d incidents, checksum %d; the rows have %d outages, checksum %d", len(incidents), own, count, sum)
	}

	s.await(2*time.Minute, "all is told", func() bool {
		return hook.count("opened") >= len(incidents) && hook.count("resolved") >= len(incidents)
	})
	opened, resolved := hook.count("opened"), hook.count("resolved")
	if opened != len(incidents) || resolved != len(incidents) {
		t.Errorf("%d were told as opened and %d as resolved, of %d", opened, resolved, len(incidents))
	}
	hook.judge(t)
	t.Logf("%d kills, %d incidents, %d told as opened and %d as resolved, in %d messages of which %d came again", kills, len(incidents), opened, resolved, hook.messages, hook.again)
}

type toldIncident struct {
	ID         int64      `json:"id"`
	TargetID   int64      `json:"target_id"`
	BeganAt    time.Time  `json:"began_at"`
	ResolvedAt *time.Time `json:"resolved_at"`
}

// incidents are all there are; none while the API is away.
func (s *system) incidents() (all []toldIncident) {
	cursor := ""
	for {
		status, body := s.try("GET", "/api/v1/incidents?limit=1000&cursor="+url.QueryEscape(cursor), nil)
		var page struct {
			Items      []toldIncident `json:"items"`
			NextCursor *string        `json:"next_cursor"`
		}
		if status != http.StatusOK || json.Unmarshal(body, &page) != nil {
			return nil
		}
		if all = append(all, page.Items...); page.NextCursor == nil {
			return all
		}
		cursor = *page.NextCursor
	}
}

// hook is a webhook that remembers what it heard.
type hook struct {
	*httptest.Server
	mu              sync.Mutex
	keys            map[string]map[string]bool // by incident and event
	first           map[string]int             // by incident and event: which message
	bodies          map[string]string          // by key
	messages, again int
	mistakes        []string
}

func newHook(t *testing.T) *hook {
	t.Helper()
	h := &hook{keys: map[string]map[string]bool{}, first: map[string]int{}, bodies: map[string]string{}}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // its sender was killed
		}
		h.take(r.Header.Get("Idempotency-Key"), body)
	}))
	t.Cleanup(h.Close)
	return h
}

func (h *hook) register(s *system) {
	s.t.Helper()
	var channel struct {
		ID int64 `json:"id"`
	}
	config := map[string]string{"url": h.URL + "/hook", "secret": "a key of sixteen bytes"}
	if status := s.call("POST", "/api/v1/channels", map[string]any{"name": "ops", "webhook": config}, &channel); status != http.StatusCreated {
		s.t.Fatalf("creating the channel: %d", status)
	}
	if status := s.call("POST", "/api/v1/notification-rules", map[string]any{"name": "all", "channel_ids": []int64{channel.ID}}, nil); status != http.StatusCreated {
		s.t.Fatalf("creating the rule: %d", status)
	}
}

func (h *hook) take(key string, body []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.messages++
	if old, known := h.bodies[key]; known {
		h.again++
		if old != string(body) {
			h.mistakes = append(h.mistakes, fmt.Sprintf("%s says %s, and before %s", key, body, old))
		}
		return
	}
	h.bodies[key] = string(body)
	var message struct {
		Notifications []struct {
			Event      string `json:"event"`
			IncidentID int64  `json:"incident_id"`
		} `json:"notifications"`
	}
	if err := json.Unmarshal(body, &message); err != nil {
		h.mistakes = append(h.mistakes, err.Error())
	}
	for _, n := range message.Notifications {
		what := fmt.Sprint(n.IncidentID, " ", n.Event)
		if h.keys[what] == nil {
			h.keys[what], h.first[what] = map[string]bool{}, h.messages
		}
		h.keys[what][key] = true
	}
}

func (h *hook) count(event string) (n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for what := range h.keys {
		if strings.HasSuffix(what, " "+event) {
			n++
		}
	}
	return n
}

// judge looks for what was told under two keys, or in the wrong order.
func (h *hook) judge(t *testing.T) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, mistake := range h.mistakes {
		t.Error(mistake)
	}
	for what, keys := range h.keys {
		if len(keys) != 1 {
			t.Errorf("%s was told under %v", what, keys)
		}
		if incident, resolved := strings.CutSuffix(what, " resolved"); resolved {
			if began, told := h.first[incident+" opened"]; !told || began > h.first[what] {
				t.Errorf("the end of incident %s was told before its beginning", incident)
			}
		}
	}
}
