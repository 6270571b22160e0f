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
	"testing"
	"time"

	"github.com/probefleet/probefleet/dashboard-api/internal/notify"
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
