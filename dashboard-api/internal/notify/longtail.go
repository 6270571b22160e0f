package notify

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/probefleet/probefleet/dashboard-api/internal/longtail"
	"github.com/probefleet/probefleet/internal/redact"
)

// Shoutrrr is a service that has no kind of its own here.
type Shoutrrr struct {
	URL Secret `json:"url" format:"password" doc:"The service's address as shoutrrr writes it, such as matrix://user:password@host/?rooms=!id:host. Services: bark, googlechat, ifttt, join, lark, matrix, notifiarr, pushbullet, rocketchat, signal, wecom, zulip."`
}

// To is the service: all else may be secret.
func (s *Shoutrrr) To() string     { return longtail.Scheme(s.URL.Reveal()) }
func (s *Shoutrrr) origin() string { return s.To() }

func (s *Shoutrrr) judge(j *judge) {
	j.secret("url", s.URL, true)
	if s.URL.Reveal() == "" || s.URL.kept {
		return
	}
	if s.To() == "" {
		j.add("url", CodeInvalidURL, "this begins with the name of a service and ://; there are %s", strings.Join(longtail.Services(), ", "))
		return
	}
	if err := longtail.Check(s.URL.Reveal()); err != nil {
		c := call{hidden: s.hidden()}
		j.add("url", CodeInvalidURL, "%s cannot read this address: %s", s.To(), c.hide(err.Error(), maxExcerpt))
	}
}

// hidden are the parts of the address that may be secret: services keep theirs anywhere.
func (s *Shoutrrr) hidden() []string {
	all := spellings(s)
	for part := range strings.FieldsFuncSeq(s.URL.Reveal(), func(r rune) bool { return strings.ContainsRune(":/@?&=,", r) }) {
		if len(part) < minSecret {
			continue
		}
		all = append(all, part)
		if clear, err := url.PathUnescape(part); err == nil && clear != part {
			all = append(all, clear)
		}
	}
	return all
}

func (s *Shoutrrr) send(c *call, m Message) error {
	if c.d.o.LongTail == nil {
		return &Failure{Said: "services of shoutrrr cannot be reached from here"}
	}
	c.hidden = s.hidden()
	done, err := c.d.o.LongTail.Send(c.ctx, longtail.Order{Address: s.URL.Reveal(), Title: m.title(), Text: cut(m.text(), 1500)})
	if err != nil {
		return &Failure{Said: c.reason(err)}
	}
	var refused error
	for _, e := range done.Exchanges {
		c.hidden = append(c.hidden, given(e.Answer)...) // and is sent with what follows
	}
	for _, e := range done.Exchanges {
		shown := Exchange{Request: e.Method + " " + s.host(e.URL), Sent: c.hide(e.Sent, shownSent), Status: e.Status, Answer: c.hideCut([]byte(e.Answer), shownAnswer), Took: e.Took}
		switch {
		case e.Blocked:
			refused = &Failure{Said: blockedText}
		case e.Status == 0:
			refused = &Failure{Said: c.hide(e.Trouble, maxExcerpt)}
		default:
			refused = c.verdict(&http.Response{StatusCode: e.Status, Status: e.StatusText, Header: http.Header{"Retry-After": {e.RetryAfter}}}, []byte(e.Answer))
		}
		if e.Status == 0 {
			shown.Answer = asFailure(refused).Said
		}
		c.log = append(c.log, shown)
	}
	if done.Trouble == "" { // a request that was refused on the way, and made up for by the next
		return nil
	}
	return cmp.Or(refused, error(&Failure{Said: fmt.Sprintf("%s did not take it: %s", s.To(), c.hide(done.Trouble, maxExcerpt))}))
}

// given are the secrets that a service answered with: tokens of a sign-in.
func given(answer string) (all []string) {
	var members map[string]any
	if json.Unmarshal([]byte(answer), &members) != nil {
		return nil
	}
	for name, value := range members {
		if text, is := value.(string); is && redact.Name(name) && len(text) >= minSecret {
			all = append(all, text)
		}
	}
	return all
}

// host is what may be shown of an address that a service asked.
func (s *Shoutrrr) host(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return s.To()
	}
	return u.Scheme + "://" + u.Host + "/…"
}
