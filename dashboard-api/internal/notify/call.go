package notify

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/probefleet/probefleet/internal/guard"
	"github.com/probefleet/probefleet/internal/redact"
)

const (
	sendWithin  = 20 * time.Second
	answerBytes = 16 << 10
	shownSent   = 8 << 10
	shownAnswer = 2 << 10
	maxExcerpt  = 500
	userAgent   = "Probefleet-Notify/1"
	blockedText = "the address is not public, and API_ALLOW_CIDRS does not open it"
)

// Failure is why a provider did not take a message.
type Failure struct {
	Status  int           // of HTTP or SMTP; 0: there was no answer
	ForGood bool          // it would be refused again
	After   time.Duration // the provider asks to wait that long
	Said    string        // without secrets
}

func (f *Failure) Error() string { return f.Said }

// Exchange is something sent, and what was answered, without secrets.
type Exchange struct {
	Request string // method and address
	Sent    string
	Status  int // 0: there was no answer
	Answer  string
	Took    time.Duration
}

// call is one attempt to send a message.
type call struct {
	ctx    context.Context //nolint:containedctx // a call is one attempt, made and ended within one function
	d      *Deliverer
	hidden []string
	log    []Exchange
}

// endpoint is where a provider with one address is.
func (c *call) endpoint(provider, usual string) string {
	if other, set := c.d.o.Endpoints[provider]; set {
		return other
	}
	return usual
}

// postJSON sends a document.
func (c *call) postJSON(to string, document any, header http.Header) ([]byte, error) {
	body, err := json.Marshal(document)
	if err != nil {
		return nil, err
	}
	return c.post(to, "application/json", body, header)
}

// post sends a body and judges the answer. The error is a *Failure.
func (c *call) post(to, media string, body []byte, header http.Header) ([]byte, error) {
	request, err := http.NewRequestWithContext(c.ctx, http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		return nil, &Failure{ForGood: true, Said: "this address cannot be asked"}
	}
	for name, values := range header {
		request.Header[name] = values
	}
	request.Header.Set("Content-Type", media)
	request.Header.Set("User-Agent", userAgent)
	e := Exchange{Request: c.hide("POST "+redact.URL(to), maxURL), Sent: c.hide(string(body), shownSent)}
	began := time.Now()
	response, err := c.d.client.Do(request)
	var answer []byte
	if err == nil {
		e.Status = response.StatusCode
		answer, err = io.ReadAll(io.LimitReader(response.Body, answerBytes))
		response.Body.Close()
	}
	e.Took, e.Answer = time.Since(began), c.hideCut(answer, shownAnswer)
	if err != nil {
		failure := &Failure{Status: e.Status, Said: c.reason(err)}
		e.Answer = failure.Said
		c.log = append(c.log, e)
		return nil, failure
	}
	c.log = append(c.log, e)
	return answer, c.verdict(response, answer) // the answer of a refusal, too
}

// verdict says what a status means. What may be put right at the provider, or in the
// channel, is tried again: the message is not to blame.
func (c *call) verdict(r *http.Response, answer []byte) error {
	if r.StatusCode >= 200 && r.StatusCode < 300 {
		return nil
	}
	f := &Failure{Status: r.StatusCode, Said: strings.TrimSpace(r.Status + ": " + c.hideCut(answer, maxExcerpt-60))}
	switch r.StatusCode {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		f.ForGood = true
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		f.After = retryAfter(r.Header.Get("Retry-After"), time.Now())
	}
	if r.StatusCode >= 300 && r.StatusCode < 400 {
		f.Said = r.Status + ": redirects are not followed; write the address that it leads to"
	}
	return f
}

// retryAfter reads the header: seconds, which some write with a point, or an instant.
func retryAfter(header string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseFloat(header, 64); err == nil && seconds > 0 && seconds < 1e6 {
		return time.Duration(seconds * float64(time.Second))
	}
	if at, err := http.ParseTime(header); err == nil && at.After(now) {
		return at.Sub(now)
	}
	return 0
}

// reason says why there was no answer, without the address that was asked.
func (c *call) reason(err error) string {
	if errors.Is(err, guard.ErrBlocked) {
		return blockedText
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return "no answer in time"
	}
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err
	}
	return c.hide(err.Error(), maxExcerpt)
}

// hide makes a text fit to be shown.
func (c *call) hide(text string, limit int) string { return redact.Text(text, c.hidden, limit) }

// hideCut is hide for the first part of what was answered.
func (c *call) hideCut(answer []byte, limit int) string {
	if len(answer) == answerBytes {
		return redact.TextCut(answer, c.hidden, limit)
	}
	return redact.Text(answer, c.hidden, limit)
}

// spellings are the ways in which the secrets of a configuration may stand in a text.
func spellings(config Config) []string {
	var all []string
	add := func(text string) {
		if len(text) < minSecret {
			return
		}
		escaped, _ := json.Marshal(text)
		all = append(all, text, url.QueryEscape(text), url.PathEscape(text), strings.Trim(string(escaped), `"`), strconv.Quote(text)[1:len(strconv.Quote(text))-1],
			base64.StdEncoding.EncodeToString([]byte(text)), base64.URLEncoding.EncodeToString([]byte(text)))
	}
	eachSecret(config, func(_ string, _ int, s *Secret) {
		add(s.Reveal())
		if u, err := url.Parse(s.Reveal()); err == nil && u.Host != "" { // an address: what is secret in it is behind the host
			add(u.RequestURI())
			for part := range strings.FieldsFuncSeq(u.RequestURI(), func(r rune) bool { return strings.ContainsRune("/?&=", r) }) {
				if len(part) >= 10 { // shorter ones are words such as services
					add(part)
				}
			}
		}
		if _, token, found := strings.Cut(s.Reveal(), " "); found { // Bearer TOKEN
			add(token)
		}
	})
	slices.Sort(all)
	return slices.Compact(all)
}

func asFailure(err error) *Failure {
	if f, ok := errors.AsType[*Failure](err); ok {
		return f
	}
	return &Failure{ForGood: true, Said: fmt.Sprintf("this message cannot be sent (%T)", err)}
}
