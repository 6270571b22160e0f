package probe

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/probefleet/probefleet/internal/lab"
	"github.com/probefleet/probefleet/internal/seal"
	"github.com/probefleet/probefleet/internal/secret"
	"github.com/probefleet/probefleet/internal/uptime"
)

const canary = "canary-7f3a"

func sealed(t *testing.T, text string) uptime.Sealed {
	t.Helper()
	box, err := seal.New(testKey)
	if err != nil {
		t.Fatal(err)
	}
	return box.Seal(secret.New(text))
}

// lookAs visits a URL as a spec says.
func lookAs(t *testing.T, l *lab.Lab, url string, spec uptime.Spec) Outcome {
	t.Helper()
	check := checkOf(url)
	check.Spec = spec.Text()
	return New(options(l)).Look(t.Context(), check)
}

func echoOf(t *testing.T, o Outcome) (e lab.Echo) {
	t.Helper()
	if o.Status != uptime.StatusUp {
		t.Fatalf("%+v", o)
	}
	if err := json.Unmarshal([]byte(o.Evidence.Body), &e); err != nil {
		t.Fatal(err, o.Evidence.Body)
	}
	return e
}

func TestRequestIsWhatTheTargetSays(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	for name, url := range map[string]string{"HTTP/1.1": l.URL(), "HTTP/2": urlOf(t, l, "h2")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := uptime.Spec{HTTP: &uptime.HTTPSpec{
				Method: "PUT", Body: `{"a":1}`, Compressed: true,
				Headers: []uptime.Header{{Name: "content-type", Value: "application/json"}, {Name: "X-Open", Value: "seen"}, {Name: "user-agent", Value: "mine"}, {Name: "X-Twice", Value: "1"}, {Name: "X-Twice", Value: "2"}},
			}}
			if name == "HTTP/2" {
				spec.HTTP.Version = uptime.HTTP2
			}
			got := echoOf(t, lookAs(t, l, url+"/echo/p?q=1", spec))
			header := func(name string) string { return strings.Join(got.Headers[http.CanonicalHeaderKey(name)], "|") }
			if got.Method != http.MethodPut || got.Body != `{"a":1}` || header("Content-Type") != "application/json" || header("X-Open") != "seen" || header("User-Agent") != "mine" ||
				header("X-Twice") != "1|2" || header("Accept") != "*/*" || header("Accept-Encoding") != "gzip, br, zstd" {
				t.Errorf("%+v", got)
			}
		})
	}
}

func urlOf(t *testing.T, l *lab.Lab, server string) string {
	t.Helper()
	addr, err := l.Addr(server)
	if err != nil {
		t.Fatal(err)
	}
	return "https://" + addr
}

func TestWhoTheTargetLetsIn(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	plain, err := url.Parse(l.URL())
	if err != nil {
		t.Fatal(err)
	}
	servers := map[uptime.HTTPVersion]string{"": l.URL(), uptime.HTTP2: urlOf(t, l, "h2-only"), uptime.HTTP3: startHTTP3(t, l, httputil.NewSingleHostReverseProxy(plain))}
	for name, c := range map[string]struct {
		path string
		spec uptime.HTTPSpec
		want int
	}{
		"basic":           {"/basic/me/" + canary, uptime.HTTPSpec{Username: "me", Password: sealed(t, canary)}, 200},
		"basic, wrong":    {"/basic/me/other", uptime.HTTPSpec{Username: "me", Password: sealed(t, canary)}, 401},
		"bearer":          {"/bearer/" + canary, uptime.HTTPSpec{Token: sealed(t, canary)}, 200},
		"as a header":     {"/bearer/" + canary, uptime.HTTPSpec{Headers: []uptime.Header{{Name: "Authorization", Secret: sealed(t, "Bearer "+canary)}}}, 200},
		"cookies":         {"/cookie/hop/a/b", uptime.HTTPSpec{Cookies: true}, 200},
		"without cookies": {"/cookie/hop/a/b", uptime.HTTPSpec{}, 403},
	} {
		for version, server := range servers {
			spec := c.spec
			spec.Version = version
			t.Run(name+" HTTP "+string(version), func(t *testing.T) {
				t.Parallel()
				if o := lookAs(t, l, server+c.path, uptime.Spec{HTTP: &spec}); o.HTTPStatus != c.want {
					t.Errorf("%+v", o)
				}
			})
		}
	}
}

