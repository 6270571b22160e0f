package resolve

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/miekg/dns"
)

const mediaType = "application/dns-message"

// httpsTransport posts questions (RFC 8484 §4.1), over HTTP/2 where the server speaks it.
type httpsTransport struct {
	url    string
	client http.Client
}

func newHTTPSTransport(url string, config *tls.Config, dialing time.Duration) *httpsTransport {
	return &httpsTransport{url: url, client: http.Client{
		Transport: &http.Transport{
			DialContext: (&net.Dialer{Timeout: dialing}).DialContext, TLSClientConfig: config, TLSHandshakeTimeout: dialing,
			ForceAttemptHTTP2: true, DisableCompression: true, MaxIdleConnsPerHost: maxLanes, IdleConnTimeout: 90 * time.Second,
			MaxResponseHeaderBytes: 16 << 10,
			HTTP2:                  &http.HTTP2Config{SendPingTimeout: 5 * time.Second, PingTimeout: 2 * time.Second}, // a dead connection is noticed
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

func (t *httpsTransport) exchange(ctx context.Context, query *dns.Msg) (*dns.Msg, error) {
	query.Id = 0 // the same question is the same request
	packed, err := query.Pack()
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, t.url, bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", mediaType)
	request.Header.Set("Accept", mediaType)
	response, err := t.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxMessage+1))
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("HTTP status %d", response.StatusCode)
	}
	if kind, _, _ := strings.Cut(response.Header.Get("Content-Type"), ";"); !strings.EqualFold(strings.TrimSpace(kind), mediaType) {
		return nil, errMalformed
	}
	if len(body) > maxMessage {
		return nil, errTooLarge
	}
	m := new(dns.Msg)
	if err := m.Unpack(body); err != nil || !belongs(query, m) {
		return nil, errMalformed
	}
	grow(m, response.Header.Get("Age"))
	return m, nil
}

// grow takes the time that an answer spent in HTTP caches off its lifetimes (RFC 8484 §5.1).
func grow(m *dns.Msg, age string) {
	seconds, err := strconv.ParseUint(age, 10, 32)
	if err != nil {
		return
	}
	for _, section := range [][]dns.RR{m.Answer, m.Ns} {
		for _, record := range section {
			header := record.Header()
			header.Ttl -= min(header.Ttl, uint32(seconds))
		}
	}
}

func (t *httpsTransport) close() { t.client.CloseIdleConnections() }
