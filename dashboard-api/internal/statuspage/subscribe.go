package statuspage

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/probefleet/probefleet/dashboard-api/internal/notify"
	"github.com/probefleet/probefleet/dashboard-api/internal/session"
	"github.com/probefleet/probefleet/internal/pagestore"
	"github.com/probefleet/probefleet/internal/secret"
	"github.com/probefleet/probefleet/internal/subscriberstore"
)

// Subscribers keeps who is told what is written on pages.
type Subscribers interface {
	Ask(ctx context.Context, w subscriberstore.Wish, now time.Time) error
	Confirm(ctx context.Context, kind, token string, now time.Time) error
	Remove(ctx context.Context, pageID, id int64) error
}

// formPolicy is what pages with a form, and refusals, may load, and where a form may go. The script is a
// file of ours, and may ask nobody for anything.
const formPolicy = "default-src 'none'; style-src 'self'; script-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// formData is what the template of forms is given.
type formData struct {
	shell
	Title              string // of the page; "": it is not said
	Base               string
	What               string   // the form: subscribe, confirm, unsubscribe; or "": a message alone
	Message            string   // a word of the catalogues
	Problem            bool     // the message is bad news
	ByEmail, ByWebhook bool     // forms to subscribe
	Address            string   // that was given
	Components         []choice // to choose from
}

type choice struct {
	ID   int64
	Name string
}

func (p *Pages) byEmail(t pagestore.Terms) bool {
	return t.ByEmail && p.MailReady && p.Subscribers != nil
}

func (p *Pages) byWebhook(t pagestore.Terms) bool { return t.ByWebhook && p.Subscribers != nil }

func (p *Pages) form(w http.ResponseWriter, status int, d formData) {
	secure(w.Header(), formPolicy)
	w.Header().Set("Referrer-Policy", "same-origin") // without it a form says that it comes from nowhere, and is refused
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Robots-Tag", "noindex")
	w.WriteHeader(status)
	_, _ = w.Write(p.execute("subscribe.html", d.Lang, time.UTC, d))
}

// subscribe answers with the forms to subscribe by, and takes them in.
func (p *Pages) subscribe(w http.ResponseWriter, r *http.Request, q request) {
	t := q.page.Terms
	d := formData{shell: shellOf(q.lang, t.Theme), Title: t.Title, Base: q.base, What: "subscribe", ByEmail: p.byEmail(t), ByWebhook: p.byWebhook(t)}
	for _, c := range q.page.Components() {
		d.Components = append(d.Components, choice{c.ID, c.Name})
	}
	switch {
	case !d.ByEmail && !d.ByWebhook:
		p.notFound(w, r, q)
		return
	case r.Method == http.MethodGet || r.Method == http.MethodHead:
		p.form(w, http.StatusOK, d)
		return
	case r.Method != http.MethodPost:
		p.notAllowed(w, r, q, "GET, HEAD, POST")
		return
	}
	// Every try counts, whatever comes of it, so that nobody learns anything from the delay.
	if wait := p.asking.Begin(session.At("subscribe", throttled(reader(r, p.TrustProxy)))); wait > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(wait/time.Second)+1))
		d.What, d.Message, d.Problem = "", "too_often", true
		p.form(w, http.StatusTooManyRequests, d)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	wish, err := wishOf(r, q, d)
	if err != nil {
		d.Address, d.Message, d.Problem = r.PostFormValue("address"), "bad_address", true
		p.form(w, http.StatusUnprocessableEntity, d)
		return
	}
	switch err := p.Subscribers.Ask(r.Context(), wish, p.Now()); {
	case errors.Is(err, subscriberstore.ErrCrowded): // of the installation: it says nothing of the address
		w.Header().Set("Retry-After", "3600")
		d.What, d.Message, d.Problem = "", "too_often", true
		p.form(w, http.StatusTooManyRequests, d)
		return
	case err != nil:
		p.unavailable(w, r, q)
		return
	}
	p.asked()
	d.What, d.Message = "", "asked_mail"
	if wish.Kind == subscriberstore.Webhook {
		d.Message = "asked_hook"
	}
	p.form(w, http.StatusOK, d)
}

