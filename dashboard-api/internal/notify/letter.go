package notify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/wneessen/go-mail"

	"github.com/probefleet/probefleet/internal/secret"
)

// Letter is a mail to one reader who asked for it.
type Letter struct {
	To, Subject, Text string
	Key               string // of its Message-ID
	Thread            string // mails with the same one stand together
	Language          string
	Unsubscribe       string // URL that ends what they asked for, by a click of their mail program (RFC 8058); "": there is nothing to end
}

// Mail hands a letter to a mail server. The recipients of the configuration do not get it.
func (d *Deliverer) Mail(ctx context.Context, server Email, l Letter) Sent {
	return d.attempt(ctx, func(c *call) error {
		c.hidden = append(spellings(&server), l.To, strings.ToLower(l.To)) // who reads is nobody's business
		msg, err := server.message([]string{l.To}, l.Subject, l.Text, l.Key, l.Thread)
		if err != nil {
			return &Failure{ForGood: true, Said: c.hide(err.Error(), maxExcerpt)}
		}
		msg.SetGenHeader("Content-Language", l.Language)
		if l.Unsubscribe != "" {
			// Unfolded: a link that is cut does not end anything.
			msg.SetGenHeaderPreformatted("List-Unsubscribe", "<"+l.Unsubscribe+">")
			msg.SetGenHeader("List-Unsubscribe-Post", "List-Unsubscribe=One-Click")
			msg.SetGenHeader(mail.HeaderPrecedence, "bulk")
		}
		return server.hand(c, msg, "a mail to a subscriber")
	})
}

// Hook posts a signed document to an address, and gives what was answered, at most 16 KiB of
// it. Neither the address nor the key of the signature is in what is noted.
func (d *Deliverer) Hook(ctx context.Context, to, key secret.Text, id string, document any) (sent Sent, answer []byte) {
	sent = d.attempt(ctx, func(c *call) (err error) {
		c.hidden = spellings(&Webhook{URL: Secret{Text: to}, Secret: Secret{Text: key}})
		body, err := json.Marshal(document)
		if err != nil {
			return err
		}
		answer, err = c.signed(to.Reveal(), key.Reveal(), id, body, http.Header{})
		return err
	})
	return sent, answer
}

// signed posts a body with its signature.
func (c *call) signed(to, key, id string, body []byte, header http.Header) ([]byte, error) {
	stamp := strconv.FormatInt(time.Now().Unix(), 10)
	header.Set("Idempotency-Key", id)
	header.Set("X-Probefleet-Timestamp", stamp)
	header.Set("X-Probefleet-Signature", Signature(key, stamp, body))
	return c.post(to, "application/json", body, header)
}

// JudgeHook says whether an address and a key make a webhook; the first thing wrong if not.
func JudgeHook(to, key string) error {
	return first(Judge(&Webhook{URL: NewSecret(to), Secret: NewSecret(key)}, nil))
}

// JudgeAddress says whether a text is an e-mail address.
func JudgeAddress(text string) error {
	j := &judge{}
	j.address("address", text)
	return first(j.found)
}

func first(found []Problem) error {
	if len(found) > 0 {
		return errors.New(found[0].Field + ": " + found[0].Message)
	}
	return nil
}

// Server reads the URL of a mail server: smtp://USER:PASSWORD@HOST:PORT, which insists on
// STARTTLS, smtps://, or smtp://HOST:PORT?security=none. The error does not quote it.
func Server(text secret.Text, from string) (Email, error) {
	u, err := url.Parse(text.Reveal())
	if err != nil || u.Hostname() == "" || u.Path != "" && u.Path != "/" {
		return Email{}, errors.New("not a URL such as smtp://user:password@smtp.example.com:587")
	}
	e := Email{Host: u.Hostname(), From: from, Username: u.User.Username(), Recipients: []string{from}}
	if password, set := u.User.Password(); set {
		e.Password = NewSecret(password)
	}
	switch security := u.Query().Get("security"); {
	case u.Scheme == "smtps" && security == "":
		e.Security = fromTLS
	case u.Scheme == "smtp" && security == "":
		e.Security = startTLS
	case u.Scheme == "smtp" && security == noTLS:
		e.Security = noTLS
	default:
		return Email{}, errors.New("want smtp://, smtps://, or smtp:// with ?security=none")
	}
	if port := u.Port(); port != "" {
		if e.Port, err = strconv.Atoi(port); err != nil {
			return Email{}, errors.New("its port is not a number")
		}
	}
	if found := Judge(&e, nil); len(found) > 0 {
		return Email{}, fmt.Errorf("%s: %s", strings.TrimPrefix(found[0].Field, "to/"), found[0].Message)
	}
	return e, nil
}
