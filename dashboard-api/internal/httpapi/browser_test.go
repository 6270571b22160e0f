package httpapi

import (
	"crypto/sha256"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"strings"
	"testing"
)

// browser asks a server over a connection, and keeps its cookies.
type browser struct {
	*testing.T
	url    string
	client *http.Client
}

// browser opens one on a server of the bench's handler; those of one bench share the server.
func (b *bench) browser() *browser {
	b.Helper()
	if b.server == nil {
		b.server = httptest.NewServer(b.handler)
		b.Cleanup(b.server.Close)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		b.Fatal(err)
	}
	transport := &http.Transport{}
	b.Cleanup(transport.CloseIdleConnections)
	return &browser{b.T, b.server.URL, &http.Client{Jar: jar, Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

func (w *browser) do(method, path, body string) reply {
	w.Helper()
	r, err := http.NewRequestWithContext(w.Context(), method, w.url+path, strings.NewReader(body))
	if err != nil {
		w.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	answer, err := w.client.Do(r)
	if err != nil {
		w.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		w.Fatal(err)
	}
	recorded := httptest.NewRecorder()
	maps.Copy(recorded.Header(), answer.Header)
	recorded.WriteHeader(answer.StatusCode)
	_, _ = recorded.Write(text)
	return reply{recorded, string(text)}
}

// logIn signs in with the password.
func (w *browser) logIn(email string) *browser {
	w.Helper()
	if got := w.do("POST", "/api/v1/session", `{"email":"`+email+`","password":"correct horse"}`); got.Code != http.StatusOK {
		w.Fatalf("log in: %d %s", got.Code, got.text)
	}
	return w
}

// who is the address of who is signed in; empty: nobody.
func (w *browser) who() string {
	w.Helper()
	var session struct{ User *struct{ Email string } }
	w.do("GET", "/api/v1/session", "").into(w, &session)
	if session.User == nil {
		return ""
	}
	return session.User.Email
}

// from has a browser be somewhere else, so that its tries are counted apart.
func from(t *testing.T, where string) http.RoundTripper {
	t.Helper()
	hash := sha256.Sum256([]byte(where))
	transport := &http.Transport{DialContext: (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, hash[0], hash[1], max(1, hash[2]))}}).DialContext}
	t.Cleanup(transport.CloseIdleConnections)
	return transport
}