var errBadForm = errors.New("this form cannot be used")

// wishOf reads a form.
func wishOf(r *http.Request, q request, d formData) (w subscriberstore.Wish, err error) {
	if err := r.ParseForm(); err != nil {
		return w, errBadForm
	}
	address, key := strings.TrimSpace(r.PostFormValue("address")), strings.TrimSpace(r.PostFormValue("key"))
	w = subscriberstore.Wish{PageID: q.page.ID, Kind: r.PostFormValue("by"), Terms: subscriberstore.Terms{Address: secret.New(address), Language: q.lang}}
	switch {
	case w.Kind == subscriberstore.Email && d.ByEmail:
		err = notify.JudgeAddress(address)
	case w.Kind == subscriberstore.Webhook && d.ByWebhook:
		w.Terms.Key = secret.New(key)
		err = notify.JudgeHook(address, key)
	default:
		err = errBadForm
	}
	for _, text := range r.PostForm["component"] {
		id, _ := strconv.ParseInt(text, 10, 64)
		if slices.ContainsFunc(d.Components, func(c choice) bool { return c.ID == id }) {
			w.Components = append(w.Components, id)
		}
	}
	return w, err
}

func (p *Pages) asked() {
	if p.Asked != nil {
		p.Asked()
	}
}

// linked answers what links in mails lead to. Opening one changes nothing: programs that look
// into mails do that, too. What is done takes the button behind it, or the one click of a mail
// program (RFC 8058), which comes without cookies and from anywhere: neither the password of
// a page nor its addresses count here, and nothing is said of the page.
func (p *Pages) linked(w http.ResponseWriter, r *http.Request, what, token string) {
	q := stranger(r)
	d := formData{shell: shellOf(q.lang, ""), What: what}
	if p.Subscribers == nil {
		p.notFound(w, r, q)
		return
	}
	id, signed := unsubscribes(p.Fingerprint, token)
	if what == "unsubscribe" && !signed {
		d.What, d.Message, d.Problem = "", "link_old", true
		p.form(w, http.StatusNotFound, d)
		return
	}
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		p.form(w, http.StatusOK, d)
		return
	case http.MethodPost:
	default:
		p.notAllowed(w, r, q, "GET, HEAD, POST")
		return
	}
	var err error
	if what == "confirm" {
		err = p.Subscribers.Confirm(r.Context(), subscriberstore.Email, token, p.Now())
	} else if err = p.Subscribers.Remove(r.Context(), 0, id); errors.Is(err, subscriberstore.ErrNotFound) {
		err = nil // who clicks twice is as well off
	}
	switch {
	case errors.Is(err, subscriberstore.ErrNoWish):
		d.What, d.Message, d.Problem = "", "link_old", true
		p.form(w, http.StatusGone, d)
	case err != nil:
		p.unavailable(w, r, q)
	default:
		d.What, d.Message = "", map[string]string{"confirm": "confirmed", "unsubscribe": "unsubscribed"}[what]
		p.form(w, http.StatusOK, d)
	}
}

// unsubscribeToken is what ends a subscription. It is the same in every mail to a subscriber.
func unsubscribeToken(fingerprint func(string) string, id int64) string {
	return fmt.Sprintf("%d.%.32s", id, fingerprint(fmt.Sprintf("subscriber %d ends it", id)))
}

// unsubscribes says whose subscription a token ends.
func unsubscribes(fingerprint func(string) string, token string) (id int64, signed bool) {
	text, _, _ := strings.Cut(token, ".")
	id, err := strconv.ParseInt(text, 10, 64)
	return id, err == nil && id > 0 && same(token, unsubscribeToken(fingerprint, id))
}
