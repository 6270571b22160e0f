package probe

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/probefleet/probefleet/internal/uptime"
)

// shown is all that is kept of a visit.
func shown(t *testing.T, o Outcome) string {
	t.Helper()
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A target may send back what it was sent, at any place of its answer.
func TestReflectedSecretsAreNotShown(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	raw := func(answer string) string {
		return l.URL() + "/raw/close/" + base64.RawURLEncoding.EncodeToString([]byte(answer))
	}
	long := strings.Repeat(canary, 40)
	for name, c := range map[string]struct{ url, secret string }{
		"first line":      {raw(canary + " what\r\n\r\n"), canary},
		"status code":     {raw("HTTP/1.1 " + canary + " what\r\n\r\n"), canary},
		"version":         {raw("HTTP/1.1" + canary + " 200 what\r\n\r\n"), canary},
		"long first line": {raw(long + " what\r\n\r\n"), long},
		"length":          {raw("HTTP/1.1 200 OK\r\nContent-Length: " + canary + "\r\n\r\n"), canary},
		"transfer coding": {raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: " + canary + "\r\n\r\n"), canary},
		"two codings":     {raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: " + canary + "\r\nTransfer-Encoding: x\r\n\r\n"), canary},
		"bad header line": {raw("HTTP/1.1 200 OK\r\n" + canary + " \"x\"\r\n\r\n"), canary},
		"status text":     {raw("HTTP/1.1 500 " + canary + "\r\n\r\n"), canary},
		"header name":     {raw("HTTP/1.1 500 x\r\n" + canary + ": x\r\n\r\n"), strings.ToUpper(canary[:1]) + canary[1:]},
		"header":          {raw("HTTP/1.1 500 x\r\nX: " + canary + "\r\n\r\n"), canary},
		"cookie":          {raw("HTTP/1.1 500 x\r\nSet-Cookie: " + canary + "=1\r\n\r\n"), canary},
		"body":            {raw("HTTP/1.1 500 x\r\n\r\n" + canary), canary},
		"redirect path":   {l.URL() + "/redirect-to?url=/status/" + canary, canary},
		"redirect host":   {raw("HTTP/1.1 302 x\r\nLocation: http://" + canary + ".test/\r\n\r\n"), canary},
		"body, cut":       {raw("HTTP/1.1 500 x\r\n\r\n" + strings.Repeat("x", uptime.MaxEvidenceBody-len(canary)/2) + canary), canary},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := lookAs(t, l, c.url, uptime.Spec{HTTP: &uptime.HTTPSpec{Token: sealed(t, c.secret)}})
			if text := shown(t, o); strings.Contains(text, c.secret[:min(len(c.secret), len(canary)-5)]) {
				t.Errorf("it shows in %s", text)
			}
		})
	}
}

// A query may hold a secret, and answers often repeat where they were asked for.
func TestSecretsInTheURLAreNotShown(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	parrot := serve(t, func(conn *net.TCPConn) { // echoes, as the service of RFC 862 does
		_, _ = io.Copy(conn, conn)
	})
	ws := checkOf("ws://" + parrot + "/?token=" + canary)
	ws.Kind = uptime.KindWebSocket
	for name, check := range map[string]uptime.Check{
		"body":      checkOf(l.URL() + "/echo/x?page=2&access_token=" + canary),
		"escaped":   checkOf(l.URL() + "/echo/x?api_key=%63" + canary[1:]),
		"websocket": ws,
		"parrot":    checkOf("http://" + parrot + "/?token=" + canary),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := New(options(l)).Look(t.Context(), check)
			if text := shown(t, o); strings.Contains(text, canary) || strings.Contains(text, "%63"+canary[1:]) || o.Reason != "" || !strings.Contains(text, "secret") {
				t.Errorf("it shows in %s", text)
			}
		})
	}
}

