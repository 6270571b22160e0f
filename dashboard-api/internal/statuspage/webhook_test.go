package statuspage_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/probefleet/probefleet/dashboard-api/internal/notify"
	"github.com/probefleet/probefleet/dashboard-api/internal/statuspage"
	"github.com/probefleet/probefleet/internal/guard"
	"github.com/probefleet/probefleet/internal/pagestore"
	"github.com/probefleet/probefleet/internal/secret"
)

// receiver is a webhook of somebody, who answers challenges with a key.
type receiver struct {
	*httptest.Server
	mu     sync.Mutex
	heard  []map[string]any
	ids    []string
	key    string
	status int
	hang   chan struct{} // nil: it answers
}

func newReceiver(t *testing.T, key string) *receiver {
	r := &receiver{key: key, status: http.StatusOK}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		document := map[string]any{}
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.hang != nil {
			hang := r.hang
			r.mu.Unlock()
			select {
			case <-hang:
			case <-q.Context().Done():
			}
			r.mu.Lock()
		}
		if json.Unmarshal(body, &document) != nil || notify.Signature(r.key, q.Header.Get("X-Probefleet-Timestamp"), body) != q.Header.Get("X-Probefleet-Signature") {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		r.heard, r.ids = append(r.heard, document), append(r.ids, q.Header.Get("Idempotency-Key"))
		w.WriteHeader(r.status)
		if challenge, _ := document["challenge"].(string); challenge != "" {
			mac := hmac.New(sha256.New, []byte(r.key))
			mac.Write([]byte(challenge))
			_, _ = fmt.Fprintf(w, `{"answer":%q}`, hex.EncodeToString(mac.Sum(nil)))
		}
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) state() ([]map[string]any, []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]map[string]any(nil), r.heard...), append([]string(nil), r.ids...)
}

func (o *office) askHook(to, key, source string) *httptest.ResponseRecorder {
	o.Helper()
	return o.do("/s/main/subscribe", url.Values{"by": {"webhook"}, "address": {to}, "key": {key}}, from(source))
}

func TestSubscribingByWebhook(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	page := o.open(pagestore.Terms{})
	const key = "a signing key of tests"
	r := newReceiver(t, key)
	if got := o.askHook(r.URL+"/hook?token=canary", key, "192.0.2.1"); got.Code != http.StatusOK {
		t.Fatalf("%d %s", got.Code, got.Body)
	}
	// An address that says yes to everything, and repeats what it hears, is nobody's consent.
	echo := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) { _, _ = io.Copy(w, q.Body) }))
	t.Cleanup(echo.Close)
	o.askHook(echo.URL, key, "192.0.2.2")
	// Nor is one whose owner has another key.
	stranger := newReceiver(t, "the key of somebody else")
	o.askHook(stranger.URL, key, "192.0.2.3")
	o.work("webhook")
	who, err := o.told.List(t.Context(), page.ID, 0, 10)
	if err != nil || len(who) != 3 || who[0].ConfirmedAt.IsZero() || !who[1].ConfirmedAt.IsZero() || !who[2].ConfirmedAt.IsZero() {
		t.Fatalf("%+v %v", who, err)
	}
	post := o.post(page, pagestore.Body{Title: "Slow", Kind: pagestore.KindIncident, Updates: update(o.now(), "We look.")}, time.Time{})
	o.work("webhook")
	heard, ids := r.state()
	if len(heard) != 2 || heard[0]["type"] != "challenge" || heard[1]["type"] != "post" || heard[1]["id"] != ids[1] {
		t.Fatalf("%+v %v", heard, ids)
	}
	said, _ := heard[1]["post"].(map[string]any)
	if said["title"] != "Slow" || said["text"] != "We look." || said["url"] != fmt.Sprintf("https://pf.example/s/main#post-%d", post.ID) {
		t.Errorf("%+v", said)
	}
	contains(t, fmt.Sprint(heard[1]), "!secret-author")
	ends, _ := heard[1]["unsubscribe"].(string)
	if got := o.do(strings.TrimPrefix(ends, "https://pf.example"), nil); got.Code != http.StatusOK {
		t.Errorf("%d", got.Code)
	}
	// Addresses inside are not dialled, and nothing is stored of what could answer there.
	closed := notify.NewDeliverer(notify.DelivererOptions{Box: o.box, Guard: guard.New(nil)})
	sent, _ := closed.Hook(t.Context(), secret.New(r.URL), secret.New(key), "x", struct{}{})
	if sent.Failure == nil || !strings.Contains(sent.Failure.Said, "not public") || strings.Contains(fmt.Sprintf("%+v", sent), key) {
		t.Errorf("%+v", sent)
	}
	var stored string
	if err := o.db.Read().Raw("SELECT group_concat(terms || wish || address_key || coalesce(wish_hash, '')) FROM status_page_subscribers").Row().Scan(&stored); err != nil || strings.Contains(stored, "canary") || strings.Contains(stored, key) || strings.Contains(stored, "127.0.0.1") {
		t.Errorf("in clear: %s %v", stored, err)
	}
}

