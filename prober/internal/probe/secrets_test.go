package probe

import (
	"encoding/json"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

func sendsSecret(t *testing.T, text string, asserts ...uptime.Assertion) uptime.Spec {
	t.Helper()
	return uptime.Spec{TCP: &uptime.TCPSpec{SendSecret: sealed(t, text)}, Assertions: asserts}
}

// What is sent in secret arrives in clear, and is not shown when the server repeats it or a
// part of it.
func TestSecretTalk(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	e := New(options(l))
	repeats := func(answer string) string { return "tcp://" + serveLine(t, answer) }
	for name, c := range map[string]struct {
		check uptime.Check
		heard string
	}{
		"the password alone":   {tcpCheck(t, l, "tcp", sendsSecret(t, "echo "+canary+"\n", hears("not_contains", canary)...)), "[secret]\n"},
		"the line":             {checkAt(repeats("you said: PASS "+canary+"?"), sendsSecret(t, "USER ann\r\nPASS "+canary+"\r\n", hears("contains", "no")...)), "you said: [secret]?"},
		"all of it":            {checkAt(repeats("USER ann\r\nPASS "+canary+"\r\n"), sendsSecret(t, "USER ann\r\nPASS "+canary+"\r\n", hears("contains", "no")...)), "[secret]"},
		"a part, and no more":  {checkAt(repeats("bad: "+canary[:7]), sendsSecret(t, "AUTH x\t"+canary+"\n", hears("contains", "no")...)), "bad: [secret]"},
		"a word in the middle": {checkAt(repeats("no route to /"+canary+"!"), sendsSecret(t, "GET /"+canary+" HTTP/1.0\r\n", hears("contains", "yes")...)), "no route to [secret]!"},
		"nothing of it":        {checkAt(repeats("-ERR"), sendsSecret(t, "AUTH "+canary+"\n", hears("contains", "no")...)), "-ERR"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := e.Look(t.Context(), c.check)
			if verify(t, o, uptime.FailureBody, 0); o.Evidence.Received != c.heard || o.Evidence.ReceivedCut {
				t.Errorf("%+v", o.Evidence)
			}
			if shown := o.Message + o.Evidence.Received + o.Evidence.Command + o.Evidence.Hops[0].URL; strings.Contains(shown, canary) || !strings.HasPrefix(o.Evidence.Command, "printf '…' | nc -v '127.0.0.1' ") {
				t.Errorf("%s", shown)
			}
		})
	}
	if o := e.Look(t.Context(), tcpCheck(t, l, "tcp", sendsSecret(t, "echo "+canary+"\n", hears("equals", canary+"\n")...))); o.Status != uptime.StatusUp {
		t.Errorf("it did not arrive: %+v", o)
	}
	if o := e.Look(t.Context(), tcpCheck(t, l, "tcp", sendsSecret(t, "what?\n"))); o.Status != uptime.StatusUp || o.Evidence.Received != "unknown\n" {
		t.Errorf("without an assertion: %+v", o)
	}
	for _, bad := range []uptime.Sealed{"s1.000000000000.AAAA", sealed(t, canary) + "A"} {
		o := e.Look(t.Context(), tcpCheck(t, l, "tcp", uptime.Spec{TCP: &uptime.TCPSpec{SendSecret: bad}}))
		verify(t, o, uptime.ReasonInternal, 0)
	}
}

// serveLine is a server that answers the first thing it is told, and goes on listening.
func serveLine(t *testing.T, answer string) string {
	t.Helper()
	return serve(t, func(c *net.TCPConn) {
		if _, err := c.Read(make([]byte, 4<<10)); err != nil {
			return
		}
		_, _ = io.WriteString(c, answer)
		_ = c.CloseWrite()
		_, _ = io.Copy(io.Discard, c)
	})
}