// An answer may repeat a secret in its own spelling, or a part of it.
func TestOtherSpellingsOfSecretsAreNotShown(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	raw := func(body string) string {
		return l.URL() + "/raw/close/" + base64.RawURLEncoding.EncodeToString([]byte("HTTP/1.1 200 OK\r\n\r\n"+body))
	}
	for name, c := range map[string]struct{ url, secret string }{
		"body in JSON":       {l.URL() + "/echo", `{"login":"<me>","what":"` + canary + `"}`},
		"one member":         {raw("no such password: " + canary), `{"login":{"password":["` + canary + `"]}}`},
		"a number":           {raw("no such pin: 73737373"), `{"pin": 73737373}`},
		"one field":          {raw("no such password: " + canary + "!"), `login=me&password=` + canary + `%21`},
		"escaped for a URL":  {raw("was a%26" + canary), `a&` + canary},
		"escaped for a path": {raw("was a%20" + canary), `a ` + canary},
		"escaped for HTML":   {raw("was a&amp;" + canary), `a&` + canary},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := lookAs(t, l, c.url, uptime.Spec{HTTP: &uptime.HTTPSpec{Method: "POST", BodySecret: sealed(t, c.secret)}})
			if text := o.Evidence.Body; strings.Contains(text, canary) || strings.Contains(text, "7373") || o.HTTPStatus != 200 {
				t.Errorf("it shows in %s", text)
			}
		})
	}
}

// What stands behind the scheme is the secret (RFC 9110 §11.4).
func TestTokensOfSecretHeadersAreNotShown(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	answer := base64.RawURLEncoding.EncodeToString([]byte("HTTP/1.1 403 no\r\n\r\nbad token " + canary))
	headers := []uptime.Header{{Name: "Authorization", Secret: sealed(t, "Bearer "+canary)}}
	o := lookAs(t, l, l.URL()+"/raw/close/"+answer, uptime.Spec{HTTP: &uptime.HTTPSpec{Headers: headers}})
	if strings.Contains(shown(t, o), canary) {
		t.Errorf("over HTTP: %s", o.Evidence.Body)
	}
}

// A secret may be longer than what is kept of an answer.
func TestLongSecretsAreNotShown(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	var text strings.Builder
	for i := 0; text.Len() < 20_000; i++ {
		fmt.Fprintf(&text, "%d,", i)
	}
	for name, rules := range map[string][]uptime.Assertion{
		"nothing is asserted": nil,
		"of the body":         {{Source: "body", Op: "contains", Value: "nothing of the kind"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answer := base64.RawURLEncoding.EncodeToString([]byte("HTTP/1.1 500 x\r\n\r\nYou sent: " + text.String()))
			o := lookAs(t, l, l.URL()+"/raw/close/"+answer, uptime.Spec{Assertions: rules, HTTP: &uptime.HTTPSpec{Method: "POST", BodySecret: sealed(t, text.String())}})
			if text := shown(t, o); strings.Contains(text, "0,1,2,3") || strings.Contains(text, "100,101,102") {
				t.Errorf("it shows in %.300s", text)
			}
		})
	}
}

// What is kept of a visit has bounds, wherever a server puts its text.
func TestEvidenceIsBounded(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	long := strings.Repeat("x", 50_000)
	url := "http://" + serve(t, func(conn *net.TCPConn) {
		_, _ = conn.Read(make([]byte, 1<<10))
		_, _ = io.WriteString(conn, "HTTP/1.1 302 x\r\nLocation: /"+long+"\r\n\r\n")
	})
	o := lookAs(t, l, url, uptime.Spec{})
	if o.Failure != uptime.FailureRedirectLimit {
		t.Errorf("%v %s", o.Failure, o.Message)
	}
	if n := len(shown(t, o)); n > 16<<10 {
		t.Errorf("a long redirect: %d bytes are kept", n)
	}
	o = lookAs(t, l, l.URL()+"/status/500", uptime.Spec{HTTP: &uptime.HTTPSpec{Method: "POST", Body: long}})
	if n := len(shown(t, o)); n > 16<<10 {
		t.Errorf("a long request: %d bytes are kept", n)
	}
}
