package notify

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/guard"
	"github.com/probefleet/probefleet/internal/incidentstore"
	"github.com/probefleet/probefleet/internal/seal"
)

// pool trusts providers.
func pool(all ...*provider) *x509.CertPool {
	roots := x509.NewCertPool()
	for _, p := range all {
		if p.Certificate() != nil {
			roots.AddCert(p.Certificate())
		}
	}
	return roots
}

func hookOf(t *testing.T, h heard) (body hookBody) {
	t.Helper()
	if err := json.Unmarshal(h.body, &body); err != nil {
		t.Fatalf("%s: %v", h.body, err)
	}
	return body
}

// some is a message of one notification.
func some(kind incidentstore.Kind) Message {
	c := change(kind)
	if kind == incidentstore.Resolved {
		c.Incident.ResolvedAt = noon.Add(time.Hour)
	}
	return Message{Key: "i12/" + string(kind) + "/c1", Items: []incidentstore.Payload{Planner{PublicURL: "https://pf.example"}.payload(c)}}
}

func newDeliverer(t *testing.T, p *provider, endpoints ...string) *Deliverer {
	t.Helper()
	o := DelivererOptions{Box: newBox(t), Guard: allowed(), PublicURL: "https://pf.example", Roots: pool(p), Endpoints: map[string]string{}}
	for _, name := range endpoints {
		o.Endpoints[name] = p.URL
	}
	return NewDeliverer(o)
}

// Promise: webhooks are signed
func TestWebhookIsSigned(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	sent := send(t, newDeliverer(t, p), "webhook", hook(p), some(incidentstore.Opened))
	if sent.Failure != nil {
		t.Fatal(sent.Failure)
	}
	h := p.requests()[0]
	stamp := h.header.Get("X-Probefleet-Timestamp")
	mac := hmac.New(sha256.New, []byte(hookKey)) // as a receiver does it
	fmt.Fprintf(mac, "%s.%s", stamp, h.body)
	if got := h.header.Get("X-Probefleet-Signature"); got != "v1="+hex.EncodeToString(mac.Sum(nil)) {
		t.Errorf("signature %q", got)
	}
	if h.header.Get("Idempotency-Key") != "i12/opened/c1" || h.header.Get("Content-Type") != "application/json" || h.header.Get("Authorization") != "Bearer canary-of-authorization" || h.path != "/hook?token=canary-in-the-url" {
		t.Errorf("%+v", h)
	}
	body := hookOf(t, h)
	if body.ID != "i12/opened/c1" || body.Title != "Down: shop" || body.Notifications[0].TargetID != 7 || body.Notifications[0].Link != "https://pf.example/incidents/12" {
		t.Errorf("%+v", body)
	}
	noCanary(t, "transcript", fmt.Sprintf("%+v", sent))
	if len(sent.Exchanges) != 1 || sent.Exchanges[0].Status != 200 || !strings.Contains(sent.Exchanges[0].Sent, "Down: shop") || !strings.HasPrefix(sent.Exchanges[0].Request, "POST https://127.0.0.1") {
		t.Errorf("%+v", sent.Exchanges)
	}
}

// Addresses of the inside are refused when they are dialled, cloud metadata ones even when the
// operator opened their range, and so is the way there by a redirect.
//
// Promise: webhooks do not reach blocked addresses
func TestAddressesAreJudged(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	everything := guard.New([]netip.Prefix{netip.MustParsePrefix("0.0.0.0/0")})
	for url, judge := range map[string]*guard.Guard{
		p.URL: guard.New(nil), "http://169.254.169.254/latest/meta-data": everything, "http://[::1]:1/": guard.New(nil), "http://10.0.0.1/": guard.New(nil),
		"http://2852039166/": everything, "http://localhost:1/": guard.New(nil), "http://[::ffff:169.254.169.254]/": everything, "https://[fd00:ec2::254]/": everything,
	} {
		d := NewDeliverer(DelivererOptions{Box: newBox(t), Guard: judge, Roots: pool(p)})
		sent := send(t, d, "webhook", &Webhook{URL: NewSecret(url), Secret: NewSecret(hookKey)}, some(incidentstore.Opened))
		if sent.Failure == nil || sent.Failure.Said != "the address is not public, and API_ALLOW_CIDRS does not open it" && !strings.Contains(sent.Failure.Said, "no such host") {
			t.Errorf("%s: %v", url, sent.Failure)
		}
	}
	if n := len(p.requests()); n != 0 {
		t.Errorf("%d requests came through", n)
	}
	p.says(http.StatusFound, "", "Location", "http://169.254.169.254/")
	if sent := send(t, newDeliverer(t, p), "webhook", hook(p), some(incidentstore.Opened)); sent.Failure == nil || sent.Failure.Status != http.StatusFound || len(sent.Exchanges) != 1 {
		t.Errorf("redirect: %+v", sent)
	}
}

