package signon

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

const (
	answerWithin = 10 * time.Second
	maxAnswer    = 1 << 20
)

// newClient makes the client that asks the provider, and nobody else.
func newClient(o Options) *http.Client {
	dialer := &net.Dialer{Timeout: 5 * time.Second, KeepAlive: -1, ControlContext: o.Guard.Control}
	return &http.Client{
		Timeout: answerWithin,
		Transport: &bounded{encrypted: strings.HasPrefix(o.Issuer, "https://"), next: &http.Transport{
			Proxy: nil, DialContext: dialer.DialContext, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: true, DisableKeepAlives: true,
			TLSHandshakeTimeout: 5 * time.Second, MaxResponseHeaderBytes: 64 << 10,
		}},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// bounded reads so much of an answer and no more, and does not leave TLS where it began with it.
type bounded struct {
	encrypted bool
	next      http.RoundTripper
}

func (b *bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	if b.encrypted && r.URL.Scheme != "https" {
		return nil, errors.New("an issuer with https names an address without")
	}
	answer, err := b.next.RoundTrip(r)
	if err == nil {
		answer.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(answer.Body, maxAnswer), answer.Body}
	}
	return answer, err
}