// What a redirect leads to elsewhere gets nothing that was meant for the target.
func TestRedirects(t *testing.T) {
	t.Parallel()
	l, none := startLab(t), 0
	post := func(redirects *int) uptime.Spec {
		return uptime.Spec{HTTP: &uptime.HTTPSpec{Method: "POST", Body: "b", Redirects: redirects, Headers: []uptime.Header{{Name: "X-Mine", Value: "yes"}}, Token: sealed(t, canary)}}
	}
	for name, c := range map[string]struct {
		url, method, body string
		own               bool
	}{
		"302":                {l.URL() + "/redirect-to?url=/echo", "GET", "", true},
		"308":                {l.URL() + "/redirect-to?code=308&url=/echo", "POST", "b", true},
		"302 elsewhere":      {l.URL() + "/redirect-to?url=" + l.TLSURL() + "/echo", "GET", "", false},
		"308 elsewhere":      {l.URL() + "/redirect-to?code=308&url=" + l.TLSURL() + "/echo", "POST", "", false},
		"there and back":     {l.URL() + "/redirect-schemes/2", "GET", "", false},
		"and a step further": {l.URL() + "/redirect-schemes/3", "GET", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := echoOf(t, lookAs(t, l, c.url, post(nil)))
			if own := got.Headers["X-Mine"] != nil && got.Headers["Authorization"] != nil; got.Method != c.method || got.Body != c.body || own != c.own || !own && (got.Headers["X-Mine"] != nil || got.Headers["Authorization"] != nil) {
				t.Errorf("%+v", got)
			}
		})
	}
	if o := lookAs(t, l, l.URL()+"/redirect/1", post(&none)); o.HTTPStatus != 302 || o.Seen.Hops != 1 || o.Status != uptime.StatusUp {
		t.Errorf("not followed: %+v", o)
	}
	for _, path := range []string{"/redirect-to?url=/echo%3Fa%20b", "/redirect-to?url=/echo%3F%20HTTP/1.0%20x%3D%C3%A9"} {
		if o := lookAs(t, l, l.URL()+path, uptime.Spec{}); o.HTTPStatus != 200 || o.Seen.Hops != 2 || strings.Contains(o.Evidence.Hops[1].URL, " ") {
			t.Errorf("a space in a query: %+v", o)
		}
	}
	one := 1
	if o := lookAs(t, l, l.URL()+"/redirect/2", post(&one)); o.Failure != uptime.FailureRedirectLimit || o.Seen.Hops != 2 {
		t.Errorf("one at most: %+v", o)
	}
}

func TestRequestsThatCannotBeSent(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	for name, spec := range map[string]uptime.Spec{
		"CONNECT":        {HTTP: &uptime.HTTPSpec{Method: "CONNECT"}},
		"two lines":      {HTTP: &uptime.HTTPSpec{Headers: []uptime.Header{{Name: "X", Value: "a\r\nHost: b"}}}},
		"a secret line":  {HTTP: &uptime.HTTPSpec{Headers: []uptime.Header{{Name: "X", Secret: sealed(t, "a\r\nb")}}}},
		"name":           {HTTP: &uptime.HTTPSpec{Headers: []uptime.Header{{Name: "a b", Value: "c"}}}},
		"host":           {HTTP: &uptime.HTTPSpec{Headers: []uptime.Header{{Name: "host", Value: "c"}}}},
		"smuggling":      {HTTP: &uptime.HTTPSpec{Headers: []uptime.Header{{Name: "Transfer-Encoding", Value: "chunked"}}}},
		"proxy":          {HTTP: &uptime.HTTPSpec{Headers: []uptime.Header{{Name: "Proxy-Authorization", Value: "x"}}}},
		"another key":    {HTTP: &uptime.HTTPSpec{Token: "s1.000000000000.AAAA"}},
		"damaged":        {HTTP: &uptime.HTTPSpec{Token: sealed(t, canary) + "A"}},
		"HTTP/2 without": {HTTP: &uptime.HTTPSpec{Version: uptime.HTTP2}},
		"assertion":      {Assertions: []uptime.Assertion{{Source: "smell", Op: "equals", Value: "x"}}},
	} {
		o := lookAs(t, l, l.URL()+"/echo", spec)
		if verify(t, o, uptime.ReasonInternal, 0); strings.Contains(o.Message, canary) {
			t.Errorf("%s: %s", name, o.Message)
		}
	}
	check := checkOf(l.URL() + "/ok")
	check.Spec = `{"http":{"wish":1}}`
	verify(t, New(options(l)).Look(t.Context(), check), uptime.ReasonInternal, 0)
	if n := l.Requests(); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}

