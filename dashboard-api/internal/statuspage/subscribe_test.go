package statuspage_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"mime/quotedprintable"
	"net/http"
	"net/http/httptest"
	"net/mail"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/probefleet/probefleet/dashboard-api/internal/notify"
	"github.com/probefleet/probefleet/dashboard-api/internal/statuspage"
	"github.com/probefleet/probefleet/internal/guard"
	"github.com/probefleet/probefleet/internal/incidentstore"
	"github.com/probefleet/probefleet/internal/pagestore"
	"github.com/probefleet/probefleet/internal/seal"
	"github.com/probefleet/probefleet/internal/secret"
	"github.com/probefleet/probefleet/internal/service"
	"github.com/probefleet/probefleet/internal/subscriberstore"
	"github.com/probefleet/probefleet/internal/testbackend"
)

// office is a rig whose pages can be subscribed to, with real servers of mail and webhooks.
type office struct {
	*rig
	smtp *testbackend.MailServer
	told *subscriberstore.Store
	box  *seal.Box

	tryFor time.Duration
}

func newOffice(t *testing.T) *office {
	r := newRig(t, testbackend.SQLite(t))
	box, err := seal.New("the SECRET_KEY of the test of pages")
	if err != nil {
		t.Fatal(err)
	}
	o := &office{rig: r, smtp: testbackend.Mail(t, nil, false), box: box, told: subscriberstore.New(r.db, box)}
	r.store = pagestore.New(r.db, o.told)
	options := r.pages.Options
	options.Store, options.Subscribers, options.MailReady = r.store, o.told, true
	r.pages = statuspage.New(options)
	return o
}

type noHealth struct{}

func (noHealth) Set(string, service.Level, string) {}

// work has everything sent that is due, as one node would.
func (o *office) work(kind string) {
	o.Helper()
	o.workWith(kind, o.told.Requests(kind))
	o.workWith(kind, o.told.Outbox(kind))
}

