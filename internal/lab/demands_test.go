package lab

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
	"time"
)

// send makes a request and gives the answer with its body read.
func send(t *testing.T, client *http.Client, method, url string, change func(*http.Request)) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequest(method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(r)
	}
	response, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, string(content)
}

func TestRedirects(t *testing.T) {
	t.Parallel()
	l, client := start(t)
	host := strings.TrimPrefix(l.URL(), "http://")
	for _, c := range []struct {
		path string
		code int
		to   []string
	}{
		{"/redirect/1", 302, []string{"/ok"}},
		{"/redirect/3", 302, []string{"/redirect/2"}},
		{"/redirect/301/2", 301, []string{"/redirect/301/1"}},
		{"/redirect/303/1", 303, []string{"/echo"}},
		{"/redirect/307/1", 307, []string{"/echo"}},
		{"/redirect/308/1", 308, []string{"/echo"}},
		{"/redirect/200/1", 400, nil},
		{"/redirect-slow/2/1ms", 302, []string{"/redirect-slow/1/1ms"}},
		{"/redirect-slow/1/1ms", 302, []string{"/slow/1ms"}},
		{"/redirect-slow/1/soon", 400, nil},
		{"/redirect-loop", 302, []string{"/redirect-loop"}},
		{"/redirect-to?url=file:///etc/passwd", 302, []string{"file:///etc/passwd"}},
		{"/redirect-to?url=ftp://ftp.test/", 302, []string{"ftp://ftp.test/"}},
		{"/redirect-to?url=javascript:alert(1)", 302, []string{"javascript:alert(1)"}},
		{"/redirect-to?code=307&url=http://169.254.169.254/", 307, []string{"http://169.254.169.254/"}},
		{"/redirect-schemes/2", 302, []string{l.TLSURL() + "/redirect-schemes/1"}},
		{"/redirect-schemes/1", 302, []string{l.TLSURL() + "/echo"}},
		{"/redirect-odd/path", 302, []string{"/echo?by=path"}},
		{"/redirect-odd/host", 302, []string{"//" + host + "/echo?by=host"}},
		{"/redirect-odd/query", 302, []string{"?by=query"}},
		{"/redirect-odd/relative", 302, []string{"../echo/relative"}},
		{"/redirect-odd/dots", 302, []string{"/a/./b/../../echo/dots"}},
		{"/redirect-odd/userinfo", 302, []string{"http://user:secret@" + host + "/echo"}},
		{"/redirect-odd/empty", 302, []string{""}},
		{"/redirect-odd/missing", 302, nil},
		{"/redirect-odd/twice", 302, []string{"/echo/first", "/echo/second"}},
		{"/redirect-odd/long", 302, []string{"/echo/" + strings.Repeat("x", 60_000)}},
		{"/redirect-odd/spaces", 302, []string{"/echo/with some spaces"}},
		{"/redirect-odd/bytes", 302, []string{"/echo/\xff\xfe\u00fc"}},
		{"/redirect-odd/nothing", 404, nil},
	} {
		response, _ := send(t, client, "GET", l.URL()+c.path, nil)
		if got := response.Header["Location"]; response.StatusCode != c.code || fmt.Sprint(got) != fmt.Sprint(c.to) {
			t.Errorf("%s: %d to %.200q", c.path, response.StatusCode, got)
		}
	}
	client.CheckRedirect = nil
	for path, want := range map[string]string{
		"/redirect/308/3": `"method":"DELETE"`, "/redirect/303/1": `"method":"GET"`, "/redirect-schemes/3": `"tls":{`,
		"/redirect-odd/query": `"query":"by=query"`, "/redirect-odd/dots": `"path":"/echo/dots"`, "/redirect-odd/relative": `"path":"/echo/relative"`,
	} {
		if _, told := send(t, client, "DELETE", l.URL()+path, nil); !strings.Contains(told, want) {
			t.Errorf("%s ends at %s", path, told)
		}
	}
}

