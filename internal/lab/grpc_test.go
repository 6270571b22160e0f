package lab

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"net/http"
	"testing"
	"time"
)

func TestHealth(t *testing.T) {
	t.Parallel()
	l, plain := start(t)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: l.CertPool()}, Protocols: protocols((*http.Protocols).SetHTTP2, (*http.Protocols).SetUnencryptedHTTP2)}
	defer transport.CloseIdleConnections()
	// call gives the message, the status, and whether that came in trailers.
	call := func(ctx context.Context, base, service string) (response *http.Response, message, status string, err error) {
		request := append([]byte{0, 0, 0, 0, byte(len(service) + 2), 0x0a, byte(len(service))}, service...)
		if service == "" {
			request = make([]byte, 5)
		}
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/grpc.health.v1.Health/Check", bytes.NewReader(request))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/grpc")
		r.Header.Set("TE", "trailers")
		if response, err = transport.RoundTrip(r); err != nil {
			return nil, "", "", err
		}
		defer response.Body.Close()
		content, err := io.ReadAll(response.Body)
		if status = response.Header.Get("Grpc-Status"); status == "" {
			status = response.Trailer.Get("Grpc-Status")
		}
		return response, string(content), status, err
	}
	const up = "\x00\x00\x00\x00\x02\x08\x01"
	for service, c := range map[string]struct{ message, status string }{
		"": {up, "0"}, "serving": {up, "0"}, "slow-1ms": {up, "0"}, "not-serving": {"\x00\x00\x00\x00\x02\x08\x02", "0"},
		"service-unknown": {"\x00\x00\x00\x00\x02\x08\x03", "0"}, "unknown": {"\x00\x00\x00\x00\x02\x08\x00", "0"},
		"status-5": {"", "5"}, "status-12": {"", "12"}, "status-14": {"", "14"}, "late-status-14": {up, "14"}, "whatever": {"", "5"},
		"no-status": {up, ""}, "huge": {"\x00\xff\xff\xff\xff\x08\x01", "0"}, "garbage": {"\x00\x00\x00\x00\x04\xff\xff\xff\xff", "0"},
		"compressed": {"\x01\x00\x00\x00\x02\x08\x01", "0"}, "two": {up + "\x00\x00\x00\x00\x02\x08\x02", "0"}, "empty": {"", "0"},
	} {
		for _, server := range []string{"h2", "h2c"} {
			response, message, status, err := call(t.Context(), at(t, l, server), service)
			if err != nil || message != c.message || status != c.status || response.Header.Get("Content-Type") != "application/grpc" || response.StatusCode != http.StatusOK {
				t.Errorf("%s %q: %q, status %q, %v", server, service, message, status, err)
			}
		}
	}
	base := at(t, l, "h2c")
	if response, _, _, err := call(t.Context(), base, "http-503"); err != nil || response.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("%v, %v", response, err)
	}
	if response, message, _, err := call(t.Context(), base, "wrong-type"); err != nil || response.Header.Get("Content-Type") != "text/html" || message != "ok\n" {
		t.Errorf("%q, %v", message, err)
	}
	if _, message, _, err := call(t.Context(), base, "cut"); err == nil {
		t.Errorf("cut: %q", message)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, message, _, err := call(ctx, base, "hang"); err == nil {
		t.Errorf("hang: %q", message)
	}
	if response, _ := send(t, plain, "POST", l.URL()+"/grpc.health.v1.Health/Check", nil); response.StatusCode != http.StatusHTTPVersionNotSupported {
		t.Errorf("over HTTP/1.1: %s", response.Status)
	}
}
