package wsconn

import (
	"encoding/json"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/coder/websocket"

	"github.com/probefleet/probefleet/dashboard-api/internal/live"
)

// FuzzCommand says things to a node as browsers do, one a line: it answers with messages that can
// be read, keeps no more than it promises, and ends with what was said last of each channel.
func FuzzCommand(f *testing.F) {
	for _, text := range []string{
		``, `{}`, `nonsense`, `{"t":"hello"}`, `{"t":"sub","id":"1","ch":"targets","from":{"epoch":"X","seq":1,"mark":"1700000000000-1"}}`,
		`{"t":"sub","ch":"target:1"}` + "\n" + `{"t":"sub","ch":"target:1"}` + "\n" + `{"t":"unsub","ch":"target:1"}`,
		`{"t":"sub","ch":"check:a"}` + "\n" + `{"t":"sub","ch":"page:a"}`, `{"t":"sub","from":{"seq":-1}}`, `{"t":"\ud800"}`, `{"T":"SUB","CH":"fleet"}`, "{\"t\":\"\xff\"}", `[1]`, `null`,
	} {
		f.Add([]byte(text))
	}
	hub := live.New(live.Options{})
	hub.Reading("17592186044415-1048575") // further than any place that could be waited for
	server := New(Options{Hub: hub, Log: slog.New(slog.DiscardHandler)})
	f.Fuzz(func(t *testing.T, text []byte) {
		c := &client{server: server}
		for line := range strings.Lines(string(text)) {
			before := len(c.answers)
			command, _ := live.ReadCommand([]byte(line))
			c.obey(websocket.MessageText, []byte(line))
			unsub, silent := command.(live.Unsub)
			switch command.(type) {
			case live.Hello, live.Pong:
				silent = true
			}
			if said := len(c.answers) - before; silent && said != 0 || !silent && said != 1 {
				t.Fatalf("%q: %d answers", line, said)
			}
			var names []string
			for _, s := range c.subs {
				names = append(names, s.name)
			}
			slices.Sort(names)
			if len(names) > maxChannels || len(slices.Compact(names)) != len(c.subs) || slices.Contains(names, unsub.Ch) {
				t.Fatalf("%q: %q", line, names)
			}
		}
		for _, a := range c.answers {
			if !json.Valid(a.body) || !utf8.Valid(a.body) {
				t.Fatalf("%q: %q", text, a.body)
			}
		}
	})
}

// FuzzPositions reads where streams are to go on, from the address and from what browsers say by
// themselves: that is newer, and what the node has written is read as it was meant.
func FuzzPositions(f *testing.F) {
	f.Add("targets@A.1.1-2", "fleet@A.2. targets@A.3.")
	f.Add("@", "@ @@ a@b@c.1.")
	f.Add("targets", "targets@A.x.")
	f.Add("", "checks:a@A.18446744073709551615.")
	f.Fuzz(func(t *testing.T, from, last string) {
		r := httptest.NewRequest(http.MethodGet, "/?from="+url.QueryEscape(from), nil)
		r.Header.Set("Last-Event-ID", last)
		found := positions(r)
		if len(found) > 1+len(strings.Fields(last)) {
			t.Fatalf("%d positions", len(found))
		}
		s := newStream(httptest.NewRecorder(), &client{})
		for name, at := range found {
			if strings.Contains(name, "@") {
				t.Fatalf("a channel %q", name)
			}
			if at == nil || strings.ContainsFunc(name+at.String(), func(r rune) bool { return strings.TrimSpace(string(r)) == "" }) {
				delete(found, name) // no node says such a thing
				continue
			}
			s.told[name] = *at
		}
		r.URL.RawQuery = ""
		r.Header.Set("Last-Event-ID", s.id())
		again := positions(r)
		if !maps.EqualFunc(again, found, func(a, b *live.Position) bool { return a != nil && *a == *b }) {
			t.Fatalf("%q: %v, and then %v", s.id(), found, again)
		}
	})
}