// Errors of what reads answers quote what was sent, and bodies are often JSON: a secret in
// them looks otherwise than when it was sent.
func TestSecretsAreHiddenWhereverTheyAreQuoted(t *testing.T) {
	t.Parallel()
	const secret = `<can"ary>\é&7f3a`
	e := New(options(nil))
	inJSON, _ := json.Marshal(map[string]string{"you": secret})
	for name, c := range map[string]struct {
		answer  string
		message string
		body    string
	}{
		"no answer of HTTP":         {secret + "\r\n\r\n", `malformed HTTP response "[secret]"`, ""},
		"no status":                 {"HTTP/1.1 x" + secret + " OK\r\n\r\n", `malformed HTTP status code "x[secret]"`, ""},
		"a long line, cut in it":    {strings.Repeat("x", 260) + secret + "\r\n\r\n", `malformed HTTP response "` + strings.Repeat("x", 260) + `[secret]"`, ""},
		"a longer line":             {strings.Repeat("x", 270) + secret + "\r\n\r\n", `malformed HTTP response "` + strings.Repeat("x", 270) + "…", ""},
		"JSON":                      {"HTTP/1.1 500 Oops\r\nConnection: close\r\n\r\n" + string(inJSON), "answered 500 Internal Server Error, expected 200-399", `{"you":"[secret]"}`},
		"JSON that is not for HTML": {"HTTP/1.1 500 Oops\r\nConnection: close\r\n\r\n" + `{"you":"<can\"ary>\\é&7f3a"}`, "answered 500 Internal Server Error, expected 200-399", `{"you":"[secret]"}`},
		"Go":                        {"HTTP/1.1 500 Oops\r\nConnection: close\r\n\r\nbad token " + strconv.Quote(secret), "answered 500 Internal Server Error, expected 200-399", `bad token "[secret]"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check := checkOf("http://" + serveLine(t, c.answer))
			check.Timeout, check.Spec = 20*time.Second, uptime.Spec{HTTP: &uptime.HTTPSpec{BodySecret: sealed(t, secret)}}.Text()
			o := e.Look(t.Context(), check)
			if o.Status != uptime.StatusDown || o.Message != c.message || o.Evidence.Body != c.body {
				t.Errorf("%q, %q", o.Message, o.Evidence.Body)
			}
		})
	}
}

func TestReceivedThatIsCutSaysSo(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	e := New(options(l))
	for name, c := range map[string]struct {
		check uptime.Check
		cut   bool
	}{
		"short":                        {tcpCheck(t, l, "tcp", sends("echo hello\n")), false},
		"more than is shown":           {tcpCheck(t, l, "tcp", sends("send 100000\necho end\n", hears("contains", "end")...)), true},
		"more than is read":            {tcpCheck(t, l, "tcp-flood", uptime.Spec{Assertions: hears("contains", "y")}), true},
		"as much as is shown":          {checkAt("tcp://"+serveLine(t, strings.Repeat("x", uptime.MaxEvidenceBody)), sends("?\n", hears("contains", "y")...)), false},
		"a byte more than is shown":    {checkAt("tcp://"+serveLine(t, strings.Repeat("x", uptime.MaxEvidenceBody+1)), sends("?\n", hears("contains", "y")...)), true},
		"a longer mark in its place":   {checkAt("tcp://"+serveLine(t, strings.Repeat("\xff\n", uptime.MaxEvidenceBody/2)), sends("?\n", hears("contains", "y")...)), true},
		"nothing, and nothing is lost": {tcpCheck(t, l, "tcp-close", uptime.Spec{Assertions: hears("absent", "")}), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := e.Look(t.Context(), c.check)
			if o.Evidence == nil || o.Evidence.ReceivedCut != c.cut || len(o.Evidence.Received) > uptime.MaxEvidenceBody {
				t.Errorf("%+v", o)
			}
		})
	}
}

func TestExcerptsDoNotEndWithinASecret(t *testing.T) {
	t.Parallel()
	s := &sighting{}
	s.Secrets = []string{"hunter2"}
	for name, c := range map[string]struct {
		text         string
		before, open bool
		want         string
		cut          bool
	}{
		"whole":            {"my hun", false, false, "my hun", false},
		"cut on the way":   {"my hun", true, false, "my [secret]", true},
		"open":             {"my hun", false, true, "my [secret]", false},
		"cut here":         {strings.Repeat("hunter2", 2*uptime.MaxEvidenceBody/7) + "hu" + "nter2", false, false, strings.Repeat("[secret]", uptime.MaxEvidenceBody/8), true},
		"cut after hiding": {strings.Repeat("hunter2 ", 1<<10) + "hunter2", false, false, strings.Repeat("[secret] ", 455) + "[", true},
	} {
		if got, cut := s.excerpt([]byte(c.text), c.before, c.open); got != c.want || cut != c.cut {
			t.Errorf("%s: %q, %v", name, got, cut)
		}
	}
	long := strings.Repeat("s", 1000) + "e"
	s.Secrets = []string{long}
	text, _ := s.excerpt([]byte(strings.Repeat(long, 8)+"and more than is looked at"+long), false, false)
	if want := strings.Repeat("[secret]", 8) + "and more than is looked at[secret]"; text != want {
		t.Errorf("%q", text)
	}
}
