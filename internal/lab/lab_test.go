package lab

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net/http"
	"testing"
	"time"
)

func start(t *testing.T) (*Lab, *http.Client) {
	t.Helper()
	l, err := Start("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: l.CertPool()}, DisableKeepAlives: true, DisableCompression: true}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l, &http.Client{Transport: transport, Timeout: 10 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

func TestBehaviours(t *testing.T) {
	t.Parallel()
	l, client := start(t)
	cases := []struct {
		path string
		code int
		size int64
	}{
		{"/ok", 200, 3}, {"/", 200, 3}, {"/n/any/thing", 200, 3}, {"/status/503", 503, 0}, {"/status/9", 400, -1}, {"/slow/1ms", 200, 3},
		{"/drip/3/1ms", 200, 3}, {"/body/100000", 200, 100_000}, {"/headers/5000", 200, 3}, {"/redirect/3", 302, -1}, {"/redirect-to?url=http://x.invalid/", 302, 0},
		{"/nothing", 404, -1},
	}
	for _, c := range cases {
		for _, base := range []string{l.URL(), l.TLSURL()} {
			response, err := client.Get(base + c.path)
			if err != nil {
				t.Errorf("%s: %v", c.path, err)
				continue
			}
			size, err := io.Copy(io.Discard, response.Body)
			_ = response.Body.Close()
			if err != nil || response.StatusCode != c.code || c.size >= 0 && size != c.size {
				t.Errorf("%s: %d, %d bytes, %v", c.path, response.StatusCode, size, err)
			}
		}
	}
	for _, path := range []string{"/reset", "/close", "/malformed"} {
		if response, err := client.Get(l.URL() + path); err == nil {
			_ = response.Body.Close()
			t.Errorf("%s answered %d", path, response.StatusCode)
		}
	}
	if l.RequestsTo("/ok") != 2 || l.Requests() < 2*int64(len(cases)) {
		t.Errorf("counted %d to /ok, %d in all", l.RequestsTo("/ok"), l.Requests())
	}
}

func TestCertificates(t *testing.T) {
	t.Parallel()
	l, client := start(t)
	_, err := client.Get(l.ExpiredURL() + "/ok")
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); !ok || invalid.Reason != x509.Expired {
		t.Errorf("expired: %v", err)
	}
	_, err = client.Get(l.WrongNameURL() + "/ok")
	if _, ok := errors.AsType[x509.HostnameError](err); !ok {
		t.Errorf("wrong name: %v", err)
	}
}