func (o *office) workWith(kind string, outbox notify.Outbox) {
	o.Helper()
	deliverer := notify.NewDeliverer(notify.DelivererOptions{Box: o.box, Guard: guard.New([]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")})})
	server, err := notify.Server(secret.New(fmt.Sprintf("smtp://127.0.0.1:%d?security=none", o.smtp.Port())), "status@pf.example")
	if err != nil {
		o.Fatal(err)
	}
	courier := statuspage.NewCourier(statuspage.CourierOptions{Deliverer: deliverer, Subscribers: o.told, Server: server, PublicURL: "https://pf.example", Fingerprint: o.box.Fingerprint, Now: o.now})
	w := notify.NewWorker(notify.WorkerOptions{Holder: "one", Of: "subscriber_" + kind, Most: 3, TryFor: o.tryFor, Outbox: outbox, Sender: courier, Health: noHealth{}, Now: o.now, Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry()})
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { _ = w.Run(ctx); close(ended) }()
	w.Wake()
	for begun := time.Now(); ; {
		due, err := outbox.Waiting(ctx, o.now())
		if err != nil || time.Since(begun) > time.Minute {
			o.Fatal("still waiting: ", due, err)
		}
		if len(due) == 0 {
			break
		}
		<-time.After(5 * time.Millisecond)
	}
	stop()
	<-ended
}

func (o *office) open(t pagestore.Terms) pagestore.Page {
	t.Title, t.ByEmail, t.ByWebhook = "Acme", true, true
	return o.page(pagestore.Page{Slug: "main", Terms: t})
}

// do sends a form.
func (o *office) do(path string, fields url.Values, options ...option) *httptest.ResponseRecorder {
	o.Helper()
	request := httptest.NewRequestWithContext(context.Background(), http.MethodPost, path, strings.NewReader(fields.Encode()))
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for _, apply := range options {
		apply(request)
	}
	answer := httptest.NewRecorder()
	o.pages.ServeHTTP(answer, request)
	return answer
}

func from(address string) option { return func(r *http.Request) { r.RemoteAddr = address + ":4711" } }

func (o *office) ask(address, source string, components ...string) *httptest.ResponseRecorder {
	o.Helper()
	return o.do("/s/main/subscribe", url.Values{"by": {"email"}, "address": {address}, "component": components}, from(source))
}

type letter struct {
	mail.Header
	to, text string
}

func (o *office) letters() (all []letter) {
	o.Helper()
	_, mails := o.smtp.State()
	for _, text := range mails {
		m, err := mail.ReadMessage(strings.NewReader(text))
		if err != nil {
			o.Fatal(err)
		}
		body, err := io.ReadAll(quotedprintable.NewReader(m.Body))
		if err != nil {
			o.Fatal(err)
		}
		all = append(all, letter{m.Header, m.Header.Get("To"), string(body)})
	}
	return all
}

var linkIn = regexp.MustCompile(`https://pf\.example(/s/-/\S+)`)

// linkOf is the path of the link in a letter.
func linkOf(t testing.TB, l letter) string {
	t.Helper()
	found := linkIn.FindStringSubmatch(l.text)
	if found == nil {
		t.Fatalf("no link in %s", l.text)
	}
	return found[1]
}

// subscribed has an address confirmed.
func (o *office) subscribed(address, source string, components ...string) {
	o.Helper()
	if got := o.ask(address, source, components...); got.Code != http.StatusOK {
		o.Fatalf("%d %s", got.Code, got.Body)
	}
	o.work("email")
	all := o.letters()
	if got := o.do(linkOf(o, all[len(all)-1]), nil); got.Code != http.StatusOK {
		o.Fatalf("%d %s", got.Code, got.Body)
	}
}

func update(at time.Time, text string) []pagestore.Update {
	return []pagestore.Update{{At: at, State: pagestore.Investigating, Text: text, By: "secret-author"}}
}

func TestSubscribingByMail(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	page := o.open(pagestore.Terms{Groups: components(pagestore.Component{Name: "Shop", Rule: pagestore.RuleManual, State: pagestore.Up}, pagestore.Component{Name: "API", Rule: pagestore.RuleManual, State: pagestore.Up})})
	contains(t, o.get("/s/main").Body.String(), `href="/s/main/subscribe?lang=en"`)
	contains(t, o.get("/s/main/subscribe").Body.String(), `type="email"`, `type="url"`, `value="2"> API`, "!<time")
	got := o.ask("ann@example.com", "192.0.2.1", "2")
	if got.Code != http.StatusOK {
		t.Fatalf("%d %s", got.Code, got.Body)
	}
	o.post(page, pagestore.Body{Title: "Too early", Kind: pagestore.KindIncident, Updates: update(o.now(), "Nobody has confirmed yet.")}, time.Time{})
	o.work("email")
	all := o.letters()
	if len(all) != 1 || all[0].to != "<ann@example.com>" || all[0].Get("List-Unsubscribe") != "" {
		t.Fatalf("%+v", all)
	}
	contains(t, all[0].Get("Subject"), "Acme")
	link := linkOf(t, all[0])
	// A program that opens the links of mails confirms nothing.
	for range 3 {
		if got := o.get(link); got.Code != http.StatusOK || !strings.Contains(got.Body.String(), `<form method="post"><button>Confirm`) {
			t.Fatalf("%d %s", got.Code, got.Body)
		}
	}
	if who, err := o.told.List(t.Context(), page.ID, 0, 10); err != nil || len(who) != 1 || !who[0].ConfirmedAt.IsZero() {
		t.Fatalf("%+v %v", who, err)
	}
	if got := o.do(link, nil); got.Code != http.StatusOK || !strings.Contains(got.Body.String(), "You are subscribed") {
		t.Fatalf("%d %s", got.Code, got.Body)
	}
	if got := o.do(link, nil); got.Code != http.StatusGone {
		t.Errorf("the second time: %d", got.Code)
	}
	o.pass(time.Minute)
	o.post(page, pagestore.Body{Title: "Shop is slow", Kind: pagestore.KindIncident, Components: []int64{1}, Updates: update(o.now(), "Of the shop.")}, time.Time{})
	post := o.post(page, pagestore.Body{Title: "API is slow", Kind: pagestore.KindIncident, Impact: pagestore.Degraded, Components: []int64{2}, Updates: update(o.now(), "We **look**.\n\nMuch is to see.")}, time.Time{})
	o.work("email")
	all = o.letters()
	if len(all) != 2 {
		t.Fatalf("%d letters: %+v", len(all), all)
	}
	told := all[1]
	contains(t, told.Get("Subject"), "Acme: Investigating: API is slow")
	contains(t, told.text, "Affects: API", "We **look**.\r\n\r\nMuch is to see.", "https://pf.example/s/main#post-", "!secret-author")
	ends := strings.Trim(told.Get("List-Unsubscribe"), "<>")
	if told.Get("List-Unsubscribe-Post") != "List-Unsubscribe=One-Click" || !strings.HasPrefix(ends, "https://pf.example/s/-/unsubscribe/") || !strings.Contains(told.text, ends) {
		t.Errorf("%+v", told)
	}
	// Another update, in the thread of the post.
	o.pass(time.Minute)
	if _, err := o.store.UpdatePost(t.Context(), page.ID, post.ID, 0, func(p *pagestore.Post) error {
		p.Body.Updates = append(p.Body.Updates, pagestore.Update{At: o.now(), State: pagestore.Resolved, Text: "Over."})
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := o.store.UpdatePost(t.Context(), page.ID, post.ID, 0, func(p *pagestore.Post) error { p.Body.Title = "A better title"; return nil }); err != nil {
		t.Fatal(err)
	}
	o.work("email")
	all = o.letters()
	if len(all) != 3 || !strings.Contains(all[2].Get("Subject"), "Resolved: API is slow") || all[2].Get("References") != told.Get("References") || all[2].Get("Message-ID") == told.Get("Message-ID") {
		t.Fatalf("%+v", all[2:])
	}
	path := strings.TrimPrefix(ends, "https://pf.example")
	// Whoever opens the link ends nothing; nor does who makes one up.
	if got := o.get(path); got.Code != http.StatusOK {
		t.Errorf("%d", got.Code)
	}
	if got := o.do(strings.Replace(path, ".", ".0", 1), nil); got.Code != http.StatusNotFound {
		t.Errorf("made up: %d", got.Code)
	}
	if who, err := o.told.List(t.Context(), page.ID, 0, 10); err != nil || len(who) != 1 {
		t.Fatalf("%+v %v", who, err)
	}
	for range 2 { // the click of a mail program, perhaps twice
		if got := o.do(path, url.Values{"List-Unsubscribe": {"One-Click"}}); got.Code != http.StatusOK || !strings.Contains(got.Body.String(), "You are unsubscribed") {
			t.Errorf("%d %s", got.Code, got.Body)
		}
	}
	o.post(page, pagestore.Body{Title: "Later", Kind: pagestore.KindAnnouncement, Updates: update(o.now(), "Nobody is left.")}, time.Time{})
	o.work("email")
	if all := o.letters(); len(all) != 3 {
		t.Errorf("told after the end: %+v", all[3:])
	}
}

// Nobody learns who has subscribed, and an address is not filled with mail.
func TestAskingTellsNothing(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.open(pagestore.Terms{})
	o.subscribed("known@example.com", "192.0.2.1")
	first := o.ask("unknown@example.com", "192.0.2.2")
	for i := range 6 {
		o.pass(time.Minute)
		if again := o.ask("KNOWN@example.com", fmt.Sprintf("198.51.100.%d", i)); again.Code != first.Code || again.Body.String() != first.Body.String() || fmt.Sprint(again.Header()) != fmt.Sprint(first.Header()) {
			t.Errorf("%d %s", again.Code, again.Body)
		}
	}
	o.work("email")
	n := 0
	for _, l := range o.letters() {
		if strings.EqualFold(l.to, "<known@example.com>") {
			n++
		}
	}
	if n < 2 || n > 3 { // those that wait when another is asked for are replaced by it
		t.Errorf("%d requests in a day", n)
	}
	// From one source, whomever it names: five, then it waits.
	codes := map[int]int{}
	for i := range 20 {
		codes[o.ask(fmt.Sprintf("victim%d@example.com", i), "203.0.113.9").Code]++
	}
	if codes[http.StatusOK] > 6 || codes[http.StatusTooManyRequests] < 14 {
		t.Errorf("%v", codes)
	}
	for _, bad := range []string{"", "nobody", "a@example.com\r\nBcc: all@example.com", "Ann <a@example.com>", strings.Repeat("a", 300) + "@example.com"} {
		o.pass(2 * time.Hour)
		if got := o.ask(bad, "192.0.2.77"); got.Code != http.StatusUnprocessableEntity {
			t.Errorf("%q: %d", bad, got.Code)
		}
	}
}

// A change of what was chosen counts when it is confirmed, and a wish ends after 48 hours.
func TestWishesAreConfirmed(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	page := o.open(pagestore.Terms{Groups: components(pagestore.Component{Name: "Shop", Rule: pagestore.RuleManual, State: pagestore.Up})})
	o.subscribed("ann@example.com", "192.0.2.1")
	chosen := func() []int64 {
		who, err := o.told.List(t.Context(), page.ID, 0, 10)
		if err != nil || len(who) != 1 || who[0].ConfirmedAt.IsZero() {
			t.Fatalf("%+v %v", who, err)
		}
		return who[0].Components
	}
	o.ask("ann@example.com", "192.0.2.1", "1")
	o.work("email")
	all := o.letters()
	late := linkOf(t, all[len(all)-1])
	if got := chosen(); len(got) != 0 {
		t.Errorf("changed before it was confirmed: %v", got)
	}
	o.pass(49 * time.Hour)
	if got := o.do(late, nil); got.Code != http.StatusGone {
		t.Errorf("too late: %d", got.Code)
	}
	o.subscribed("ann@example.com", "192.0.2.1", "1")
	if got := chosen(); fmt.Sprint(got) != "[1]" {
		t.Errorf("%v", got)
	}
	o.ask("nobody@example.com", "192.0.2.3")
	o.pass(49 * time.Hour)
	if err := o.told.Prune(t.Context(), o.now()); err != nil {
		t.Fatal(err)
	}
	chosen() // and nobody else is left
}

// Protected pages: who may not see one may not subscribe; ending is for whoever has the mail.
func TestSubscribingToAProtectedPage(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	hash, err := cheap.Hash(t.Context(), "open sesame")
	if err != nil {
		t.Fatal(err)
	}
	o.open(pagestore.Terms{PasswordHash: hash})
	if got := o.ask("ann@example.com", "192.0.2.1"); got.Code != http.StatusUnauthorized {
		t.Errorf("%d", got.Code)
	}
	if got := o.get("/s/main/subscribe"); got.Code != http.StatusUnauthorized || strings.Contains(got.Body.String(), "Acme") {
		t.Errorf("%d %s", got.Code, got.Body)
	}
	token := fmt.Sprintf("7.%.32s", o.box.Fingerprint("subscriber 7 ends it"))
	got := o.get("/s/-/unsubscribe/" + token + "?lang=de")
	contains(t, got.Body.String(), "Abbestellen", "!Acme")
	if got.Code != http.StatusOK || !strings.Contains(got.Header().Get("Content-Security-Policy"), "default-src 'none'") || got.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("%d %v", got.Code, got.Header())
	}
}

// Without a mail server there is no form for mails, and without either no way in.
func TestNoMailServer(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	options := o.pages.Options
	options.MailReady = false
	o.pages = statuspage.New(options)
	o.open(pagestore.Terms{})
	contains(t, o.get("/s/main/subscribe").Body.String(), `!type="email"`, `type="url"`)
	if got := o.ask("ann@example.com", "192.0.2.1"); got.Code != http.StatusUnprocessableEntity {
		t.Errorf("%d", got.Code)
	}
	o.page(pagestore.Page{Slug: "closed", Terms: pagestore.Terms{Title: "x", ByEmail: true}})
	contains(t, o.get("/s/closed").Body.String(), "!subscribe")
	if got := o.get("/s/closed/subscribe"); got.Code != http.StatusNotFound {
		t.Errorf("%d", got.Code)
	}
}

// forgetful loses what came of the first attempts, as a process does that is killed after it sent.
type forgetful struct {
	*subscriberstore.Outbox
	lose int
	mu   sync.Mutex
}

func (f *forgetful) Settle(ctx context.Context, holder string, b incidentstore.Batch, end incidentstore.Settlement) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.lose--; f.lose >= 0 {
		return errAway
	}
	return f.Outbox.Settle(ctx, holder, b, end)
}

// What was sent and not noted is sent again with the same key; what is noted is not.
func TestTwiceWithTheSameKey(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	page := o.open(pagestore.Terms{})
	o.subscribed("ann@example.com", "192.0.2.1")
	const key = "a signing key of tests"
	r := newReceiver(t, key)
	o.askHook(r.URL, key, "192.0.2.1")
	o.work("webhook")
	o.post(page, pagestore.Body{Title: "Slow", Kind: pagestore.KindIncident, Updates: update(o.now(), "We look.")}, time.Time{})
	for _, kind := range []string{"email", "webhook"} {
		o.workWith(kind, &forgetful{Outbox: o.told.Outbox(kind), lose: 1})
		o.pass(2 * time.Minute) // its lease runs out
		o.work(kind)
		o.pass(time.Hour)
		o.work(kind)
	}
	all := o.letters()
	if len(all) != 3 || all[1].Get("Message-ID") != all[2].Get("Message-ID") || all[0].Get("Message-ID") == all[1].Get("Message-ID") {
		t.Errorf("%+v", all)
	}
	if _, ids := r.state(); len(ids) != 3 || ids[1] != ids[2] || ids[0] == ids[1] {
		t.Errorf("%v", ids)
	}
}

// A webhook that hangs and a mailbox that refuses delay nobody else; what may be put right is
// tried again, in order.
func TestOneBadSubscriberDelaysNobody(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	page := o.open(pagestore.Terms{})
	const key = "a signing key of tests"
	good, bad := newReceiver(t, key), newReceiver(t, key)
	for i, r := range []*receiver{bad, good} {
		o.askHook(r.URL, key, fmt.Sprintf("192.0.2.%d", i))
	}
	o.work("webhook")
	bad.mu.Lock()
	bad.status = http.StatusInternalServerError
	bad.mu.Unlock()
	for i := range 3 {
		o.pass(time.Second)
		o.post(page, pagestore.Body{Title: fmt.Sprint("Slow ", i), Kind: pagestore.KindIncident, Updates: update(o.now(), "We look.")}, time.Time{})
	}
	o.work("webhook")
	if heard, _ := good.state(); len(heard) != 4 {
		t.Errorf("%d told", len(heard))
	}
	bad.mu.Lock()
	bad.status = http.StatusOK
	bad.heard = nil
	bad.mu.Unlock()
	o.pass(30 * time.Second)
	o.work("webhook")
	if heard, _ := bad.state(); len(heard) != 3 {
		t.Errorf("%d told after it is well again", len(heard))
	}
	o.subscribed("ann@example.com", "192.0.2.1")
	o.subscribed("bob@example.com", "192.0.2.9")
	o.smtp.Says("RCPT TO:<ann@example.com>", "450 come back later")
	o.pass(time.Second)
	o.post(page, pagestore.Body{Title: "Down", Kind: pagestore.KindIncident, Updates: update(o.now(), "We look.")}, time.Time{})
	o.work("email")
	if all := o.letters(); len(all) != 3 || all[2].to != "<bob@example.com>" {
		t.Errorf("%+v", all)
	}
	o.smtp.Says("RCPT TO:<ann@example.com>", "")
	o.pass(time.Minute)
	o.work("email")
	if all := o.letters(); len(all) != 4 || all[3].to != "<ann@example.com>" {
		t.Errorf("%+v", all)
	}
}
