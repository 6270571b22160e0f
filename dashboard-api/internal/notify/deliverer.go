package notify

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"runtime/debug"
	"slices"
	"time"

	"github.com/probefleet/probefleet/dashboard-api/internal/longtail"
	"github.com/probefleet/probefleet/internal/guard"
	"github.com/probefleet/probefleet/internal/incidentstore"
	"github.com/probefleet/probefleet/internal/redact"
	"github.com/probefleet/probefleet/internal/seal"
)

// DelivererOptions are what a Deliverer stands on.
type DelivererOptions struct {
	Box       *seal.Box
	Guard     *guard.Guard
	PublicURL string
	Roots     *x509.CertPool    // nil: those of the machine
	Endpoints map[string]string // of providers with one address, where it is another one
	LongTail  *longtail.Sender  // nil: services of shoutrrr are not reached
}

// Deliverer sends messages.
type Deliverer struct {
	o      DelivererOptions
	dialer *net.Dialer
	tls    *tls.Config
	client *http.Client
}

// NewDeliverer makes one.
func NewDeliverer(o DelivererOptions) *Deliverer {
	d := &Deliverer{
		o: o, dialer: &net.Dialer{Timeout: 5 * time.Second, KeepAlive: -1, ControlContext: o.Guard.Control},
		tls: &tls.Config{RootCAs: o.Roots, MinVersion: tls.VersionTLS12},
	}
	d.client = &http.Client{
		Transport: &http.Transport{
			Proxy: nil, DialContext: d.dialer.DialContext, TLSClientConfig: d.tls, ForceAttemptHTTP2: true, DisableKeepAlives: true, // no connection is shared between channels
			TLSHandshakeTimeout: 5 * time.Second, ResponseHeaderTimeout: 15 * time.Second, MaxResponseHeaderBytes: 64 << 10,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return d
}

// Sent is how an attempt went.
type Sent struct {
	At        time.Time
	Took      time.Duration
	Exchanges []Exchange
	Failure   *Failure // nil: it was taken
}

// Status is that of the last answer.
func (s Sent) Status() int {
	switch {
	case s.Failure != nil:
		return s.Failure.Status
	case len(s.Exchanges) > 0:
		return s.Exchanges[len(s.Exchanges)-1].Status
	}
	return 0
}

// Said is an excerpt of what was answered, or why there was no answer.
func (s Sent) Said() string {
	switch {
	case s.Failure != nil:
		return s.Failure.Said
	case len(s.Exchanges) > 0:
		return redact.Text(s.Exchanges[len(s.Exchanges)-1].Answer, nil, maxExcerpt)
	}
	return ""
}

// Send sends a message on a channel. It never panics, whatever the message holds.
func (d *Deliverer) Send(ctx context.Context, channel incidentstore.Channel, m Message) Sent {
	return d.attempt(ctx, func(c *call) error {
		config, err := Open(d.o.Box, channel.Kind, channel.Config)
		if err != nil {
			return &Failure{Said: err.Error()}
		}
		c.hidden = spellings(config)
		m.Items = d.linked(m.Items)
		return config.send(c, m)
	})
}

// linked gives those of which the link could not be read theirs: by it providers know what belongs together.
func (d *Deliverer) linked(all []incidentstore.Payload) []incidentstore.Payload {
	all = slices.Clone(all)
	for i := range all {
		if p := &all[i]; p.Link == "" && p.IncidentID != 0 {
			p.Link = linkTo(d.o.PublicURL, p.IncidentID)
		}
	}
	return all
}

// attempt is one try to send something.
func (d *Deliverer) attempt(ctx context.Context, send func(c *call) error) (sent Sent) {
	ctx, cancel := context.WithTimeout(ctx, sendWithin)
	defer cancel()
	sent.At = time.Now()
	c := &call{ctx: ctx, d: d}
	defer func() {
		if cause := recover(); cause != nil {
			sent.Failure = &Failure{ForGood: true, Said: c.hide(fmt.Sprintf("a mistake of ours: %v at %s", cause, debug.Stack()), maxExcerpt)}
		}
		sent.Exchanges, sent.Took = c.log, time.Since(sent.At)
	}()
	if err := send(c); err != nil {
		sent.Failure = asFailure(err)
	}
	return sent
}

// Test sends a message that says that a channel works, or that nothing was wrong.
func (d *Deliverer) Test(ctx context.Context, channel incidentstore.Channel, resolved bool, key string, now time.Time) Sent {
	event := incidentstore.Tested
	if resolved {
		event = incidentstore.Resolved
	}
	return d.Send(ctx, channel, Message{Key: key, Items: []incidentstore.Payload{testPayload(channel.Name, d.o.PublicURL, event, now)}})
}
