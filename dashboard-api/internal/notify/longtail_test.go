package notify

import (
	"net/netip"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/probefleet/probefleet/dashboard-api/internal/longtail"
	"github.com/probefleet/probefleet/internal/incidentstore"
)

// longTail reaches a provider in place of matrix.example.
func longTail(p *provider) *longtail.Sender {
	return &longtail.Sender{Command: []string{os.Args[0], longtail.Argument}, Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Endpoints: map[string]string{"zulip.example": strings.Replace(p.URL, "https", "http", 1)}}
}

func zulip() *Shoutrrr {
	return &Shoutrrr{URL: NewSecret("zulip://canary-bot%40zulip.example:canary-key@zulip.example/?stream=canary-stream")}
}

// A service of shoutrrr is a channel as any other: it is told, what it refuses is told again
// or not, and none of its address is shown.
func TestServicesOfShoutrrr(t *testing.T) {
	t.Parallel()
	p := newPlainProvider(t)
	d := newDeliverer(t, p)
	m := some(incidentstore.Opened)
	if sent := send(t, d, "shoutrrr", zulip(), m); sent.Failure == nil || sent.Failure.ForGood {
		t.Errorf("without a way to services: %+v", sent)
	}
	d.o.LongTail = longTail(p)
	p.says(200, `{"result":"success"} canary-key`)
	sent := send(t, d, "shoutrrr", zulip(), m)
	if sent.Failure != nil || len(sent.Exchanges) != 1 || sent.Status() != 200 {
		t.Fatalf("%+v", sent)
	}
	heard := p.requests()
	form, err := url.ParseQuery(string(heard[0].body))
	if len(heard) != 1 || err != nil || !strings.Contains(form.Get("content"), m.title()) || !strings.Contains(form.Get("content"), m.Items[0].Explanation) || form.Get("to") != "canary-stream" {
		t.Errorf("heard %s", heard[0].body)
	}
	for status, forGood := range map[int]bool{400: true, 401: false, 503: false} {
		p.says(status, "no: canary-key canary-bot@zulip.example", "Retry-After", "9")
		sent := send(t, d, "shoutrrr", zulip(), m)
		if sent.Failure == nil || sent.Failure.Status != status || sent.Failure.ForGood != forGood || (sent.Failure.After > 0) != (status == 503) {
			t.Errorf("%d: %+v", status, sent.Failure)
		}
		if text := sent.Failure.Said + sent.Exchanges[0].Answer + sent.Exchanges[0].Request + sent.Exchanges[0].Sent; strings.Contains(text, "canary") || !strings.Contains(text, "zulip.example/…") {
			t.Errorf("shown: %s", text)
		}
	}
	d.o.LongTail.Allow = nil
	if sent := send(t, d, "shoutrrr", zulip(), m); sent.Failure == nil || sent.Failure.Said != blockedText {
		t.Errorf("an address that is not open: %+v", sent.Failure)
	}
	d.o.LongTail.Command = []string{"/bin/false"}
	if sent := send(t, d, "shoutrrr", zulip(), m); sent.Failure == nil || sent.Failure.ForGood || strings.Contains(sent.Failure.Said, "canary") {
		t.Errorf("a process that fails: %+v", sent.Failure)
	}
}

// What a service gives at a sign-in is not shown, neither there nor where it is sent.
func TestTokensOfServicesAreHidden(t *testing.T) {
	t.Parallel()
	p := newPlainProvider(t)
	p.says(200, `{"flows":[{"type":"m.login.password"}],"access_token":"canary-given","user_id":"@pf:matrix.example","joined_rooms":["!ops:matrix.example"],"room_id":"!ops:matrix.example","event_id":"$1"}`)
	d := newDeliverer(t, p)
	d.o.LongTail = longTail(p)
	d.o.LongTail.Endpoints["matrix.example"] = p.URL
	matrix := &Shoutrrr{URL: NewSecret("matrix://pf:canary-password@matrix.example/?rooms=!ops:matrix.example")}
	sent := send(t, d, "shoutrrr", matrix, some(incidentstore.Opened))
	if sent.Failure != nil || len(sent.Exchanges) < 3 {
		t.Fatalf("%+v", sent)
	}
	for _, e := range sent.Exchanges {
		if text := e.Request + e.Sent + e.Answer; strings.Contains(text, "canary") {
			t.Errorf("shown: %s", text)
		}
	}
}

func TestAddressesOfShoutrrr(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"": CodeRequired, "zulip://canary-bot@zulip.example": CodeInvalidURL, "smtp://canary-user:canary-pass@host/": CodeInvalidURL, "canary-word": CodeInvalidURL,
		"pushbullet://canary-token/": CodeInvalidURL, zulip().URL.Reveal(): "",
	} {
		problems := Judge(&Shoutrrr{URL: NewSecret(address)}, nil)
		if (len(problems) > 0) != (want != "") || want != "" && problems[0].Code != want {
			t.Errorf("%q: %+v", address, problems)
		}
		for _, one := range problems {
			if strings.Contains(one.Message, "canary") {
				t.Errorf("%q: %s", address, one.Message)
			}
		}
	}
	kept := &Shoutrrr{}
	if err := kept.URL.UnmarshalText([]byte("[secret]")); err != nil {
		t.Fatal(err)
	}
	if problems := Judge(kept, zulip()); len(problems) > 0 || kept.To() != "zulip" {
		t.Errorf("the stored address stays: %+v, %s", problems, kept.To())
	}
}