func TestAssertionsDecide(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	fail := func(source uptime.Source, name string, op uptime.Op, value string) uptime.Spec {
		return uptime.Spec{Assertions: []uptime.Assertion{{Source: source, Name: name, Op: op, Value: value}}}
	}
	soft := fail("status", "", "equals", "204")
	soft.Assertions[0].Severity = uptime.SeverityDegrade
	for name, c := range map[string]struct {
		path    string
		spec    uptime.Spec
		status  uptime.Status
		failure uptime.Failure
	}{
		"status instead of expect": {"/status/503", fail("status", "", "equals", "503"), uptime.StatusUp, ""},
		"body":                     {"/text/hello", fail("body", "", "contains", "hell"), uptime.StatusUp, ""},
		"not the body":             {"/text/hello", fail("body", "", "not_contains", "hell"), uptime.StatusDown, uptime.FailureBody},
		"body far in":              {"/text/hello?after=900000", fail("body", "", "contains", "hello"), uptime.StatusUp, ""},
		"body too far in":          {"/text/hello?after=1100000", fail("body", "", "contains", "hello"), uptime.StatusDown, uptime.FailureTooLarge},
		"encoded":                  {"/encoded/br/hello", fail("body", "", "equals", "hello"), uptime.StatusUp, ""},
		"wrongly encoded":          {"/encoded-lie/gzip/hello", fail("body", "", "equals", "hello"), uptime.StatusDown, uptime.FailureProtocol},
		"bomb":                     {"/bomb/gzip", fail("body_size", "", "lt", "1000000"), uptime.StatusDown, uptime.FailureBody},
		"json":                     {"/json/health", fail("json", "$.status", "exists", ""), uptime.StatusUp, ""},
		"header":                   {"/ok", fail("header", "Content-Type", "contains", "json"), uptime.StatusDown, uptime.FailureHeader},
		"redirect, not followed":   {"/redirect/1", fail("status", "", "equals", "302"), uptime.StatusUp, ""},
		"protocol":                 {"/ok", fail("protocol", "", "equals", "HTTP/2"), uptime.StatusDown, uptime.FailureProtocol},
		"slow":                     {"/slow/300ms", fail("phase", "wait", "lt", "250"), uptime.StatusDown, uptime.FailureLatency},
		"degrade":                  {"/ok", soft, uptime.StatusDegraded, uptime.FailureStatusCode},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := lookAs(t, l, l.URL()+c.path, c.spec)
			if o.Status != c.status || o.Failure != c.failure || (o.Status != uptime.StatusUp) != (len(o.Evidence.Failed) > 0 && o.Message == o.Evidence.Failed[0].Message || c.failure == uptime.FailureProtocol && o.Status == uptime.StatusDown) {
				t.Errorf("%+v %+v", o, o.Evidence)
			}
		})
	}
}

// What secured an earlier hop says nothing about an answer in clear. When the first
// certificate ends it still says.
func TestAnswerInClearIsNotSecured(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	down := l.TLSURL() + "/redirect-to?url=" + l.URL() + "/ok"
	o := lookAs(t, l, down, wanting("tls_version - gte 1.2"))
	verify(t, o, uptime.FailureTLSOther, 200)
	if o.Seen.TLSVersion != 0 || o.Evidence.TLSVersion != "" || o.Evidence.TLSCipher != "" || len(o.Evidence.Certificates) != 0 || o.Issuer != "" || o.CertNotAfter.IsZero() || o.Seen.Hops != 2 {
		t.Errorf("%+v %+v", o, o.Evidence)
	}
	verify(t, lookAs(t, l, down, wanting("certificate_days - gt 1")), nil, 200)
	verify(t, lookAs(t, l, l.URL()+"/redirect-to?url="+l.TLSURL()+"/ok", wanting("tls_version - gte 1.2")), nil, 200)
}