// What a provider says back of our secrets is not kept, in whatever spelling.
func TestAnswersAreRedacted(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	odd := `Bearer odd "quoted"/key+=`
	answer := "you said Bearer odd%20, " + `{"auth":"Bearer odd \"quoted\"/key+="} Bearer+odd+%22quoted%22%2Fkey%2B%3D canary-in-the-url QmVhcmVyIG9kZCAicXVvdGVkIi9rZXkrPQ== odd "quoted"/key+=`
	p.says(http.StatusInternalServerError, answer)
	sent := send(t, newDeliverer(t, p), "webhook", &Webhook{URL: NewSecret(p.URL + "/hook?token=canary-in-the-url"), Secret: NewSecret(hookKey), Authorization: NewSecret(odd)}, some(incidentstore.Opened))
	for _, text := range []string{sent.Failure.Said, sent.Exchanges[0].Answer} {
		noCanary(t, "answer", text)
		for _, trace := range []string{"quoted", "QmVhcmVy"} {
			if strings.Contains(text, trace) {
				t.Errorf("%q is in %q", trace, text)
			}
		}
	}
}

func TestRetryAfterIsRead(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{"": 0, "7": 7 * time.Second, "0.5": 500 * time.Millisecond, "-1": 0, "x": 0, "1e99": 0, noon.Add(time.Minute).Format(http.TimeFormat): time.Minute, noon.Add(-time.Minute).Format(http.TimeFormat): 0} {
		if got := retryAfter(text, noon); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// A configuration is stored sealed, and comes back as it was; what prints it prints no secret.
func TestConfigIsSealed(t *testing.T) {
	t.Parallel()
	box := newBox(t)
	for kind, config := range samples("https://127.0.0.1:1") {
		if found := Judge(config, nil); len(found) > 0 {
			t.Errorf("%s: %+v", kind, found)
		}
		sealed, err := Seal(box, config)
		if err != nil {
			t.Fatal(err)
		}
		opened, err := Open(box, kind, sealed)
		if err != nil || fmt.Sprint(secretsOf(opened)) != fmt.Sprint(secretsOf(config)) {
			t.Errorf("%s: %+v %v", kind, opened, err)
		}
		shown, _ := json.Marshal(opened)
		for _, text := range []string{string(sealed), string(shown), fmt.Sprintf("%v %+v %#v %s", opened, opened, opened, opened), opened.To()} {
			for _, s := range secretsOf(config) {
				if strings.Contains(text, s) {
					t.Errorf("%s shows %q: %s", kind, s, text)
				}
			}
		}
		// What is shown can be written back: the secrets stay.
		again := kinds()[kind]
		if err := json.Unmarshal(shown, again); err != nil {
			t.Fatal(err)
		}
		if found := Judge(again, opened); len(found) > 0 || fmt.Sprint(secretsOf(again)) != fmt.Sprint(secretsOf(config)) {
			t.Errorf("%s written back: %+v %s", kind, found, shown)
		}
		if again := kinds()[kind]; json.Unmarshal(shown, again) == nil && len(secretsOf(config)) > 0 && len(Judge(again, nil)) == 0 {
			t.Errorf("%s keeps secrets that are not there", kind)
		}
	}
	if _, err := Open(box, "pigeon", "x"); err == nil {
		t.Error("an unknown kind opens")
	}
	other, err := seal.New("another SECRET_KEY of tests")
	if err != nil {
		t.Fatal(err)
	}
	sealed, _ := Seal(other, hook(newProvider(t)))
	if _, err := Open(box, "webhook", sealed); err == nil {
		t.Error("opens with another key")
	}
}

func secretsOf(config Config) (all []string) {
	eachSecret(config, func(_ string, _ int, s *Secret) {
		if !s.IsZero() {
			all = append(all, s.Reveal())
		}
	})
	return all
}

// samples are configurations of every kind that a server at this address serves.
func samples(url string) map[string]Config {
	return map[string]Config{
		"webhook":   &Webhook{URL: NewSecret(url + "/hook?token=canary-in-the-url"), Secret: NewSecret(hookKey)},
		"email":     &Email{Host: "smtp.example.com", Username: "ops", Password: NewSecret("canary-of-email"), From: "pf@example.com", Recipients: []string{"ops@example.com"}},
		"slack":     &Slack{URL: NewSecret(url + "/services/T0/B0/canary-of-slack-hook")},
		"discord":   &Discord{URL: NewSecret(url + "/api/webhooks/1/canary-of-discord-hook")},
		"telegram":  &Telegram{Token: NewSecret("1:canary-of-telegram"), ChatID: "-100", Thread: 7},
		"teams":     &Teams{URL: NewSecret(url + "/workflows/canary-of-teams-hook?sig=canary-of-teams-sig")},
		"pagerduty": &PagerDuty{RoutingKey: NewSecret("canary0123456789canary0123456789")},
		"opsgenie":  &Opsgenie{Key: NewSecret("canary-key-of-opsgenie"), Region: "eu"},
		"ntfy":      &Ntfy{Server: url, Topic: "ops", Token: NewSecret("canary-of-ntfy")},
		"gotify":    &Gotify{Server: url + "/sub/", Token: NewSecret("canary-of-gotify")},
		"pushover":  &Pushover{Token: NewSecret("canary-token-of-pushover"), User: NewSecret("canary-user-of-pushover")},
	}
}