// A challenge that is not answered is tried a few times within minutes, whatever the webhook says
// instead, and not again; the letters of others do not wait for it.
func TestAChallengeThatIsNotAnswered(t *testing.T) {
	t.Parallel()
	for name, status := range map[string]int{"says yes to everything": http.StatusOK, "is unwell": http.StatusServiceUnavailable} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOffice(t)
			o.tryFor = statuspage.ChallengeFor
			page := o.open(pagestore.Terms{})
			var heard atomic.Int32
			deaf := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				heard.Add(1)
				w.WriteHeader(status)
			}))
			t.Cleanup(deaf.Close)
			o.askHook(deaf.URL, "a signing key of tests", "192.0.2.1")
			for range 15 {
				o.work("webhook")
				o.pass(time.Minute)
			}
			if n := heard.Load(); n < 2 || n > 8 {
				t.Errorf("tried %d times", n)
			}
			heard.Store(0)
			for range 5 {
				o.pass(5 * time.Hour)
				o.work("webhook")
			}
			if n := heard.Load(); n != 0 {
				t.Errorf("tried %d times the day after", n)
			}
			if who, err := o.told.List(t.Context(), page.ID, 0, 10); err != nil || len(who) > 1 || len(who) == 1 && !who[0].ConfirmedAt.IsZero() {
				t.Errorf("%+v %v", who, err)
			}
		})
	}
}

// The form says that there are too many requests, whoever asks.
func TestTheInstallationIsAskedTooOften(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.open(pagestore.Terms{})
	o.subscribed("ann@example.com", "192.0.2.1")
	if err := o.db.Write().Exec(`INSERT INTO status_page_outbox (subscriber_id, sealed, kind, created_at_ms, next_attempt_at_ms, attempts, holder, settled_at_ms, outcome, status, excerpt)
SELECT 1, '', 'email', ?, 0, 0, '', 1, '', 0, '' FROM (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) SELECT i FROM n) many`, o.now().UnixMilli()).Error; err != nil {
		t.Fatal(err)
	}
	for i, address := range []string{"ann@example.com", "bob@example.com"} {
		if got := o.ask(address, fmt.Sprintf("192.0.2.%d", 10+i)); got.Code != http.StatusTooManyRequests || got.Header().Get("Retry-After") == "" {
			t.Errorf("%s: %d %s", address, got.Code, got.Body)
		}
	}
	const key = "a signing key of tests"
	if got := o.askHook("https://hook.example/", key, "192.0.2.20"); got.Code != http.StatusOK {
		t.Errorf("a webhook: %d", got.Code)
	}
	o.pass(time.Hour)
	if got := o.ask("bob@example.com", "192.0.2.21"); got.Code != http.StatusOK {
		t.Errorf("an hour later: %d %s", got.Code, got.Body)
	}
}