// The command repeats the visit: what is sent, how, and where to.
func TestHTTPCommand(t *testing.T) {
	t.Parallel()
	e := New(options(nil))
	one, none := 1, 0
	for want, c := range map[string]struct {
		url  string
		spec uptime.HTTPSpec
		tls  *uptime.TLSSpec
	}{
		`curl -sS -g -i --http1.1 -L --max-redirs 5 'https://a.test/[1-2]'`:                   {url: "https://a.test/[1-2]"},
		`curl -sS -g -I --http1.1 'https://a.test/'`:                                          {url: "https://a.test/", spec: uptime.HTTPSpec{Method: "HEAD", Redirects: &none}},
		`curl -sS -g -i -X PUT --http2 -k -L --max-redirs 1 'https://a.test/'`:                {url: "https://a.test/", spec: uptime.HTTPSpec{Method: "PUT", Version: uptime.HTTP2, Redirects: &one}, tls: &uptime.TLSSpec{SkipVerify: true}},
		`curl -sS -g -i --http3-only --compressed -b '' -L --max-redirs 5 'https://a.test/'`:  {url: "https://a.test/", spec: uptime.HTTPSpec{Version: uptime.HTTP3, Compressed: true, Cookies: true}},
		`curl -sS -g -i -H 'Content-Type:' --data-raw '' -L --max-redirs 5 'https://a.test/'`: {url: "https://a.test/", spec: uptime.HTTPSpec{Method: "POST", Version: uptime.HTTPBest}},
		`curl -sS -g -i -X GET --http1.1 -H 'Content-Type: text/plain' -H 'X-Empty;' --data-raw '@/etc/passwd' -L --max-redirs 5 'http://a.test/'`: {
			url: "http://a.test/", spec: uptime.HTTPSpec{Body: "@/etc/passwd", Headers: []uptime.Header{{Name: "Content-Type", Value: "text/plain"}, {Name: "X-Empty"}}},
		},
	} {
		check := checkOf(c.url)
		check.Spec = uptime.Spec{HTTP: &c.spec, TLS: c.tls}.Text()
		if got := visitorOf(t, e, check).command(); got != want {
			t.Errorf("%s\n%s", got, want)
		}
	}
}

// Where there is a curl, what it sends is what we send.
func TestCurlRepeatsTheVisit(t *testing.T) {
	t.Parallel()
	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Skip("no curl here: the words are in TestHTTPCommand")
	}
	file := filepath.Join(t.TempDir(), "mine")
	if err := os.WriteFile(file, []byte("what is nobody's concern"), 0o600); err != nil {
		t.Fatal(err)
	}
	l := startLab(t)
	for name, spec := range map[string]uptime.HTTPSpec{
		"a file's name":   {Method: "POST", Body: "@" + file},
		"lines":           {Method: "PUT", Body: "a\r\nb\n'c' & \\d", Headers: []uptime.Header{{Name: "Content-Type", Value: "text/plain"}, {Name: "X-Empty"}}},
		"a GET with more": {Body: "@" + file},
		"nothing":         {Method: "POST"},
	} {
		for path, url := range map[string]string{"plain": l.URL(), "secured": l.TLSURL()} {
			t.Run(name+", "+path, func(t *testing.T) {
				t.Parallel()
				o := lookAs(t, l, url+"/redirect/308/1", uptime.Spec{HTTP: &spec, TLS: &uptime.TLSSpec{SkipVerify: true}})
				ours := echoOf(t, o)
				cmd := exec.CommandContext(t.Context(), "sh", "-c", strings.Replace(o.Evidence.Command, "curl", curl+" -q --noproxy '*' -m 20", 1))
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("%v: %s\n%s", err, o.Evidence.Command, out)
				}
				var theirs lab.Echo
				if err := json.Unmarshal(out[bytes.LastIndex(out, []byte("\r\n\r\n"))+4:], &theirs); err != nil {
					t.Fatalf("%v: %s", err, out)
				}
				if theirs.Method != ours.Method || theirs.Body != ours.Body || theirs.Headers.Get("Content-Type") != ours.Headers.Get("Content-Type") || len(theirs.Headers["X-Empty"]) != len(ours.Headers["X-Empty"]) {
					t.Errorf("%s: %+v, not %+v", o.Evidence.Command, theirs, ours)
				}
			})
		}
	}
}

