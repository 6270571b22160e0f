package statuspage

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/probefleet/probefleet/dashboard-api/internal/notify"
	"github.com/probefleet/probefleet/internal/availability"
	"github.com/probefleet/probefleet/internal/incidentstore"
	"github.com/probefleet/probefleet/internal/pagestore"
	"github.com/probefleet/probefleet/internal/secret"
	"github.com/probefleet/probefleet/internal/subscriberstore"
)

// ChallengeFor is for how long a webhook's challenge is tried that was not answered: half a dozen
// times. Who has just subscribed is there; at anybody else's address it is a nuisance.
const ChallengeFor = 5 * time.Minute

// CourierOptions are what a Courier stands on.
type CourierOptions struct {
	Deliverer interface {
		Mail(ctx context.Context, server notify.Email, l notify.Letter) notify.Sent
		Hook(ctx context.Context, to, key secret.Text, id string, document any) (notify.Sent, []byte)
	}
	Subscribers Subscribers
	Server      notify.Email // that takes mails
	PublicURL   string
	Fingerprint func(text string) string
	Now         func() time.Time // nil: the clock
}

// Courier writes to subscribers, in their language, and hands it over. It is what sends for
// the workers of their outboxes.
type Courier struct{ o CourierOptions }

var _ notify.Sender = (*Courier)(nil)

// NewCourier makes one.
func NewCourier(o CourierOptions) *Courier {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Courier{o}
}

// Send does an errand.
func (c *Courier) Send(ctx context.Context, _ incidentstore.Channel, m notify.Message) notify.Sent {
	e, is := m.Errand.(*subscriberstore.Errand)
	if !is {
		return notify.Sent{Failure: &notify.Failure{ForGood: true, Said: "this is not for subscribers"}}
	}
	if e.Subscriber.Kind == subscriberstore.Webhook {
		return c.hook(ctx, m.Key, e)
	}
	l := c.letter(e)
	l.To, l.Key, l.Language = e.Subscriber.Terms.Address.Reveal(), m.Key, e.Subscriber.Terms.Language
	return c.o.Deliverer.Mail(ctx, c.o.Server, l)
}

// ends is what ends a subscription.
func (c *Courier) ends(e *subscriberstore.Errand) string {
	return rootOf(e.Page, c.o.PublicURL) + prefix + "-/unsubscribe/" + unsubscribeToken(c.o.Fingerprint, e.Subscriber.ID) + "?lang=" + e.Subscriber.Terms.Language
}

func eventID(postID int64) string { return "post-" + strconv.FormatInt(postID, 10) }

func (c *Courier) letter(e *subscriberstore.Errand) notify.Letter {
	lang, title := e.Subscriber.Terms.Language, e.Page.Terms.Title
	if e.Letter == nil {
		link := rootOf(e.Page, c.o.PublicURL) + prefix + "-/confirm/" + e.Token.Reveal() + "?lang=" + lang
		return notify.Letter{
			Subject: say(lang, "mail_confirm_subject", title), Thread: link,
			Text: say(lang, "mail_confirm_text", title) + "\n\n" + link + "\n\n" + say(lang, "mail_ignore"),
		}
	}
	l := e.Letter
	head := say(lang, l.State) + ": " + l.Title
	if l.Kind == pagestore.KindAnnouncement {
		head = l.Title
	}
	zone, err := availability.Zone(e.Page.Terms.Zone)
	if err != nil {
		zone = time.UTC
	}
	lines := []string{head, l.At.In(zone).Format("2006-01-02 15:04 MST")}
	if len(l.Components) > 0 {
		lines = append(lines, say(lang, "affects", strings.Join(l.Components, ", ")))
	}
	link := baseOf(e.Page, c.o.PublicURL) + "#" + eventID(l.PostID)
	lines = append(lines, "", l.Text, "", link, "", "-- ", say(lang, "mail_why", title), say(lang, "mail_unsubscribe", c.ends(e)))
	return notify.Letter{Subject: title + ": " + head, Text: strings.Join(lines, "\n"), Thread: link, Unsubscribe: c.ends(e)}
}

// hookDocument is what a webhook gets.
type hookDocument struct {
	ID          string    `json:"id"` // the same whenever it is sent
	Type        string    `json:"type"`
	Challenge   string    `json:"challenge,omitempty"`
	Page        hookPage  `json:"page"`
	Post        *hookPost `json:"post,omitempty"`
	Unsubscribe string    `json:"unsubscribe,omitempty"` // a POST there ends it
}

type hookPage struct {
	Title string `json:"title"`
	URL   string `json:"url"`
}

type hookPost struct {
	subscriberstore.Letter
	URL string `json:"url"`
}

// hook posts what there is to say. A challenge is answered with what only who made up the key
// can know: an address that says yes to everything is nobody's consent.
func (c *Courier) hook(ctx context.Context, key string, e *subscriberstore.Errand) notify.Sent {
	terms := e.Subscriber.Terms
	d := hookDocument{ID: key, Type: "post", Page: hookPage{e.Page.Terms.Title, baseOf(e.Page, c.o.PublicURL)}}
	if e.Letter != nil {
		d.Post, d.Unsubscribe = &hookPost{*e.Letter, d.Page.URL + "#" + eventID(e.Letter.PostID)}, c.ends(e)
		sent, _ := c.o.Deliverer.Hook(ctx, terms.Address, terms.Key, key, d)
		return sent
	}
	d.Type, d.Challenge = "challenge", e.Token.Reveal()
	sent, answer := c.o.Deliverer.Hook(ctx, terms.Address, terms.Key, key, d)
	if sent.Failure != nil {
		return sent
	}
	if !answers(answer, terms.Key.Reveal(), d.Challenge) {
		sent.Failure = &notify.Failure{Status: sent.Status(), Said: "the challenge was not answered"}
		return sent
	}
	if err := c.o.Subscribers.Confirm(ctx, subscriberstore.Webhook, d.Challenge, c.o.Now()); err != nil {
		sent.Failure = &notify.Failure{Status: sent.Status(), Said: "the answer could not be noted"}
	}
	return sent
}

// answers says whether an answer is the HMAC-SHA256, in hex, of a challenge: as plain text, or
// as the member answer of a JSON object.
func answers(answer []byte, key, challenge string) bool {
	text := strings.TrimSpace(string(answer))
	var object struct{ Answer string }
	if json.Unmarshal(answer, &object) == nil {
		text = object.Answer
	}
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(challenge))
	return same(text, hex.EncodeToString(mac.Sum(nil)))
}