func TestDemands(t *testing.T) {
	t.Parallel()
	l, client := start(t)
	authorization := func(value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set("Authorization", value) }
	}
	for _, c := range []struct {
		path   string
		change func(*http.Request)
		code   int
		asks   string
	}{
		{"/basic/me/pass%2Fword", nil, 401, `Basic realm="lab", charset="UTF-8"`},
		{"/basic/me/pass%2Fword", func(r *http.Request) { r.SetBasicAuth("me", "pass/word") }, 200, ""},
		{"/basic/me/pass", func(r *http.Request) { r.SetBasicAuth("me", "word") }, 401, `Basic realm="lab", charset="UTF-8"`},
		{"/bearer/abc", nil, 401, `Bearer realm="lab"`},
		{"/bearer/abc", authorization("Bearer abc"), 200, ""},
		{"/bearer/abc", authorization("Bearer abcd"), 401, `Bearer realm="lab"`},
		{"/bearer/abc", authorization("Basic abc"), 401, `Bearer realm="lab"`},
		{"/cookie/need/a/b", nil, 403, ""},
		{"/cookie/need/a/b", func(r *http.Request) { r.AddCookie(&http.Cookie{Name: "a", Value: "b"}) }, 200, ""},
		{"/cookie/need/a/b", func(r *http.Request) { r.AddCookie(&http.Cookie{Name: "a", Value: "c"}) }, 403, ""},
		{"/retry/9/1", nil, 400, ""},
	} {
		response, _ := send(t, client, "GET", l.URL()+c.path, c.change)
		if response.StatusCode != c.code || response.Header.Get("WWW-Authenticate") != c.asks {
			t.Errorf("%s: %d, %q", c.path, response.StatusCode, response.Header.Get("WWW-Authenticate"))
		}
	}
	if response, _ := send(t, client, "GET", l.URL()+"/retry/429/30", nil); response.StatusCode != http.StatusTooManyRequests || response.Header.Get("Retry-After") != "30" {
		t.Errorf("%d after %q", response.StatusCode, response.Header.Get("Retry-After"))
	}
	response, _ := send(t, client, "GET", l.URL()+"/retry/503/date", nil)
	if until, err := http.ParseTime(response.Header.Get("Retry-After")); err != nil || response.StatusCode != http.StatusServiceUnavailable || until.Before(time.Now().Add(-time.Minute)) {
		t.Errorf("%d after %q, %v", response.StatusCode, response.Header.Get("Retry-After"), err)
	}
	if response, _ = send(t, client, "GET", l.URL()+"/cookie/set/a/b", nil); response.StatusCode != http.StatusOK || response.Header.Get("Set-Cookie") != "a=b; Path=/" {
		t.Errorf("%d sets %q", response.StatusCode, response.Header.Get("Set-Cookie"))
	}
	client.CheckRedirect = nil
	if response, _ = send(t, client, "GET", l.URL()+"/cookie/hop/a/b", nil); response.StatusCode != http.StatusForbidden {
		t.Errorf("the hop without a jar: %d", response.StatusCode)
	}
	client.Jar, _ = cookiejar.New(nil)
	if response, _ = send(t, client, "GET", l.URL()+"/cookie/hop/a/b", nil); response.StatusCode != http.StatusOK {
		t.Errorf("the hop with a jar: %d", response.StatusCode)
	}
}

func TestEcho(t *testing.T) {
	t.Parallel()
	l, _ := start(t)
	answer, err := ask(dialTLS(t, l, "tls"), "PATCH /echo/a%20b?x=1&y HTTP/1.1\r\nHost: shop.test\r\nX-A: 1\r\nX-A: 2\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello")
	if err != nil {
		t.Fatal(err)
	}
	_, document, _ := strings.Cut(answer, "\r\n\r\n")
	var told Echo
	if err := json.Unmarshal([]byte(document), &told); err != nil {
		t.Fatalf("%q: %v", answer, err)
	}
	if told.Method != http.MethodPatch || told.Path != "/echo/a%20b" || told.Query != "x=1&y" || told.Protocol != "HTTP/1.1" || told.Host != "shop.test" ||
		told.Body != "hello" || fmt.Sprint(told.Headers["X-A"]) != "[1 2]" || !strings.HasPrefix(told.Remote, "127.0.0.1:") || told.TLS == nil || told.TLS.Version != "TLS 1.3" {
		t.Errorf("%+v", told)
	}
}

func TestDocuments(t *testing.T) {
	t.Parallel()
	l, client := start(t)
	for path, want := range map[string]string{
		"/text/hello%20%C3%BC":                "hello ü",
		"/text/end?after=200":                 strings.Repeat("x", 200) + "end",
		"/json?doc=" + url.QueryEscape("[1]"): "[1]",
		"/json/null":                          "null",
		"/json/truncated":                     `{"status":"ok","checks":[{"na`,
		"/json/twice":                         `{"status":"ok","status":"down"}`,
	} {
		response, content := send(t, client, "GET", l.URL()+path, nil)
		kind := map[bool]string{true: "application/json", false: "text/plain; charset=utf-8"}[strings.HasPrefix(path, "/json")]
		if content != want || response.Header.Get("Content-Type") != kind {
			t.Errorf("%s: %.300q as %q", path, content, response.Header.Get("Content-Type"))
		}
	}
	if response, _ := send(t, client, "GET", l.URL()+"/text/x?type=text/html", nil); response.Header.Get("Content-Type") != "text/html" {
		t.Error(response.Header)
	}
	for name, valid := range map[string]bool{
		"health": true, "store": true, "array": true, "text": true, "null": true, "numbers": true, "keys": true, "twice": true, "wide": true, "surrogate": true, "bytes": true,
		"deep": false, "deep-keys": false, // deeper than encoding/json goes
		"empty": false, "truncated": false, "trailing": false, "lines": false, "bom": false, "html": false,
	} {
		_, content := send(t, client, "GET", l.URL()+"/json/"+name, nil)
		if json.Valid([]byte(content)) != valid {
			t.Errorf("%s: valid is %v: %.200q", name, !valid, content)
		}
	}
	if _, content := send(t, client, "GET", l.URL()+"/json/deep", nil); len(content) != 200_000 {
		t.Errorf("%d bytes deep", len(content))
	}
	if response, _ := send(t, client, "GET", l.URL()+"/json/nothing", nil); response.StatusCode != http.StatusNotFound {
		t.Error(response.Status)
	}
}