// Evidence is for people: it says what was seen, and gives no secret away.
func TestEvidence(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	e := New(options(l))
	check := checkOf(l.TLSURL() + "/redirect-to?code=307&url=/echo?token=" + canary)
	check.Spec = uptime.Spec{
		HTTP: &uptime.HTTPSpec{
			Method: "POST", BodySecret: sealed(t, "pin="+canary), Username: "me", Password: sealed(t, canary),
			Headers: []uptime.Header{{Name: "X-Trace", Secret: sealed(t, canary)}, {Name: "X-Open", Value: "it's"}},
		},
		Assertions: []uptime.Assertion{{Source: "body", Op: "not_contains", Value: "me"}, {Source: "body", Op: "contains", Value: canary + "?"}, {Source: "header", Name: "Content-Type", Op: "equals", Value: "x", Severity: "degrade"}},
	}.Text()
	o := checked(t.Context(), e, check)
	text, err := json.Marshal(o.Evidence)
	if err != nil || o.Status != uptime.StatusDown || o.Evidence == nil {
		t.Fatal(err, o)
	}
	if strings.Contains(string(text)+o.Message, canary) || strings.Contains(string(text), "bWU6Y2FuYXJ5") {
		t.Errorf("a secret shows: %s %s", o.Message, text)
	}
	ev := o.Evidence
	if len(ev.Hops) != 2 || ev.Hops[0].Status != 307 || ev.Hops[1].Phases.TLS == 0 || !strings.HasSuffix(ev.Hops[1].URL, "/echo?token=…") || ev.StatusLine != "HTTP/1.1 200 OK" ||
		len(ev.Headers) == 0 || !strings.Contains(ev.Body, "POST") || ev.TLSVersion != "1.3" || ev.TLSCipher == "" || len(ev.Certificates) != 1 || len(ev.Certificates[0].SHA256) != 64 || len(ev.Failed) != 3 {
		t.Errorf("%s", text)
	}
	if want := `curl -sS -g -i --http1.1 -H 'X-Trace: …' -H 'X-Open: it'\''s' -H 'Authorization: …' -H 'Content-Type:' --data-raw '…' -L --max-redirs 5 '`; !strings.HasPrefix(ev.Command, want) {
		t.Errorf("command %s", ev.Command)
	}
	if o := checked(t.Context(), e, checkOf(l.URL()+"/ok")); o.Evidence != nil {
		t.Errorf("a check that is up keeps %+v", o.Evidence)
	}
	if o := e.Look(t.Context(), checkOf(l.URL()+"/body/100000")); len(o.Evidence.Body) != uptime.MaxEvidenceBody || !o.Evidence.BodyCut {
		t.Errorf("%d bytes of the body, cut: %v", len(o.Evidence.Body), o.Evidence.BodyCut)
	}
}

// A part of the query that is secret is sent, to the target and to nobody else, and is not shown.
func TestSecretPartOfAQuery(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	e := New(options(l))
	plain, err := url.Parse(l.URL())
	if err != nil {
		t.Fatal(err)
	}
	for version, place := range map[uptime.HTTPVersion]string{uptime.HTTP1: l.TLSURL(), uptime.HTTP2: urlOf(t, l, "h2"), uptime.HTTP3: startHTTP3(t, l, httputil.NewSingleHostReverseProxy(plain))} {
		spec := func(rules ...uptime.Assertion) uptime.Spec {
			return uptime.Spec{HTTP: &uptime.HTTPSpec{Version: version, QuerySecret: sealed(t, "key="+canary+"%21&z")}, Assertions: rules}
		}
		for link, want := range map[string]string{"/echo": "key=", "/echo?a=1#part": "a=1&key="} {
			o := lookAs(t, l, place+link, spec(uptime.Assertion{Source: "json", Name: "$.query", Op: "equals", Value: want + canary + "%21&z"}))
			if o.Status != uptime.StatusUp {
				t.Errorf("%q %s: %s %+v", version, link, o.Message, o.Evidence)
			}
		}
		check := checkOf(place + "/redirect-to?code=307&url=/echo?a=1")
		check.Spec = spec(uptime.Assertion{Source: "body", Op: "contains", Value: "key"}).Text()
		if o := checked(t.Context(), e, check); o.Failure != uptime.FailureBody || strings.Contains(o.Evidence.Body, "key") || len(o.Evidence.Hops) != 2 {
			t.Errorf("%q: after a redirect %s %+v", version, o.Message, o.Evidence)
		}
		check = checkOf(place + "/echo?a=1")
		check.Spec = spec(uptime.Assertion{Source: "body", Op: "equals", Value: "x"}).Text()
		o := checked(t.Context(), e, check)
		text, err := json.Marshal(o.Evidence)
		if err != nil || o.Status != uptime.StatusDown || strings.Contains(string(text)+o.Message, canary) {
			t.Errorf("%q: it shows: %v %s %s", version, err, o.Message, text)
		}
		if want := "/echo?a=…&key=…&…'"; !strings.HasSuffix(o.Evidence.Command, want) {
			t.Errorf("%q: command %s", version, o.Evidence.Command)
		}
	}
	alone := startHTTP3(t, l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte("bad " + r.URL.Query().Get("key")))
	}))
	o := lookAs(t, l, alone, uptime.Spec{HTTP: &uptime.HTTPSpec{Version: uptime.HTTP3, QuerySecret: sealed(t, "key="+canary+"%21&z")}})
	if o.Evidence.Body != "bad [secret]" {
		t.Errorf("of one value shows %q", o.Evidence.Body)
	}
	o = lookAs(t, l, l.URL()+"/echo", uptime.Spec{HTTP: &uptime.HTTPSpec{QuerySecret: sealed(t, canary) + "A"}})
	verify(t, o, uptime.ReasonInternal, 0)
}
